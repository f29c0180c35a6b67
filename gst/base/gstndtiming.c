/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndtiming.h"

#include <stdlib.h>
#include <string.h>

const GstNdTimingRule gst_nd_timing_default_rule = {
  .gap = GST_ND_GAP_LEAVE_OUT, .limit = 5, .jitter = 0.5, .discont = TRUE
};

static int
timing_compare (const void *a, const void *b)
{
  const GstClockTime x = *(const GstClockTime *) a;
  const GstClockTime y = *(const GstClockTime *) b;

  return x < y ? -1 : x > y;
}

GstClockTime
gst_nd_timing_interval (const GstNdTiming *timing)
{
  guint n = MIN (timing->n, GST_ND_TIMING_INTERVALS);
  GstClockTime sorted[GST_ND_TIMING_INTERVALS];

  if (n == 0)
    return GST_CLOCK_TIME_NONE;
  memcpy (sorted, timing->intervals, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, timing_compare);
  /* For an even number, the lower one of the middle two: a gap is longer than
   * the interval. */
  return sorted[(n - 1) / 2];
}

GstClockTime
gst_nd_timing_expected (const GstNdTiming *timing, GstClockTime nominal)
{
  GstClockTime measured = gst_nd_timing_interval (timing);

  if (!GST_CLOCK_TIME_IS_VALID (measured))
    measured = timing->before;
  return GST_CLOCK_TIME_IS_VALID (nominal) ? MAX (nominal, measured) : measured;
}

static void
forget_intervals (GstNdTiming *timing)
{
  const GstClockTime measured = gst_nd_timing_interval (timing);

  if (GST_CLOCK_TIME_IS_VALID (measured))
    timing->before = measured;
  timing->n = 0;
}

void
gst_nd_timing_reset (GstNdTiming *timing)
{
  forget_intervals (timing);
  timing->last = GST_CLOCK_TIME_NONE;
  timing->shortest = GST_CLOCK_TIME_NONE;
}

/* Below this share of the nominal interval, and without one below this
 * interval, volumes come in bursts. */
#define BURST 4
#define BURST_INTERVAL GST_MSECOND

static GstClockTime
find_interval (const GstNdTiming *timing, GstClockTime nominal)
{
  const GstClockTime measured = gst_nd_timing_interval (timing);

  if (GST_CLOCK_TIME_IS_VALID (measured) && GST_CLOCK_TIME_IS_VALID (nominal)
      && measured < nominal / BURST)
    return nominal;
  if (!GST_CLOCK_TIME_IS_VALID (nominal) && measured < BURST_INTERVAL)
    return GST_CLOCK_TIME_NONE;
  return measured;
}

static void
add_interval (GstNdTiming *timing, GstClockTime interval)
{
  timing->shortest = MIN (timing->shortest, interval);
  timing->intervals[timing->n % GST_ND_TIMING_INTERVALS] = interval;
  /* Keeps the place in the array when the count starts again from full. */
  if (++timing->n == 2 * GST_ND_TIMING_INTERVALS)
    timing->n = GST_ND_TIMING_INTERVALS;
}

/* Whether DISCONT marks volumes that did not come. */
static gboolean
is_explained (const GstNdTiming *timing, const GstNdTimingRule *rule,
    GstClockTime nominal, GstClockTimeDiff elapsed)
{
  const GstClockTime interval =
      GST_CLOCK_TIME_IS_VALID (nominal) ? nominal : timing->shortest;

  return GST_CLOCK_TIME_IS_VALID (interval)
      && elapsed > (1 + rule->jitter) * interval;
}

/* The step from timestamp timing->last by @elapsed, for @busy of which the
 * element kept the stream waiting. @cut: DISCONT without an explanation. */
static GstNdTimingStep
classify (const GstNdTiming *timing, const GstNdTimingRule *rule,
    GstClockTime nominal, GstClockTimeDiff elapsed, GstClockTime busy,
    gboolean cut)
{
  const GstClockTime interval = find_interval (timing, nominal);
  GstNdTimingStep step = { NULL, 0 };
  gdouble intervals;

  if (!GST_CLOCK_TIME_IS_VALID (interval)) {
    if (elapsed < 0)
      step.break_reason = "timestamps run backwards";
    else if (cut)
      step.break_reason = "DISCONT without a gap in time";
    return step;
  }
  /* In a shorter time a source leaves out nothing. */
  if (elapsed > 0 && busy > interval)
    elapsed -= MIN ((GstClockTime) elapsed, busy);
  intervals = elapsed / (gdouble) interval;
  if (intervals > 1 + rule->jitter)
    step.missing = (guint) MIN (intervals - 0.5, (gdouble) G_MAXINT);
  if (intervals < -rule->jitter)
    step.break_reason = "timestamps run backwards";
  else if (rule->limit > 0 && intervals > rule->limit)
    step.break_reason = "gap over gap-limit";
  else if (step.missing > 0 && rule->gap == GST_ND_GAP_RESTART)
    step.break_reason = "missing volume";
  else if (cut)
    step.break_reason = "DISCONT without a gap in time";
  return step;
}

GstNdTimingStep
gst_nd_timing_step (GstNdTiming *timing, const GstNdTimingRule *rule,
    GstClockTime nominal, GstClockTime pts, gboolean discont, gboolean reverse,
    GstClockTime busy)
{
  GstNdTimingStep step = { NULL, 0 };
  GstClockTimeDiff elapsed;

  /* Sources mark every volume of a stream that runs backwards. */
  discont = discont && rule->discont && !reverse;
  if (!GST_CLOCK_TIME_IS_VALID (pts)
      || !GST_CLOCK_TIME_IS_VALID (timing->last)) {
    if (discont)
      step.break_reason = "DISCONT without timestamps";
    if (step.break_reason)
      forget_intervals (timing);
    timing->last = pts;
    return step;
  }
  elapsed = reverse ? GST_CLOCK_DIFF (pts, timing->last)
                    : GST_CLOCK_DIFF (timing->last, pts);
  step = classify (timing, rule, nominal, elapsed, busy,
      discont && !is_explained (timing, rule, nominal, elapsed));
  if (step.break_reason)
    forget_intervals (timing);
  else if (elapsed > 0)
    add_interval (timing, elapsed);
  timing->last = pts;
  return step;
}

const gchar *
gst_nd_timing_gap (const GstNdTiming *timing, const GstNdTimingRule *rule,
    GstClockTime nominal, GstClockTime start, GstClockTime duration,
    gboolean reverse)
{
  const GstClockTime interval = find_interval (timing, nominal);
  GstClockTimeDiff elapsed;
  gdouble limit = rule->limit;

  if (!GST_CLOCK_TIME_IS_VALID (interval)
      || !GST_CLOCK_TIME_IS_VALID (timing->last)
      || !GST_CLOCK_TIME_IS_VALID (start)
      || !GST_CLOCK_TIME_IS_VALID (duration))
    return "a GAP event";
  elapsed = reverse ? GST_CLOCK_DIFF (start, timing->last)
                    : GST_CLOCK_DIFF (timing->last, start + duration);
  if (rule->gap == GST_ND_GAP_RESTART)
    limit = 1 + rule->jitter;
  return limit > 0 && elapsed > limit * interval ? "a GAP event" : NULL;
}

/* A warning comes after this many breaks at the earliest. */
#define RESTARTS_TO_WARN 8

gboolean
gst_nd_restarts_add (GstNdRestarts *restarts, guint64 volumes, guint window)
{
  restarts->stretches++;
  restarts->volumes += volumes;
  if (restarts->warned || restarts->stretches < RESTARTS_TO_WARN
      || restarts->volumes >= restarts->stretches * 2 * (window - 1))
    return FALSE;
  restarts->warned = TRUE;
  return TRUE;
}

gdouble
gst_nd_restarts_mean (const GstNdRestarts *restarts)
{
  return restarts->stretches ? restarts->volumes / (gdouble) restarts->stretches
                             : 0;
}
