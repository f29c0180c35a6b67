/* Settings of the filters that change while playing, and filters that take long
 * to design: docs/checklist.md, 30.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <glib/gstdio.h>

/* A design of many seconds, of the output caps of a real filter. */
#define SLOW \
  "quadrature-bank,size=13,center-frequency=(double)1.05,bandwidth=(double)2.0"

static gint designs; /* that ended; atomic */

static void
count_designs (GstDebugCategory *category, GstDebugLevel level,
    const gchar *file, const gchar *function, gint line, GObject *object,
    GstDebugMessage *message, gpointer unused)
{
  if (strstr (gst_debug_message_get (message), " designed in "))
    g_atomic_int_inc (&designs);
}

/* Milliseconds for which a volume waits for new settings. */
static void
set_wait (const gchar *milliseconds)
{
  g_setenv ("NDCONV_SETTINGS_WAIT", milliseconds, TRUE);
}

static void
setup (void)
{
  g_atomic_int_set (&designs, 0);
  /* The test before may have changed it, if all run in one process. */
  set_wait ("60000");
  gst_debug_set_threshold_for_name ("ndconv", GST_LEVEL_INFO);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (count_designs, NULL, NULL);
}

static void
teardown (void)
{
  gst_debug_remove_log_function (count_designs);
  gst_debug_set_threshold_for_name ("ndconv", GST_LEVEL_NONE);
}

static Stream *
stream_slow (void)
{
  return stream_new ("ndconv4dtemporal", NULL, "filter", SLOW, "response",
      "sum", NULL);
}

static void
set_slow (Stream *s)
{
  GstStructure *settings = gst_structure_new ("s", "filter", G_TYPE_STRING,
      SLOW, "response", G_TYPE_STRING, "sum", NULL);

  g_object_set (s->element, "settings", settings, NULL);
  gst_structure_free (settings);
}

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
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
}

static void
expect_no_message (Stream *s)
{
  fail_unless_equals_int (stream_messages (s,
                              GST_MESSAGE_WARNING | GST_MESSAGE_ERROR, NULL),
      0);
}

/* States */

/* No state change waits for a design. */
GST_START_TEST (test_states_do_not_wait)
{
  for (guint i = 0; i < test_count (2) + 1; i++) {
    g_autoptr (GstElement) pipeline = gst_parse_launch (
        "ndtestsrc volume-size=16:16:16 ! ndconv4dtemporal response=sum "
        "method=direct filter=\"" SLOW "\" ! fakesink",
        NULL);
    g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

    fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PAUSED),
        GST_STATE_CHANGE_ASYNC);
    g_usleep (i * 50000);
    fail_unless_equals_int (gst_element_set_state (pipeline,
                                i == 1 ? GST_STATE_READY : GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless (!gst_bus_have_pending (bus)
        || !gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  fail_unless_equals_int (g_atomic_int_get (&designs), 0);
}

GST_END_TEST;

/* Sends caps, which wait for the design, and a volume. */
static gpointer
send (gpointer data)
{
  Stream *s = data;
  g_autoptr (GstCaps) caps = stream_caps (s);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (s->h->srcpad, gst_event_new_stream_start ("test"));
  gst_pad_push_event (s->h->srcpad, gst_event_new_caps (caps));
  gst_pad_push_event (s->h->srcpad, gst_event_new_segment (&segment));
  return GINT_TO_POINTER (stream_push (s, 0));
}

/* A flush interrupts the wait for a design, and not the design. */
GST_START_TEST (test_flush_does_not_wait)
{
  Stream *s = stream_slow ();
  GThread *thread;
  GstFlowReturn ret;

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_play (s->h);
  for (guint i = 0; i < test_count (3) + 1; i++) {
    thread = g_thread_new ("push", send, s);
    g_usleep (i * 30000);
    stream_event (s, gst_event_new_flush_start ());
    ret = GPOINTER_TO_INT (g_thread_join (thread));
    fail_unless_equals_int (ret, GST_FLOW_FLUSHING);
    stream_event (s, gst_event_new_flush_stop (TRUE));
  }
  fail_unless_equals_int (g_atomic_int_get (&designs), 0);
  expect_no_message (s);
  stream_free (s);
}

GST_END_TEST;

/* After the flush the same design goes on, and outputs come. */
GST_START_TEST (test_flush_keeps_the_design)
{
  Stream *s = stream_new ("ndconv3d", NULL, "filter",
      "quadrature-bank,size=7,center-frequency=(double)1.05", "response", "sum",
      NULL);
  GThread *thread;

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_play (s->h);
  thread = g_thread_new ("push", send, s);
  g_usleep (20000);
  stream_event (s, gst_event_new_flush_start ());
  g_thread_join (thread);
  stream_event (s, gst_event_new_flush_stop (TRUE));
  stream_segment (s, 1, 0, GST_CLOCK_TIME_NONE);
  stream_push_range (s, 0, 7);
  stream_eos (s);
  for (guint i = 0; i < 8; i++)
    gst_buffer_unref (stream_pull (s));
  stream_expect_none (s);
  fail_unless_equals_int (g_atomic_int_get (&designs), 1);
  expect_no_message (s);
  stream_free (s);
}

GST_END_TEST;

static gboolean
is_build_task (GstMessage *message)
{
  const GValue *value = gst_message_get_stream_status_object (message);
  GstObject *task = value ? g_value_get_object (value) : NULL;

  return GST_IS_TASK (task) && strstr (GST_OBJECT_NAME (task), "build");
}

/* An application can set the priority of the thread. */
GST_START_TEST (test_stream_status)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  guint seen[GST_STREAM_STATUS_TYPE_STOP + 1] = { 0 };
  GstMessage *message;

  stream_push_range (s, 0, 3);
  gst_element_set_state (s->element, GST_STATE_NULL);
  while ((message = gst_bus_pop_filtered (s->bus, GST_MESSAGE_STREAM_STATUS))) {
    GstStreamStatusType type;
    GstElement *owner;

    gst_message_parse_stream_status (message, &type, &owner);
    fail_unless (owner == s->element);
    seen[type] += is_build_task (message);
    gst_message_unref (message);
  }
  fail_unless_equals_int (seen[GST_STREAM_STATUS_TYPE_CREATE], 1);
  fail_unless_equals_int (seen[GST_STREAM_STATUS_TYPE_ENTER], 1);
  fail_unless_equals_int (seen[GST_STREAM_STATUS_TYPE_LEAVE], 1);
  stream_free (s);
}

GST_END_TEST;

typedef struct
{
  gint leaving, unused, ended; /* atomic */
} Last;

/* Keeps the last message of the thread until nobody else uses the element. */
static GstBusSyncReply
keep_last_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Last *last = data;
  GstStreamStatusType type = GST_STREAM_STATUS_TYPE_CREATE;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_STREAM_STATUS)
    gst_message_parse_stream_status (message, &type, NULL);
  if (type == GST_STREAM_STATUS_TYPE_LEAVE && is_build_task (message)) {
    g_atomic_int_set (&last->leaving, TRUE);
    /* A design that has ended too soon is waited for by the state change. */
    for (guint i = 0; i < 10000 && !g_atomic_int_get (&last->unused); i++)
      g_usleep (1000);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static void
note_end (gpointer data, GObject *element)
{
  g_atomic_int_set (&((Last *) data)->ended, TRUE);
}

static void
wait_until (gint *flag)
{
  for (guint i = 0; i < 60000 && !g_atomic_int_get (flag); i++)
    g_usleep (1000);
  fail_unless (g_atomic_int_get (flag));
}

/* A thread that ends after the application has dropped the element has the last
 * reference to it, in its message. */
GST_START_TEST (test_thread_outlives_element)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  Last last = { FALSE };

  set_wait ("1");
  stream_push_range (s, 0, 3);
  set_slow (s);
  stream_push_range (s, 4, 6);
  /* The design begins, which no message says; it takes much longer. */
  g_usleep (200000);
  gst_bus_set_flushing (s->bus, TRUE);
  gst_bus_set_flushing (s->bus, FALSE);
  gst_bus_set_sync_handler (s->bus, keep_last_message, &last, NULL);
  gst_harness_teardown (s->h);
  gst_element_set_state (s->element, GST_STATE_NULL);
  g_object_weak_ref (G_OBJECT (s->element), note_end, &last);
  wait_until (&last.leaving);
  gst_object_unref (s->element);
  g_atomic_int_set (&last.unused, TRUE);
  wait_until (&last.ended);
  gst_object_unref (s->bus);
  g_free (s);
}

GST_END_TEST;

/* Changes */

/* The stream goes on with the old settings while new ones are designed, and a
 * newer change replaces that design. */
GST_START_TEST (test_old_settings_while_designing)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstStructure *settings;

  set_wait ("1");
  stream_push_range (s, 0, 3);
  g_atomic_int_set (&designs, 0);
  set_slow (s);
  stream_push_range (s, 4, 40);
  stream_expect (s, 0, 50, 0, 40);
  stream_expect_none (s);
  /* A setting that no filter depends on need not wait for the filter. */
  model.gain = 2;
  g_object_set (s->element, "gain", 2.0, NULL);
  s->model = model;
  stream_push_range (s, 41, 41);
  stream_expect (s, 0, 50, 40, 41);
  fail_unless_equals_int (g_atomic_int_get (&designs), 0);
  set_wait ("60000");
  model = model_temporal (2, "reflect");
  settings = gst_structure_new ("s", "filter", G_TYPE_STRING,
      "coefficients,size=1:1:1:2,values=<1,2>", "response", G_TYPE_STRING,
      "all", "time-border", G_TYPE_STRING, "reflect", "gain", G_TYPE_INT, 1,
      NULL);
  g_object_set (s->element, "settings", settings, NULL);
  gst_structure_free (settings);
  s->model = model;
  stream_push_range (s, 42, 49);
  stream_eos (s);
  stream_expect (s, 0, 50, 41, 50);
  stream_expect_none (s);
  fail_unless_equals_int (g_atomic_int_get (&designs), 1);
  expect_no_message (s);
  stream_free (s);
}

GST_END_TEST;

/* EOS, new caps and NULL while settings are being designed. */
GST_START_TEST (test_end_while_designing)
{
  set_wait ("1");
  for (guint end = 0; end < 4; end++) {
    Model model = model_temporal (3, "nearest");
    Stream *s = stream_started ("ndconv4dtemporal", &model);

    stream_push_range (s, 0, 3);
    designs = 0;
    set_slow (s);
    stream_push_range (s, 4, 7);
    if (end == 0) {
      stream_eos (s);
      stream_expect_all (s, 0, 8);
    } else if (end == 1) {
      stream_flush (s);
      stream_push_range (s, 0, 7);
    } else if (end == 2) {
      g_object_set (s->element, "filter", "box,size=3", NULL);
      stream_set_size (s, 5, 5, 5);
      stream_send_caps (s);
      stream_push_range (s, 0, 7);
    }
    expect_no_message (s);
    stream_free (s);
    fail_unless_equals_int (g_atomic_int_get (&designs), end == 2);
  }
}

GST_END_TEST;

/* The property `settings` */

static void
set_settings (Stream *s, const gchar *text)
{
  GstStructure *settings = gst_structure_from_string (text, NULL);

  fail_unless (settings != NULL, "%s", text);
  g_object_set (s->element, "settings", settings, NULL);
  gst_structure_free (settings);
}

GST_START_TEST (test_several_settings)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);
  GstStructure *settings;
  gdouble gain, offset;

  stream_push_range (s, 0, 4);
  stream_expect (s, 0, 20, 0, 4);
  model = model_temporal (3, "mirror");
  model.border = "constant";
  model.gain = 3;
  model.offset = 0.5;
  set_settings (s,
      "s,time-border=mirror,border=(string)constant,gain=3,offset=(string)0.5");
  s->model = model;
  stream_push_range (s, 5, 5);
  stream_expect (s, 0, 20, 4, 5);
  g_object_get (s->element, "settings", &settings, "gain", &gain, "offset",
      &offset, NULL);
  fail_unless (gain == 3 && offset == 0.5);
  fail_unless (gst_structure_get_double (settings, "gain", &gain) && gain == 3);
  fail_unless (gst_structure_get_string (settings, "filter") != NULL);
  fail_unless (!gst_structure_has_field (settings, "stats"));
  fail_unless (!gst_structure_has_field (settings, "settings"));
  /* The value that was read can be written. */
  g_object_set (s->element, "settings", settings, NULL);
  gst_structure_free (settings);
  g_object_set (s->element, "settings", NULL, NULL);
  stream_push_range (s, 6, 9);
  stream_eos (s);
  stream_expect (s, 0, 10, 5, 10);
  expect_no_message (s);
  stream_free (s);
}

GST_END_TEST;

/* One wrong field, and none changes. */
GST_START_TEST (test_wrong_settings)
{
  static const gchar *const wrong[] = { "s,gain=2.0,gaim=3.0",
    "s,gain=2.0,stats=1", "s,gain=2.0,border=(string)nowhere",
    "s,gain=(string)much", "s,gain=2.0,qos=true", "s,gain=2.0,settings=1",
    "s,offset=<1.0,2.0>" };
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_started ("ndconv4dtemporal", &model);

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    gdouble gain, offset;

    set_settings (s, wrong[i]);
    expect_warning (s, "settings has");
    g_object_get (s->element, "gain", &gain, "offset", &offset, NULL);
    fail_unless (gain == 1 && offset == 0, "%s", wrong[i]);
  }
  stream_push_range (s, 0, 4);
  stream_eos (s);
  stream_expect_all (s, 0, 5);
  stream_free (s);
}

GST_END_TEST;

static void
push_next (GObject *element, GParamSpec *pspec, gpointer data)
{
  Stream *s = data;
  const guint64 n = stream_stat (s, "volumes-in");

  stream_push_range (s, n, n);
}

#define PRESET                                                           \
  "[_presets_]\nversion=1\nelement-name=GstNdConv4dTemporal\n\n[test]\n" \
  "filter=coefficients,size=1:1:1:3,values=<1.0,2.0,3.0>\n"              \
  "gain=5\noffset=7\ntime-border=nearest\n"

/* A volume that comes while a preset is being loaded has none of it. */
GST_START_TEST (test_preset_is_one_change)
{
  Model model = model_temporal (5, "mirror");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-XXXXXX", NULL);
  g_autofree gchar *path =
      g_build_filename (folder, "GstNdConv4dTemporal.prs", NULL);
  guint64 n;

  fail_unless (gst_preset_set_app_dir (folder));
  fail_unless (g_file_set_contents (path, PRESET, -1, NULL));
  stream_start (s);
  stream_push_range (s, 0, 3);
  g_signal_connect (s->element, "notify", G_CALLBACK (push_next), s);
  fail_unless (gst_preset_load_preset (GST_PRESET (s->element), "test"));
  g_signal_handlers_disconnect_by_func (s->element, push_next, s);
  n = stream_stat (s, "volumes-in");
  fail_unless_equals_int (n, 8);
  stream_expect (s, 0, 100, 0, n - 2);
  stream_expect_none (s);
  s->model = model_temporal (3, "nearest");
  s->model.gain = 5;
  s->model.offset = 7;
  stream_push_range (s, n, n);
  stream_expect (s, 0, 100, n - 2, n);
  g_remove (path);
  g_rmdir (folder);
  expect_no_message (s);
  stream_free (s);
}

GST_END_TEST;

/* Refusals */

/* Settings whose caps downstream does not accept. */
GST_START_TEST (test_downstream_refuses)
{
  static const gchar *const other_caps[] = {
    "s,filter=(string)\"box;box,size=3\"",
    "s,output-type=uint8,gain=2",
    "s,filter=(string)\"gabor,size=5\"",
    "s,filter=(string)\"" SLOW "\"",
  };
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, NULL);
  g_autofree gchar *filter = model_filter (&model);
  gint n = 4;

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_sink_caps_str (s->h,
      "other/tensors,types=float32,dimensions={1:3:2:2,1:3:2:2:1}");
  gst_harness_set_src_caps (s->h, stream_caps (s));
  stream_push_range (s, 0, 3);
  for (guint i = 0; i < G_N_ELEMENTS (other_caps); i++, n += 2) {
    g_autofree gchar *shown = NULL;
    gdouble gain;

    set_settings (s, other_caps[i]);
    stream_push_range (s, n, n + 1);
    expect_warning (s, "downstream do not accept");
    g_object_get (s->element, "filter", &shown, "gain", &gain, NULL);
    fail_unless_equals_string (shown, filter);
    fail_unless (gain == 1);
  }
  stream_eos (s);
  stream_expect_all (s, 0, n);
  stream_free (s);
}

GST_END_TEST;

/* Settings that do not work, set just before new caps: the old ones go on. */
GST_START_TEST (test_refused_with_new_caps)
{
  static const gchar *const wrong[] = {
    "s,filter=nonsense",
    "s,filter=(string)\"gabor,size=5\",response=tensor",
    "s,method=separable,filter=(string)\"coefficients,size=2:2,"
    "values=<1,2,3,5>\"",
    "s,filter=(string)\"file,location=/nowhere.npy\"",
    /* These change the output caps too. */
    "s,filter=nonsense,output-type=int16",
    "s,method=separable,output-type=int16,filter=(string)\"coefficients,"
    "size=2:2,values=<1,2,3,5>\"",
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    Model model = model_temporal (3, "nearest");
    Stream *s = stream_started ("ndconv4dtemporal", &model);
    g_autofree gchar *filter = model_filter (&model);
    g_autofree gchar *shown = NULL;

    stream_push_range (s, 0, 4);
    stream_expect (s, 0, 9, 0, 4);
    set_settings (s, wrong[i]);
    stream_set_size (s, 4, 3, 2);
    stream_send_caps (s);
    gst_buffer_unref (stream_pull (s)); /* the last one of the old caps */
    stream_push_range (s, 5, 9);
    stream_eos (s);
    stream_expect_all (s, 5, 5);
    expect_warning (s, "");
    g_object_get (s->element, "filter", &shown, NULL);
    fail_unless_equals_string (shown, filter);
    stream_free (s);
  }
}

GST_END_TEST;

/* Properties for READY take effect from there on. */
GST_START_TEST (test_ready_only)
{
  Model model = model_temporal (3, "nearest");
  Stream *s = stream_new ("ndconv4dtemporal", &model, "backend", "cpu", NULL);
  gint device_id;

  stream_start (s);
  stream_push_range (s, 0, 3);
  gst_util_set_object_arg (G_OBJECT (s->element), "backend", "cpu");
  expect_no_message (s);
  gst_util_set_object_arg (G_OBJECT (s->element), "backend", "cuda");
  expect_warning (s, "backend");
  set_settings (s, "s,gain=1.0,device-id=77");
  expect_warning (s, "device-id");
  /* Not with the next change either. */
  g_object_set (s->element, "filter", "nonsense", NULL);
  stream_push_range (s, 4, 4);
  expect_warning (s, "filter");
  model.border = "mirror";
  stream_set_model (s, &model);
  stream_push_range (s, 5, 7);
  stream_eos (s);
  stream_expect_all (s, 0, 8);
  expect_no_message (s);
  g_object_get (s->element, "device-id", &device_id, NULL);
  fail_unless_equals_int (device_id, 77);
  /* There is no such device, except on the device double. */
  gst_element_set_state (s->element, GST_STATE_READY);
  fail_unless (gst_element_set_state (s->element, GST_STATE_PAUSED)
          == GST_STATE_CHANGE_FAILURE
      || !g_str_equal (g_getenv ("NDCONV_CUDA_MODULE"), "none"));
  stream_free (s);
}

GST_END_TEST;

/* Any order of changes, flushes and states, quick and slow filters: as many
 * outputs as inputs if nothing was discarded. */
GST_START_TEST (test_random)
{
  static const gchar *const filters[] = { SLOW, "box,size=3",
    "coefficients,size=1:1:1:5,values=<1,2,3,4,5>", "nonsense",
    "quadrature-bank,size=5,center-frequency=(double)1.05",
    "gaussian,sigma=(double)1" };
  g_autoptr (GRand) r = test_rand ();

  set_wait ("2");
  for (guint round = 0; round < test_count (20) + 1; round++) {
    Stream *s = stream_new ("ndconv4dtemporal", NULL, "filter", "box,size=1",
        "response", "sum", NULL);
    guint n = 0, out = 0;

    stream_start (s);
    for (guint i = 0; i < 40; i++) {
      const gint what = g_rand_int_range (r, 0, 40);

      if (what < 12)
        g_object_set (s->element, "filter",
            filters[g_rand_int_range (r, 0, G_N_ELEMENTS (filters))], NULL);
      else if (what == 12)
        g_object_set (s->element, "gain", g_rand_double (r), NULL);
      else if (what == 13)
        break;
      else
        stream_push_range (s, n, n), n++;
    }
    stream_eos (s);
    for (GstBuffer *b; (b = gst_harness_try_pull (s->h)); out++)
      gst_buffer_unref (b);
    fail_unless_equals_int (out, n);
    fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, NULL), 0);
    stream_free (s);
  }
}

GST_END_TEST;

static Suite *
settings_suite (void)
{
  Suite *suite = suite_create ("settings");
  TCase *tc = tcase_create ("settings");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_states_do_not_wait);
  tcase_add_test (tc, test_flush_does_not_wait);
  tcase_add_test (tc, test_flush_keeps_the_design);
  tcase_add_test (tc, test_stream_status);
  tcase_add_test (tc, test_thread_outlives_element);
  tcase_add_test (tc, test_old_settings_while_designing);
  tcase_add_test (tc, test_end_while_designing);
  tcase_add_test (tc, test_several_settings);
  tcase_add_test (tc, test_wrong_settings);
  tcase_add_test (tc, test_preset_is_one_change);
  tcase_add_test (tc, test_downstream_refuses);
  tcase_add_test (tc, test_refused_with_new_caps);
  tcase_add_test (tc, test_ready_only);
  tcase_add_test (tc, test_random);
  return suite;
}

GST_CHECK_MAIN (settings);
