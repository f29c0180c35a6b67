/* The processor of a stream, and its settings, which change while playing
 * (docs/checklist.md, 30).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/temporal/gstndtemporalprivate.h"

G_BEGIN_DECLS

/* Makes the processor for the active settings and the caps in use, and waits
 * for it. FLUSHING if a flush or a state change interrupts the wait;
 * gst_nd_temporal_apply_settings() then continues with the same build. */
GstFlowReturn gst_nd_temporal_make_processor (GstNdTemporal *self);

/* Keeps the old settings, which are the active ones, and posts a warning with
 * the reason. */
void gst_nd_temporal_refuse_settings (GstNdTemporal *self, const GError *error);

/* Activates the settings of the last processor of this stream again, if others
 * are active. TRUE if they suit the input @in. */
gboolean gst_nd_temporal_fall_back (GstNdTemporal *self, const GstNdFormat *in);

/* Before each volume: starts to build a processor if settings were set since
 * the last one, and takes it when it is ready. Waits for a quick build. */
GstFlowReturn gst_nd_temporal_apply_settings (GstNdTemporal *self);

/* Copies the values of the properties. Of those that take effect in start(),
 * copies the values in use. Call with the object lock held. */
void gst_nd_temporal_get_settings (GstNdTemporal *self,
    GstNdTemporalSettings *to);

/* A copy of the active settings. */
GstNdTemporalSettings *gst_nd_temporal_copy_active (GstNdTemporal *self);

/* Whether the active settings suit the input @in, for which they are derived
 * again. */
gboolean gst_nd_temporal_check_input (GstNdTemporal *self,
    const GstNdFormat *in, GError **error);

/* FALSE if @settings exclude devices or there is no device. */
gboolean gst_nd_temporal_may_use_device (GstNdTemporal *self,
    const GstNdTemporalSettings *settings);

G_END_DECLS
