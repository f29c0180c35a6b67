/* Live streams that an element cannot follow, and streams that stop. A double
 * of a device says how long computing takes, and the clock is one of the test,
 * so that the load of the machine does not matter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <gmodule.h>
#include <gst/check/gsttestclock.h>
#include <time.h>

#define VOLUMES 80

/* The time of the clock at first. */
#define LATE (1000 * GST_SECOND)

/* Outputs after which the element has found its pace. */
#define WARM_UP 10

static void (*set_compute) (gint ms);

/* Each time that a thread asks for is this much later, so that what the element
 * measures counts its steps. 0: the real time. */
static _Thread_local gint64 step;
static _Thread_local gint64 fake;

/* Takes the place of the function of GLib, for the plugin too. */
G_MODULE_EXPORT gint64
g_get_monotonic_time (void)
{
  struct timespec now;

  if (step > 0)
    return fake += step;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

static void
open_double (void)
{
  GModule *module = g_module_open (g_getenv ("NDCONV_CUDA_MODULE"), 0);

  g_assert_nonnull (module);
  g_assert_true (g_module_symbol (module, "device_double_set_compute",
      (gpointer *) &set_compute));
}

/* Volumes come each second. */
static Stream *
start (gint compute_ms, gboolean live, const gchar *property,
    const gchar *value)
{
  const Model model = model_temporal (5, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, "backend", "cuda",
      "compute-latency", "auto", property, value, NULL);

  set_compute (compute_ms);
  s->rate = 1;
  s->duration = GST_SECOND;
  s->not_live = !live;
  stream_start (s);
  gst_harness_use_testclock (s->h);
  /* All volumes come late. */
  gst_harness_set_time (s->h, LATE);
  return s;
}

/* Outputs @from to the last one are those of a stream of the volumes @taken, as
 * if there were no others. */
static void
check_outputs (Stream *s, GPtrArray *outputs, guint from)
{
  const guint n = outputs->len;
  g_autofree gdouble *samples = g_new (gdouble, n * s->samples);
  g_autofree const gdouble **volumes = g_new (const gdouble *, n);
  g_autofree gdouble *want = g_new (gdouble, s->samples);

  for (guint v = 0; v < n; v++) {
    GstBuffer *output = g_ptr_array_index (outputs, v);

    volumes[v] = samples + v * s->samples;
    for (gsize k = 0; k < s->samples; k++)
      samples[v * s->samples + k] =
          stream_sample (GST_BUFFER_PTS (output) / GST_SECOND, k);
  }
  for (guint v = from; v < n; v++) {
    g_autofree gfloat *got = g_new (gfloat, s->samples);

    model_respond (&s->model, volumes, n, v, s->dims, want);
    gst_buffer_extract (g_ptr_array_index (outputs, v), 0, got,
        s->samples * sizeof (gfloat));
    for (gsize k = 0; k < s->samples; k++)
      fail_unless (got[k] == (gfloat) want[k], "output %u, sample %u", v,
          (guint) k);
  }
}

/* Pushes volumes @from to @to and EOS, and takes all outputs. */
static GPtrArray *
play (Stream *s, guint from, guint to)
{
  GPtrArray *outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstBuffer *output;

  stream_push_range (s, from, to - 1);
  stream_eos (s);
  while ((output = gst_harness_try_pull (s->h)))
    g_ptr_array_add (outputs, output);
  return outputs;
}

static void
expect_distances (GPtrArray *outputs, guint from, GstClockTime distance)
{
  for (guint i = from; i + 1 < outputs->len; i++) {
    GstBuffer *a = g_ptr_array_index (outputs, i);
    GstBuffer *b = g_ptr_array_index (outputs, i + 1);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (b) - GST_BUFFER_PTS (a),
        distance);
    fail_if (GST_BUFFER_FLAG_IS_SET (b, GST_BUFFER_FLAG_DISCONT));
  }
}

/* Every fourth volume is computed, from a whole window of such volumes. */
GST_START_TEST (test_thinned)
{
  Stream *s = start (2500, TRUE, "max-latency", "0");
  g_autoptr (GPtrArray) outputs = play (s, 0, VOLUMES);
  const guint skipped = stream_stat (s, "volumes-skipped");
  GstClockTime latency;

  fail_unless_equals_int (outputs->len + skipped, VOLUMES);
  fail_unless (skipped > VOLUMES / 2);
  expect_distances (outputs, WARM_UP, 4 * GST_SECOND);
  check_outputs (s, outputs, 0);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-in"), VOLUMES);
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 1);
  fail_unless_equals_uint64 (stream_stat (s, "gaps"), 0);
  fail_unless_equals_uint64 (stream_messages (s, GST_MESSAGE_QOS, NULL),
      skipped);
  /* Two later volumes, and the work. */
  fail_unless (stream_latency (s, NULL, &latency, NULL));
  fail_unless (latency > 10 * GST_SECOND && latency < 11 * GST_SECOND);
  stream_free (s);
}

GST_END_TEST;

/* A sink that got the output with timestamp @pts @diff too late. */
static void
report_late (Stream *s, GstClockTime pts, GstClockTime diff)
{
  gst_harness_push_upstream_event (s->h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.0, diff, pts));
}

/* Pushes volumes @from to @to. The sink knows of no latency. */
static void
push_to_late_sink (Stream *s, guint from, guint to, GPtrArray *outputs)
{
  GstBuffer *output;
  GstClockTime latency;

  for (guint v = from; v < to; v++) {
    stream_push (s, v);
    while ((output = gst_harness_try_pull (s->h))) {
      g_ptr_array_add (outputs, output);
      fail_unless (stream_latency (s, NULL, &latency, NULL));
      report_late (s, GST_BUFFER_PTS (output), latency);
    }
  }
}

/* Outputs that are late because the sink does not wait as long as the element
 * needs, or not any longer than max-latency, are not left out. */
GST_START_TEST (test_own_latency)
{
  g_autoptr (GPtrArray) outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  Stream *s =
      start (2500, TRUE, "max-latency", __i__ == 0 ? "0" : "3000000000");
  guint64 late;
  guint n;

  push_to_late_sink (s, 0, 2 * VOLUMES, outputs);
  late = stream_stat (s, "volumes-late");
  n = outputs->len;
  push_to_late_sink (s, 2 * VOLUMES, 4 * VOLUMES, outputs);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-late"), late);
  fail_unless_equals_int (outputs->len - n, 2 * VOLUMES / 4);
  expect_distances (outputs, n, 4 * GST_SECOND);
  stream_free (s);
}

GST_END_TEST;

/* The CPU begins each output before its last volume comes, and volumes that are
 * left out cost nothing: an output costs 1.5 intervals, in three steps. */
GST_START_TEST (test_begun_outputs)
{
  Stream *s = start (0, TRUE, "backend", "cpu");
  g_autoptr (GPtrArray) outputs = NULL;

  g_object_set (s->element, "n-threads", 1, NULL);
  gst_util_set_object_arg (G_OBJECT (s->element), "method", "direct");
  step = G_USEC_PER_SEC / 2;
  outputs = play (s, 0, 2 * VOLUMES);
  step = 0;
  expect_distances (outputs, WARM_UP, 2 * GST_SECOND);
  check_outputs (s, outputs, 0);
  stream_free (s);
}

GST_END_TEST;

/* Downstream is so slow that outputs are late by more than the latency. */
GST_START_TEST (test_slow_sink)
{
  Stream *s = start (2500, TRUE, NULL, NULL);

  stream_push_range (s, 0, VOLUMES - 1);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-late"), 0);
  report_late (s, VOLUMES * GST_SECOND, 100 * GST_SECOND);
  stream_push_range (s, VOLUMES, 2 * VOLUMES - 1);
  fail_unless (stream_stat (s, "volumes-late") > 10);
  stream_free (s);
}

GST_END_TEST;

/* Nothing is told within 5 s after the last message, unless outputs are
 * late. */
GST_START_TEST (test_tells_at_once)
{
  Stream *s = start (1400, TRUE, "max-latency", "0");

  stream_push_range (s, 0, VOLUMES - 1);
  stream_messages (s, GST_MESSAGE_LATENCY, NULL);
  set_compute (2300);
  report_late (s, VOLUMES * GST_SECOND, GST_SECOND);
  stream_push_range (s, VOLUMES, 2 * VOLUMES - 1);
  fail_unless (stream_messages (s, GST_MESSAGE_LATENCY, NULL) > 0);
  stream_free (s);
}

GST_END_TEST;

/* An output costs less than a third of the interval. The work for late outputs
 * is not added to the cost of the next one. */
GST_START_TEST (test_cost_after_late)
{
  Stream *s = start (0, TRUE, "backend", "cpu");

  step = G_USEC_PER_SEC / 10;
  for (guint i = 0; i < 20; i++) {
    stream_push_range (s, i * VOLUMES, (i + 1) * VOLUMES - 1);
    report_late (s, ((i + 1) * VOLUMES - 5) * GST_SECOND,
        (VOLUMES - 1) * GST_SECOND);
  }
  fail_unless (stream_stat (s, "volumes-late") > 10 * VOLUMES);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-skipped"), 0);
  step = 0;
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_latency_is_bounded)
{
  Stream *s = start (2500, TRUE, NULL, NULL);
  g_autoptr (GPtrArray) outputs = play (s, 0, VOLUMES);
  GstClockTime latency;

  fail_unless (stream_latency (s, NULL, &latency, NULL));
  fail_unless (latency >= 2 * GST_SECOND && latency <= 5 * GST_SECOND);
  stream_free (s);
}

GST_END_TEST;

/* The window takes longer than max-latency already. */
GST_START_TEST (test_latency_of_window)
{
  Stream *s = start (0, TRUE, "max-latency", "1");
  g_autoptr (GPtrArray) outputs = play (s, 0, VOLUMES);
  GstClockTime latency;

  fail_unless (stream_latency (s, NULL, &latency, NULL));
  fail_unless_equals_uint64 (latency, 2 * GST_SECOND);
  fail_unless_equals_int (outputs->len, VOLUMES);
  stream_free (s);
}

GST_END_TEST;

/* Not live, or without QoS, or volumes that come before their time. */
GST_START_TEST (test_nothing_skipped)
{
  Stream *s = start (2500, __i__ != 0, "qos", __i__ == 1 ? "false" : "true");
  g_autoptr (GPtrArray) outputs = NULL;

  if (__i__ == 2)
    gst_element_set_base_time (s->element, LATE);
  outputs = play (s, 0, VOLUMES);
  fail_unless_equals_int (outputs->len, VOLUMES);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-skipped"), 0);
  check_outputs (s, outputs, 0);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_relief)
{
  Stream *s = start (2500, TRUE, NULL, NULL);
  g_autoptr (GPtrArray) outputs = NULL;
  guint64 skipped;

  stream_push_range (s, 0, VOLUMES - 1);
  set_compute (100);
  stream_push_range (s, VOLUMES, 2 * VOLUMES - 1);
  skipped = stream_stat (s, "volumes-skipped");
  outputs = play (s, 2 * VOLUMES, 3 * VOLUMES);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-skipped"), skipped);
  expect_distances (outputs, outputs->len - VOLUMES, GST_SECOND);
  check_outputs (s, outputs, 0);
  stream_free (s);
}

GST_END_TEST;

/* Waits for the thread that waits for the clock; the time it waits for. */
static GstClockTime
next_deadline (GstTestClock *clock)
{
  GstClockID id;
  GstClockTime time;

  gst_test_clock_wait_for_next_pending_id (clock, &id);
  time = gst_clock_id_get_time (id);
  gst_clock_id_unref (id);
  return time;
}

static void
pass (GstTestClock *clock, GstClockTime time)
{
  GstClockID id;

  gst_test_clock_set_time (clock, time);
  gst_test_clock_wait_for_next_pending_id (clock, NULL);
  id = gst_test_clock_process_next_clock_id (clock);
  fail_unless (id != NULL);
  gst_clock_id_unref (id);
}

/* The volume of a frozen probe. It is shown before the probe goes on. */
GST_START_TEST (test_frozen)
{
  Stream *s = start (0, TRUE, "release-after", "7000000000");
  g_autoptr (GstTestClock) clock = gst_harness_get_testclock (s->h);

  stream_push_range (s, 0, 9);
  fail_unless_equals_uint64 (next_deadline (clock), LATE + 7 * GST_SECOND);
  stream_expect (s, 0, 10, 0, 8);
  stream_expect_none (s);
  pass (clock, LATE + 7 * GST_SECOND);
  stream_check (s, gst_harness_pull (s->h), 0, 10, 8);
  stream_check (s, gst_harness_pull (s->h), 0, 10, 9);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-released"), 2);
  stream_push_range (s, 10, 19);
  stream_eos (s);
  stream_expect_all (s, 10, 10);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-released"), 2);
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 2);
  stream_free (s);
}

GST_END_TEST;

/* A volume comes in time: its successor has a new deadline. */
GST_START_TEST (test_late_volume)
{
  Stream *s = start (0, TRUE, NULL, NULL);
  g_autoptr (GstTestClock) clock = gst_harness_get_testclock (s->h);

  stream_push_range (s, 0, 9);
  /* The default, 3.5 s. */
  fail_unless_equals_uint64 (next_deadline (clock), LATE + 3500 * GST_MSECOND);
  gst_test_clock_set_time (clock, LATE + 3 * GST_SECOND);
  stream_push (s, 10);
  pass (clock, LATE + 3500 * GST_MSECOND);
  fail_unless_equals_uint64 (next_deadline (clock), LATE + 6500 * GST_MSECOND);
  stream_push_range (s, 11, 19);
  stream_eos (s);
  stream_expect_all (s, 0, 20);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-released"), 0);
  stream_free (s);
}

GST_END_TEST;

/* Nothing passes while the pipeline is paused, and all of it afterwards. */
GST_START_TEST (test_paused)
{
  Stream *s = start (0, TRUE, NULL, NULL);
  g_autoptr (GstTestClock) clock = gst_harness_get_testclock (s->h);

  stream_push_range (s, 0, 9);
  next_deadline (clock);
  gst_element_set_state (s->element, GST_STATE_PAUSED);
  pass (clock, LATE + 100 * GST_SECOND);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-released"), 0);
  gst_element_set_state (s->element, GST_STATE_PLAYING);
  fail_unless_equals_uint64 (next_deadline (clock),
      LATE + 103500 * GST_MSECOND);
  pass (clock, LATE + 103500 * GST_MSECOND);
  for (guint i = 0; i < 10; i++)
    stream_check (s, gst_harness_pull (s->h), 0, 10, i);
  stream_free (s);
}

GST_END_TEST;

/* Volumes that come seldom are waited for, and streams that are not live. */
GST_START_TEST (test_patience)
{
  static const struct
  {
    gboolean live;
    const gchar *after;
    guint interval;   /* s */
    guint64 deadline; /* s; 0: none */
  } rows[] = {
    { TRUE, "-1", 10, 30 },
    { TRUE, "1", 10, 30 },
    { TRUE, "40000000000", 10, 40 },
    { TRUE, "0", 10, 0 },
    { FALSE, "-1", 10, 0 },
    { FALSE, "40000000000", 10, 40 },
  };
  Stream *s = start (0, rows[__i__].live, "release-after", rows[__i__].after);
  g_autoptr (GstTestClock) clock = gst_harness_get_testclock (s->h);

  for (guint i = 0; i < 10; i++)
    stream_push (s, i * rows[__i__].interval);
  if (rows[__i__].deadline == 0) {
    fail_unless_equals_int (gst_test_clock_peek_id_count (clock), 0);
  } else {
    /* The thread may wait for the deadline after the first volume, when the
     * interval was not known. */
    if (next_deadline (clock) < LATE + rows[__i__].deadline * GST_SECOND)
      pass (clock, next_deadline (clock));
    fail_unless_equals_uint64 (next_deadline (clock),
        LATE + rows[__i__].deadline * GST_SECOND);
    fail_unless_equals_uint64 (stream_stat (s, "volumes-released"), 0);
  }
  stream_free (s);
}

GST_END_TEST;

static Suite *
overload_suite (void)
{
  Suite *suite = suite_create ("overload");
  TCase *tc = tcase_create ("overload");

  open_double ();
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_thinned);
  tcase_add_loop_test (tc, test_own_latency, 0, 2);
  tcase_add_test (tc, test_begun_outputs);
  tcase_add_test (tc, test_slow_sink);
  tcase_add_test (tc, test_tells_at_once);
  tcase_add_test (tc, test_cost_after_late);
  tcase_add_test (tc, test_latency_is_bounded);
  tcase_add_test (tc, test_latency_of_window);
  tcase_add_loop_test (tc, test_nothing_skipped, 0, 3);
  tcase_add_test (tc, test_relief);
  tcase_add_test (tc, test_frozen);
  tcase_add_test (tc, test_late_volume);
  tcase_add_test (tc, test_paused);
  tcase_add_loop_test (tc, test_patience, 0, 6);
  return suite;
}

GST_CHECK_MAIN (overload);
