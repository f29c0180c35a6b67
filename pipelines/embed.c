/* A program that filters volumes in its own memory.
 *
 *   embed
 *
 * The volumes are float32: a ball that grows, and noise. Their rows are padded
 * to a multiple of 64 bytes; the property strides tells the filter of that, and
 * no volume is copied on the way to it. For each volume the program prints the
 * standard deviation of the noise before and after the filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/app/app.h>
#include <gst/gst.h>
#include <math.h>

#define SIZE 30
#define ROW 32 /* samples from one row to the next */
#define SAMPLES (ROW * SIZE * SIZE)
#define BYTES (SAMPLES * sizeof (gfloat))
#define VOLUMES 12
#define RATE 20 /* volumes per second */
#define SEED 1

/* Makes volume @n, with x fastest, then y, then z. */
static void
make_volume (gfloat *samples, guint n, GRand *rand)
{
  gdouble radius = SIZE / 4 + n * 0.25;

  for (gint i = 0; i < SAMPLES; i++) {
    gint x = i % ROW - SIZE / 2, y = i / ROW % SIZE - SIZE / 2;
    gint z = i / ROW / SIZE - SIZE / 2;

    samples[i] = x * x + y * y + z * z < radius * radius ? 100 : 0;
    samples[i] += g_rand_double_range (rand, -20, 20);
  }
}

/* The standard deviation in the first slices, which the ball never reaches.
 * @row is the number of samples from one row to the next. */
static gdouble
noise (const gfloat *samples, gint row)
{
  const gint n = 4 * SIZE * SIZE;
  gdouble sum = 0, squares = 0;

  for (gint i = 0; i < n; i++) {
    gfloat value = samples[i / SIZE * row + i % SIZE];

    sum += value;
    squares += value * value;
  }
  return sqrt (squares / n - sum / n * sum / n);
}

/* Starts the pipeline and returns its two ends. The dimensions in the caps are
 * 1 component, then the sizes along x, y and z; strides is in bytes. */
static GstElement *
make_pipeline (GstElement **source, GstElement **sink, GError **error)
{
  GstElement *pipeline = gst_parse_launch (
      "appsrc name=source format=time ! ndconv4dtemporal "
      "name=filter filter=gaussian,sigma=1.0 ! appsink name=sink sync=false",
      error);
  g_autoptr (GstElement) filter = NULL;
  g_autoptr (GstCaps) caps = NULL;
  g_autofree gchar *strides = g_strdup_printf ("%zu", ROW * sizeof (gfloat));

  if (!pipeline)
    return NULL;
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  g_object_set (filter, "strides", strides, NULL);
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

/* Lends @samples to the pipeline as volume @n; it frees them when it has read
 * them. */
static gboolean
push_volume (GstElement *source, gfloat *samples, guint n)
{
  GstBuffer *buffer = gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY,
      samples, BYTES, 0, BYTES, samples, g_free);

  GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (n, GST_SECOND, RATE);
  GST_BUFFER_DURATION (buffer) = GST_SECOND / RATE;
  return gst_app_src_push_buffer (GST_APP_SRC (source), buffer) == GST_FLOW_OK;
}

/* Prints the error message on the bus of the pipeline, if there is one. */
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

/* Pulls the next volume and measures its noise; FALSE at the end of the stream
 * and after an error. After an error nothing comes out of the sink any more,
 * neither volumes nor the end of the stream: the bus has the message. */
static gboolean
pull_volume (GstElement *pipeline, GstElement *sink, GstClockTime *pts,
    gdouble *after)
{
  g_autoptr (GstSample) sample = NULL;
  GstBuffer *buffer;
  GstMapInfo map;

  while (!(sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink),
               100 * GST_MSECOND))) {
    if (gst_app_sink_is_eos (GST_APP_SINK (sink)) || print_error (pipeline))
      return FALSE;
  }
  buffer = gst_sample_get_buffer (sample);
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  *pts = GST_BUFFER_PTS (buffer);
  *after = noise ((const gfloat *) map.data, SIZE);
  gst_buffer_unmap (buffer, &map);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GstElement) pipeline = NULL, source = NULL, sink = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (SEED);
  gdouble before[VOLUMES], after;
  GstClockTime pts = GST_CLOCK_TIME_NONE;
  guint out = 0;

  gst_init (&argc, &argv);
  pipeline = make_pipeline (&source, &sink, &error);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  g_print ("seed %d\n", SEED);
  for (guint n = 0; n < VOLUMES; n++) {
    gfloat *samples = g_new (gfloat, SAMPLES);

    make_volume (samples, n, rand);
    before[n] = noise (samples, ROW);
    if (!push_volume (source, samples, n))
      break;
  }
  /* The filter outputs the last volumes after the end of the stream. */
  gst_app_src_end_of_stream (GST_APP_SRC (source));

  for (; pull_volume (pipeline, sink, &pts, &after); out++)
    g_print ("%" GST_TIME_FORMAT "  noise %5.2f -> %.2f\n", GST_TIME_ARGS (pts),
        before[out], after);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return out == VOLUMES ? 0 : 1;
}
