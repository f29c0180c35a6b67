/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/algorithm/gstndalgorithm.h"

G_BEGIN_DECLS

#define GST_TYPE_ND_DENOISE (gst_nd_denoise_get_type ())
G_DECLARE_FINAL_TYPE (GstNdDenoise, gst_nd_denoise, GST, ND_DENOISE,
    GstNdAlgorithm)

G_END_DECLS
