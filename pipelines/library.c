/* A program that uses the library: it needs no GStreamer.
 *
 *   cc library.c $(pkg-config --cflags --libs ndconv) -lm -o library
 *   ./library
 *
 * Twelve float32 volumes, a ball that grows and noise, are filtered twice: all
 * at once by nd_convolve(), and one by one by a stream, as they would come from
 * a device. Both give the same. For each volume the program prints the standard
 * deviation of the noise before and after the filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>
#include <ndconv/ndconv.h>
#include <string.h>

#define SIZE 30
#define SAMPLES (SIZE * SIZE * SIZE)
#define VOLUMES 12
#define SEED 1

/* Makes volume @n, with x fastest, then y, then z. */
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

/* The standard deviation in the first slices, which the ball never reaches. */
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

static gboolean
take_while_ready (NdStream *stream, gfloat **to, GError **error)
{
  NdArray output;

  nd_stream_init_output (stream, &output);
  while (nd_stream_ready (stream)) {
    output.data = *to;
    if (!nd_stream_take (stream, &output, error))
      return FALSE;
    *to += SAMPLES;
  }
  return TRUE;
}

/* Filters the volumes of @in one by one. */
static gboolean
filter_stream (const NdFilters *filters, const NdArray *in, gfloat *to,
    GError **error)
{
  g_autoptr (NdStream) stream = nd_stream_new (filters, NULL, in, NULL, error);
  NdArray volume = *in;

  if (!stream)
    return FALSE;
  g_print ("stream: %s on %s, %u volumes late; %s\n",
      nd_stream_get_method (stream), nd_stream_get_backend (stream),
      nd_stream_get_delay (stream), nd_stream_get_reason (stream));
  volume.size[3] = 1;
  for (guint n = 0; n < VOLUMES; n++) {
    volume.data = (gfloat *) in->data + (gsize) n * SAMPLES;
    if (!nd_stream_push (stream, &volume, error)
        || !take_while_ready (stream, &to, error))
      return FALSE;
  }
  nd_stream_end (stream);
  return take_while_ready (stream, &to, error);
}

static NdFilters *
make_filters (GError **error)
{
  g_autoptr (NdSettings) settings = nd_settings_new ();

  if (!nd_settings_set (settings, "axes", "xyzt", error))
    return NULL;
  return nd_filters_new ("gaussian,sigma=1.0", settings, NULL, error);
}

int
main (void)
{
  const gsize size[4] = { SIZE, SIZE, SIZE, VOLUMES };
  g_autofree gfloat *volumes = g_new (gfloat, VOLUMES * SAMPLES);
  g_autofree gfloat *whole = g_new (gfloat, VOLUMES * SAMPLES);
  g_autofree gfloat *streamed = g_new (gfloat, VOLUMES * SAMPLES);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdFilters) filters = make_filters (&error);
  g_autoptr (GRand) rand = g_rand_new_with_seed (SEED);
  NdArray in, out;

  for (guint n = 0; n < VOLUMES; n++)
    make_volume (volumes + n * SAMPLES, n, rand);
  nd_array_init (&in, volumes, "float32", 1, size);
  nd_array_init (&out, whole, "float32", 1, size);
  if (!filters || !nd_convolve (filters, NULL, &in, &out, NULL, &error)
      || !filter_stream (filters, &in, streamed, &error)) {
    g_printerr ("library: %s\n", error->message);
    return 1;
  }
  for (guint n = 0; n < VOLUMES; n++)
    g_print ("volume %2u: noise %5.2f before, %5.2f after\n", n,
        noise (volumes + n * SAMPLES), noise (whole + n * SAMPLES));
  if (memcmp (whole, streamed, VOLUMES * SAMPLES * sizeof (gfloat)) != 0) {
    g_printerr ("library: the stream gave something else\n");
    return 1;
  }
  return 0;
}
