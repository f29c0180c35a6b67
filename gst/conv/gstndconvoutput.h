/* Outputs of the window: skipped or computed, and handed to the pending
 * outputs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

/* Flag of an anchor whose position holds the volume before it and has no
 * output. */
#define GST_ND_ANCHOR_HELD GST_BUFFER_FLAG_LAST

/* Makes all outputs that the window is ready for. */
GstFlowReturn gst_nd_conv_push_ready (GstNdConv *self);

/* Gives back the inputs when the work so far is complete, in a pending output
 * without a buffer. */
GstFlowReturn gst_nd_conv_send_inputs (GstNdConv *self);

/* Waits for the work so far, and gives back the inputs at once. */
void gst_nd_conv_release_inputs (GstNdConv *self);

G_END_DECLS
