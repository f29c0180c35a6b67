/* Pending outputs. A device only enqueues the work of an output, so that
 * several outputs are under way at once. A thread waits for each one in stream
 * order and pushes it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndflush.h"
#include "gst/temporal/gstndtemporalprivate.h"

G_BEGIN_DECLS

typedef struct
{
  NdFence *fence;    /* after the work of this output; NULL: complete */
  GQueue inputs;     /* GstNdMap that the work reads */
  GQueue events;     /* pushed before the buffer */
  GstBuffer *buffer; /* NULL: no output, or pushed already */
  GstNdMap map;      /* of the buffer, if is_mapped */
  gboolean is_mapped;
  gboolean is_output;    /* counted in the statistics */
  gboolean is_under_way; /* nd_order_leave() */
  gint64 arrived;        /* monotonic time of its last input */
  gdouble host_seconds;  /* computing time if there is no fence */
  gdouble last_seconds;  /* the part of it after its last input came */
  gdouble ahead_seconds; /* before it came */
} GstNdPendingOutput;

/* Called by init() of the element. */
void gst_nd_temporal_pending_init (GstNdTemporal *self);

/* Ends the thread. Nothing may be pending. */
void gst_nd_temporal_pending_stop (GstNdTemporal *self);
void gst_nd_temporal_pending_clear (GstNdTemporal *self);

/* Takes @output. It is pushed as soon as it and all outputs before it are
 * complete. Waits for that in a live stream, and for outputs without a fence
 * (of the CPU); otherwise waits only while the queue is full. */
GstFlowReturn gst_nd_temporal_pending_add (GstNdTemporal *self,
    GstNdPendingOutput *output);

/* Whether an application blocks the sink pad of the element or the pad that is
 * linked to it. */
gboolean gst_nd_temporal_is_blocked (GstNdTemporal *self);

/* Waits until all pending outputs are pushed. */
GstFlowReturn gst_nd_temporal_pending_complete_all (GstNdTemporal *self);

/* Waits until all pending outputs are complete, and discards them because of
 * @reason. */
void gst_nd_temporal_pending_drop (GstNdTemporal *self, GstFlowReturn reason);

/* Discards an event that a flush overtakes. Takes @event. A sticky one stays on
 * the source pad, and follows with the next volume. */
void gst_nd_temporal_discard_event (GstNdTemporal *self, GstEvent *event);

/* Counts @n volumes whose outputs nobody gets because of @ret. */
void gst_nd_temporal_count_missed (GstNdTemporal *self, guint n,
    GstFlowReturn ret);

/* Unmaps and releases an input. Takes @map. */
void gst_nd_temporal_release_input (GstNdMap *map);

G_END_DECLS
