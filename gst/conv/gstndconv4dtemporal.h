/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconv.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstNdConv4dTemporal, gst_nd_conv4d_temporal, GST,
    ND_CONV4D_TEMPORAL, GstNdConv)

G_END_DECLS
