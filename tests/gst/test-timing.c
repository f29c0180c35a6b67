/* The timing of volumes: the rules that end a stretch, and the count of missing
 * volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndlatency.h"
#include "gst/base/gstndtiming.h"

#define INTERVAL (33 * GST_MSECOND)

static const GstNdTimingRule defaults = { GST_ND_GAP_LEAVE_OUT, 5.0, 0.5,
  TRUE };

typedef struct
{
  guint breaks;
  guint missing;
} Count;

/* Takes @n volumes; volume i comes @intervals[i % n_intervals] after the one
 * before it. */
static Count
run (const GstNdTimingRule *rule, guint n, const GstClockTime *intervals,
    guint n_intervals)
{
  GstNdTiming timing = { 0 };
  GstClockTime pts = 7 * GST_SECOND;
  Count count = { 0, 0 };

  gst_nd_timing_reset (&timing);
  for (guint i = 0; i < n; i++) {
    GstNdTimingStep step =
        gst_nd_timing_step (&timing, rule, INTERVAL, pts, FALSE, FALSE, 0);

    count.breaks += step.break_reason != NULL;
    count.missing += step.missing;
    pts += intervals[i % n_intervals];
  }
  return count;
}

static void
test_steady (void)
{
  const GstClockTime intervals[] = { INTERVAL };
  Count count = run (&defaults, 100, intervals, 1);

  g_assert_cmpuint (count.breaks, ==, 0);
  g_assert_cmpuint (count.missing, ==, 0);
}

static void
test_jitter (void)
{
  GRand *random = g_rand_new_with_seed (1);
  GstClockTime intervals[50];
  Count count;

  for (guint i = 0; i < G_N_ELEMENTS (intervals); i++)
    intervals[i] = INTERVAL * g_rand_double_range (random, 0.8, 1.2);
  g_rand_free (random);
  count = run (&defaults, 500, intervals, G_N_ELEMENTS (intervals));
  g_assert_cmpuint (count.breaks, ==, 0);
  g_assert_cmpuint (count.missing, ==, 0);
}

/* One lost of five: the window goes on, and the loss is counted. */
static void
test_single_lost (void)
{
  const GstClockTime intervals[] = { INTERVAL, INTERVAL, INTERVAL, INTERVAL,
    2 * INTERVAL };
  GstNdTimingRule restart = defaults;
  Count count = run (&defaults, 51, intervals, 5);

  g_assert_cmpuint (count.breaks, ==, 0);
  g_assert_cmpuint (count.missing, ==, 10);
  restart.gap = GST_ND_GAP_RESTART;
  count = run (&restart, 51, intervals, 5);
  g_assert_cmpuint (count.breaks, ==, 10);
}

/* A camera that halves its rate in low light: no break, and after a few frames
 * the new interval is the measured one. */
static void
test_rate_halves (void)
{
  GstNdTiming timing = { 0 };
  GstClockTime pts = 0;
  guint missing = 0;

  gst_nd_timing_reset (&timing);
  for (guint i = 0; i < 60; i++) {
    GstNdTimingStep step =
        gst_nd_timing_step (&timing, &defaults, INTERVAL, pts, FALSE, FALSE, 0);

    g_assert_null (step.break_reason);
    missing += step.missing;
    pts += i < 30 ? INTERVAL : 2 * INTERVAL;
  }
  g_assert_cmpuint (missing, <=, GST_ND_TIMING_INTERVALS);
  g_assert_cmpuint (gst_nd_timing_interval (&timing), ==, 2 * INTERVAL);
}

/* From 30 to 3 frames a second at once: one break, not one for each frame. */
static void
test_rate_falls (void)
{
  GstNdTiming timing = { 0 };
  GstClockTime pts = 0;
  guint breaks = 0;

  gst_nd_timing_reset (&timing);
  for (guint i = 0; i < 60; i++) {
    breaks +=
        gst_nd_timing_step (&timing, &defaults, INTERVAL, pts, FALSE, FALSE, 0)
            .break_reason
        != NULL;
    pts += i < 30 ? INTERVAL : 10 * INTERVAL;
  }
  g_assert_cmpuint (breaks, ==, 1);
}

static void
test_pause (void)
{
  const GstClockTime intervals[] = { INTERVAL, INTERVAL, INTERVAL, INTERVAL,
    INTERVAL, INTERVAL, INTERVAL, 3 * GST_SECOND };
  GstNdTimingRule never = defaults;
  Count count = run (&defaults, 80, intervals, 8);

  g_assert_cmpuint (count.breaks, ==, 9);
  never.limit = 0;
  count = run (&never, 80, intervals, 8);
  g_assert_cmpuint (count.breaks, ==, 0);
}

static void
test_backwards (void)
{
  GstNdTiming timing = { 0 };

  gst_nd_timing_reset (&timing);
  for (guint i = 0; i < 5; i++)
    gst_nd_timing_step (&timing, &defaults, INTERVAL, GST_SECOND + i * INTERVAL,
        FALSE, FALSE, 0);
  g_assert_nonnull (gst_nd_timing_step (&timing, &defaults, INTERVAL,
      GST_SECOND, FALSE, FALSE, 0)
                        .break_reason);
}

static void
test_reverse (void)
{
  GstNdTiming timing = { 0 };

  gst_nd_timing_reset (&timing);
  for (guint i = 0; i < 20; i++)
    g_assert_null (gst_nd_timing_step (&timing, &defaults, INTERVAL,
        GST_SECOND - i * INTERVAL, FALSE, TRUE, 0)
                       .break_reason);
  g_assert_cmpuint (gst_nd_timing_interval (&timing), ==, INTERVAL);
}

/* DISCONT marks a lost frame, which the timestamps show, or a cut, which they
 * do not. */
static void
test_discont (void)
{
  GstNdTimingRule deaf = defaults;
  GstNdTiming timing = { 0 };

  deaf.discont = FALSE;
  for (guint gap = 1; gap <= 3; gap++) {
    for (guint listens = 0; listens < 2; listens++) {
      const GstNdTimingRule *rule = listens ? &defaults : &deaf;
      GstNdTimingStep step;

      gst_nd_timing_reset (&timing);
      for (guint i = 0; i < 5; i++)
        gst_nd_timing_step (&timing, rule, INTERVAL, i * INTERVAL, FALSE, FALSE,
            0);
      step = gst_nd_timing_step (&timing, rule, INTERVAL, (4 + gap) * INTERVAL,
          TRUE, FALSE, 0);
      g_assert_cmpint (step.break_reason != NULL, ==, listens && gap == 1);
      g_assert_cmpuint (step.missing, ==, gap - 1);
    }
  }
}

/* A leaky queue before a slow filter marks each volume that it lets pass. */
static void
test_leaky_queue (void)
{
  for (guint known = 0; known < 2; known++) {
    GstNdTiming timing = { 0 };
    guint breaks = 0;

    gst_nd_timing_reset (&timing);
    for (guint i = 0; i < 100; i++)
      breaks += gst_nd_timing_step (&timing, &defaults,
                    known ? INTERVAL : GST_CLOCK_TIME_NONE,
                    (i < 10 ? i : 10 * i) * INTERVAL, i >= 10, FALSE, 0)
                    .break_reason
          != NULL;
    g_assert_cmpuint (breaks, ==, 1);
  }
}

/* A network gives frames in bursts, and their timestamps tell when they
 * came. */
static void
test_bursts (void)
{
  for (guint burst = 2; burst <= 4; burst++) {
    GstClockTime intervals[4];
    Count count;

    for (guint i = 0; i < burst; i++)
      intervals[i] = GST_MSECOND;
    intervals[burst - 1] = burst * INTERVAL - (burst - 1) * GST_MSECOND;
    count = run (&defaults, 100, intervals, burst);
    g_assert_cmpuint (count.breaks, ==, 0);
    g_assert_cmpuint (count.missing, <, 100);
  }
}

/* Takes volumes at 0 to @n - 1, and then a GAP event of @duration. */
static gboolean
gap_breaks (guint n, GstNdGap gap, GstClockTime duration)
{
  GstNdTimingRule rule = defaults;
  GstNdTiming timing = { 0 };

  rule.gap = gap;
  gst_nd_timing_reset (&timing);
  for (guint i = 0; i < n; i++)
    gst_nd_timing_step (&timing, &rule, INTERVAL, i * INTERVAL, FALSE, FALSE,
        0);
  return gst_nd_timing_gap (&timing, &rule, INTERVAL, n * INTERVAL, duration,
             FALSE)
      != NULL;
}

static void
test_gap_events (void)
{
  g_assert_false (gap_breaks (5, GST_ND_GAP_LEAVE_OUT, INTERVAL));
  g_assert_false (gap_breaks (5, GST_ND_GAP_HOLD, 3 * INTERVAL));
  g_assert_true (gap_breaks (5, GST_ND_GAP_LEAVE_OUT, 5 * INTERVAL));
  g_assert_true (gap_breaks (5, GST_ND_GAP_RESTART, INTERVAL));
  g_assert_true (gap_breaks (5, GST_ND_GAP_LEAVE_OUT, GST_CLOCK_TIME_NONE));
  g_assert_true (gap_breaks (1, GST_ND_GAP_LEAVE_OUT, INTERVAL));
}

static void
test_no_timestamps (void)
{
  GstNdTiming timing = { 0 };

  gst_nd_timing_reset (&timing);
  for (guint i = 0; i < 10; i++)
    g_assert_null (gst_nd_timing_step (&timing, &defaults, INTERVAL,
        GST_CLOCK_TIME_NONE, FALSE, FALSE, 0)
                       .break_reason);
  g_assert_nonnull (gst_nd_timing_step (&timing, &defaults, INTERVAL,
      GST_CLOCK_TIME_NONE, TRUE, FALSE, 0)
                        .break_reason);
  g_assert_false (GST_CLOCK_TIME_IS_VALID (gst_nd_timing_interval (&timing)));
}

/* A break does not change the latency before the next interval is measured. */
static void
test_expected (void)
{
  const GstClockTime nominals[] = { INTERVAL, 2 * INTERVAL,
    GST_CLOCK_TIME_NONE };

  for (guint i = 0; i < G_N_ELEMENTS (nominals); i++) {
    const GstClockTime nominal = nominals[i], slow = 3 * INTERVAL;
    GstNdTiming timing = { 0 };

    gst_nd_timing_reset (&timing);
    g_assert_cmpuint (gst_nd_timing_expected (&timing, nominal), ==,
        GST_CLOCK_TIME_IS_VALID (nominal) ? nominal : 0);
    for (guint v = 0; v < 20; v++) {
      const GstClockTime pts = v * slow + (v >= 10 ? GST_SECOND * 60 : 0);

      if (v == 15)
        gst_nd_timing_reset (&timing);
      gst_nd_timing_step (&timing, &gst_nd_timing_default_rule, nominal, pts,
          FALSE, FALSE, 0);
      if (v > 0)
        g_assert_cmpuint (gst_nd_timing_expected (&timing, nominal), ==, slow);
    }
  }
}

/* Without a rate and without times of the sender, the bursts in which volumes
 * arrive are no gaps. */
static void
test_bursts_without_rate (void)
{
  for (guint burst = 2; burst <= 9; burst++) {
    GstNdTiming timing = { 0 };

    gst_nd_timing_reset (&timing);
    for (guint i = 0; i < 100; i++) {
      const GstClockTime pts = i / burst * burst * INTERVAL + i % burst * 100;

      g_assert_null (gst_nd_timing_step (&timing, &defaults,
          GST_CLOCK_TIME_NONE, pts, FALSE, FALSE, 0)
                         .break_reason);
    }
  }
}

/* A live source leaves out what comes while the element is busy. That is no
 * gap, but what is missing beside it is. */
static void
test_busy (void)
{
  static const struct
  {
    guint elapsed;
    gdouble busy;
    guint missing;
    gboolean breaks;
  } rows[] = {
    { 1, 0, 0, FALSE }, { 8, 0, 7, TRUE }, { 8, 7.5, 0, FALSE },
    { 8, 9, 0, FALSE }, { 20, 17, 2, FALSE }, { 20, 8, 11, TRUE },
    { 2, 0.9, 1, FALSE }, /* too short to leave out a volume */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstNdTiming timing = { 0 };
    GstNdTimingStep step;

    gst_nd_timing_reset (&timing);
    for (guint v = 0; v < 9; v++)
      gst_nd_timing_step (&timing, &defaults, GST_CLOCK_TIME_NONE, v * INTERVAL,
          FALSE, FALSE, 0);
    step = gst_nd_timing_step (&timing, &defaults, GST_CLOCK_TIME_NONE,
        (8 + rows[i].elapsed) * INTERVAL, FALSE, FALSE,
        rows[i].busy * INTERVAL);
    g_assert_cmpuint (step.missing, ==, rows[i].missing);
    g_assert_cmpint (step.break_reason != NULL, ==, rows[i].breaks);
  }
}

/* A sink waits anew after each change, so that they are few. */
static void
test_latency_changes (void)
{
  static const struct
  {
    GstClockTime old, latency, since;
    gboolean changes;
  } rows[] = {
    { GST_CLOCK_TIME_NONE, 100, 0, TRUE },
    { 100, 105, 60 * GST_SECOND, FALSE },
    { 100, 150, 5 * GST_SECOND, TRUE },
    { 100, 150, 5 * GST_SECOND - 1, FALSE },
    { 100, 199, 0, FALSE },
    { 100, 200, 0, TRUE },
    { 0, 1, 0, TRUE },
    { 100, 10, 4 * GST_SECOND, FALSE },
    { 100, 10, 5 * GST_SECOND, TRUE },
    { 100, 0, 5 * GST_SECOND, TRUE },
    { 0, 0, 5 * GST_SECOND, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (gst_nd_latency_differs_now (rows[i].old, rows[i].latency,
                         rows[i].since),
        ==, rows[i].changes);
}

/* auto counts the time that a sink would notice, and goes on with less. */
static void
test_compute_time (void)
{
  const GstClockTime interval = 20 * GST_MSECOND, slow = 3 * GST_MSECOND,
                     quick = 1500 * GST_USECOND, least = 500 * GST_USECOND;
  gboolean counted = FALSE;
  gdouble peak = 0;

#define TIME(mode, live, time)                                                \
  gst_nd_latency_compute_time (GST_ND_COMPUTE_LATENCY_##mode, live, interval, \
      time, &counted)
  g_assert_cmpuint (TIME (NEVER, TRUE, slow), ==, 0);
  g_assert_cmpuint (TIME (ALWAYS, FALSE, least), ==, least);
  g_assert_cmpuint (TIME (AUTO, FALSE, slow), ==, 0);
  g_assert_cmpuint (TIME (AUTO, TRUE, quick), ==, 0);
  g_assert_cmpuint (TIME (AUTO, TRUE, slow), ==, slow);
  g_assert_cmpuint (TIME (AUTO, TRUE, quick), ==, quick);
  g_assert_cmpuint (TIME (AUTO, TRUE, least), ==, 0);
  g_assert_cmpuint (TIME (AUTO, TRUE, quick), ==, 0);
#undef TIME

  for (guint i = 0; i < 100; i++)
    peak = gst_nd_latency_peak (peak, i == 0 ? 1 : 0.01);
  g_assert_cmpfloat (peak, >, 0.3);
  g_assert_cmpfloat (peak, <, 0.5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/timing/steady", test_steady);
  g_test_add_func ("/timing/jitter", test_jitter);
  g_test_add_func ("/timing/single-lost", test_single_lost);
  g_test_add_func ("/timing/rate-halves", test_rate_halves);
  g_test_add_func ("/timing/rate-falls", test_rate_falls);
  g_test_add_func ("/timing/pause", test_pause);
  g_test_add_func ("/timing/backwards", test_backwards);
  g_test_add_func ("/timing/reverse", test_reverse);
  g_test_add_func ("/timing/discont", test_discont);
  g_test_add_func ("/timing/leaky-queue", test_leaky_queue);
  g_test_add_func ("/timing/bursts", test_bursts);
  g_test_add_func ("/timing/gap-events", test_gap_events);
  g_test_add_func ("/timing/no-timestamps", test_no_timestamps);
  g_test_add_func ("/timing/expected", test_expected);
  g_test_add_func ("/timing/compute-time", test_compute_time);
  g_test_add_func ("/timing/bursts-without-rate", test_bursts_without_rate);
  g_test_add_func ("/timing/busy", test_busy);
  g_test_add_func ("/timing/latency-changes", test_latency_changes);
  return g_test_run ();
}
