/* The counts and times of a stream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

/* The value of the property `stats`. */
GstStructure *gst_nd_conv_stats (GstNdConv *self);

void gst_nd_conv_range_add (GstNdConvRange *range, gdouble value);

/* Posts it as an element message, which gst-launch-1.0 -m prints. */
void gst_nd_conv_post_stats (GstNdConv *self);

G_END_DECLS
