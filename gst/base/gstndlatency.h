/* The latency of elements with a window in time, and the outputs that they skip
 * because they are late.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Answers the latency @query of an element: the latency of upstream and @own.
 * FALSE if @own is NONE or upstream does not answer. */
gboolean gst_nd_latency_query (GstBaseTransform *trans, GstQuery *query,
    GstClockTime own);

/* Whether a latency changes from @old, or NONE, by so much that the pipeline
 * must know: more than a tenth. */
gboolean gst_nd_latency_differs (GstClockTime old, GstClockTime latency);

/* The running time up to which outputs are late after the event @qos. NONE: no
 * output is late. */
GstClockTime gst_nd_latency_earliest_time (GstEvent *qos);

G_END_DECLS
