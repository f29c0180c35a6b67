/* A paused ndview draws its volume again when a property changes, and the
 * stream loses nothing by it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/video/navigation.h>
#include <string.h>

#define SOURCE "ndtestsrc volume-size=24:20:16 num-buffers=30 "
#define VIEW "! ndview name=view window=255 level=127 "
#define SINK "! fakesink name=sink sync=false signal-handoffs=true"

typedef struct
{
  GMutex lock;
  GCond cond;
  guint prerolls, flushes;
  GstClockTime preroll_time;
  GBytes *preroll; /* the pixels */
  GArray *times;   /* of the pictures that were rendered */
  GstElement *pipeline, *view, *sink;
} Player;

static void
take_preroll (GstElement *sink, GstBuffer *buffer, GstPad *pad, Player *self)
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_mutex_lock (&self->lock);
  g_clear_pointer (&self->preroll, g_bytes_unref);
  self->preroll = g_bytes_new (map.data, map.size);
  self->preroll_time = GST_BUFFER_PTS (buffer);
  self->prerolls++;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  gst_buffer_unmap (buffer, &map);
}

static void
take_picture (GstElement *sink, GstBuffer *buffer, GstPad *pad, Player *self)
{
  g_mutex_lock (&self->lock);
  g_array_append_val (self->times, GST_BUFFER_PTS (buffer));
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

static GstPadProbeReturn
count_flush (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Player *self = data;

  g_mutex_lock (&self->lock);
  self->flushes += GST_EVENT_TYPE (info->data) == GST_EVENT_FLUSH_START;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  return GST_PAD_PROBE_OK;
}

static void
player_init (Player *self, const gchar *line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstPad) pad = NULL;

  memset (self, 0, sizeof *self);
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  self->times = g_array_new (FALSE, FALSE, sizeof (GstClockTime));
  self->pipeline = gst_parse_launch (line, &error);
  fail_unless (!error, "%s", error ? error->message : "");
  self->view = gst_bin_get_by_name (GST_BIN (self->pipeline), "view");
  self->sink = gst_bin_get_by_name (GST_BIN (self->pipeline), "sink");
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (self->sink),
          "signal-handoffs")) {
    g_signal_connect (self->sink, "preroll-handoff", G_CALLBACK (take_preroll),
        self);
    g_signal_connect (self->sink, "handoff", G_CALLBACK (take_picture), self);
  }
  pad = gst_element_get_static_pad (self->view, "src");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      count_flush, self, NULL);
}

static void
player_clear (Player *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->view);
  gst_object_unref (self->sink);
  gst_object_unref (self->pipeline);
  g_clear_pointer (&self->preroll, g_bytes_unref);
  g_array_unref (self->times);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
}

/* Waits until the state @state is reached. */
static void
set_state (Player *self, GstState state)
{
  fail_if (gst_element_set_state (self->pipeline, state)
      == GST_STATE_CHANGE_FAILURE);
  fail_if (gst_element_get_state (self->pipeline, NULL, NULL,
               GST_CLOCK_TIME_NONE)
      == GST_STATE_CHANGE_FAILURE);
}

/* Waits for preroll number @n, counted from 1, and returns its pixels. */
static GBytes *
wait_for_preroll (Player *self, guint n)
{
  GBytes *bytes;

  g_mutex_lock (&self->lock);
  while (self->prerolls < n)
    g_cond_wait (&self->cond, &self->lock);
  bytes = g_bytes_ref (self->preroll);
  g_mutex_unlock (&self->lock);
  return bytes;
}

/* Plays to the end; each of @n pictures must come once, in order. */
static void
check_all (Player *self, guint n)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autofree gchar *said = NULL;

  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  said = gst_message_get_structure (message)
      ? gst_structure_to_string (gst_message_get_structure (message))
      : NULL;
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s", said);
  g_mutex_lock (&self->lock);
  fail_unless_equals_int (self->times->len, n);
  for (guint i = 0; i < n; i++)
    fail_unless_equals_uint64 (g_array_index (self->times, GstClockTime, i),
        i * 40 * GST_MSECOND);
  g_mutex_unlock (&self->lock);
}

/* By a property and by a key, of the same and of another size. */
GST_START_TEST (test_paused)
{
  Player p;
  g_autoptr (GBytes) first = NULL, second = NULL, third = NULL, fourth = NULL;

  player_init (&p, SOURCE VIEW SINK);
  set_state (&p, GST_STATE_PAUSED);
  first = wait_for_preroll (&p, 1);
  g_object_set (p.view, "position", 0.3, NULL);
  second = wait_for_preroll (&p, 2);
  fail_unless (g_bytes_get_size (second) == g_bytes_get_size (first));
  fail_if (g_bytes_equal (first, second));
  fail_unless_equals_uint64 (p.preroll_time, 0);
  fail_unless (gst_element_send_event (p.sink,
      gst_navigation_event_new_key_press ("x", 0)));
  third = wait_for_preroll (&p, 3);
  fail_if (g_bytes_get_size (third) == g_bytes_get_size (first));
  g_object_set (p.view, "axis", 2, "position", 0.5, NULL);
  /* Two properties may be one picture or two. */
  do {
    g_usleep (1000);
    g_clear_pointer (&fourth, g_bytes_unref);
    fourth = wait_for_preroll (&p, 4);
  } while (!g_bytes_equal (first, fourth));
  check_all (&p, 30);
  player_clear (&p);
}

GST_END_TEST;

/* Nothing comes from upstream; the picture is that of the last volume. */
GST_START_TEST (test_live)
{
  Player p;
  guint prerolls;
  g_autoptr (GBytes) picture = NULL;

  player_init (&p,
      "ndtestsrc volume-size=24:20:16 is-live=true framerate=100/1 " VIEW SINK);
  set_state (&p, GST_STATE_PLAYING);
  g_mutex_lock (&p.lock);
  while (p.times->len < 3)
    g_cond_wait (&p.cond, &p.lock);
  g_mutex_unlock (&p.lock);
  set_state (&p, GST_STATE_PAUSED);
  for (guint i = 0; i < 5; i++) {
    g_mutex_lock (&p.lock);
    prerolls = p.prerolls;
    g_mutex_unlock (&p.lock);
    g_object_set (p.view, "position", 0.1 * i, NULL);
    g_clear_pointer (&picture, g_bytes_unref);
    picture = wait_for_preroll (&p, prerolls + 1);
  }
  set_state (&p, GST_STATE_PLAYING);
  g_mutex_lock (&p.lock);
  p.times->len = 0;
  while (p.times->len < 3)
    g_cond_wait (&p.cond, &p.lock);
  g_mutex_unlock (&p.lock);
  player_clear (&p);
}

GST_END_TEST;

/* Through a queue, whose thread the sink holds, and after the end. */
GST_START_TEST (test_ended)
{
  Player p;
  guint prerolls;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) end = NULL;
  g_autoptr (GBytes) picture = NULL;

  player_init (&p, SOURCE VIEW "! queue " SINK);
  bus = gst_element_get_bus (p.pipeline);
  check_all (&p, 30);
  set_state (&p, GST_STATE_PAUSED);
  prerolls = p.prerolls;
  g_object_set (p.view, "position", 0.2, NULL);
  picture = wait_for_preroll (&p, prerolls + 1);
  fail_unless_equals_uint64 (p.preroll_time, 29 * 40 * GST_MSECOND);
  gst_element_set_state (p.pipeline, GST_STATE_PLAYING);
  end = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  fail_unless_equals_int (GST_MESSAGE_TYPE (end), GST_MESSAGE_EOS);
  player_clear (&p);
}

GST_END_TEST;

static gpointer
change_much (gpointer data)
{
  static const gint modes[] = { 0, 1, 2, 4 };
  Player *p = data;

  for (guint i = 0; i < 40; i++)
    g_object_set (p->view, "mode", modes[i % 4], "position", i / 40.0, NULL);
  return NULL;
}

/* From several threads, while pictures are drawn, and between seeks. */
GST_START_TEST (test_many)
{
  GThread *threads[3];
  Player p;

  player_init (&p, SOURCE VIEW SINK);
  set_state (&p, GST_STATE_PAUSED);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("change", change_much, &p);
  for (guint i = 0; i < 5; i++) {
    gst_element_seek_simple (p.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
        0);
    set_state (&p, GST_STATE_PAUSED);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  check_all (&p, 30);
  player_clear (&p);
}

GST_END_TEST;

/* The state changes while pictures are drawn again. */
GST_START_TEST (test_stops)
{
  static const GstState states[] = { GST_STATE_PLAYING, GST_STATE_READY,
    GST_STATE_NULL };

  for (guint i = 0; i < 12; i++) {
    GThread *thread;
    Player p;

    player_init (&p, SOURCE VIEW SINK);
    set_state (&p, GST_STATE_PAUSED);
    thread = g_thread_new ("change", change_much, &p);
    set_state (&p, states[i % 3]);
    g_thread_join (thread);
    player_clear (&p);
  }
}

GST_END_TEST;

/* The line of a volume is added to the history once. */
GST_START_TEST (test_mmode)
{
  Player p;
  g_autoptr (GBytes) first = NULL, second = NULL, third = NULL;

  player_init (&p, SOURCE VIEW "mode=mmode history=20 size=20:20 " SINK);
  set_state (&p, GST_STATE_PAUSED);
  first = wait_for_preroll (&p, 1);
  g_object_set (p.view, "colormap", 1, NULL);
  second = wait_for_preroll (&p, 2);
  fail_if (g_bytes_equal (first, second));
  g_object_set (p.view, "colormap", 0, NULL);
  third = wait_for_preroll (&p, 3);
  fail_unless (g_bytes_equal (first, third));
  player_clear (&p);
}

GST_END_TEST;

/* Both inputs of a comparison. */
GST_START_TEST (test_second)
{
  Player p;
  g_autoptr (GBytes) first = NULL, second = NULL, third = NULL;

  player_init (&p,
      SOURCE "! tee name=t ! queue " VIEW
             "mode=compare split=0.5 size=40:40 " SINK
             " t. ! queue ! ndconv3d filter=box,size=5 "
             "! view.second");
  set_state (&p, GST_STATE_PAUSED);
  first = wait_for_preroll (&p, 1);
  g_object_set (p.view, "split", 0.0, NULL);
  second = wait_for_preroll (&p, 2);
  fail_if (g_bytes_equal (first, second));
  g_object_set (p.view, "split", 0.5, NULL);
  third = wait_for_preroll (&p, 3);
  fail_unless (g_bytes_equal (first, third));
  check_all (&p, 30);
  player_clear (&p);
}

GST_END_TEST;

/* A file is never flushed, not even behind a tee; properties that a controller
 * sets are no change. */
GST_START_TEST (test_not)
{
  g_autofree gchar *path =
      g_build_filename (g_get_tmp_dir (), "ndviewXXXXXX", NULL);
  const gint file = g_mkstemp (path);

  fail_unless (file >= 0);
  g_close (file, NULL);
  for (guint i = 0; i < 3; i++) {
    static const gchar *formats[] = {
      SOURCE VIEW "! filesink name=sink location=%s",
      SOURCE VIEW
      "! tee name=t ! queue ! filesink location=%s t. ! queue " SINK,
      SOURCE VIEW SINK,
    };
    g_auto (GStrv) parts = g_strsplit (formats[i], "%s", -1);
    g_autofree gchar *line = g_strjoinv (path, parts);
    GstControlSource *source = gst_interpolation_control_source_new ();
    Player p;

    player_init (&p, line);
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
        0, 0.2);
    if (i == 2)
      gst_object_add_control_binding (GST_OBJECT (p.view),
          gst_direct_control_binding_new (GST_OBJECT (p.view), "position",
              source));
    set_state (&p, GST_STATE_PAUSED);
    if (i < 2)
      g_object_set (p.view, "position", 0.2, NULL);
    set_state (&p, GST_STATE_PLAYING);
    set_state (&p, GST_STATE_PAUSED);
    set_state (&p, GST_STATE_NULL);
    fail_unless_equals_int (p.flushes, 0);
    gst_object_unref (source);
    player_clear (&p);
  }
  g_unlink (path);
}

GST_END_TEST;

static Suite *
viewredraw_suite (void)
{
  Suite *suite = suite_create ("viewredraw");
  TCase *tc = tcase_create ("redraw");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_paused);
  tcase_add_test (tc, test_live);
  tcase_add_test (tc, test_ended);
  tcase_add_test (tc, test_many);
  tcase_add_test (tc, test_stops);
  tcase_add_test (tc, test_mmode);
  tcase_add_test (tc, test_second);
  tcase_add_test (tc, test_not);
  return suite;
}

GST_CHECK_MAIN (viewredraw);
