/* docs/checklist.md, points 1 to 9: data, timestamps and metadata. Points 10 to
 * 18 are in test-checklistevents.c, 19 to 32 in test-checklistload.c and
 * test-changes.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <gst/base/gstbasetransform.h>

static const gchar *const time_borders[] = { "nearest", "reflect", "mirror",
  "constant" };

static gint
count_discont (Stream *s, guint n)
{
  gint count = 0;

  for (guint i = 0; i < n; i++) {
    g_autoptr (GstBuffer) output = stream_pull (s);

    count += GST_BUFFER_IS_DISCONT (output);
    fail_unless (i > 0 || GST_BUFFER_IS_DISCONT (output));
  }
  return count;
}

/* FLOW_DROPPED while the window fills would mark each output DISCONT. */
GST_START_TEST (test_01_waits_without_dropping)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 1);
  stream_expect_none (s);
  stream_push_range (s, 2, 9);
  stream_eos (s);
  fail_unless_equals_int (count_discont (s, 10), 1);
  stream_expect_none (s);
  stream_free (s);
}

GST_END_TEST;

/* The base class passes "discont" until the first output; the window must still
 * fill. */
GST_START_TEST (test_02_discont_is_the_buffers)
{
  Model model = model_temporal (7, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  fail_unless_equals_int (stream_push_flagged (s, 0, GST_BUFFER_FLAG_DISCONT),
      GST_FLOW_OK);
  stream_push_range (s, 1, 9);
  stream_expect (s, 0, 10, 0, 7);
  stream_expect_none (s);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_03_one_output_per_position)
{
  for (guint b = 0; b < G_N_ELEMENTS (time_borders); b++) {
    for (guint size = 1; size <= 6; size++) {
      Model model = model_temporal (size, time_borders[b]);
      Stream *s = stream_started ("ndconv4dtemporal", &model);
      gint ready = 0, out = 0;

      for (gint i = 0; i < 12; i++) {
        stream_push_range (s, i, i);
        ready = MAX (0, i + 1 - (gint) model_delay (&model));
        stream_expect (s, 0, i + 1, out, ready);
        stream_expect_none (s);
        out = ready;
      }
      stream_free (s);
    }
  }
}

GST_END_TEST;

/* A single tap of 1 also makes new output buffers. Changes to and from a longer
 * window update the latency. */
GST_START_TEST (test_04_never_passthrough)
{
  Model one = model_temporal (1, "nearest"),
        three = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &one);
  GstBuffer *input = stream_buffer (s, 0), *output;
  GstClockTime min, max;
  gboolean live;

  fail_if (gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (s->element)));
  gst_buffer_ref (input);
  fail_unless_equals_int (gst_harness_push (s->h, input), GST_FLOW_OK);
  output = stream_pull (s);
  fail_if (output == input);
  gst_buffer_unref (input);
  stream_check (s, output, 0, 1, 0);

  stream_messages (s, GST_MESSAGE_LATENCY, NULL);
  stream_set_model (s, &three);
  stream_push_range (s, 1, 4);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 1);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, s->duration);
  /* The window restarted at volume 1, because a window of one volume keeps no
   * others. */
  stream_expect (s, 1, 4, 0, 3);
  stream_expect_none (s);

  stream_set_model (s, &one);
  stream_push_range (s, 5, 5);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 1);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 0);
  stream_expect (s, 0, 6, 4, 6);
  stream_expect_none (s);
  stream_free (s);
}

GST_END_TEST;

typedef struct
{
  GstFlowReturn ret;
  guint calls;
} Refusal;

static GstPadProbeReturn
refuse (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Refusal *refusal = data;

  refusal->calls++;
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_DATA (info) = NULL;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = refusal->ret;
  return GST_PAD_PROBE_HANDLED;
}

GST_START_TEST (test_05_flow_returns_go_upstream)
{
  static const GstFlowReturn returns[] = { GST_FLOW_EOS, GST_FLOW_FLUSHING,
    GST_FLOW_NOT_LINKED, GST_FLOW_NOT_NEGOTIATED, GST_FLOW_ERROR,
    GST_FLOW_CUSTOM_ERROR };

  for (guint i = 0; i < G_N_ELEMENTS (returns); i++) {
    Model model = model_temporal (5, "nearest");
    Stream *s = stream_started ("ndconv4dtemporal", &model);
    Refusal refusal = { returns[i], 0 };

    gst_pad_add_probe (s->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, refuse,
        &refusal, NULL);
    stream_push_range (s, 0, 1);
    fail_unless_equals_int (stream_push (s, 2), returns[i]);
    fail_unless_equals_int (refusal.calls, 1);
    /* The drain has two more outputs, and stops at the first unless an
     * application may link the pad again. */
    stream_eos (s);
    fail_unless_equals_int (refusal.calls,
        returns[i] == GST_FLOW_NOT_LINKED ? 3 : 2);
    fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
    stream_free (s);
  }
}

GST_END_TEST;

GST_START_TEST (test_05_failed_drain_goes_upstream)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  Refusal refusal = { GST_FLOW_EOS, 0 };

  stream_push_range (s, 0, 3);
  stream_expect (s, 0, 4, 0, 2);
  gst_pad_add_probe (s->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, refuse, &refusal,
      NULL);
  fail_unless_equals_int (stream_push_flagged (s, 4, GST_BUFFER_FLAG_DISCONT),
      GST_FLOW_EOS);
  fail_unless_equals_int (refusal.calls, 1);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_05_buffer_before_caps)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  stream_event (s, gst_event_new_stream_start ("none"));
  stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
  fail_unless_equals_int (gst_pad_push (s->h->srcpad, stream_buffer (s, 0)),
      GST_FLOW_NOT_NEGOTIATED);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
  stream_free (s);
}

GST_END_TEST;

/* Each output has the flags, offset and meta of its anchor, not those of the
 * newest volume. */
GST_START_TEST (test_06_outputs_carry_what_their_anchor_had)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  g_autoptr (GstCaps) clock = gst_caps_new_empty_simple ("timestamp/x-test");

  for (guint i = 0; i < 8; i++) {
    GstBuffer *buffer = stream_buffer (s, i);

    GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer) + i;
    GST_BUFFER_DURATION (buffer) = s->duration - i;
    GST_BUFFER_OFFSET_END (buffer) = 100 + i;
    if (i == 3)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
    gst_buffer_add_reference_timestamp_meta (buffer, clock, 1000 + i,
        GST_CLOCK_TIME_NONE);
    fail_unless_equals_int (gst_harness_push (s->h, buffer), GST_FLOW_OK);
  }
  stream_eos (s);
  for (guint i = 0; i < 8; i++) {
    g_autoptr (GstBuffer) output = stream_pull (s);
    GstReferenceTimestampMeta *meta =
        gst_buffer_get_reference_timestamp_meta (output, clock);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (output), i * s->duration);
    fail_unless_equals_uint64 (GST_BUFFER_DTS (output), i * s->duration + i);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (output), s->duration - i);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (output), i);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (output), 100 + i);
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (output,
                                GST_BUFFER_FLAG_MARKER),
        i == 3);
    fail_unless (meta != NULL, "output %u lost its meta", i);
    fail_unless_equals_uint64 (meta->timestamp, 1000 + i);
  }
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_07_missing_duration_is_the_framerates)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = stream_buffer (s, i);

    GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
    gst_harness_push (s->h, buffer);
  }
  stream_eos (s);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *output = stream_pull (s);

    fail_unless_equals_uint64 (GST_BUFFER_DURATION (output), s->duration);
    stream_check (s, output, 0, 4, i);
  }
  stream_free (s);
}

GST_END_TEST;

/* Gaps that grow with each volume break nothing; the latency is measured. */
GST_START_TEST (test_07_variable_framerate)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  GstClockTime min, max;
  gboolean live;

  s->rate = 0;
  stream_start (s);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 0);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = stream_buffer (s, i);

    GST_BUFFER_PTS (buffer) = i * i * GST_SECOND;
    GST_BUFFER_DURATION (buffer) = (2 * i + 1) * GST_SECOND;
    gst_harness_push (s->h, buffer);
  }
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 3 * GST_SECOND);
  stream_eos (s);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *output = stream_pull (s);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (output), i * i * GST_SECOND);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (output),
        (2 * i + 1) * GST_SECOND);
    output = gst_buffer_make_writable (output);
    GST_BUFFER_PTS (output) = i * s->duration;
    stream_check (s, output, 0, 5, i);
  }
  stream_free (s);
}

GST_END_TEST;

/* If all volumes are gaps, or every second one, the stream continues. */
GST_START_TEST (test_07_invalid_pts)
{
  for (gint every = 1; every <= 2; every++) {
    Model model = model_temporal (5, "nearest");
    Stream *s = stream_started ("ndconv4dtemporal", &model);

    for (gint i = 0; i < 8; i++) {
      GstBuffer *buffer = stream_buffer (s, i);

      if (i % 2 == 1 || every == 1)
        GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
      gst_harness_push (s->h, buffer);
    }
    stream_eos (s);
    for (gint i = 0; i < 8; i++) {
      GstBuffer *output = gst_buffer_make_writable (stream_pull (s));

      fail_unless_equals_int (GST_BUFFER_PTS_IS_VALID (output),
          !(i % 2 == 1 || every == 1));
      GST_BUFFER_PTS (output) = i * s->duration;
      stream_check (s, output, 0, 8, i);
    }
    stream_expect_none (s);
    stream_free (s);
  }
}

GST_END_TEST;

GST_START_TEST (test_08_discont_after_every_break)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 3);
  stream_flush (s);
  fail_unless_equals_int (count_discont (s, 3), 1);
  stream_push_range (s, 0, 3);
  stream_segment (s, 1, GST_SECOND, GST_CLOCK_TIME_NONE);
  fail_unless_equals_int (count_discont (s, 4), 1);
  stream_push_range (s, 10, 13);
  stream_push_flagged (s, 14, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (count_discont (s, 4), 1);
  stream_push_range (s, 15, 16);
  stream_event (s, gst_event_new_stream_start ("next"));
  fail_unless_equals_int (count_discont (s, 3), 1);
  stream_push_range (s, 17, 18);
  stream_eos (s);
  fail_unless_equals_int (count_discont (s, 2), 1);
  stream_free (s);
}

GST_END_TEST;

/* An output is a GAP if all volumes that it read are. */
GST_START_TEST (test_08_gap_flags)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  for (gint i = 0; i < 12; i++)
    stream_push_flagged (s, i, i >= 3 && i < 8 ? GST_BUFFER_FLAG_GAP : 0);
  stream_eos (s);
  for (gint i = 0; i < 12; i++) {
    GstBuffer *output = stream_pull (s);

    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (output,
                                GST_BUFFER_FLAG_GAP),
        i >= 4 && i < 7);
    stream_check (s, output, 0, 12, i);
  }
  stream_free (s);
}

GST_END_TEST;

/* Volumes before and after the segment are read but give no output. */
GST_START_TEST (test_09_clips_after_filtering)
{
  Model model = model_temporal (5, "mirror");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_segment (s, 1, 3 * s->duration, 7 * s->duration);
  stream_push_range (s, 0, 9);
  stream_eos (s);
  stream_expect (s, 0, 10, 3, 7);
  stream_expect_none (s);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-in"), 10);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-out"), 4);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-clipped"), 6);
  stream_free (s);
}

GST_END_TEST;

static Suite *
checklist_suite (void)
{
  Suite *suite = suite_create ("checklist");
  TCase *tc = tcase_create ("1-9");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_01_waits_without_dropping);
  tcase_add_test (tc, test_02_discont_is_the_buffers);
  tcase_add_test (tc, test_03_one_output_per_position);
  tcase_add_test (tc, test_04_never_passthrough);
  tcase_add_test (tc, test_05_flow_returns_go_upstream);
  tcase_add_test (tc, test_05_failed_drain_goes_upstream);
  tcase_add_test (tc, test_05_buffer_before_caps);
  tcase_add_test (tc, test_06_outputs_carry_what_their_anchor_had);
  tcase_add_test (tc, test_07_missing_duration_is_the_framerates);
  tcase_add_test (tc, test_07_variable_framerate);
  tcase_add_test (tc, test_07_invalid_pts);
  tcase_add_test (tc, test_08_discont_after_every_break);
  tcase_add_test (tc, test_08_gap_flags);
  tcase_add_test (tc, test_09_clips_after_filtering);
  return suite;
}

GST_CHECK_MAIN (checklist);
