/* Anything in any order: states, properties, seeks, new caps, relinking, from
 * several threads. Nothing fails, hangs or loses its memory.
 *
 * ND_STRESS_SECONDS sets the length of the threads' work, ND_SEED the seed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#define WAIT (300 * GST_SECOND)
#define HEIGHT 24
#define INTERVAL (40 * GST_MSECOND)

static const gchar *const filters[] = {
  "box,size=3",
  "box,size=1:1:5",
  "gaussian,sigma=1",
  "coefficients,size=1:1:2,values=<1,-1>",
  "quadrature-bank,size=9,center-frequency=(double)1.05",
  "nonsense",
};

static GstElement *
launch (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);

  fail_unless (error == NULL, "%s", error ? error->message : "");
  return pipeline;
}

/* Settings that suit each other or not. */
static void
set_random_property (GstElement *filter, GRand *r)
{
  static const gchar *const time_borders[] = { "constant", "nearest", "reflect",
    "mirror" };
  static const gchar *const methods[] = { "auto", "direct", "separable",
    "fft" };

  switch (g_rand_int_range (r, 0, 8)) {
    case 0:
    case 1:
      g_object_set (filter, "filter",
          filters[g_rand_int_range (r, 0, G_N_ELEMENTS (filters))], NULL);
      break;
    case 2:
      g_object_set (filter, "gain", g_rand_double (r), NULL);
      break;
    case 3:
      gst_util_set_object_arg (G_OBJECT (filter), "time-border",
          time_borders[g_rand_int_range (r, 0, G_N_ELEMENTS (time_borders))]);
      break;
    case 4:
      gst_util_set_object_arg (G_OBJECT (filter), "method",
          methods[g_rand_int_range (r, 0, G_N_ELEMENTS (methods))]);
      break;
    case 5:
      g_object_set (filter, "causal", g_rand_boolean (r), NULL);
      break;
    case 6:
      g_object_set (filter, "n-threads", g_rand_int_range (r, 0, 5), NULL);
      break;
    case 7: {
      g_autoptr (GstStructure) stats = NULL;

      g_object_get (filter, "stats", &stats, NULL);
      break;
    }
  }
}

/* Warnings may come, since not all settings suit each other. */
static void
expect_no_error (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR))) {
    g_autoptr (GError) error = NULL;
    g_autofree gchar *debug = NULL;

    gst_message_parse_error (message, &error, &debug);
    ck_abort_msg ("%s: %s (%s)", GST_MESSAGE_SRC_NAME (message), error->message,
        debug);
  }
  gst_bus_set_flushing (bus, TRUE);
  gst_bus_set_flushing (bus, FALSE);
}

/* States in a random order, waited for or not. GStreamer forgets a change to
 * PAUSED or PLAYING that is asked for while it goes on from PAUSED to PLAYING,
 * so those changes wait for the one before. */
GST_START_TEST (test_states)
{
  static const GstState states[] = { GST_STATE_NULL, GST_STATE_READY,
    GST_STATE_PAUSED, GST_STATE_PLAYING };
  static const gchar *const pipelines[] = {
    "ndtestsrc pattern=ramp volume-size=8:8:4 ! ndconv4dtemporal name=f "
    "filter=box,size=1:1:1:5 response=sum ! fakesink",
    "videotestsrc ! video/x-raw,format=I420,width=32,height=24 ! ndconv3d "
    "name=f filter=box,size=3:3:3 ! ndconv2d filter=box,size=3 ! fakesink",
    "videotestsrc ! video/x-raw,format=GRAY8,width=32,height=24 ! nddenoise "
    "sigma=4 ! ndconv3d name=f filter=box,size=1:1:3 ! fakesink",
  };
  g_autoptr (GRand) r = test_rand ();

  for (guint p = 0; p < G_N_ELEMENTS (pipelines); p++) {
    GstElement *pipeline = launch (pipelines[p]);
    GstElement *filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
    GstState before = GST_STATE_NULL;

    for (guint i = 0; i < test_count (500) / 3 + 3; i++) {
      const GstState state = states[g_rand_int_range (r, 0, 4)];

      if (before >= GST_STATE_PAUSED && state >= GST_STATE_PAUSED)
        fail_unless (gst_element_get_state (pipeline, NULL, NULL, WAIT)
            == GST_STATE_CHANGE_SUCCESS);
      fail_unless (gst_element_set_state (pipeline, state)
          != GST_STATE_CHANGE_FAILURE);
      before = state;
      switch (g_rand_int_range (r, 0, 4)) {
        case 0:
          fail_unless (gst_element_get_state (pipeline, NULL, NULL, WAIT)
              == GST_STATE_CHANGE_SUCCESS);
          break;
        case 1:
          g_usleep (g_rand_int_range (r, 0, 3000));
          break;
        case 2:
          g_object_set (filter, "gain", g_rand_double (r), "filter",
              filters[g_rand_int_range (r, 0, 3)], NULL);
          break;
      }
    }
    gst_element_set_state (pipeline, GST_STATE_NULL);
    expect_no_error (pipeline);
    gst_object_unref (filter);
    gst_object_unref (pipeline);
  }
}

GST_END_TEST;

/* Three threads */

typedef struct
{
  GstElement *pipeline, *src, *filter, *sink;
  guint32 seed;
  GMutex seeking;
  gint ending;
  gint received;
  gint number;  /* of the next frame; of the thread of the source */
  gint width;   /* of frames from now on */
  gint claimed; /* the pad probe or its thread has the next relink */
  gint relinks, seeks, changes;
} Stress;

/* A capsfilter would change caps while a seek negotiates, which GStreamer does
 * not like. */
static void
push_frame (GstElement *src, guint length, gpointer data)
{
  Stress *s = data;
  const gint width = g_atomic_int_get (&s->width);
  g_autoptr (GstCaps) caps = gst_caps_new_simple ("video/x-raw", "format",
      G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT, width, "height", G_TYPE_INT,
      HEIGHT, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  g_autoptr (GstBuffer) buffer =
      gst_buffer_new_allocate (NULL, width * HEIGHT, NULL);
  g_autoptr (GstSample) sample = NULL;
  GstFlowReturn ret;

  gst_buffer_memset (buffer, 0, s->number, -1);
  GST_BUFFER_PTS (buffer) = s->number * INTERVAL;
  GST_BUFFER_DURATION (buffer) = INTERVAL;
  s->number++;
  sample = gst_sample_new (buffer, caps, NULL, NULL);
  g_signal_emit_by_name (src, "push-sample", sample, &ret);
}

static gboolean
seek_frame (GstElement *src, guint64 time, gpointer data)
{
  Stress *s = data;

  s->number = time / INTERVAL;
  return TRUE;
}

static GstPadProbeReturn
count (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_inc ((gint *) data);
  return GST_PAD_PROBE_OK;
}

static void
add_sink (Stress *s)
{
  g_autoptr (GstPad) pad = NULL;

  s->sink = gst_element_factory_make ("fakesink", NULL);
  g_object_set (s->sink, "sync", FALSE, "async", FALSE, NULL);
  pad = gst_element_get_static_pad (s->sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count, &s->received, NULL);
  gst_bin_add (GST_BIN (s->pipeline), s->sink);
  gst_element_sync_state_with_parent (s->sink);
  fail_unless (gst_element_link (s->filter, s->sink));
}

static GstPadProbeReturn
replace_sink (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stress *s = data;
  GstElement *old = s->sink;

  /* Pads must not be linked while a seek flushes them. */
  if (!g_mutex_trylock (&s->seeking))
    return GST_PAD_PROBE_PASS;
  /* The thread that added the probe is about to remove it. */
  if (!g_atomic_int_compare_and_exchange (&s->claimed, FALSE, TRUE)) {
    g_mutex_unlock (&s->seeking);
    return GST_PAD_PROBE_PASS;
  }
  gst_element_unlink (s->filter, old);
  add_sink (s);
  gst_element_set_state (old, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (s->pipeline), old);
  g_mutex_unlock (&s->seeking);
  g_atomic_int_inc (&s->relinks);
  return GST_PAD_PROBE_REMOVE;
}

/* Replaces the sink while the pad before or after the filter is blocked, and
 * now and then changes the caps. */
static gpointer
relink_thread (gpointer data)
{
  Stress *s = data;
  g_autoptr (GRand) r = g_rand_new_with_seed (s->seed + 1);

  while (!g_atomic_int_get (&s->ending)) {
    const gint before = g_atomic_int_get (&s->relinks);
    g_autoptr (GstPad) pad = gst_element_get_static_pad (s->filter,
        g_rand_boolean (r) ? "sink" : "src");
    gulong id;

    if (g_rand_int_range (r, 0, 3) == 0)
      g_atomic_int_set (&s->width, 16 * g_rand_int_range (r, 1, 4));
    g_atomic_int_set (&s->claimed, FALSE);
    id = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
        replace_sink, s, NULL);
    for (guint i = 0; i < 50 && g_atomic_int_get (&s->relinks) == before; i++)
      g_usleep (1000);
    /* A flush may have kept the block from happening. */
    if (g_atomic_int_compare_and_exchange (&s->claimed, FALSE, TRUE))
      gst_pad_remove_probe (pad, id);
    else
      while (g_atomic_int_get (&s->relinks) == before)
        g_usleep (1000);
  }
  return NULL;
}

static gpointer
seek_thread (gpointer data)
{
  Stress *s = data;
  g_autoptr (GRand) r = g_rand_new_with_seed (s->seed + 2);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (s->filter, "src");

  while (!g_atomic_int_get (&s->ending)) {
    const gint64 start = g_rand_int_range (r, 0, 1000) * GST_MSECOND * 40;
    GstSeekFlags flags = 0;

    if (g_rand_int_range (r, 0, 4))
      flags |= GST_SEEK_FLAG_FLUSH;
    if (g_rand_boolean (r))
      flags |= GST_SEEK_FLAG_ACCURATE;
    g_mutex_lock (&s->seeking);
    gst_pad_send_event (pad,
        gst_event_new_seek (1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, start,
            GST_SEEK_TYPE_SET, start + 400 * GST_SECOND));
    g_mutex_unlock (&s->seeking);
    g_atomic_int_inc (&s->seeks);
    g_usleep (g_rand_int_range (r, 0, 20000));
  }
  return NULL;
}

static gpointer
property_thread (gpointer data)
{
  Stress *s = data;
  g_autoptr (GRand) r = g_rand_new_with_seed (s->seed + 3);

  while (!g_atomic_int_get (&s->ending)) {
    set_random_property (s->filter, r);
    g_atomic_int_inc (&s->changes);
    g_usleep (g_rand_int_range (r, 0, 10000));
  }
  return NULL;
}

static gdouble
stress_seconds (void)
{
  const gchar *seconds = g_getenv ("ND_STRESS_SECONDS");

  return seconds ? g_ascii_strtod (seconds, NULL) : 3;
}

static void
wait_for_outputs (Stress *s, gint n)
{
  const gint before = g_atomic_int_get (&s->received);

  for (guint i = 0; i < 60000 && g_atomic_int_get (&s->received) < before + n;
       i++)
    g_usleep (1000);
  fail_unless (g_atomic_int_get (&s->received) >= before + n);
}

GST_START_TEST (test_threads)
{
  static GThreadFunc const functions[] = { relink_thread, seek_thread,
    property_thread };
  GThread *threads[G_N_ELEMENTS (functions)];
  g_autoptr (GRand) r = test_rand ();
  Stress s = { NULL };

  g_setenv ("NDCONV_SETTINGS_WAIT", "2", TRUE);
  s.seed = g_rand_int (r);
  s.width = 32;
  s.pipeline = launch ("appsrc name=s format=time stream-type=seekable ! "
                       "queue ! ndconv3d name=f filter=box,size=1:1:3 "
                       "response=sum");
  s.src = gst_bin_get_by_name (GST_BIN (s.pipeline), "s");
  g_signal_connect (s.src, "need-data", G_CALLBACK (push_frame), &s);
  g_signal_connect (s.src, "seek-data", G_CALLBACK (seek_frame), &s);
  s.filter = gst_bin_get_by_name (GST_BIN (s.pipeline), "f");
  add_sink (&s);
  gst_element_set_state (s.pipeline, GST_STATE_PLAYING);
  /* Settings that do not work at the start of a stream are an error. */
  wait_for_outputs (&s, 1);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("stress", functions[i], &s);
  g_usleep (stress_seconds () * G_USEC_PER_SEC);
  g_atomic_int_set (&s.ending, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_print ("%d outputs, %d relinks, %d seeks, %d changes\n",
      g_atomic_int_get (&s.received), s.relinks, s.seeks, s.changes);

  expect_no_error (s.pipeline);

  /* It goes on. */
  g_object_set (s.filter, "filter", "box,size=3", NULL);
  fail_unless (gst_element_seek_simple (s.pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, 0));
  wait_for_outputs (&s, 20);
  gst_element_set_state (s.pipeline, GST_STATE_NULL);
  expect_no_error (s.pipeline);
  gst_object_unref (s.src);
  gst_object_unref (s.filter);
  gst_object_unref (s.pipeline);
}

GST_END_TEST;

static Suite *
stress_suite (void)
{
  Suite *suite = suite_create ("stress");
  TCase *tc = tcase_create ("stress");

  suite_add_tcase (suite, tc);
  /* The work of the threads, and as long as other tests have. */
  tcase_set_timeout (tc, stress_seconds () + 240);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_threads);
  return suite;
}

GST_CHECK_MAIN (stress);
