/* Streams whose volumes do not arrive as the caps promise: slow cameras, lost
 * frames, pauses, missing timestamps.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#define TAPS 5

/* Pushes volume @number with timestamp @pts. */
static void
push_at (Stream *s, gint number, GstClockTime pts)
{
  GstBuffer *buffer = stream_buffer (s, number);

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
  fail_unless_equals_int (gst_harness_push (s->h, buffer), GST_FLOW_OK);
}

/* Pulls all @n outputs of one stretch, and checks their timestamps. */
static void
expect_stretch (Stream *s, guint n, const GstClockTime *pts)
{
  for (guint i = 0; i < n; i++) {
    GstBuffer *output = gst_buffer_make_writable (stream_pull (s));

    fail_unless_equals_uint64 (GST_BUFFER_PTS (output), pts[i]);
    fail_unless_equals_int (GST_BUFFER_IS_DISCONT (output), i == 0);
    GST_BUFFER_PTS (output) = i * s->duration;
    stream_check (s, output, 0, n, i);
  }
  stream_expect_none (s);
}

/* The caps promise 10 volumes a second; volume i comes @intervals[i % n]
 * milliseconds after the one before it, and all make one stretch. */
static void
check_one_stretch (gint rate, guint n_volumes, const guint *intervals, guint n)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  g_autofree GstClockTime *pts = g_new (GstClockTime, n_volumes);
  GstClockTime at = 0;

  s->rate = rate;
  stream_start (s);
  for (guint i = 0; i < n_volumes; i++) {
    pts[i] = at;
    push_at (s, i, at);
    at += intervals[i % n] * GST_MSECOND;
  }
  stream_eos (s);
  expect_stretch (s, n_volumes, pts);
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 1);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, NULL), 0);
  stream_free (s);
}

GST_START_TEST (test_slow_camera)
{
  static const guint intervals[][1] = { { 100 }, { 150 }, { 200 }, { 1000 } };

  check_one_stretch (10, 20, intervals[__i__], 1);
}

GST_END_TEST;

GST_START_TEST (test_rate_halves)
{
  guint intervals[30];

  for (guint i = 0; i < G_N_ELEMENTS (intervals); i++)
    intervals[i] = i < 15 ? 100 : 200;
  check_one_stretch (10, 30, intervals, 30);
}

GST_END_TEST;

GST_START_TEST (test_lost_frames)
{
  static const guint intervals[] = { 100, 100, 100, 100, 200 };

  check_one_stretch (10, 30, intervals, 5);
}

GST_END_TEST;

GST_START_TEST (test_no_rate)
{
  static const guint intervals[] = { 90, 110, 100, 70, 130 };

  check_one_stretch (0, 30, intervals, 5);
}

GST_END_TEST;

/* Only the order of arrival is known. */
GST_START_TEST (test_no_timestamps)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);

  s->rate = __i__ * 10;
  stream_start (s);
  for (guint i = 0; i < 12; i++)
    push_at (s, i, GST_CLOCK_TIME_NONE);
  stream_eos (s);
  for (guint i = 0; i < 12; i++) {
    GstBuffer *output = gst_buffer_make_writable (stream_pull (s));

    fail_if (GST_BUFFER_PTS_IS_VALID (output));
    GST_BUFFER_PTS (output) = i * s->duration;
    stream_check (s, output, 0, 12, i);
  }
  stream_free (s);
}

GST_END_TEST;

/* Volumes 0 to 4, then two missing, then 5 to 9, as a stream of which positions
 * 5 and 6 are volume 4 again. */
GST_START_TEST (test_hold)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, "gap", "hold", NULL);
  g_autofree gdouble *storage = NULL, *expected = NULL;
  const gdouble *volumes[12];
  GstClockTime at = 0;

  stream_start (s);
  storage = g_new (gdouble, 10 * s->samples);
  expected = g_new (gdouble, s->samples);
  for (guint i = 0; i < 10; i++) {
    for (gsize k = 0; k < s->samples; k++)
      storage[i * s->samples + k] = stream_sample (i, k);
    push_at (s, i, at);
    at += (i == 4 ? 3 : 1) * s->duration;
  }
  stream_eos (s);
  for (guint i = 0; i < 12; i++)
    volumes[i] = storage + (i < 5 ? i : i < 7 ? 4 : i - 2) * s->samples;
  for (guint i = 0; i < 12; i++) {
    GstBuffer *output;
    GstMapInfo map;

    if (i == 5 || i == 6)
      continue;
    output = stream_pull (s);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (output), i * s->duration);
    model_respond (&s->model, volumes, 12, i, s->dims, expected);
    fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
    for (gsize k = 0; k < s->samples; k++)
      fail_unless_equals_float (((gfloat *) map.data)[k], expected[k]);
    gst_buffer_unmap (output, &map);
    gst_buffer_unref (output);
  }
  stream_expect_none (s);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-held"), 2);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-out"), 10);
  stream_free (s);
}

GST_END_TEST;

/* gap=restart: one missing volume breaks the stretch. */
GST_START_TEST (test_restart)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, "gap", "restart", NULL);

  stream_start (s);
  stream_push_range (s, 0, 5);
  stream_push_range (s, 7, 12);
  stream_eos (s);
  stream_expect (s, 0, 6, 0, 6);
  stream_expect (s, 7, 6, 0, 6);
  stream_expect_none (s);
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 2);
  stream_free (s);
}

GST_END_TEST;

/* DISCONT without a gap is a cut, unless the application says it is not. */
GST_START_TEST (test_discont)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, "gap-discont",
      __i__ ? "true" : "false", NULL);

  stream_start (s);
  stream_push_range (s, 0, 4);
  stream_push_flagged (s, 5, GST_BUFFER_FLAG_DISCONT);
  stream_push_range (s, 6, 9);
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 1 + __i__);
  stream_free (s);
}

GST_END_TEST;

/* gap-limit=0: no pause breaks the stretch, however long. */
GST_START_TEST (test_no_limit)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, "gap-limit", "0", NULL);

  stream_start (s);
  for (guint i = 0; i < 20; i++)
    push_at (s, i, i * s->duration + (i / 5) * GST_SECOND * 60);
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 1);
  stream_free (s);
}

GST_END_TEST;

/* A loss is counted although it breaks nothing. */
GST_START_TEST (test_counts_gaps)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstClockTime at = 0;

  for (guint i = 0; i < 20; i++) {
    push_at (s, i, at);
    at += (i == 9 ? 4 : 1) * s->duration;
  }
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 1);
  fail_unless_equals_uint64 (stream_stat (s, "gaps"), 1);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-missing"), 3);
  stream_free (s);
}

GST_END_TEST;

/* A stream that stops and goes on every three volumes: the filter over five
 * does little, and one warning says so. */
GST_START_TEST (test_warns_once)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstMessage *message = NULL;
  g_autoptr (GError) error = NULL;
  GstClockTime at = 0;

  for (guint i = 0; i < 60; i++) {
    push_at (s, i, at);
    at += (i % 3 == 2 ? 50 : 1) * s->duration;
  }
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 20);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, &message),
      1);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "gap-limit") != NULL, "%s",
      error->message);
  gst_message_unref (message);
  stream_free (s);
}

GST_END_TEST;

/* The volumes of a network come in bursts, and no caps tell their rate. A
 * filter over five works in bursts of twenty, but most outputs lack volumes in
 * bursts of seven. */
GST_START_TEST (test_warns_of_bursts)
{
  const guint burst = __i__ ? 20 : 7;
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);

  s->rate = 0;
  stream_start (s);
  for (guint i = 0; i < 20 * burst; i++)
    push_at (s, i, i * GST_MSECOND + i / burst * 300 * GST_MSECOND);
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 20);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, NULL),
      burst == 7);
  stream_free (s);
}

GST_END_TEST;

/* GAP events break stretches as pauses do. */
GST_START_TEST (test_warns_of_gap_events)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstMessage *message = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 60; i++) {
    stream_push (s, i);
    if (i % 3 == 2)
      stream_event (s,
          gst_event_new_gap ((i + 1) * s->duration, 8 * s->duration));
  }
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 20);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, &message),
      1);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "a GAP event") != NULL, "%s",
      error->message);
  gst_message_unref (message);
  stream_free (s);
}

GST_END_TEST;

/* Caps that change all the time break stretches too, and so do segments. */
GST_START_TEST (test_warns_of_caps_and_segments)
{
  for (guint segments = 0; segments < 2; segments++) {
    Model model = model_temporal (TAPS, "nearest");
    Stream *s = stream_started ("ndconv4dtemporal", &model);
    GstMessage *message = NULL;
    g_autoptr (GError) error = NULL;

    for (guint i = 0; i < 20; i++) {
      stream_push (s, i);
      if (segments) {
        stream_segment (s, 1, 0, (100 + i) * GST_SECOND);
      } else {
        stream_set_size (s, 2 + i % 2, 2, 2);
        stream_send_caps (s);
      }
    }
    fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, &message),
        1);
    gst_message_parse_warning (message, &error, NULL);
    fail_unless (strstr (error->message,
                     segments ? "new segment" : "new input caps"),
        "%s", error->message);
    gst_message_unref (message);
    stream_free (s);
  }
}

GST_END_TEST;

/* The caps promise 10 a second, 5 come: a sink must wait twice as long. */
GST_START_TEST (test_latency_follows)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstClockTime min, max;
  gboolean live;

  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 2 * s->duration);
  stream_messages (s, GST_MESSAGE_LATENCY, NULL);
  for (guint i = 0; i < 20; i++)
    push_at (s, i, i * 2 * s->duration);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 4 * s->duration);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 1);
  stream_free (s);
}

GST_END_TEST;

/* A cut in the stream does not change the latency, which would be a jump at the
 * sink. */
GST_START_TEST (test_latency_stays)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  GstClockTime min, max;
  gboolean live;

  s->rate = __i__ * 10;
  stream_start (s);
  for (guint i = 0; i < 10; i++)
    push_at (s, i, i * 2 * s->duration);
  stream_messages (s, GST_MESSAGE_LATENCY, NULL);
  for (guint i = 10; i < 20; i++)
    push_at (s, i, GST_SECOND * 1000 + i * 2 * s->duration);
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 2);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 4 * s->duration);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 0);
  stream_free (s);
}

GST_END_TEST;

/* The computing time counts before the first output, by the estimate of the
 * plan, and after it, as measured. */
GST_START_TEST (test_compute_latency)
{
  Model model = model_temporal (TAPS, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, "compute-latency",
      "always", NULL);
  GstClockTime min, max;
  gboolean live;

  stream_start (s);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless (min > 2 * s->duration);
  stream_push_range (s, 0, 9);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless (min > 2 * s->duration);
  stream_free (s);
}

GST_END_TEST;

static Suite *
irregular_suite (void)
{
  Suite *suite = suite_create ("irregular");
  TCase *tc = tcase_create ("irregular");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_slow_camera, 0, 4);
  tcase_add_test (tc, test_rate_halves);
  tcase_add_test (tc, test_lost_frames);
  tcase_add_test (tc, test_no_rate);
  tcase_add_loop_test (tc, test_no_timestamps, 0, 2);
  tcase_add_test (tc, test_hold);
  tcase_add_test (tc, test_restart);
  tcase_add_test (tc, test_no_limit);
  tcase_add_test (tc, test_counts_gaps);
  tcase_add_loop_test (tc, test_discont, 0, 2);
  tcase_add_test (tc, test_warns_once);
  tcase_add_loop_test (tc, test_warns_of_bursts, 0, 2);
  tcase_add_test (tc, test_warns_of_gap_events);
  tcase_add_test (tc, test_warns_of_caps_and_segments);
  tcase_add_test (tc, test_latency_follows);
  tcase_add_loop_test (tc, test_latency_stays, 0, 2);
  tcase_add_test (tc, test_compute_latency);
  return suite;
}

GST_CHECK_MAIN (irregular);
