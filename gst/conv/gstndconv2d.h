/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconv.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstNdConv2d, gst_nd_conv2d, GST, ND_CONV2D, GstNdConv)

G_END_DECLS
