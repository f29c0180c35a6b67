/* Volumes enter the window; drains and resets empty it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/temporal/gstndtemporalprivate.h"

G_BEGIN_DECLS

/* Pushes one volume into the window, and makes the outputs that it completes.
 * If the volume breaks the stretch, ends that first. If the element is
 * overloaded, only counts the volume. */
GstFlowReturn gst_nd_temporal_take_volume (GstNdTemporal *self,
    GstBuffer *buffer);

/* Takes @event, and sends it downstream after the outputs of all volumes that
 * came before it. */
gboolean gst_nd_temporal_take_event (GstNdTemporal *self, GstEvent *event);

/* The same for a GAP event. If the gap is as long as one that breaks the
 * stretch, drains the window first (docs/checklist.md, 14). */
gboolean gst_nd_temporal_take_gap (GstNdTemporal *self, GstEvent *event);

/* Call after each volume, which came at the monotonic time @begin: begins the
 * next output of a live stream while its last volume has not arrived, and waits
 * for the next volume until the deadline of the outputs. */
void gst_nd_temporal_finish_volume (GstNdTemporal *self, gint64 begin);

/* Drains the window because of @reason. The next output has DISCONT
 * (docs/checklist.md, 8). */
GstFlowReturn gst_nd_temporal_end_stretch (GstNdTemporal *self,
    const gchar *reason);

/* The same for a break that the stream makes. Warns once if stretches are so
 * short that the filter hardly works (docs/checklist.md, 15). */
GstFlowReturn gst_nd_temporal_break_stretch (GstNdTemporal *self,
    const gchar *reason);

/* Pushes all pending outputs, and keeps no buffer of upstream. */
void gst_nd_temporal_give_back_inputs (GstNdTemporal *self);

/* Discards the window and all pending outputs because of @reason, and pushes
 * nothing (docs/checklist.md, 13). Counts the volumes that have no output. */
void gst_nd_temporal_reset (GstNdTemporal *self, GstFlowReturn reason);

/* Makes the outputs that the volumes in the window still lack, with the time
 * border after the end, and resets. If a push fails, discards the rest
 * (docs/checklist.md, 5). */
GstFlowReturn gst_nd_temporal_drain (GstNdTemporal *self, const gchar *reason);

G_END_DECLS
