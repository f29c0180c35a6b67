/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndlatency.h"

gboolean
gst_nd_latency_query (GstBaseTransform *trans, GstQuery *query,
    GstClockTime own)
{
  GstClockTime min, max;
  gboolean live;

  if (!GST_CLOCK_TIME_IS_VALID (own)
      || !gst_pad_peer_query (GST_BASE_TRANSFORM_SINK_PAD (trans), query))
    return FALSE;
  gst_query_parse_latency (query, &live, &min, &max);
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += own;
  gst_query_set_latency (query, live, min + own, max);
  return TRUE;
}

gboolean
gst_nd_latency_differs (GstClockTime old, GstClockTime latency)
{
  return !GST_CLOCK_TIME_IS_VALID (old)
      || (GstClockTime) ABS (GST_CLOCK_DIFF (old, latency))
      > MIN (old, latency) / 10;
}

GstClockTime
gst_nd_latency_earliest_time (GstEvent *qos)
{
  GstClockTimeDiff diff;
  GstClockTime timestamp;

  gst_event_parse_qos (qos, NULL, NULL, &diff, &timestamp);
  if (!GST_CLOCK_TIME_IS_VALID (timestamp))
    return GST_CLOCK_TIME_NONE;
  return timestamp + MAX (diff, -(gint64) timestamp);
}
