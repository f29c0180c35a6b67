/* The convolver of a stream, and its settings, which change while playing
 * (docs/checklist.md, 30).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

/* Makes the convolver for the active settings and the caps in use, and waits
 * for it. FLUSHING if a flush or a state change interrupts the wait;
 * gst_nd_conv_apply_settings() then continues with the same build. */
GstFlowReturn gst_nd_conv_make_convolver (GstNdConv *self);

/* Keeps the old settings, which are the active ones, and posts a warning with
 * the reason. */
void gst_nd_conv_refuse_settings (GstNdConv *self, const GError *error);

/* Activates the settings of the last convolver of this stream again, if others
 * are active. TRUE if they suit the input @in. */
gboolean gst_nd_conv_fall_back (GstNdConv *self, const GstNdFormat *in);

/* Before each volume: starts to build a convolver if settings were set since
 * the last one, and takes it when it is ready. Waits for a quick build. */
GstFlowReturn gst_nd_conv_apply_settings (GstNdConv *self);

G_END_DECLS
