/* Converts times of senders to running time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtltimes.h"

/* The reported latency changes in steps of this size, up to a limit. */
#define LATENCY_STEP (5 * GST_MSECOND)
#define LATENCY_MAX GST_SECOND

/* Two clocks of one computer are read one after the other. A smaller difference
 * is due to reading them. */
#define CLOCK_STEP (2 * GST_MSECOND)

void
gst_nd_igtl_times_reset (GstNdIgtlTimes *times)
{
  *times = (GstNdIgtlTimes){ .last = 0 };
  nd_igtl_clock_init (&times->clock);
}

static guint64
monotonic_now (void)
{
  return (guint64) g_get_monotonic_time () * GST_USECOND;
}

/* Running time of a monotonic time. */
static GstClockTime
to_running_time (GstNdIgtlTimes *times, GstElement *element, guint64 time)
{
  g_autoptr (GstClock) clock = gst_element_get_clock (element);
  const GstClockTime base = gst_element_get_base_time (element);
  gint64 offset;

  if (!clock)
    return times->last;
  offset = (gint64) gst_clock_get_time (clock) - (gint64) monotonic_now ();
  if (!times->has_clock_offset
      || ABS (offset - times->clock_offset) > (gint64) CLOCK_STEP)
    times->clock_offset = offset;
  times->has_clock_offset = TRUE;
  return MAX ((gint64) time + times->clock_offset - (gint64) base, 0);
}

void
gst_nd_igtl_times_see (GstNdIgtlTimes *times, guint64 sent, guint64 arrival)
{
  nd_igtl_clock_map (&times->clock, sent, arrival);
}

GstClockTime
gst_nd_igtl_times_map (GstNdIgtlTimes *times, GstElement *element, guint64 sent,
    guint64 arrival, gboolean use_sender)
{
  guint64 time = arrival;

  if (use_sender)
    time = nd_igtl_clock_map (&times->clock, sent, arrival);
  time = MAX (to_running_time (times, element, time), times->last);
  times->last = time;
  if (!times->has_origin) {
    if (!use_sender || sent == 0)
      sent = (guint64) g_get_real_time () * GST_USECOND
          - (monotonic_now () - arrival);
    times->origin = (gint64) sent - (gint64) time;
    times->has_origin = TRUE;
  }
  return time;
}

GstClockTime
gst_nd_igtl_times_latency (const GstNdIgtlTimes *times)
{
  const GstClockTime delay =
      MIN (nd_igtl_clock_delay (&times->clock), LATENCY_MAX);

  return (delay + LATENCY_STEP - 1) / LATENCY_STEP * LATENCY_STEP;
}
