/* The latency of the filters: the volumes that a filter looks ahead, in
 * measured intervals, and the computing time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

/* Takes the caps or the convolver that are in use from now on. Posts LATENCY if
 * the answer changes (docs/checklist.md, 19). */
void gst_nd_conv_set_latency (GstNdConv *self);

/* Takes the measured interval of the inputs and the computing time of the
 * outputs. Posts LATENCY if the answer changes by more than a tenth. */
void gst_nd_conv_update_latency (GstNdConv *self);

/* Takes the computing time of an output, in seconds. Any thread. */
void gst_nd_conv_add_compute_time (GstNdConv *self, gdouble seconds);

/* The time from the content of an output to its anchor, if outputs are stamped
 * with the time of their content; otherwise 0. */
GstClockTimeDiff gst_nd_conv_content_lag (GstNdConv *self);

G_END_DECLS
