/* docs/checklist.md, points 10 to 18: events.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

static const gchar *const time_borders[] = { "nearest", "reflect", "mirror",
  "constant" };

GST_START_TEST (test_10_stream_start_drains)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 5);
  stream_event (s, gst_event_new_stream_start ("next"));
  stream_expect_all (s, 0, 6);
  stream_push_range (s, 6, 9);
  stream_eos (s);
  stream_expect_all (s, 6, 4);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_10_equal_segment_keeps_the_window)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_segment (s, 1, 0, 100 * GST_SECOND);
  stream_push_range (s, 0, 4);
  stream_segment (s, 1, 0, 100 * GST_SECOND);
  stream_push_range (s, 5, 9);
  stream_eos (s);
  stream_expect_all (s, 0, 10);
  stream_free (s);
}

GST_END_TEST;

/* Earlier volumes are drained in the old segment, which does not clip them. */
GST_START_TEST (test_10_different_segment_drains_in_the_old_one)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 4);
  stream_segment (s, 1, 5 * s->duration, GST_CLOCK_TIME_NONE);
  stream_expect_all (s, 0, 5);
  stream_push_range (s, 5, 9);
  stream_eos (s);
  stream_expect_all (s, 5, 5);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_10_segment_not_in_time)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (s->h, gst_event_new_segment (&segment));
  fail_unless_equals_int (stream_push (s, 0), GST_FLOW_ERROR);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, &message), 1);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_STREAM_ERROR,
      GST_STREAM_ERROR_FORMAT));
  fail_unless (strstr (error->message, "time") != NULL);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_11_equal_caps_keep_the_window)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 3);
  stream_send_caps (s);
  stream_push_range (s, 4, 7);
  stream_eos (s);
  stream_expect_all (s, 0, 8);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_11_other_size_drains_in_the_old_caps)
{
  Model model = model_new (NULL, 3, 1, 1, 5);
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 4);
  stream_send_caps (s); /* an equal segment changes nothing */
  stream_expect (s, 0, 5, 0, 3);
  stream_expect_none (s);
  stream_set_size (s, 9, 4, 3);
  stream_send_caps (s);
  stream_set_size (s, 3, 2, 2);
  stream_expect (s, 0, 5, 3, 5);
  stream_expect_none (s);
  stream_set_size (s, 9, 4, 3);
  stream_push_range (s, 5, 9);
  stream_set_size (s, 2, 1, 1);
  stream_send_caps (s);
  stream_set_size (s, 9, 4, 3);
  stream_expect_all (s, 5, 5);
  stream_set_size (s, 2, 1, 1);
  stream_push_range (s, 10, 12);
  stream_eos (s);
  stream_expect_all (s, 10, 3);
  stream_free (s);
}

GST_END_TEST;

/* A drained volume leaves before the new caps. */
GST_START_TEST (test_11_other_type)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "other/tensors,"
      "format=static,num_tensors=1,types=uint16,dimensions=1:3:2:2,"
      "framerate=10/1");
  static const guint16 samples[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
  GstMapInfo map;

  stream_push_range (s, 0, 3);
  stream_event (s, gst_event_new_caps (caps));
  stream_expect_all (s, 0, 4);
  for (guint i = 4; i < 7; i++) {
    GstBuffer *buffer = gst_buffer_new_memdup (samples, sizeof (samples));

    GST_BUFFER_PTS (buffer) = i * s->duration;
    fail_unless_equals_int (gst_harness_push (s->h, buffer), GST_FLOW_OK);
  }
  stream_eos (s);
  for (guint i = 4; i < 7; i++) {
    g_autoptr (GstBuffer) output = stream_pull (s);

    fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
    fail_unless_equals_uint64 (map.size, sizeof (samples));
    for (guint k = 0; k < 12; k++)
      fail_unless_equals_int (((guint16 *) map.data)[k], 6 * samples[k]);
    gst_buffer_unmap (output, &map);
  }
  stream_expect_none (s);
  stream_free (s);
}

GST_END_TEST;

/* N volumes in give N out, for any length of window and stream. */
GST_START_TEST (test_12_n_in_n_out)
{
  static const guint lengths[] = { 0, 1, 2, 3, 4, 5, 6, 7, 11, 20 };
  g_autoptr (GRand) r = test_rand ();

  for (guint b = 0; b < G_N_ELEMENTS (time_borders); b++) {
    for (guint size = 1; size <= 7; size++) {
      for (gint origin = -(gint) (size / 2); origin <= ((gint) size - 1) / 2;
           origin++) {
        Model model = model_new (r, 2, 1, 1, size);
        Stream *s;

        model.time_border = time_borders[b];
        model.border_value = -3;
        model.origin[3] = origin;
        s = stream_started ("ndconv4dtemporal", &model);
        for (guint l = 0; l < G_N_ELEMENTS (lengths); l++) {
          stream_segment (s, 1, l, GST_CLOCK_TIME_NONE);
          stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
          if (lengths[l] > 0)
            stream_push_range (s, 0, lengths[l] - 1);
          if (l % 2 == 0)
            stream_event (s, gst_event_new_segment_done (GST_FORMAT_TIME, 0));
          else
            stream_event (s, gst_event_new_stream_start ("next"));
          stream_expect_all (s, 0, lengths[l]);
        }
        stream_free (s);
      }
    }
  }
}

GST_END_TEST;

GST_START_TEST (test_12_eos)
{
  for (gint n = 0; n <= 4; n++) {
    Model model = model_temporal (9, "reflect");
    Stream *s = stream_started ("ndconv4dtemporal", &model);

    if (n > 0)
      stream_push_range (s, 0, n - 1);
    stream_expect_none (s);
    stream_eos (s);
    stream_expect_all (s, 0, n);
    stream_free (s);
  }
}

GST_END_TEST;

GST_START_TEST (test_12_causal_waits_for_nothing)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, "causal", "true", NULL);

  s->model.origin[3] = -2;
  stream_start (s);
  for (gint i = 0; i < 8; i++) {
    stream_push_range (s, i, i);
    stream_expect (s, 0, i + 1, i, i + 1);
    stream_expect_none (s);
  }
  stream_free (s);
}

GST_END_TEST;

/* Volumes before the flush are NaN; no NaN may follow. */
GST_START_TEST (test_13_flush_leaves_nothing)
{
  static const gchar *const methods[] = { "direct", "fft", "separable",
    "reference" };

  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    for (guint b = 0; b < G_N_ELEMENTS (time_borders); b++) {
      Model model = model_temporal (5, time_borders[b]);
      Stream *s =
          stream_new ("ndconv4dtemporal", &model, "method", methods[m], NULL);

      if (strcmp (methods[m], "fft") == 0)
        s->tolerance = FFT_TOLERANCE;
      stream_start (s);
      for (gint n = 1; n < 8; n += 3) {
        stream_push_range (s, POISON, POISON + n - 1);
        while (gst_harness_buffers_in_queue (s->h) > 0)
          gst_buffer_unref (stream_pull (s));
        stream_flush (s);
        stream_expect_none (s);
        stream_push_range (s, 0, 3);
        stream_event (s, gst_event_new_segment_done (GST_FORMAT_TIME, 0));
        stream_expect (s, 0, 4, 0, 4);
        stream_expect_none (s);
        stream_flush (s);
      }
      stream_free (s);
    }
  }
}

GST_END_TEST;

GST_START_TEST (test_13_seek_twice)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 6);
  stream_expect (s, 0, 7, 0, 5);
  stream_flush (s);
  stream_push_range (s, 30, 31);
  stream_expect_none (s);
  stream_flush (s);
  stream_push_range (s, 20, 26);
  stream_eos (s);
  stream_expect_all (s, 20, 7);
  /* A flush also ends EOS. */
  stream_flush (s);
  stream_push_range (s, 2, 4);
  stream_eos (s);
  stream_expect_all (s, 2, 3);
  stream_free (s);
}

GST_END_TEST;

static GstPadProbeReturn
block (GstPad *pad, GstPadProbeInfo *info, gpointer blocked)
{
  g_atomic_int_set ((gint *) blocked, 1);
  return GST_PAD_PROBE_OK;
}

static gpointer
push_blocked (gpointer data)
{
  return GINT_TO_POINTER (stream_push (data, 0));
}

/* While a push downstream blocks, flush-start from another thread passes and
 * ends it. */
GST_START_TEST (test_13_flush_start_does_not_wait)
{
  Model model = model_temporal (1, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  gint blocked = 0;
  GThread *thread;
  gulong id;

  id = gst_pad_add_probe (s->h->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BLOCK, block, &blocked,
      NULL);
  thread = g_thread_new ("push", push_blocked, s);
  while (!g_atomic_int_get (&blocked))
    g_thread_yield ();
  stream_event (s, gst_event_new_flush_start ());
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_FLUSHING);
  gst_pad_remove_probe (s->h->sinkpad, id);
  stream_event (s, gst_event_new_flush_stop (TRUE));
  stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
  stream_expect_none (s);
  stream_push_range (s, 1, 3);
  stream_expect_all (s, 1, 3);
  stream_free (s);
}

GST_END_TEST;

static GstPadProbeReturn
note (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GString *order = data;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_c (order, 'b');
  else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_GAP)
    g_string_append_c (order, 'G');
  else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_TAG)
    g_string_append_c (order, 'T');
  else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))
      == GST_EVENT_CUSTOM_DOWNSTREAM)
    g_string_append_c (order, 'C');
  else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
    g_string_append_c (order, 'E');
  return GST_PAD_PROBE_OK;
}

static GString *
note_order (Stream *s)
{
  GString *order = g_string_new (NULL);

  gst_pad_add_probe (s->h->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note,
      order, NULL);
  return order;
}

/* No window spans a long gap, and the gap event leaves after the volumes before
 * it. Short ones may add up. */
GST_START_TEST (test_14_gap_event)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GString *order = note_order (s);

  stream_push_range (s, 0, 3);
  stream_event (s, gst_event_new_gap (4 * s->duration, 9 * s->duration));
  stream_expect_all (s, 0, 4);
  stream_push_range (s, 13, 16);
  stream_eos (s);
  stream_expect_all (s, 13, 4);
  fail_unless_equals_string (order->str, "bbbbGbbbbE");
  g_string_free (order, TRUE);
  stream_free (s);
}

GST_END_TEST;

/* A single lost frame does not break a stretch, whether or not upstream tells
 * of it. */
GST_START_TEST (test_14_short_gap_event)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GString *order = note_order (s);

  stream_push_range (s, 0, 3);
  for (gint i = 4; i < 8; i++) {
    stream_event (s, gst_event_new_gap (i * s->duration, s->duration));
    stream_push_range (s, i, i);
  }
  stream_eos (s);
  stream_expect_all (s, 0, 8);
  fail_unless_equals_string (order->str, "bbbbGbGbGbGbE");
  fail_unless_equals_uint64 (stream_stat (s, "stretches"), 1);
  g_string_free (order, TRUE);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_14_gap_events_add_up)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GString *order = note_order (s);

  stream_push_range (s, 0, 3);
  for (gint i = 4; i < 9; i++)
    stream_event (s, gst_event_new_gap (i * s->duration, s->duration));
  stream_expect_all (s, 0, 4);
  fail_unless_equals_string (order->str, "bbbbGGGGG");
  g_string_free (order, TRUE);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_15_discont_drains)
{
  Model model = model_temporal (5, "mirror");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 3);
  stream_push_flagged (s, 4, GST_BUFFER_FLAG_DISCONT);
  stream_expect_all (s, 0, 4);
  stream_push_range (s, 5, 8);
  stream_eos (s);
  stream_expect_all (s, 4, 5);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_15_jump_of_timestamps_drains)
{
  static const gint jumps[] = { 9, 30, 2, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (jumps); i++) {
    Model model = model_temporal (3, "nearest");
    Stream *s = stream_started ("ndconv4dtemporal", &model);

    stream_push_range (s, 0, 3);
    stream_push_range (s, jumps[i], jumps[i]);
    stream_expect_all (s, 0, 4);
    stream_push_range (s, jumps[i] + 1, jumps[i] + 3);
    stream_eos (s);
    stream_expect_all (s, jumps[i], 4);
    stream_free (s);
  }
}

GST_END_TEST;

/* Timestamps of a real source are not exact. */
GST_START_TEST (test_15_jitter_is_no_jump)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  for (gint i = 0; i < 9; i++) {
    GstBuffer *buffer = stream_buffer (s, i);

    GST_BUFFER_PTS (buffer) += i % 3 * (s->duration / 5);
    gst_harness_push (s->h, buffer);
  }
  stream_eos (s);
  for (gint i = 0; i < 9; i++) {
    GstBuffer *output = gst_buffer_make_writable (stream_pull (s));

    fail_unless_equals_uint64 (GST_BUFFER_PTS (output),
        i * s->duration + i % 3 * (s->duration / 5));
    GST_BUFFER_PTS (output) = i * s->duration;
    stream_check (s, output, 0, 9, i);
  }
  stream_free (s);
}

GST_END_TEST;

/* Documented: tags are not delayed with the volumes. Custom events are: an
 * event between two volumes keeps its place, and the tracer latency uses such
 * an event. No sticky event is lost at a drain. */
GST_START_TEST (test_16_other_events_pass)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GString *order = note_order (s);
  g_autoptr (GstEvent) tag = NULL;

  stream_push_range (s, 0, 3);
  stream_event (s,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "heart", NULL)));
  stream_event (s,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
          gst_structure_new_empty ("test")));
  stream_push_range (s, 4, 4);
  stream_eos (s);
  stream_expect_all (s, 0, 5);
  fail_unless_equals_string (order->str, "bbbbTCbE");
  tag = gst_pad_get_sticky_event (s->h->sinkpad, GST_EVENT_TAG, 0);
  fail_unless (tag != NULL);
  g_string_free (order, TRUE);
  stream_free (s);
}

GST_END_TEST;

/* A flush discards volumes; sticky events stay. */
GST_START_TEST (test_16_flush_keeps_sticky_events)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  g_autoptr (GstEvent) tag = NULL;

  stream_push_range (s, 0, 3);
  stream_expect (s, 0, 10, 0, 2);
  stream_event (s,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "heart", NULL)));
  stream_flush (s);
  stream_push_range (s, 0, 3);
  tag = gst_pad_get_sticky_event (s->h->sinkpad, GST_EVENT_TAG, 0);
  fail_unless (tag != NULL);
  stream_free (s);
}

GST_END_TEST;

/* The filter is reversed in time, and its borders are exchanged. */
GST_START_TEST (test_17_reverse_equals_forward_reversed)
{
  g_autoptr (GRand) r = test_rand ();

  for (guint b = 0; b < G_N_ELEMENTS (time_borders); b++) {
    for (guint size = 1; size <= 6; size++) {
      for (gint origin = -(gint) (size / 2); origin <= ((gint) size - 1) / 2;
           origin++) {
        Model model = model_new (r, 1, 2, 1, size);
        Stream *s;

        model.time_border = time_borders[b];
        model.border_value = 2;
        model.origin[3] = origin;
        s = stream_started ("ndconv4dtemporal", &model);
        stream_segment (s, -1, 0, 10 * s->duration);
        stream_push_range (s, 9, 0);
        stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
        stream_expect (s, 0, 10, 9, 0);
        stream_expect_none (s);
        stream_push_range (s, 0, 9);
        stream_eos (s);
        stream_expect_all (s, 0, 10);
        stream_free (s);
      }
    }
  }
}

GST_END_TEST;

/* Documented: volumes are filtered as if they were evenly spaced. Decoders mark
 * each frame after those that they leave out. */
GST_START_TEST (test_18_trick_mode)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 4;
  segment.flags =
      GST_SEGMENT_FLAG_TRICKMODE | GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS;
  stream_event (s, gst_event_new_segment (&segment));
  for (gint i = 0; i < 6; i++) {
    GstBuffer *buffer = stream_buffer (s, i);

    GST_BUFFER_PTS (buffer) = 7 * i * s->duration;
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push (s->h, buffer);
  }
  stream_eos (s);
  for (gint i = 0; i < 6; i++) {
    GstBuffer *output = gst_buffer_make_writable (stream_pull (s));

    fail_unless_equals_uint64 (GST_BUFFER_PTS (output), 7 * i * s->duration);
    GST_BUFFER_PTS (output) = i * s->duration;
    stream_check (s, output, 0, 6, i);
  }
  stream_expect_none (s);
  stream_free (s);
}

GST_END_TEST;

static Suite *
checklist_events_suite (void)
{
  Suite *suite = suite_create ("checklistevents");
  TCase *tc = tcase_create ("10-18");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_10_stream_start_drains);
  tcase_add_test (tc, test_10_equal_segment_keeps_the_window);
  tcase_add_test (tc, test_10_different_segment_drains_in_the_old_one);
  tcase_add_test (tc, test_10_segment_not_in_time);
  tcase_add_test (tc, test_11_equal_caps_keep_the_window);
  tcase_add_test (tc, test_11_other_size_drains_in_the_old_caps);
  tcase_add_test (tc, test_11_other_type);
  tcase_add_test (tc, test_12_n_in_n_out);
  tcase_add_test (tc, test_12_eos);
  tcase_add_test (tc, test_12_causal_waits_for_nothing);
  tcase_add_test (tc, test_13_flush_leaves_nothing);
  tcase_add_test (tc, test_13_seek_twice);
  tcase_add_test (tc, test_13_flush_start_does_not_wait);
  tcase_add_test (tc, test_14_gap_event);
  tcase_add_test (tc, test_14_short_gap_event);
  tcase_add_test (tc, test_14_gap_events_add_up);
  tcase_add_test (tc, test_15_discont_drains);
  tcase_add_test (tc, test_15_jump_of_timestamps_drains);
  tcase_add_test (tc, test_15_jitter_is_no_jump);
  tcase_add_test (tc, test_16_other_events_pass);
  tcase_add_test (tc, test_16_flush_keeps_sticky_events);
  tcase_add_test (tc, test_17_reverse_equals_forward_reversed);
  tcase_add_test (tc, test_18_trick_mode);
  return suite;
}

GST_CHECK_MAIN (checklist_events);
