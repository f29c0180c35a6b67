/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndlatency.h"

#include "gst/base/gstndproperties.h"

/* How much of the longest computing time remains after each output. After 100
 * quick outputs a slow one counts for a third. */
#define PEAK_DECAY 0.99

/* The shortest interval for compute-latency=auto: sinks do not notice computing
 * times below a tenth of it. */
#define MIN_INTERVAL (5 * GST_MSECOND)

/* The shortest time between two messages about a measured latency. */
#define CHANGE_PAUSE (5 * GST_SECOND)

ND_DEFINE_ENUM (gst_nd_compute_latency_enum, "GstNdComputeLatency",
    { GST_ND_COMPUTE_LATENCY_AUTO,
        "If the stream is live and computing takes more than a tenth of the "
        "interval",
        "auto" },
    { GST_ND_COMPUTE_LATENCY_NEVER, "Never", "never" },
    { GST_ND_COMPUTE_LATENCY_ALWAYS, "Always", "always" });

GstClockTime
gst_nd_latency_compute_time (GstNdComputeLatency mode, gboolean live,
    GstClockTime interval, GstClockTime time, gboolean *counted)
{
  switch (mode) {
    case GST_ND_COMPUTE_LATENCY_NEVER:
      return 0;
    case GST_ND_COMPUTE_LATENCY_ALWAYS:
      return time;
    case GST_ND_COMPUTE_LATENCY_AUTO:
      break;
  }
  /* The limit is lower while the time is included, so that the latency does not
   * go up and down. */
  interval = MAX (interval, MIN_INTERVAL);
  *counted = live && time > interval / (*counted ? 20 : 10);
  return *counted ? time : 0;
}

gdouble
gst_nd_latency_peak (gdouble peak, gdouble seconds)
{
  return MAX (seconds, peak * PEAK_DECAY);
}

gboolean
gst_nd_latency_is_live (GstBaseTransform *trans)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (GST_BASE_TRANSFORM_SINK_PAD (trans), query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  return live;
}

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
gst_nd_latency_step (GstClockTime old, GstClockTime latency,
    GstClockTime interval)
{
  const GstClockTime step = interval / 8;

  if (!gst_nd_latency_differs (old, latency))
    return old;
  return GST_CLOCK_TIME_IS_VALID (old) && step > 0 && latency + step < old
      ? old - step
      : latency;
}

gboolean
gst_nd_latency_differs_now (GstClockTime old, GstClockTime latency,
    GstClockTime since)
{
  return gst_nd_latency_differs (old, latency)
      && (!GST_CLOCK_TIME_IS_VALID (old) || latency / 2 >= old
          || since >= CHANGE_PAUSE);
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
