/* The latency of elements with a window in time, and the outputs that they skip
 * because they are late.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/schema.h"
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Whether the latency includes the computing time. The numbers are public. */
typedef enum
{
  GST_ND_COMPUTE_LATENCY_AUTO = 0, /* if the stream is live and the time is
                                      more than a tenth of the interval */
  GST_ND_COMPUTE_LATENCY_NEVER = 1,
  GST_ND_COMPUTE_LATENCY_ALWAYS = 2
} GstNdComputeLatency;

extern const NdEnum gst_nd_compute_latency_enum;

/* The part of @time, that of computing an output, that the latency includes.
 * @counted: whether it included it before; is updated. */
GstClockTime gst_nd_latency_compute_time (GstNdComputeLatency mode,
    gboolean live, GstClockTime interval, GstClockTime time, gboolean *counted);

/* The computing time to expect, in seconds, after an output took @seconds and
 * @peak was expected: that of the slower ones of the last outputs. */
gdouble gst_nd_latency_peak (gdouble peak, gdouble seconds);

/* Whether upstream is live: it does not wait for this element. */
gboolean gst_nd_latency_is_live (GstBaseTransform *trans);

/* Answers the latency @query of an element: the latency of upstream and @own.
 * FALSE if @own is NONE or upstream does not answer. */
gboolean gst_nd_latency_query (GstBaseTransform *trans, GstQuery *query,
    GstClockTime own);

/* Whether a latency changes from @old, or NONE, by so much that the pipeline
 * must know: more than a tenth. */
gboolean gst_nd_latency_differs (GstClockTime old, GstClockTime latency);

/* The latency to answer if that of the element is @latency and the last answer
 * was @old, or NONE: @old if they differ by up to a tenth. It falls by an
 * eighth of the @interval of outputs each time, because a sink that waits for a
 * shorter time at once finds its next outputs late. */
GstClockTime gst_nd_latency_step (GstClockTime old, GstClockTime latency,
    GstClockTime interval);

/* Whether to tell the pipeline of a latency that is measured all the time: it
 * differs from @old, which was told @since ns ago, and that is 5 s or more, or
 * it has doubled. With each message a sink waits anew. */
gboolean gst_nd_latency_differs_now (GstClockTime old, GstClockTime latency,
    GstClockTime since);

/* The running time up to which outputs are late after the event @qos. NONE: no
 * output is late. */
GstClockTime gst_nd_latency_earliest_time (GstEvent *qos);

G_END_DECLS
