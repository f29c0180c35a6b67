/* Filters a live 4D stream, for scripts/demo.
 *
 *   live FOLDER [VOLUMES]
 *
 * Filters a phantom of a beating heart with ndconv4dtemporal and records input
 * and output as before.nii.gz and after.nii.gz in FOLDER. At the end the
 * program prints the statistics of the filter. Ctrl-C ends the recording early;
 * the files are then complete up to the last volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib-unix.h>
#include <gst/gst.h>

/* The age of volumes when they leave the filter: the wait for later volumes
 * that the filter needs, and the computation. */
typedef struct
{
  guint volumes, late; /* late: older than the latency by a volume or more */
  GstClockTime sum, max, latency;
} Age;

/* The Epanechnikov filter: 1 - r^2 inside an ellipsoid in x, y, z and time, 0
 * outside. It has the least mean square error of all smoothing filters of one
 * width (Epanechnikov, 1969), and it is not separable. The property normalize
 * scales it to sum 1. */
static gchar *
make_filter (const gint size[4])
{
  GString *text = g_string_new (NULL);

  g_string_printf (text, "coefficients,size=(string)%d:%d:%d:%d,values=<",
      size[0], size[1], size[2], size[3]);
  for (gint i = 0; i < size[0] * size[1] * size[2] * size[3]; i++) {
    gchar number[G_ASCII_DTOSTR_BUF_SIZE];
    gdouble w = 1;

    for (gint a = 0, rest = i; a < 4; rest /= size[a++]) {
      gdouble d = (2.0 * (rest % size[a]) - (size[a] - 1)) / (size[a] + 1);

      w -= d * d;
    }
    g_ascii_formatd (number, sizeof (number), "%.6f", MAX (w, 0));
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "", number);
  }
  g_string_append_c (text, '>');
  return g_string_free (text, FALSE);
}

static GstElement *
make_pipeline (const gchar *folder, guint volumes, GError **error)
{
  const gint size[4] = { 3, 3, 3, 5 };
  g_autofree gchar *filter = make_filter (size);
  g_autofree gchar *before = g_build_filename (folder, "before.nii.gz", NULL);
  g_autofree gchar *after = g_build_filename (folder, "after.nii.gz", NULL);
  g_autofree gchar *text = g_strdup_printf (
      "ndtestsrc name=source pattern=heart noise=4 volume-size=96:96:96 "
      "framerate=20/1 is-live=true num-buffers=%u ! tee name=tee "
      "tee. ! queue max-size-bytes=0 ! ndconv4dtemporal name=filter "
      "normalize=true ! ndfilesink name=after "
      "tee. ! queue max-size-bytes=0 ! ndfilesink name=before",
      volumes);
  GstElement *pipeline = gst_parse_launch (text, error);

  if (!pipeline)
    return NULL;
  /* Set as properties, because text in a pipeline description needs quotes. */
  gst_child_proxy_set (GST_CHILD_PROXY (pipeline), "filter::filter", filter,
      "before::location", before, "after::location", after, NULL);
  return pipeline;
}

/* From the source up to the output of the filter. */
static GstClockTime
latency_of (GstElement *filter)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime latency = GST_CLOCK_TIME_NONE;

  if (gst_element_query (filter, query))
    gst_query_parse_latency (query, NULL, &latency, NULL);
  return latency;
}

static GstPadProbeReturn
measure_age (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_autoptr (GstElement) filter = gst_pad_get_parent_element (pad);
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTime now = gst_element_get_current_running_time (filter);
  Age *age = data;
  GstClockTime its;

  /* The running time is invalid before the clock starts. */
  if (!GST_CLOCK_TIME_IS_VALID (now) || now < GST_BUFFER_PTS (buffer))
    return GST_PAD_PROBE_OK;
  its = now - GST_BUFFER_PTS (buffer);
  age->volumes++;
  age->sum += its;
  age->max = MAX (age->max, its);
  if (!GST_CLOCK_TIME_IS_VALID (age->latency))
    age->latency = latency_of (filter);
  age->late += its >= age->latency + GST_BUFFER_DURATION (buffer);
  return GST_PAD_PROBE_OK;
}

static gboolean
end_recording (gpointer pipeline)
{
  gst_element_send_event (pipeline, gst_event_new_eos ());
  return G_SOURCE_CONTINUE;
}

/* Runs until the end of the stream or the first error. */
static gboolean
wait_for_end (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gboolean running = TRUE, ok = TRUE;

  while (running) {
    g_autoptr (GstMessage) message = NULL;
    g_autoptr (GError) error = NULL;
    g_autofree gchar *detail = NULL;

    /* Iterates the main context, which receives the signal of Ctrl-C. */
    while (g_main_context_iteration (NULL, FALSE))
      ;
    message = gst_bus_timed_pop (bus, 100 * GST_MSECOND);
    if (!message)
      continue;
    switch (GST_MESSAGE_TYPE (message)) {
      case GST_MESSAGE_EOS:
        running = FALSE;
        break;
      case GST_MESSAGE_ERROR:
        gst_message_parse_error (message, &error, &detail);
        g_printerr ("%s: %s\n", GST_MESSAGE_SRC_NAME (message), error->message);
        running = ok = FALSE;
        break;
      case GST_MESSAGE_WARNING:
        gst_message_parse_warning (message, &error, &detail);
        g_printerr ("%s: %s\n", GST_MESSAGE_SRC_NAME (message), error->message);
        break;
      case GST_MESSAGE_LATENCY:
        gst_bin_recalculate_latency (GST_BIN (pipeline));
        break;
      default:
        break;
    }
  }
  return ok;
}

static void
print_latency (GstElement *filter, const Age *age)
{
  GstClockTime latency = latency_of (filter);

  g_print ("age at the output  mean %.1f ms, max %.1f ms\n",
      age->sum * 1e-6 / MAX (age->volumes, 1), age->max * 1e-6);
  if (GST_CLOCK_TIME_IS_VALID (latency))
    g_print ("latency reported   %.1f ms, of the source and the look-ahead\n",
        latency * 1e-6);
}

static void
print_stats (GstElement *filter, const Age *age, gdouble seconds)
{
  g_autoptr (GstStructure) stats = NULL;
  const gchar *backend, *method, *reason;
  guint64 in, out, bytes;
  gdouble min, mean, max;

  g_object_get (filter, "stats", &stats, NULL);
  backend = gst_structure_get_string (stats, "backend");
  method = gst_structure_get_string (stats, "method");
  reason = gst_structure_get_string (stats, "reason");
  if (!backend
      || !gst_structure_get (stats, "volumes-in", G_TYPE_UINT64, &in,
          "volumes-out", G_TYPE_UINT64, &out, "bytes", G_TYPE_UINT64, &bytes,
          "seconds-min", G_TYPE_DOUBLE, &min, "seconds-mean", G_TYPE_DOUBLE,
          &mean, "seconds-max", G_TYPE_DOUBLE, &max, NULL))
    return;
  g_print ("volumes            %" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT
           " out, %u late, %.1f a second\n",
      in, out, age->late, out / seconds);
  g_print ("computing          %.1f ms a volume (%.1f to %.1f), so up to %.0f "
           "a second\n",
      mean * 1e3, min * 1e3, max * 1e3, 1 / mean);
  g_print ("back end, method   %s, %s (%s)\n", backend, method, reason);
  g_print ("memory of the ring %.1f MiB\n", bytes / 1048576.0);
}

int
main (int argc, char **argv)
{
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) filter = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GError) error = NULL;
  Age age = { .latency = GST_CLOCK_TIME_NONE };
  gint64 begin;
  gboolean ok;

  gst_init (&argc, &argv);
  if (argc < 2 || argc > 3) {
    g_printerr ("usage: %s FOLDER [VOLUMES]\n", argv[0]);
    return 2;
  }
  pipeline = make_pipeline (argv[1], argc > 2 ? atoi (argv[2]) : 200, &error);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  pad = gst_element_get_static_pad (filter, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, measure_age, &age, NULL);
  g_unix_signal_add (SIGINT, end_recording, pipeline);

  begin = g_get_monotonic_time ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  ok = wait_for_end (pipeline);
  if (ok) {
    print_stats (filter, &age, (g_get_monotonic_time () - begin) * 1e-6);
    print_latency (filter, &age);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return ok ? 0 : 1;
}
