/* Volumes in flight: a back end that only enqueues has several of them, and a
 * thread that waits for each and lets it out, in their order.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gstndconvprivate.h"

G_BEGIN_DECLS

/* What waits for one fence. */
typedef struct
{
  NdFence *fence;               /* NULL: done */
  GQueue inputs;                /* GstNdMap, read until then */
  GQueue events;                /* to push before the buffer */
  GstBuffer *buffer;            /* to push then; may be NULL */
  GstNdMap map;                 /* of the buffer, if is_mapped */
  gboolean is_mapped;
  gboolean is_output;           /* to count; it may have been pushed already */
  gint64 arrived;               /* monotonic time of its last input */
  gdouble host_seconds;         /* computing when there is no fence */
} GstNdLoad;

void gst_nd_conv_flight_init (GstNdConv * self);
void gst_nd_conv_flight_clear (GstNdConv * self);

/* Takes @load. Where it is done, it goes out when all before it did; where the
 * stream is live, at once; otherwise this waits only while too many are before
 * it. */
GstFlowReturn gst_nd_conv_flight_add (GstNdConv * self, GstNdLoad * load);

/* Waits until all went out. */
GstFlowReturn gst_nd_conv_flight_land (GstNdConv * self);

/* The same, but what is still on its way is dropped. */
void gst_nd_conv_flight_drop (GstNdConv * self);

G_END_DECLS
