/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/algorithm/gstndalgorithm.h"

G_BEGIN_DECLS

#define GST_TYPE_ND_STRUCTURE (gst_nd_structure_get_type ())
G_DECLARE_FINAL_TYPE (GstNdStructure, gst_nd_structure, GST, ND_STRUCTURE,
    GstNdAlgorithm)

G_END_DECLS
