/* docs/checklist.md, points 19 to 32: queries, QoS, memory, failures, states.
 * Point 30 and threads are in test-changes.c, 1 to 18 in test-checklist.c and
 * test-checklistevents.c.
 *
 * Points about a GPU (20, 26 to 29) are tested here as far as they apply to
 * every back end. test-gpucontexts.c and test-gpuerrors.c test the rest.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include <math.h>

/* Upstream of the element: a live source, or a file of 5 s. */
static struct
{
  gboolean live;
  GstClockTime min, max;
} upstream;

static gboolean
answer (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstFormat format;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_LATENCY:
      gst_query_set_latency (query, upstream.live, upstream.min, upstream.max);
      return TRUE;
    case GST_QUERY_DURATION:
      gst_query_parse_duration (query, &format, NULL);
      if (format != GST_FORMAT_TIME)
        return FALSE;
      gst_query_set_duration (query, GST_FORMAT_TIME, 5 * GST_SECOND);
      return TRUE;
    case GST_QUERY_CUSTOM:
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
refuse (GstPad *pad, GstObject *parent, GstQuery *query)
{
  return FALSE;
}

GST_START_TEST (test_19_latency)
{
  static const gchar *const borders[] = { "nearest", "reflect", "mirror" };
  static const guint delays[] = { 2, 3, 4 };
  GstClockTime min, max;
  gboolean live;

  for (guint i = 0; i < G_N_ELEMENTS (borders); i++) {
    Model model = model_temporal (5, borders[i]);
    Stream *s;

    model.origin[3] = 0;
    s = stream_new ("ndconv4dtemporal", &model, NULL);
    model.origin[3] = -2; /* 4 before, 0 after the anchor */
    if (i > 0)
      stream_set_model (s, &model);
    s->h = gst_harness_new_with_element (s->element, "sink", "src");
    gst_pad_set_query_function (s->h->srcpad, answer);
    upstream.live = TRUE;
    upstream.min = 3;
    upstream.max = GST_SECOND;
    fail_if (stream_latency (s, &live, &min, &max));
    gst_harness_set_src_caps (s->h, stream_caps (s));
    fail_unless (stream_latency (s, &live, &min, &max));
    fail_unless (live);
    fail_unless_equals_uint64 (min, 3 + delays[i] * s->duration);
    fail_unless_equals_uint64 (max, GST_SECOND + delays[i] * s->duration);
    upstream.live = FALSE;
    upstream.max = GST_CLOCK_TIME_NONE;
    fail_unless (stream_latency (s, &live, &min, &max));
    fail_if (live);
    fail_unless_equals_uint64 (min, 3 + delays[i] * s->duration);
    fail_unless_equals_uint64 (max, GST_CLOCK_TIME_NONE);
    /* Without an answer from upstream there is no answer. */
    gst_pad_set_query_function (s->h->srcpad, refuse);
    fail_if (stream_latency (s, &live, &min, &max));
    stream_free (s);
  }
}

GST_END_TEST;

/* Every change of the delay posts one message. */
GST_START_TEST (test_19_latency_message)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstClockTime min, max;
  gboolean live;

  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 1);
  stream_push_range (s, 0, 4);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 0);
  model = model_temporal (7, "nearest");
  stream_set_model (s, &model);
  stream_push_range (s, 5, 5);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 1);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 3 * s->duration);
  g_object_set (s->element, "causal", TRUE, NULL);
  stream_push_range (s, 6, 6);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 1);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 0);
  g_object_set (s->element, "causal", FALSE, "gain", 2.0, NULL);
  stream_push_range (s, 7, 7);
  stream_messages (s, GST_MESSAGE_LATENCY, NULL);
  s->rate = 5;
  stream_send_caps (s);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_LATENCY, NULL), 1);
  fail_unless (stream_latency (s, &live, &min, &max));
  fail_unless_equals_uint64 (min, 3 * GST_SECOND / 5);
  stream_free (s);
}

GST_END_TEST;

/* If volumes come quicker, the latency falls by an eighth of an interval with
 * each of them: a sink would find them late. */
GST_START_TEST (test_19_latency_falls)
{
  const GstClockTime quick = 10 * GST_MSECOND;
  Model model = model_temporal (25, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  GstClockTime min, max, before = 0;
  gboolean live;

  s->rate = 0;
  stream_start (s);
  for (guint i = 0; i < 400; i++) {
    GstBuffer *buffer = stream_buffer (s, i);

    GST_BUFFER_PTS (buffer) =
        i < 40 ? 4 * i * quick : 4 * 40 * quick + (i - 40) * quick;
    GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
    gst_harness_push (s->h, buffer);
    fail_unless (stream_latency (s, &live, &min, &max));
    if (i == 39)
      fail_unless_equals_uint64 (min, 12 * 4 * quick);
    if (i >= 40)
      fail_unless (min + 4 * quick / 8 >= before, "volume %u", i);
    before = min;
  }
  fail_unless (min >= 12 * quick && min <= 12 * quick * 11 / 10);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_20_other_queries_pass)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  g_autoptr (GstQuery) duration = gst_query_new_duration (GST_FORMAT_TIME);
  g_autoptr (GstQuery) position = gst_query_new_position (GST_FORMAT_TIME);
  g_autoptr (GstQuery) custom =
      gst_query_new_custom (GST_QUERY_CUSTOM, gst_structure_new_empty ("test"));
  g_autoptr (GstQuery) context = gst_query_new_context ("test.context");
  gint64 time;

  gst_pad_set_query_function (s->h->srcpad, answer);
  fail_unless (gst_pad_peer_query (s->h->sinkpad, duration));
  gst_query_parse_duration (duration, NULL, &time);
  fail_unless_equals_int64 (time, 5 * GST_SECOND);
  fail_unless (gst_pad_peer_query (s->h->sinkpad, custom));
  fail_if (gst_pad_peer_query (s->h->sinkpad, context));
  stream_segment (s, 1, 30 * s->duration, GST_CLOCK_TIME_NONE);
  stream_push_range (s, 30, 34);
  fail_unless (gst_pad_peer_query (s->h->sinkpad, position));
  gst_query_parse_position (position, NULL, &time);
  /* The end of the last output, that of volume 33. */
  fail_unless_equals_int64 (time, 34 * s->duration);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_20_caps_keep_the_order_of_the_filter)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (s->element, "sink");
  g_autoptr (GstCaps) filter = gst_caps_from_string (
      "other/tensors,num_tensors=1,format=static,types=float32;"
      "other/tensors,num_tensors=1,format=static,types=uint8;"
      "other/tensors,num_tensors=1,format=static,types=int64;"
      "other/tensors,num_tensors=1,format=static,types=int16");
  g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, filter);
  static const gchar *const types[] = { "float32", "uint8", "int16" };

  fail_unless_equals_int (gst_caps_get_size (caps), 3);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_string (
        gst_structure_get_string (gst_caps_get_structure (caps, i), "types"),
        types[i]);
  stream_free (s);
}

GST_END_TEST;

/* Late outputs are skipped, inputs are not. */
GST_START_TEST (test_21_qos_skips_outputs_not_inputs)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  g_autoptr (GstMessage) message = NULL;
  GstEvent *event;
  GstBuffer *output;
  guint64 processed, dropped;
  GstClockTime running_time;
  GstFormat format;

  stream_push_range (s, 0, 4);
  stream_expect (s, 0, 20, 0, 3);
  while ((event = gst_harness_try_pull_upstream_event (s->h)))
    gst_event_unref (event);
  /* The outputs up to volume 7 would come too late. Elements upstream must not
   * know: they would drop volumes of the window. */
  fail_unless (gst_harness_push_upstream_event (s->h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 0.5, 4 * s->duration,
          3 * s->duration)));
  event = gst_harness_try_pull_upstream_event (s->h);
  fail_unless (event == NULL);
  stream_push_range (s, 5, 9);
  stream_expect_none (s);
  stream_push_range (s, 10, 19);
  stream_eos (s);
  output = stream_pull (s);
  fail_unless (GST_BUFFER_IS_DISCONT (output));
  stream_check (s, output, 0, 20, 8);
  output = stream_pull (s);
  fail_if (GST_BUFFER_IS_DISCONT (output));
  stream_check (s, output, 0, 20, 9);
  stream_expect (s, 0, 20, 10, 20);
  stream_expect_none (s);

  fail_unless_equals_uint64 (stream_stat (s, "volumes-in"), 20);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-out"), 15);
  fail_unless_equals_uint64 (stream_stat (s, "volumes-late"), 5);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_QOS, &message), 5);
  gst_message_parse_qos (message, NULL, &running_time, NULL, NULL, NULL);
  fail_unless_equals_uint64 (running_time, 7 * s->duration);
  gst_message_parse_qos_stats (message, &format, &processed, &dropped);
  fail_unless_equals_int (format, GST_FORMAT_BUFFERS);
  fail_unless_equals_uint64 (processed, 3);
  fail_unless_equals_uint64 (dropped, 5);
  stream_free (s);
}

GST_END_TEST;

/* Nothing is lost if upstream drops a volume that no other output needs. */
GST_START_TEST (test_21_qos_goes_upstream)
{
  Model model = model_temporal (1, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstEvent *event;

  stream_push_range (s, 0, 0);
  while ((event = gst_harness_try_pull_upstream_event (s->h)))
    gst_event_unref (event);
  fail_unless (gst_harness_push_upstream_event (s->h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 0.5, 4 * s->duration, 0)));
  event = gst_harness_try_pull_upstream_event (s->h);
  fail_unless (event && GST_EVENT_TYPE (event) == GST_EVENT_QOS);
  gst_event_unref (event);
  stream_free (s);
}

GST_END_TEST;

static void
say_late (Stream *s)
{
  gst_harness_push_upstream_event (s->h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 0.5, 100 * GST_SECOND, 0));
}

/* A flush resets the deadline, and so does an early QoS event; the property qos
 * disables skipping. */
GST_START_TEST (test_21_qos_ends)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  say_late (s);
  stream_push_range (s, 0, 4);
  stream_expect_none (s);
  stream_flush (s);
  stream_push_range (s, 0, 4);
  stream_expect (s, 0, 6, 0, 4);
  say_late (s);
  gst_harness_push_upstream_event (s->h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 0.5, -GST_SECOND, GST_SECOND));
  stream_push_range (s, 5, 5);
  stream_expect (s, 0, 7, 4, 5);
  say_late (s);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (s->element), FALSE);
  stream_push_range (s, 6, 6);
  stream_expect (s, 0, 7, 5, 6);
  stream_free (s);
}

GST_END_TEST;

static GstPadProbeReturn
offer_pool (GstPad *pad, GstPadProbeInfo *info, gpointer pool)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (query, pool, 100, 2, 0);
  return GST_PAD_PROBE_HANDLED;
}

/* Downstream's pool is used, even if its buffers are larger. */
GST_START_TEST (test_22_pool_from_downstream)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  GstBufferPool *pool = gst_buffer_pool_new ();
  g_autoptr (GstCaps) caps = stream_caps (s);

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_pad_add_probe (s->h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      offer_pool, pool, NULL);
  gst_harness_set_src_caps (s->h, gst_caps_ref (caps));
  stream_push_range (s, 0, 3);
  stream_eos (s);
  for (gint i = 0; i < 4; i++) {
    GstBuffer *output = stream_pull (s);

    fail_unless (output->pool == pool);
    stream_check (s, output, 0, 4, i);
  }
  stream_free (s);
  gst_object_unref (pool);
}

GST_END_TEST;

GST_START_TEST (test_22_upstream_may_use_strides)
{
  Model model = model_temporal (1, "nearest");
  Stream *s = stream_started ("ndconv2d", &model);
  g_autoptr (GstCaps) caps = stream_caps (s);
  g_autoptr (GstQuery) query = gst_query_new_allocation (caps, TRUE);

  fail_unless (gst_pad_peer_query (s->h->srcpad, query));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE,
      NULL));
  stream_free (s);
}

GST_END_TEST;

/* No input is held, because upstream's pool may be small. */
GST_START_TEST (test_23_inputs_are_given_back)
{
  Model model = model_temporal (9, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  for (gint i = 0; i < 12; i++) {
    GstBuffer *buffer = stream_buffer (s, i);

    gst_buffer_ref (buffer);
    fail_unless_equals_int (gst_harness_push (s->h, buffer), GST_FLOW_OK);
    ASSERT_MINI_OBJECT_REFCOUNT (buffer, "input", 1);
    gst_buffer_unref (buffer);
  }
  stream_eos (s);
  stream_expect_all (s, 0, 12);
  stream_free (s);
}

GST_END_TEST;

GST_START_TEST (test_23_several_memories)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  for (gint i = 0; i < 6; i++) {
    GstBuffer *whole = stream_buffer (s, i), *parts = gst_buffer_new ();
    gsize size = gst_buffer_get_size (whole);

    gst_buffer_copy_into (parts, whole, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    for (gsize at = 0; at < size; at += 10) {
      g_autoptr (GstBuffer) part = gst_buffer_copy_region (whole,
          GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_DEEP, at,
          MIN (10, size - at));

      gst_buffer_append_memory (parts, gst_buffer_get_memory (part, 0));
    }
    gst_buffer_unref (whole);
    fail_unless_equals_int (gst_buffer_n_memory (parts), 5);
    fail_unless_equals_int (gst_harness_push (s->h, parts), GST_FLOW_OK);
  }
  stream_eos (s);
  stream_expect_all (s, 0, 6);
  stream_free (s);
}

GST_END_TEST;

/* Rows end at the width of the caps, although the memory continues. */
GST_START_TEST (test_24_strides)
{
  Model model = model_new (NULL, 3, 1, 1, 1);
  Stream *s = stream_new ("ndconv2d", &model, "gain", "0.125", NULL);
  gsize offset[4] = { 7, }, row;
  gint stride[4] = {
    16,
  };
  GstBuffer *buffer = gst_buffer_new_and_alloc (7 + 3 * 16);
  g_autoptr (GstBuffer) output = NULL;
  GstVideoInfo info;
  GstMapInfo map;

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps_str (s->h,
      "video/x-raw,format=GRAY8,width=5,"
      "height=3,framerate=10/1");
  gst_buffer_memset (buffer, 0, 255, -1);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_FORMAT_GRAY8, 5, 3, 1, offset, stride);
  for (guint y = 0; y < 3; y++) {
    guint8 samples[5] = { 8, 16 + y, 32, 64, 128 };

    gst_buffer_fill (buffer, 7 + 16 * y, samples, 5);
  }
  fail_unless_equals_int (gst_harness_push (s->h, buffer), GST_FLOW_OK);
  output = stream_pull (s);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, 5, 3);
  row = gst_buffer_get_video_meta (output)
      ? gst_buffer_get_video_meta (output)->stride[0]
      : info.stride[0];
  fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
  for (guint y = 0; y < 3; y++) {
    const gint in[7] = { 8, 8, 16 + y, 32, 64, 128, 128 };

    for (guint x = 0; x < 5; x++) {
      gdouble sum = (in[x] * 3 + in[x + 1] * 2 + in[x + 2]) * 0.125;

      fail_unless_equals_int (map.data[y * row + x], rint (sum));
    }
  }
  gst_buffer_unmap (output, &map);
  stream_free (s);
}

GST_END_TEST;

/* Strides of a meta that exceed the memory. */
GST_START_TEST (test_24_meta_beyond_the_memory)
{
  Model model = model_new (NULL, 3, 1, 1, 1);
  Stream *s = stream_new ("ndconv2d", &model, NULL);
  gsize offset[4] = {
    0,
  };
  gint stride[4] = {
    64,
  };
  GstBuffer *buffer = gst_buffer_new_and_alloc (200);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps_str (s->h,
      "video/x-raw,format=GRAY8,width=64,"
      "height=64,framerate=10/1");
  gst_buffer_memset (buffer, 0, 1, -1);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_FORMAT_GRAY8, 64, 64, 1, offset, stride);
  fail_unless_equals_int (gst_harness_push (s->h, buffer), GST_FLOW_ERROR);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, &message), 1);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_STREAM_ERROR,
      GST_STREAM_ERROR_WRONG_TYPE));
  stream_free (s);
}

GST_END_TEST;

/* Slots replaced by the border are never read before they are written (valgrind
 * checks this). */
GST_START_TEST (test_25_slots_are_written_before_they_are_read)
{
  static const gchar *const borders[] = { "constant", "nearest", "mirror" };
  static const gchar *const methods[] = { "direct", "separable", "reference" };

  for (guint b = 0; b < G_N_ELEMENTS (borders); b++) {
    for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
      for (gint n = 1; n <= 3; n++) {
        Model model = model_temporal (7, borders[b]);
        Stream *s =
            stream_new ("ndconv4dtemporal", &model, "method", methods[m], NULL);

        stream_start (s);
        stream_push_range (s, 0, n - 1);
        stream_eos (s);
        stream_expect_all (s, 0, n);
        stream_free (s);
      }
    }
  }
}

GST_END_TEST;

GST_START_TEST (test_26_elements_share_nothing)
{
  Model a = model_temporal (5, "mirror"), b = model_temporal (4, "constant");
  Stream *s = stream_started ("ndconv4dtemporal", &a);
  Stream *t = stream_started ("ndconv4dtemporal", &b);

  for (gint i = 0; i < 10; i++) {
    stream_push_range (s, i, i);
    stream_push_range (t, 50 + i, 50 + i);
  }
  stream_eos (t);
  stream_expect_all (t, 50, 10);
  stream_free (t);
  stream_push_range (s, 10, 12);
  stream_eos (s);
  stream_expect_all (s, 0, 13);
  stream_free (s);
}

GST_END_TEST;

/* An output is complete when it is pushed, and an input has been read when the
 * push returns. */
GST_START_TEST (test_27_nothing_is_read_later)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  for (gint i = 0; i < 9; i++) {
    GstBuffer *buffer = stream_buffer (s, i);
    GstMapInfo map;

    gst_buffer_ref (buffer);
    fail_unless_equals_int (gst_harness_push (s->h, buffer), GST_FLOW_OK);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
    memset (map.data, 0xff, map.size);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  stream_eos (s);
  stream_expect_all (s, 0, 9);
  stream_free (s);
}

GST_END_TEST;

/* Downstream renegotiates the same caps: the window stays. */
GST_START_TEST (test_28_reconfigure_keeps_the_window)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 4);
  gst_harness_push_upstream_event (s->h, gst_event_new_reconfigure ());
  stream_push_range (s, 5, 9);
  stream_eos (s);
  stream_expect_all (s, 0, 10);
  stream_free (s);
}

GST_END_TEST;

/* One error, then failures without further messages, and NULL resets the
 * element. */
GST_START_TEST (test_29_a_failure_lasts_until_null)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 2);
  stream_expect (s, 0, 3, 0, 2);
  fail_unless_equals_int (gst_harness_push (s->h, gst_buffer_new_and_alloc (5)),
      GST_FLOW_ERROR);
  for (gint i = 3; i < 6; i++)
    fail_unless_equals_int (stream_push (s, i), GST_FLOW_ERROR);
  stream_flush (s);
  fail_unless_equals_int (stream_push (s, 6), GST_FLOW_ERROR);
  stream_eos (s);
  stream_expect_none (s);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 1);

  gst_element_set_state (s->element, GST_STATE_NULL);
  gst_element_set_state (s->element, GST_STATE_PLAYING);
  stream_event (s, gst_event_new_stream_start ("again"));
  gst_harness_set_src_caps (s->h, stream_caps (s));
  stream_push_range (s, 0, 5);
  stream_eos (s);
  stream_expect_all (s, 0, 6);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
  stream_free (s);
}

GST_END_TEST;

static void
cycle (Stream *s)
{
  gst_element_set_state (s->element, GST_STATE_READY);
  gst_element_set_state (s->element, GST_STATE_PLAYING);
  stream_event (s, gst_event_new_stream_start ("again"));
  gst_harness_set_src_caps (s->h, stream_caps (s));
}

GST_START_TEST (test_31_starts_clean_ten_times)
{
  Model model = model_temporal (5, "mirror");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstClockTime min, max;
  gboolean live;

  for (gint i = 0; i < 10; i++) {
    GstBuffer *left;

    stream_push_range (s, POISON, POISON + i);
    while ((left = gst_harness_try_pull (s->h)))
      gst_buffer_unref (left);
    gst_element_set_state (s->element, GST_STATE_READY);
    fail_if (stream_latency (s, &live, &min, &max));
    cycle (s);
    fail_unless_equals_uint64 (stream_stat (s, "volumes-in"), 0);
    stream_push_range (s, 0, 6);
    stream_eos (s);
    stream_expect_all (s, 0, 7);
    cycle (s);
  }
  stream_free (s);
}

GST_END_TEST;

/* A live source through the whole element: nothing is lost and nothing is
 * late. */
GST_START_TEST (test_32_live)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (
      "ndtestsrc pattern=noise "
      "is-live=true num-buffers=12 volume-size=4:4:4 framerate=50/1 ! "
      "ndconv4dtemporal name=filter filter=gaussian,sigma=0.5 ! "
      "fakesink name=sink sync=true",
      &error);
  g_autoptr (GstElement) filter = NULL, sink = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstStructure *stats;
  GstClockTime min, max;
  guint64 in, out, late, rendered;
  gboolean live;

  fail_unless (pipeline != NULL, "%s", error ? error->message : "");
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  fail_unless (gst_element_query (pipeline, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  /* A Gaussian of sigma 0.5 looks two volumes ahead. */
  fail_unless (min >= 2 * GST_SECOND / 50);
  fail_unless (max >= min);
  g_object_get (filter, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "volumes-in", G_TYPE_UINT64, &in,
      "volumes-out", G_TYPE_UINT64, &out, "volumes-late", G_TYPE_UINT64, &late,
      NULL));
  gst_structure_free (stats);
  g_object_get (sink, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "rendered", &rendered));
  gst_structure_free (stats);
  fail_unless_equals_uint64 (in, 12);
  fail_unless_equals_uint64 (out + late, 12);
  fail_unless (rendered <= out);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
checklist_load_suite (void)
{
  Suite *suite = suite_create ("checklistload");
  TCase *tc = tcase_create ("19-32");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_19_latency);
  tcase_add_test (tc, test_19_latency_message);
  tcase_add_test (tc, test_19_latency_falls);
  tcase_add_test (tc, test_20_other_queries_pass);
  tcase_add_test (tc, test_20_caps_keep_the_order_of_the_filter);
  tcase_add_test (tc, test_21_qos_skips_outputs_not_inputs);
  tcase_add_test (tc, test_21_qos_goes_upstream);
  tcase_add_test (tc, test_21_qos_ends);
  tcase_add_test (tc, test_22_pool_from_downstream);
  tcase_add_test (tc, test_22_upstream_may_use_strides);
  tcase_add_test (tc, test_23_inputs_are_given_back);
  tcase_add_test (tc, test_23_several_memories);
  tcase_add_test (tc, test_24_strides);
  tcase_add_test (tc, test_24_meta_beyond_the_memory);
  tcase_add_test (tc, test_25_slots_are_written_before_they_are_read);
  tcase_add_test (tc, test_26_elements_share_nothing);
  tcase_add_test (tc, test_27_nothing_is_read_later);
  tcase_add_test (tc, test_28_reconfigure_keeps_the_window);
  tcase_add_test (tc, test_29_a_failure_lasts_until_null);
  tcase_add_test (tc, test_31_starts_clean_ten_times);
  tcase_add_test (tc, test_32_live);
  return suite;
}

GST_CHECK_MAIN (checklist_load);
