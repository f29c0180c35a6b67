/* Figures of realistic streams: outputs of a slow camera, late outputs, pauses,
 * state changes, relinking. Each test prints its figure.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

/* A filter of 13^4 samples takes seconds to design. */
#define LONG_DESIGN \
  "quadrature-bank,size=13,center-frequency=(double)1.05,bandwidth=(double)2.0"
#define WAIT (120 * GST_SECOND)

/* ND_SOAK_SCALE multiplies the lengths. */
static guint
scaled (guint n)
{
  const gchar *text = g_getenv ("ND_SOAK_SCALE");

  return MAX (n * (text ? g_ascii_strtod (text, NULL) : 1), 1);
}

static gdouble
milliseconds_since (gint64 begin)
{
  return (g_get_monotonic_time () - begin) * 1e-3;
}

static GstElement *
launch (const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  g_autoptr (GError) error = NULL;
  GstElement *pipeline;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  pipeline = gst_parse_launch (text, &error);
  g_assert_no_error (error);
  return gst_object_ref_sink (pipeline);
}

static GstElement *
find (GstElement *pipeline, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_assert_nonnull (element);
  gst_object_unref (element); /* the pipeline has it */
  return element;
}

static guint64
stat_of (GstElement *element, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  return value;
}

/* Waits for EOS, and lets the pipeline have its latency meanwhile. */
static void
wait_for_eos (GstElement *pipeline, GstClockTime timeout)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessageType type = GST_MESSAGE_LATENCY;

  while (type == GST_MESSAGE_LATENCY) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, timeout,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_LATENCY);

    g_assert_nonnull (message);
    type = GST_MESSAGE_TYPE (message);
    if (type == GST_MESSAGE_LATENCY)
      gst_bin_recalculate_latency (GST_BIN (pipeline));
    if (type == GST_MESSAGE_ERROR) {
      g_autoptr (GError) error = NULL;
      g_autofree gchar *debug = NULL;

      gst_message_parse_error (message, &error, &debug);
      g_error ("%s: %s (%s)", GST_MESSAGE_SRC_NAME (message), error->message,
          debug);
    }
  }
  g_assert_cmpint (type, ==, GST_MESSAGE_EOS);
}

static void
stop (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

static void
probe (GstElement *element, const gchar *name, GstPadProbeCallback function,
    gpointer data)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, function, data, NULL);
}

/* A camera of 30 frames a second by its caps */

static GstPadProbeReturn
slow_down (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer =
      gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  GST_BUFFER_PTS (buffer) =
      gst_util_uint64_scale (GST_BUFFER_OFFSET (buffer), GST_SECOND, 15);
  GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
keep (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_ptr_array_add (data, gst_buffer_ref (GST_PAD_PROBE_INFO_BUFFER (info)));
  return GST_PAD_PROBE_OK;
}

/* The outputs of @n frames at 15 a second, with caps of @rate a second. */
static GPtrArray *
film (guint n, guint rate)
{
  GPtrArray *outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstElement *pipeline = launch (
      "videotestsrc name=s pattern=snow num-buffers=%u ! "
      "video/x-raw,format=GRAY8,width=64,height=48,framerate=%u/1 ! ndconv3d "
      "filter=\"coefficients,size=1:1:5,values=<0.1,0.2,0.4,0.2,0.1>\" ! "
      "fakesink name=k",
      n, rate);

  probe (find (pipeline, "s"), "src", slow_down, NULL);
  probe (find (pipeline, "k"), "sink", keep, outputs);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_eos (pipeline, WAIT);
  stop (pipeline);
  return outputs;
}

static void
test_slow_camera (void)
{
  const guint n = scaled (500);
  g_autoptr (GPtrArray) promised = film (n, 30), honest = film (n, 15);
  guint equal = 0;

  g_assert_cmpuint (promised->len, ==, n);
  g_assert_cmpuint (honest->len, ==, n);
  for (guint i = 0; i < n; i++) {
    GstBuffer *a = promised->pdata[i], *b = honest->pdata[i];
    GstMapInfo map;

    gst_buffer_map (a, &map, GST_MAP_READ);
    equal += gst_buffer_memcmp (b, 0, map.data, map.size) == 0
        && GST_BUFFER_PTS (a) == GST_BUFFER_PTS (b);
    gst_buffer_unmap (a, &map);
  }
  g_test_message ("15 of promised 30 frames/s: %u of %u outputs equal those of "
                  "a stream that says 15",
      equal, n);
  g_assert_cmpuint (equal, ==, n);
}

/* A live sink */

/* The edge of a cube that takes about @milliseconds, on the machine as it
 * is. */
static guint
find_size (const gchar *filter, gdouble milliseconds, gdouble *took)
{
  guint edge = 16;

  for (*took = 0; edge < 160; edge += 4) {
    GstElement *pipeline = launch (
        "ndtestsrc pattern=constant volume-size=%u:%u:%u num-buffers=8 ! %s ! "
        "fakesink",
        edge, edge, edge, filter);
    g_autoptr (GstStructure) stats = NULL;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait_for_eos (pipeline, WAIT);
    g_object_get (find (pipeline, "f"), "stats", &stats, NULL);
    gst_structure_get_double (stats, "seconds-mean", took);
    *took *= 1e3;
    stop (pipeline);
    if (*took >= milliseconds)
      break;
  }
  return edge;
}

/* A filter that takes three quarters of an interval. */
static void
test_late (gconstpointer data)
{
  const guint rate = GPOINTER_TO_UINT (data), n = scaled (10 * rate);
  const gchar *filter =
      "ndconv4dtemporal name=f backend=cpu method=direct "
      "filter=\"gabor,size=5,center-frequency=1.0\" response=real";
  gdouble took, before;
  const guint edge = find_size (filter, 750.0 / rate, &before);
  GstElement *pipeline = launch (
      "ndtestsrc pattern=constant is-live=true framerate=%u/1 "
      "volume-size=%u:%u:%u num-buffers=%u ! queue ! %s ! fakesink name=k "
      "sync=true qos=true max-lateness=20000000",
      rate, edge, edge, edge, n, filter);
  g_autoptr (GstStructure) sink = NULL, stats = NULL;
  guint64 rendered = 0, dropped = 0, late;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_eos (pipeline, n * GST_SECOND / rate + WAIT);
  g_object_get (find (pipeline, "k"), "stats", &sink, NULL);
  g_object_get (find (pipeline, "f"), "stats", &stats, NULL);
  gst_structure_get_uint64 (sink, "rendered", &rendered);
  gst_structure_get_uint64 (sink, "dropped", &dropped);
  gst_structure_get_double (stats, "seconds-mean", &took);
  late = stat_of (find (pipeline, "f"), "volumes-late");
  g_test_message ("%u volumes/s of %u^3, a filter of %.1f ms (%.1f before): "
                  "%" G_GUINT64_FORMAT " of %u outputs rendered, "
                  "%" G_GUINT64_FORMAT " dropped by the sink, "
                  "%" G_GUINT64_FORMAT " skipped by the filter",
      rate, edge, took * 1e3, before, rendered, n, dropped, late);
  stop (pipeline);
}

/* Changes while playing */

typedef struct
{
  gint64 last;     /* monotonic time of the last output */
  gdouble longest; /* milliseconds between two outputs */
} Pauses;

static GstPadProbeReturn
note_pause (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Pauses *pauses = data;

  if (pauses->last > 0)
    pauses->longest = MAX (pauses->longest, milliseconds_since (pauses->last));
  pauses->last = g_get_monotonic_time ();
  return GST_PAD_PROBE_OK;
}

static void
test_pause (void)
{
  GstElement *pipeline =
      launch ("ndtestsrc pattern=constant is-live=true framerate=50/1 "
              "volume-size=6:6:6 num-buffers=%u ! ndconv4dtemporal name=f "
              "filter=box,size=1:1:1:13 response=sum method=direct ! "
              "fakesink name=k sync=false",
          scaled (1500));
  GstStructure *settings =
      gst_structure_new ("s", "filter", G_TYPE_STRING, LONG_DESIGN, NULL);
  Pauses pauses = { 0 };
  g_autofree gchar *filter = NULL;

  probe (find (pipeline, "k"), "sink", note_pause, &pauses);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_usleep (2 * G_USEC_PER_SEC);
  g_test_message ("before the change the longest pause is %.1f ms",
      pauses.longest);
  g_object_set (find (pipeline, "f"), "settings", settings, NULL);
  gst_structure_free (settings);
  wait_for_eos (pipeline, WAIT);
  g_object_get (find (pipeline, "f"), "filter", &filter, NULL);
  g_test_message ("longest pause of a stream of 50 volumes/s while 13^4 "
                  "coefficients are designed and taken: %.1f ms",
      pauses.longest);
  stop (pipeline);
}

/* States */

static void
test_states (void)
{
  static const gchar *const filters[] = {
    "ndconv4dtemporal filter=box,size=3",
    "ndconv4dtemporal response=sum filter=\"quadrature-bank,size=9,"
    "center-frequency=1.05,bandwidth=2.0\"",
    "ndconv4dtemporal response=sum filter=\"" LONG_DESIGN "\"",
    "ndconv3d response=sum filter=\"quadrature-bank,size=25,"
    "center-frequency=1.05,bandwidth=2.0\"",
    "ndconv2d response=sum filter=\"quadrature-bank,size=97,"
    "center-frequency=0.5,bandwidth=2.0\"",
  };
  gdouble paused = 0, null = 0;
  g_autoptr (GRand) random = g_rand_new_with_seed (g_test_rand_int ());

  for (guint i = 0; i < scaled (40); i++) {
    GstElement *pipeline = launch ("ndtestsrc volume-size=16:16:16 ! %s ! "
                                   "fakesink",
        filters[i % G_N_ELEMENTS (filters)]);
    gint64 begin = g_get_monotonic_time ();

    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    paused = MAX (paused, milliseconds_since (begin));
    g_usleep (g_rand_int_range (random, 0, 500000));
    begin = g_get_monotonic_time ();
    gst_element_set_state (pipeline, GST_STATE_NULL);
    null = MAX (null, milliseconds_since (begin));
    gst_object_unref (pipeline);
  }
  g_test_message ("set_state (PAUSED) takes %.1f ms at most, set_state (NULL) "
                  "in the first half second of a design %.1f ms",
      paused, null);
}

/* Relinking */

typedef struct
{
  GstElement *pipeline, *filter, *sink;
  gint received, relinks;
  gboolean blocked; /* the pad before the filter is blocked meanwhile */
} Relinks;

static GstPadProbeReturn
count (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_inc ((gint *) data);
  return GST_PAD_PROBE_OK;
}

static void
add_sink (Relinks *r)
{
  r->sink = gst_element_factory_make ("fakesink", NULL);
  g_object_set (r->sink, "sync", FALSE, "async", FALSE, NULL);
  probe (r->sink, "sink", count, &r->received);
  gst_bin_add (GST_BIN (r->pipeline), r->sink);
  gst_element_sync_state_with_parent (r->sink);
  g_assert_true (gst_element_link (r->filter, r->sink));
}

static void
remove_sink (Relinks *r, GstElement *sink)
{
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (r->pipeline), sink);
}

static GstPadProbeReturn
replace_blocked (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Relinks *r = data;
  GstElement *old = r->sink;

  gst_element_unlink (r->filter, old);
  add_sink (r);
  remove_sink (r, old);
  g_atomic_int_inc (&r->relinks);
  return GST_PAD_PROBE_REMOVE;
}

/* GStreamer forgets events of the new sink if a pad is linked in the middle of
 * a push, and a push that began before the old sink was unlinked must not end
 * in state NULL. So this waits for the end of a push. */
static GstPadProbeReturn
link_idle (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Relinks *r = data;
  GstElement *old = r->sink;

  add_sink (r);
  remove_sink (r, old);
  g_atomic_int_inc (&r->relinks);
  return GST_PAD_PROBE_REMOVE;
}

static void
wait_for_relinks (Relinks *r, gint n)
{
  for (guint k = 0; k < 60000 && g_atomic_int_get (&r->relinks) < n; k++)
    g_usleep (1000);
  g_assert_cmpint (g_atomic_int_get (&r->relinks), ==, n);
}

static void
relink (Relinks *r, gint n, GRand *random)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (r->filter, "sink");
  g_autoptr (GstPad) src = gst_element_get_static_pad (r->filter, "src");

  for (gint i = 0; i < n; i++) {
    g_usleep (g_rand_int_range (random, 0, 8000));
    if (r->blocked) {
      gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
          replace_blocked, r, NULL);
    } else {
      gst_element_unlink (r->filter, r->sink);
      g_usleep (g_rand_int_range (random, 0, 3000));
      gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_IDLE, link_idle, r, NULL);
    }
    wait_for_relinks (r, i + 1);
  }
}

static void
test_relinks (gconstpointer blocked)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (g_test_rand_int ());
  Relinks r = { .blocked = GPOINTER_TO_INT (blocked) };
  guint64 in, lost;
  g_autofree gchar *backend = NULL;
  g_autoptr (GstStructure) stats = NULL;

  r.pipeline = launch ("ndtestsrc name=s pattern=ramp volume-size=8:8:4 ! "
                       "identity name=i sleep-time=500 ! tee name=t "
                       "allow-not-linked=true t. ! ndconv4dtemporal name=f "
                       "filter=box,size=1:1:1:3");
  r.filter = find (r.pipeline, "f");
  add_sink (&r);
  gst_element_set_state (r.pipeline, GST_STATE_PLAYING);
  relink (&r, scaled (1000), random);
  gst_element_send_event (r.pipeline, gst_event_new_eos ());
  wait_for_eos (r.pipeline, WAIT);
  g_object_get (r.filter, "stats", &stats, NULL);
  in = stat_of (r.filter, "volumes-in");
  lost = stat_of (r.filter, "volumes-lost");
  g_test_message ("%d relinks, input %s, on %s: %" G_GUINT64_FORMAT
                  " volumes in, %d received, %" G_GUINT64_FORMAT
                  " counted as lost",
      r.relinks, r.blocked ? "blocked" : "flowing",
      gst_structure_get_string (stats, "backend"), in, r.received, lost);
  g_assert_cmpuint (r.received + lost, ==, in);
  if (r.blocked)
    g_assert_cmpuint (lost, ==, 0);
  stop (r.pipeline);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/figures/slow-camera", test_slow_camera);
  g_test_add_func ("/figures/states", test_states);
  g_test_add_func ("/figures/pause", test_pause);
  g_test_add_data_func ("/figures/late/25", GUINT_TO_POINTER (25), test_late);
  g_test_add_data_func ("/figures/late/50", GUINT_TO_POINTER (50), test_late);
  g_test_add_data_func ("/figures/late/400", GUINT_TO_POINTER (400), test_late);
  g_test_add_data_func ("/figures/relinks/blocked", GINT_TO_POINTER (TRUE),
      test_relinks);
  g_test_add_data_func ("/figures/relinks/flowing", GINT_TO_POINTER (FALSE),
      test_relinks);
  return g_test_run ();
}
