/* The filter in a program of your own: volumes that you have in memory go in,
 * filtered ones come back.
 *
 *   embed
 *
 * The volumes are float32: noise, and a ball that swells. Each is printed with
 * the noise that it had before and has after, in standard deviations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/app/app.h>
#include <gst/gst.h>
#include <math.h>

#define SIZE 32
#define SAMPLES (SIZE * SIZE * SIZE)
#define BYTES (SAMPLES * sizeof (gfloat))
#define VOLUMES 12
#define RATE 20 /* a second */
#define SEED 1

/* Volume @n of the program's own data, x fastest, then y, then z. */
static void
make_volume (gfloat *samples, guint n, GRand *rand)
{
  gdouble radius = SIZE / 4 + n * 0.25;

  for (gint i = 0; i < SAMPLES; i++) {
    gint x = i % SIZE - SIZE / 2, y = i / SIZE % SIZE - SIZE / 2;
    gint z = i / SIZE / SIZE - SIZE / 2;

    samples[i] = x * x + y * y + z * z < radius * radius ? 100 : 0;
    samples[i] += g_rand_double_range (rand, -20, 20);
  }
}

/* Standard deviation where the ball never is: the first slices. */
static gdouble
noise (const gfloat *samples)
{
  const gint n = 4 * SIZE * SIZE;
  gdouble sum = 0, squares = 0;

  for (gint i = 0; i < n; i++) {
    sum += samples[i];
    squares += samples[i] * samples[i];
  }
  return sqrt (squares / n - sum / n * sum / n);
}

/* The pipeline, playing, and its two ends. The caps say what the volumes are:
 * 1 component, then the sizes in x, y and z, the innermost first. */
static GstElement *
make_pipeline (GstElement **source, GstElement **sink, GError **error)
{
  GstElement *pipeline = gst_parse_launch (
      "appsrc name=source format=time "
      "! ndconv4dtemporal filter=gaussian,sigma=1.0 ! appsink name=sink "
      "sync=false",
      error);
  g_autoptr (GstCaps) caps = NULL;

  if (!pipeline)
    return NULL;
  caps = gst_caps_new_simple ("other/tensors", "format", G_TYPE_STRING,
      "static", "num_tensors", G_TYPE_INT, 1, "types", G_TYPE_STRING, "float32",
      "dimensions", G_TYPE_STRING,
      "1:" G_STRINGIFY (SIZE) ":" G_STRINGIFY (SIZE) ":" G_STRINGIFY (SIZE),
      "framerate", GST_TYPE_FRACTION, RATE, 1, NULL);
  *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_app_src_set_caps (GST_APP_SRC (*source), caps);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return pipeline;
}

/* Gives a copy of @samples to the pipeline as volume @n. */
static gboolean
push_volume (GstElement *source, const gfloat *samples, guint n)
{
  GstBuffer *buffer = gst_buffer_new_memdup (samples, BYTES);

  GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (n, GST_SECOND, RATE);
  GST_BUFFER_DURATION (buffer) = GST_SECOND / RATE;
  return gst_app_src_push_buffer (GST_APP_SRC (source), buffer) == GST_FLOW_OK;
}

/* The noise of the next volume that comes back; FALSE at the end. */
static gboolean
pull_volume (GstElement *sink, GstClockTime *pts, gdouble *after)
{
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));
  GstBuffer *buffer;
  GstMapInfo map;

  if (!sample)
    return FALSE;
  buffer = gst_sample_get_buffer (sample);
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  *pts = GST_BUFFER_PTS (buffer);
  *after = noise ((const gfloat *) map.data);
  gst_buffer_unmap (buffer, &map);
  return TRUE;
}

/* Whatever went wrong in the pipeline stands on its bus. */
static gboolean
print_error (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;

  if (!message)
    return FALSE;
  gst_message_parse_error (message, &error, NULL);
  g_printerr ("%s\n", error->message);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GstElement) pipeline = NULL, source = NULL, sink = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gfloat *samples = g_new (gfloat, SAMPLES);
  g_autoptr (GRand) rand = g_rand_new_with_seed (SEED);
  gdouble before[VOLUMES], after;
  GstClockTime pts;
  guint out = 0;
  gboolean failed;

  gst_init (&argc, &argv);
  pipeline = make_pipeline (&source, &sink, &error);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  g_print ("seed %d\n", SEED);
  for (guint n = 0; n < VOLUMES; n++) {
    make_volume (samples, n, rand);
    before[n] = noise (samples);
    if (!push_volume (source, samples, n))
      break;
  }
  /* The last volumes come out when the filter knows that no more will come. */
  gst_app_src_end_of_stream (GST_APP_SRC (source));

  for (; pull_volume (sink, &pts, &after); out++)
    g_print ("%" GST_TIME_FORMAT "  noise %5.2f -> %.2f\n", GST_TIME_ARGS (pts),
        before[out], after);
  failed = print_error (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return !failed && out == VOLUMES ? 0 : 1;
}
