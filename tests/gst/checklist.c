/* The checklist for elements that keep history, points 1 to 18: the path of a
 * volume, its time, and events. Points 19 to 32 are in checklistload.c.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndtest.h"

#include <gst/base/gstbasetransform.h>

static const gchar *const time_borders[] = { "nearest", "reflect", "mirror",
  "constant"
};

static Model
temporal (guint size, const gchar * time_border)
{
  Model model = model_new (NULL, 1, 1, 1, size);

  model.time_border = time_border;
  model.border_value = 7;
  return model;
}

static gint
count_discont (Stream * s, guint n)
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
  Model model = temporal (5, "nearest");
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

/* The base class says "discont" until something came out; the window must
 * still fill. */
GST_START_TEST (test_02_discont_is_the_buffers)
{
  Model model = temporal (7, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  fail_unless_equals_int (stream_push_flagged (s, 0,
          GST_BUFFER_FLAG_DISCONT), GST_FLOW_OK);
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
      Model model = temporal (size, time_borders[b]);
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

/* One tap of 1 still makes outputs of its own, and changes to and from a longer
 * window say what the latency is. */
GST_START_TEST (test_04_never_passthrough)
{
  Model one = temporal (1, "nearest"), three = temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &one);
  GstBuffer *input = stream_buffer (s, 0), *output;
  GstClockTime min, max;
  gboolean live;

  fail_if (gst_base_transform_is_passthrough (GST_BASE_TRANSFORM
          (s->element)));
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
  /* The window began anew at volume 1: one volume keeps no other. */
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
refuse (GstPad * pad, GstPadProbeInfo * info, gpointer data)
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
    GST_FLOW_CUSTOM_ERROR
  };

  for (guint i = 0; i < G_N_ELEMENTS (returns); i++) {
    Model model = temporal (5, "nearest");
    Stream *s = stream_started ("ndconv4dtemporal", &model);
    Refusal refusal = { returns[i], 0 };

    gst_pad_add_probe (s->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, refuse,
        &refusal, NULL);
    stream_push_range (s, 0, 1);
    fail_unless_equals_int (stream_push (s, 2), returns[i]);
    fail_unless_equals_int (refusal.calls, 1);
    /* The drain has two more, and stops at the first. */
    stream_eos (s);
    fail_unless_equals_int (refusal.calls, 2);
    fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
    stream_free (s);
  }
}
GST_END_TEST;

GST_START_TEST (test_05_failed_drain_goes_upstream)
{
  Model model = temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  Refusal refusal = { GST_FLOW_EOS, 0 };

  stream_push_range (s, 0, 3);
  stream_expect (s, 0, 4, 0, 2);
  gst_pad_add_probe (s->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, refuse,
      &refusal, NULL);
  fail_unless_equals_int (stream_push_flagged (s, 4,
          GST_BUFFER_FLAG_DISCONT), GST_FLOW_EOS);
  fail_unless_equals_int (refusal.calls, 1);
  stream_free (s);
}
GST_END_TEST;

GST_START_TEST (test_05_buffer_before_caps)
{
  Model model = temporal (3, "nearest");
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

/* Each volume's own flag, offset and meta, not those of the newest. */
GST_START_TEST (test_06_outputs_carry_what_their_anchor_had)
{
  Model model = temporal (5, "nearest");
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
            GST_BUFFER_FLAG_MARKER), i == 3);
    fail_unless (meta != NULL, "output %u lost its meta", i);
    fail_unless_equals_uint64 (meta->timestamp, 1000 + i);
  }
  stream_free (s);
}
GST_END_TEST;

GST_START_TEST (test_07_missing_duration_is_the_framerates)
{
  Model model = temporal (3, "nearest");
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

/* Any gap between timestamps will do, and the latency cannot be told. */
GST_START_TEST (test_07_variable_framerate)
{
  Model model = temporal (3, "nearest");
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

/* All of them, or every other: the stream goes on. */
GST_START_TEST (test_07_invalid_pts)
{
  for (gint every = 1; every <= 2; every++) {
    Model model = temporal (5, "nearest");
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
  Model model = temporal (3, "nearest");
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

/* An output is a GAP where all that it read was. */
GST_START_TEST (test_08_gap_flags)
{
  Model model = temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  for (gint i = 0; i < 12; i++)
    stream_push_flagged (s, i, i >= 3 && i < 8 ? GST_BUFFER_FLAG_GAP : 0);
  stream_eos (s);
  for (gint i = 0; i < 12; i++) {
    GstBuffer *output = stream_pull (s);

    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (output,
            GST_BUFFER_FLAG_GAP), i >= 4 && i < 7);
    stream_check (s, output, 0, 12, i);
  }
  stream_free (s);
}
GST_END_TEST;

/* Volumes before and after the segment are history, not output. */
GST_START_TEST (test_09_clips_after_filtering)
{
  Model model = temporal (5, "mirror");
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

GST_START_TEST (test_10_stream_start_drains)
{
  Model model = temporal (5, "nearest");
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
  Model model = temporal (5, "nearest");
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

/* What was before is drained in the old segment, which does not clip it. */
GST_START_TEST (test_10_different_segment_drains_in_the_old_one)
{
  Model model = temporal (5, "nearest");
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
  Model model = temporal (3, "nearest");
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
  Model model = temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 3);
  stream_event (s, gst_event_new_caps (stream_caps (s)));
  stream_push_range (s, 4, 7);
  stream_eos (s);
  stream_expect_all (s, 0, 8);
  stream_free (s);
}
GST_END_TEST;

static void
change_caps (Stream * s)
{
  g_autoptr (GstCaps) caps = stream_caps (s);

  stream_event (s, gst_event_new_caps (caps));
}

GST_START_TEST (test_11_other_size_drains_in_the_old_caps)
{
  Model model = model_new (NULL, 3, 1, 1, 5);
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 4);
  change_caps (s);              /* equal: nothing */
  stream_expect (s, 0, 5, 0, 3);
  stream_expect_none (s);
  stream_set_size (s, 9, 4, 3);
  change_caps (s);
  stream_set_size (s, 3, 2, 2);
  stream_expect (s, 0, 5, 3, 5);
  stream_expect_none (s);
  stream_set_size (s, 9, 4, 3);
  stream_push_range (s, 5, 9);
  stream_set_size (s, 2, 1, 1);
  change_caps (s);
  stream_set_size (s, 9, 4, 3);
  stream_expect_all (s, 5, 5);
  stream_set_size (s, 2, 1, 1);
  stream_push_range (s, 10, 12);
  stream_eos (s);
  stream_expect_all (s, 10, 3);
  stream_free (s);
}
GST_END_TEST;

/* A drained volume leaves before the new caps do. */
GST_START_TEST (test_11_other_type)
{
  Model model = temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  static const guint16 samples[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
  GstMapInfo map;

  stream_push_range (s, 0, 3);
  stream_event (s, gst_event_new_caps (gst_caps_from_string ("other/tensors,"
              "format=static,num_tensors=1,types=uint16,dimensions=1:3:2:2,"
              "framerate=10/1")));
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

/* N volumes in give N out, however long the window and the stream. */
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
    Model model = temporal (9, "reflect");
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
  Model model = temporal (5, "nearest");
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

/* Volumes of NaN before the flush, and no NaN after. */
GST_START_TEST (test_13_flush_leaves_nothing)
{
  static const gchar *const methods[] = { "direct", "fft", "separable",
    "reference"
  };

  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    for (guint b = 0; b < G_N_ELEMENTS (time_borders); b++) {
      Model model = temporal (5, time_borders[b]);
      Stream *s = stream_new ("ndconv4dtemporal", &model, "method", methods[m],
          NULL);

      stream_start (s);
      for (gint n = 1; n < 8; n += 3) {
        stream_push_range (s, POISON, POISON + n - 1);
        while (gst_harness_buffers_in_queue (s->h) > 0)
          gst_buffer_unref (stream_pull (s));
        stream_flush (s);
        stream_expect_none (s);
        stream_push_range (s, 0, 3);
        if (m == 1) {           /* FFT is not exact */
          stream_eos (s);
          for (guint i = 0; i < 4; i++) {
            g_autoptr (GstBuffer) output = stream_pull (s);
            GstMapInfo map;

            fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
            for (gsize k = 0; k < s->samples; k++)
              fail_unless (((gfloat *) map.data)[k] < 1e6
                  && ((gfloat *) map.data)[k] > -1e6);
            gst_buffer_unmap (output, &map);
          }
        } else {
          stream_event (s, gst_event_new_segment_done (GST_FORMAT_TIME, 0));
          stream_expect (s, 0, 4, 0, 4);
        }
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
  Model model = temporal (5, "nearest");
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
  /* EOS is over after a flush, too. */
  stream_flush (s);
  stream_push_range (s, 2, 4);
  stream_eos (s);
  stream_expect_all (s, 2, 3);
  stream_free (s);
}
GST_END_TEST;

static GstPadProbeReturn
block (GstPad * pad, GstPadProbeInfo * info, gpointer blocked)
{
  g_atomic_int_set ((gint *) blocked, 1);
  return GST_PAD_PROBE_OK;
}

static gpointer
push_blocked (gpointer data)
{
  return GINT_TO_POINTER (stream_push (data, 0));
}

/* While a push downstream blocks, flush-start comes through from another
 * thread and ends it. */
GST_START_TEST (test_13_flush_start_does_not_wait)
{
  Model model = temporal (1, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  gint blocked = 0;
  GThread *thread;
  gulong id;

  id = gst_pad_add_probe (s->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER
      | GST_PAD_PROBE_TYPE_BLOCK, block, &blocked, NULL);
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
note (GstPad * pad, GstPadProbeInfo * info, gpointer data)
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
note_order (Stream * s)
{
  GString *order = g_string_new (NULL);

  gst_pad_add_probe (s->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER
      | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note, order, NULL);
  return order;
}

/* No window spans the hole, and it goes out after what preceded it. */
GST_START_TEST (test_14_gap_event)
{
  Model model = temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GString *order = note_order (s);

  stream_push_range (s, 0, 3);
  stream_event (s, gst_event_new_gap (4 * s->duration, s->duration));
  stream_expect_all (s, 0, 4);
  stream_push_range (s, 5, 8);
  stream_eos (s);
  stream_expect_all (s, 5, 4);
  fail_unless_equals_string (order->str, "bbbbGbbbbE");
  g_string_free (order, TRUE);
  stream_free (s);
}
GST_END_TEST;

GST_START_TEST (test_15_discont_drains)
{
  Model model = temporal (5, "mirror");
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
  static const gint jumps[] = { 5, 30, 2, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (jumps); i++) {
    Model model = temporal (3, "nearest");
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
  Model model = temporal (5, "nearest");
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

/* Documented: tags and custom events are not held back with the volumes. No
 * sticky event is lost at a drain. */
GST_START_TEST (test_16_other_events_pass)
{
  Model model = temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GString *order = note_order (s);
  g_autoptr (GstEvent) tag = NULL;

  stream_push_range (s, 0, 3);
  stream_event (s, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "heart",
              NULL)));
  stream_event (s, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
          gst_structure_new_empty ("test")));
  stream_push_range (s, 4, 4);
  stream_eos (s);
  stream_expect_all (s, 0, 5);
  fail_unless_equals_string (order->str, "bbTCbbbE");
  tag = gst_pad_get_sticky_event (s->h->sinkpad, GST_EVENT_TAG, 0);
  fail_unless (tag != NULL);
  g_string_free (order, TRUE);
  stream_free (s);
}
GST_END_TEST;

/* The filter is reversed in time, and its ends change places. */
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

/* Documented: what comes is filtered as if it were evenly spaced. */
GST_START_TEST (test_18_trick_mode)
{
  Model model = temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 4;
  segment.flags = GST_SEGMENT_FLAG_TRICKMODE
      | GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS;
  stream_event (s, gst_event_new_segment (&segment));
  for (gint i = 0; i < 6; i++) {
    GstBuffer *buffer = stream_buffer (s, i);

    GST_BUFFER_PTS (buffer) = 7 * i * s->duration;
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
checklist_suite (void)
{
  Suite *suite = suite_create ("checklist");
  TCase *tc = tcase_create ("1-18");

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
  tcase_add_test (tc, test_15_discont_drains);
  tcase_add_test (tc, test_15_jump_of_timestamps_drains);
  tcase_add_test (tc, test_15_jitter_is_no_jump);
  tcase_add_test (tc, test_16_other_events_pass);
  tcase_add_test (tc, test_17_reverse_equals_forward_reversed);
  tcase_add_test (tc, test_18_trick_mode);
  return suite;
}

GST_CHECK_MAIN (checklist);
