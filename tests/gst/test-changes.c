/* docs/checklist.md, point 30: properties change while volumes flow; and the
 * threads of point 31.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

/* Changes that need no other volumes take effect at the next output. */
GST_START_TEST (test_30_window_is_kept)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 5);
  stream_expect (s, 0, 12, 0, 4);
  model.gain = 3;
  model.offset = 4;
  stream_set_model (s, &model);
  stream_push_range (s, 6, 6);
  stream_expect (s, 0, 12, 4, 5);
  model = model_new (NULL, 3, 2, 1, 5);
  model.border = "reflect";
  stream_set_model (s, &model);
  stream_push_range (s, 7, 7);
  stream_expect (s, 0, 12, 5, 6);
  gst_util_set_object_arg (G_OBJECT (s->element), "method", "reference");
  stream_push_range (s, 8, 8);
  stream_expect (s, 0, 12, 6, 7);
  /* Three volumes need fewer than the five in the window, and one of the
   * waiting outputs is ready at once. */
  model = model_temporal (3, "nearest");
  stream_set_model (s, &model);
  stream_push_range (s, 9, 9);
  stream_expect (s, 0, 12, 7, 9);
  stream_expect_none (s);
  stream_push_range (s, 10, 11);
  stream_eos (s);
  stream_expect (s, 0, 12, 9, 12);
  stream_expect_none (s);
  stream_free (s);
}

GST_END_TEST;

/* The number of threads does not matter to the output. */
GST_START_TEST (test_30_threads)
{
  static const gchar *const methods[] = { "direct", "fft", "auto" };
  static const guint numbers[] = { 1, 0, 5, 2, 256 };
  Model model = model_new (NULL, 3, 3, 2, 3);
  Stream *s =
      stream_new ("ndconv4dtemporal", &model, "method", methods[__i__], NULL);

  s->tolerance = __i__ > 0 ? 0.05 : 0; /* integers */
  stream_set_size (s, 9, 8, 7);
  stream_start (s);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    guint n;

    g_object_set (s->element, "n-threads", numbers[i], NULL);
    g_object_get (s->element, "n-threads", &n, NULL);
    fail_unless_equals_int (n, numbers[i]);
    stream_push_range (s, 2 * i, 2 * i + 1);
  }
  stream_eos (s);
  stream_expect_all (s, 0, 2 * G_N_ELEMENTS (numbers));
  stream_free (s);
}

GST_END_TEST;

/* On the CPU, a limit of device memory does not matter to the output. */
GST_START_TEST (test_30_memory_limit)
{
  Model model = model_new (NULL, 3, 3, 2, 3);
  Stream *s = stream_new ("ndconv4dtemporal", &model, "backend", "cpu",
      "memory-limit", "1", NULL);

  stream_set_size (s, 9, 8, 7);
  stream_start (s);
  for (guint i = 0; i < 3; i++) {
    const gint64 limit = G_GINT64_CONSTANT (5000000000) * i;
    gint64 got;

    g_object_set (s->element, "memory-limit", limit, NULL);
    g_object_get (s->element, "memory-limit", &got, NULL);
    fail_unless (got == limit);
    stream_push_range (s, 2 * i, 2 * i + 1);
  }
  stream_eos (s);
  stream_expect_all (s, 0, 6);
  stream_free (s);
}

GST_END_TEST;

/* A longer window restarts, after the outputs that were left of the old one. */
GST_START_TEST (test_30_longer_window_drains)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  stream_push_range (s, 0, 5);
  stream_expect (s, 0, 6, 0, 5);
  model = model_temporal (9, "nearest");
  stream_push_range (s, 6, 6);
  stream_expect (s, 0, 8, 5, 6);
  g_object_set (s->element, "filter", "box,size=1:1:1:9", "gain", 9.0, NULL);
  stream_push_range (s, 7, 7);
  stream_expect (s, 0, 7, 6, 7);
  stream_expect_none (s);
  for (guint i = 0; i < 9; i++)
    model.values[i] = 1;
  s->model = model;
  stream_push_range (s, 8, 15);
  stream_eos (s);
  for (gint i = 0; i < 9; i++) {
    GstBuffer *output = stream_pull (s);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (output), (7 + i) * s->duration);
    gst_buffer_unref (output);
  }
  stream_expect_none (s);
  stream_free (s);
}

GST_END_TEST;

/* Any sequence of filters gives one output for each input, in order, and reads
 * no unwritten memory. */
GST_START_TEST (test_30_random_changes)
{
  static const gchar *const borders[] = { "nearest", "reflect", "mirror",
    "constant" };
  g_autoptr (GRand) r = test_rand ();

  for (guint walk = 0; walk < test_count (2000) + 20; walk++) {
    Model model = model_temporal (3, "nearest");
    Stream *s = stream_started ("ndconv4dtemporal", &model);
    gint n = g_rand_int_range (r, 1, 25), got = 0;
    GstBuffer *output;

    for (gint i = 0; i < n; i++) {
      if (g_rand_int_range (r, 0, 3) == 0) {
        model = model_new (r, 1, 1, 1, g_rand_int_range (r, 1, 8));
        model.time_border = borders[g_rand_int_range (r, 0, 4)];
        model.origin[3] = g_rand_int_range (r, -(gint) (model.size[3] / 2),
            ((gint) model.size[3] - 1) / 2 + 1);
        stream_set_model (s, &model);
      }
      stream_push_range (s, i, i);
    }
    stream_eos (s);
    for (; (output = gst_harness_try_pull (s->h)); got++) {
      GstMapInfo map;

      fail_unless_equals_uint64 (GST_BUFFER_PTS (output), got * s->duration);
      fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
      for (gsize k = 0; k < s->samples; k++)
        fail_unless (((gfloat *) map.data)[k] >= -7 * 5 * 20
            && ((gfloat *) map.data)[k] <= 7 * 5 * 20);
      gst_buffer_unmap (output, &map);
      gst_buffer_unref (output);
    }
    fail_unless_equals_int (got, n);
    stream_free (s);
  }
}

GST_END_TEST;

static void
expect_warning (Stream *s, const gchar *words)
{
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

  fail_unless_equals_int (stream_messages (s,
                              GST_MESSAGE_WARNING | GST_MESSAGE_ERROR,
                              &message),
      1);
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_LIBRARY_ERROR,
      GST_LIBRARY_ERROR_SETTINGS));
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
}

/* One warning, and the old filter stays. */
GST_START_TEST (test_30_bad_settings_are_refused)
{
  static const gchar *const bad[] = { "nonsense", "box,size=0", "",
    "box,size=2;"
    "nonsense",
    "coefficients,size=2,values=<1.0,NaN>", "box,size=2;box" };
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  g_autofree gchar *good = model_filter (&model);
  gint i = 0;

  stream_push_range (s, 0, 3);
  for (i = 4; i < 4 + (gint) G_N_ELEMENTS (bad); i++) {
    g_object_set (s->element, "filter", bad[i - 4], NULL);
    stream_push_range (s, i, i);
    expect_warning (s, "filter");
  }
  g_object_set (s->element, "filter", good, "origin", "0:0:0:9", NULL);
  stream_push_range (s, i, i);
  expect_warning (s, "origin");
  g_object_set (s->element, "origin", "0:0:0:0", NULL);
  gst_util_set_object_arg (G_OBJECT (s->element), "time-border", "wrap");
  i++;
  stream_push_range (s, i, i);
  expect_warning (s, "time-border");
  gst_util_set_object_arg (G_OBJECT (s->element), "time-border", "nearest");
  i++;
  stream_push_range (s, i, i);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, NULL), 0);
  stream_eos (s);
  stream_expect_all (s, 0, i + 1);
  stream_free (s);
}

GST_END_TEST;

/* The same for a bank, which must also keep its caps. */
GST_START_TEST (test_30_bad_bank_is_refused)
{
  Stream *s = stream_new ("ndconv4dtemporal", NULL, "filter",
      "box,size=1:1:1:3;box,size=1", NULL);

  stream_start (s);
  stream_push_range (s, 0, 3);
  g_object_set (s->element, "filter", "nonsense", NULL);
  stream_push_range (s, 4, 4);
  expect_warning (s, "filter");
  /* A renegotiation in between keeps the caps in use. */
  gst_harness_push_upstream_event (s->h, gst_event_new_reconfigure ());
  stream_push_range (s, 5, 5);
  stream_eos (s);
  for (gint i = 0; i < 6; i++) {
    g_autoptr (GstBuffer) output = stream_pull (s);

    fail_unless_equals_uint64 (gst_buffer_get_size (output),
        2 * s->samples * sizeof (gfloat));
  }
  stream_expect_none (s);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
  stream_free (s);
}

GST_END_TEST;

static void
expect_dimensions (Stream *s, const gchar *dimensions)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (s->h->sinkpad);

  fail_unless_equals_string (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "dimensions"),
      dimensions);
}

/* A bank of another size: the old one is drained with its caps, then new caps
 * follow. */
GST_START_TEST (test_30_size_of_the_bank_changes_caps)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  g_autofree gchar *filter = model_filter (&model);
  g_autofree gchar *twice = g_strdup_printf ("%s;%s", filter, filter);

  stream_push_range (s, 0, 3);
  expect_dimensions (s, "1:3:2:2");
  g_object_set (s->element, "filter", twice, NULL);
  stream_push_range (s, 4, 7);
  expect_dimensions (s, "1:3:2:2:2");
  stream_expect (s, 0, 4, 0, 4);
  g_object_set (s->element, "filter", filter, NULL);
  stream_push_range (s, 8, 11);
  expect_dimensions (s, "1:3:2:2");
  for (gint i = 0; i < 4; i++) {
    GstBuffer *both = stream_pull (s);

    for (guint k = 0; k < 2; k++) {
      gsize size = s->samples * sizeof (gfloat);
      GstBuffer *one =
          gst_buffer_copy_region (both, GST_BUFFER_COPY_MEMORY, k * size, size);

      GST_BUFFER_PTS (one) = GST_BUFFER_PTS (both);
      stream_check (s, one, 4, 4, i);
    }
    gst_buffer_unref (both);
  }
  stream_eos (s);
  stream_expect_all (s, 8, 4);
  fail_unless_equals_int (stream_messages (s,
                              GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, NULL),
      0);
  stream_free (s);
}

GST_END_TEST;

/* The type of the input, set by name: nothing changes. */
GST_START_TEST (test_30_output_type)
{
  Model model = model_temporal (5, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  guint sizes = 0;

  stream_push_range (s, 0, 3);
  gst_util_set_object_arg (G_OBJECT (s->element), "output-type", "float32");
  stream_push_range (s, 4, 6);
  stream_expect (s, 0, 7, 0, 5);
  gst_util_set_object_arg (G_OBJECT (s->element), "output-type", "uint8");
  stream_push_range (s, 7, 8);
  stream_expect (s, 0, 7, 5, 7);
  gst_util_set_object_arg (G_OBJECT (s->element), "output-type", "same");
  stream_push_range (s, 9, 12);
  for (gint i = 7; i < 9; i++) {
    g_autoptr (GstBuffer) output = stream_pull (s);

    sizes += gst_buffer_get_size (output);
  }
  fail_unless_equals_int (sizes, 2 * s->samples);
  stream_eos (s);
  stream_expect_all (s, 9, 4);
  stream_free (s);
}

GST_END_TEST;

/* Threads */

static GstHarnessThread *
stress_filter (Stream *s, const gchar *filter)
{
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_string (&value, filter);
  return gst_harness_stress_property_start_full (s->h, "filter", &value, 500);
}

static GstHarnessThread *
stress_pushes (Stream *s)
{
  GstSegment segment;
  GstBuffer *buffer = stream_buffer (s, 1);
  GstCaps *caps = stream_caps (s);
  GstHarnessThread *thread;

  GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  thread = gst_harness_stress_push_buffer_start_full (s->h, caps, &segment,
      buffer, 100);
  gst_caps_unref (caps);
  gst_buffer_unref (buffer);
  return thread;
}

/* Filters of other lengths, banks of other sizes, statistics and latency change
 * while volumes flow. Each output has the size of its caps. */
GST_START_TEST (test_31_stress_properties)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  GstHarnessThread *threads[6];
  guint n = 0;

  stream_start (s);
  gst_harness_set_drop_buffers (s->h, TRUE);
  threads[n++] = stress_filter (s, "box,size=1:1:1:5");
  threads[n++] = stress_filter (s, "box,size=3;gaussian,sigma=1;laplace");
  threads[n++] = stress_filter (s, "box,size=1:1:1:2;box,size=1");
  threads[n++] = stress_filter (s, "nonsense");
  threads[n++] = stress_pushes (s);
  while (stream_stat (s, "volumes-out") < 500) {
    GstClockTime min, max;
    gboolean live;

    stream_latency (s, &live, &min, &max);
    fail_unless (stream_stat (s, "volumes-out")
        <= stream_stat (s, "volumes-in"));
    g_usleep (1000);
  }
  for (guint i = 0; i < n; i++)
    gst_harness_stress_thread_stop (threads[i]);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
  stream_free (s);
}

GST_END_TEST;

typedef struct
{
  Stream *stream;
  GMutex streaming; /* held while a volume is pushed */
  gint wanted;      /* by the thread that does not push */
  gint stop;
  GstFlowReturn failed;
} Pushes;

/* A check that fails would end the thread of the test, not this one. */
static gpointer
push_all_the_time (gpointer data)
{
  Pushes *pushes = data;

  for (gint i = 0; !g_atomic_int_get (&pushes->stop); i = (i + 1) % 100) {
    GstFlowReturn ret;

    /* A mutex may return to the thread that has just left it, for ever. */
    while (g_atomic_int_get (&pushes->wanted))
      g_thread_yield ();
    g_mutex_lock (&pushes->streaming);
    ret = stream_push (pushes->stream, i);
    if (ret != GST_FLOW_OK && ret != GST_FLOW_FLUSHING)
      pushes->failed = ret;
    g_mutex_unlock (&pushes->streaming);
  }
  return NULL;
}

/* Between two pushes. */
static void
pushes_lock (Pushes *pushes)
{
  g_atomic_int_set (&pushes->wanted, 1);
  g_mutex_lock (&pushes->streaming);
  g_atomic_int_set (&pushes->wanted, 0);
}

/* Like a source that seeks: flush-start at any time, the rest between
 * pushes. */
GST_START_TEST (test_31_stress_flushes)
{
  Model model = model_temporal (5, "mirror");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  Pushes pushes = { .stream = s };
  GThread *thread;

  g_mutex_init (&pushes.streaming);
  gst_harness_set_drop_buffers (s->h, TRUE);
  thread = g_thread_new ("push", push_all_the_time, &pushes);
  for (guint i = 0; i < test_count (500) + 10; i++) {
    stream_event (s, gst_event_new_flush_start ());
    pushes_lock (&pushes);
    stream_event (s, gst_event_new_flush_stop (TRUE));
    stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
    g_mutex_unlock (&pushes.streaming);
    g_usleep (500);
  }
  g_atomic_int_set (&pushes.stop, 1);
  g_thread_join (thread);
  fail_unless (pushes.failed == GST_FLOW_OK, "%s",
      gst_flow_get_name (pushes.failed));
  g_mutex_clear (&pushes.streaming);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
  /* The element still works. */
  gst_harness_set_drop_buffers (s->h, FALSE);
  stream_flush (s);
  stream_push_range (s, 0, 7);
  stream_eos (s);
  stream_expect_all (s, 0, 8);
  stream_free (s);
}

GST_END_TEST;

/* Stops at any time, also in the middle of a volume. */
GST_START_TEST (test_31_stress_states)
{
  Model model = model_temporal (5, "mirror");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  Pushes pushes = { .stream = s };
  GstHarnessThread *filters;
  GThread *thread;

  g_mutex_init (&pushes.streaming);
  gst_harness_set_drop_buffers (s->h, TRUE);
  thread = g_thread_new ("push", push_all_the_time, &pushes);
  filters = stress_filter (s, "box,size=1:1:1:4");
  for (guint i = 0; i < test_count (200) + 10; i++) {
    gst_element_set_state (s->element,
        i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    pushes_lock (&pushes);
    gst_element_set_state (s->element, GST_STATE_PLAYING);
    stream_event (s, gst_event_new_stream_start ("again"));
    gst_harness_set_src_caps (s->h, stream_caps (s));
    g_mutex_unlock (&pushes.streaming);
    g_usleep (500);
  }
  g_atomic_int_set (&pushes.stop, 1);
  g_thread_join (thread);
  fail_unless (pushes.failed == GST_FLOW_OK, "%s",
      gst_flow_get_name (pushes.failed));
  fail_unless (gst_harness_stress_thread_stop (filters) > 0);
  g_mutex_clear (&pushes.streaming);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
  stream_free (s);
}

GST_END_TEST;

static Suite *
changes_suite (void)
{
  Suite *suite = suite_create ("changes");
  TCase *tc = tcase_create ("30-31");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_30_window_is_kept);
  tcase_add_loop_test (tc, test_30_threads, 0, 3);
  tcase_add_test (tc, test_30_memory_limit);
  tcase_add_test (tc, test_30_longer_window_drains);
  tcase_add_test (tc, test_30_random_changes);
  tcase_add_test (tc, test_30_bad_settings_are_refused);
  tcase_add_test (tc, test_30_bad_bank_is_refused);
  tcase_add_test (tc, test_30_size_of_the_bank_changes_caps);
  tcase_add_test (tc, test_30_output_type);
  tcase_add_test (tc, test_31_stress_properties);
  tcase_add_test (tc, test_31_stress_flushes);
  tcase_add_test (tc, test_31_stress_states);
  return suite;
}

GST_CHECK_MAIN (changes);
