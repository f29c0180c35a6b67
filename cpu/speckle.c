/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/speckle.h"

#include "core/threads.h"
#include "cpu/adaptive.h"
#include "cpu/adaptivekernels.h"
#include "cpu/denoisefuse.h"
#include "cpu/specklenoise.h"

#include <math.h>
#include <string.h>

#define VOLUMES 3
#define ROWS 27

struct _NdSpeckleFilter
{
  NdDenoiseBorders borders;
  gsize size[3], samples;
  gfloat *inputs; /* the last VOLUMES */
  gfloat *rows;   /* ROWS padded rows for each thread */
  gfloat *memory; /* of nd_speckle_noise() */
  NdAdaptiveFilter *adaptive;
  NdDenoiseScale *scale;
};

typedef struct
{
  const gfloat *const *volumes;
  const gsize *size;
  const NdDenoiseBorders *borders;
  gfloat *out;
  gfloat *rows; /* ROWS padded rows for each thread */
} Job;

/* Copies row (y, z) of @volume with one sample of the border at each end. */
static void
read_row (const Job *job, const gfloat *volume, gint64 y, gint64 z, gfloat *out)
{
  const NdBorder border = job->borders->border;
  const gint64 n = job->size[0];

  y = nd_border_index (border, y, job->size[1]);
  z = nd_border_index (border, z, job->size[2]);
  if (!volume || y < 0 || z < 0) {
    for (gint64 x = 0; x < n + 2; x++)
      out[x] = job->borders->border_value;
    return;
  }
  volume += (z * (gint64) job->size[1] + y) * n;
  memcpy (out + 1, volume, n * sizeof (gfloat));
  for (gint64 x = -1; x <= n; x += n + 1) {
    const gint64 from = nd_border_index (border, x, n);

    out[x + 1] = from < 0 ? job->borders->border_value : volume[from];
  }
}

/* Replaces the medians of the row at @at by the means of them and of the
 * samples, which move towards those before and after. If these are of one
 * volume, because the stream begins or ends or the latency is 0, walls that
 * move cannot be told from noise, and the samples stay. */
static void
add_sample (const Job *job, gsize at, gfloat *const rows[2])
{
  const gsize width = job->size[0];
  const gfloat *in = job->volumes[1] + at, *others[2], *before, *after;
  gfloat *restrict out = job->out + at;
  const gfloat part = ND_SPECKLE_TIME;
  /* No product is above INFINITY. A part of 0 in place of it would make NaN of
   * infinite differences. */
  const gfloat least = job->volumes[0] == job->volumes[2] ? INFINITY : 0;

  for (guint i = 0; i < 2; i++) {
    const gfloat *volume = job->volumes[2 * i];

    for (gsize x = 0; !volume && x < width; x++)
      rows[i][x] = job->borders->border_value;
    others[i] = volume ? volume + at : rows[i];
  }
  before = others[0];
  after = others[1];
  for (gsize x = 0; x < width; x++) {
    const gfloat a = before[x] - in[x], b = after[x] - in[x];
    const gfloat nearer = fabsf (a) < fabsf (b) ? a : b;

    out[x] = (out[x] + in[x] + (a * b > least ? part * nearer : 0)) / 2;
  }
}

static void
filter_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const gsize width = job->size[0], height = job->size[1];
  const gint64 depth = job->size[2] > 1 ? 1 : 0;
  const gfloat *in[ND_MEDIAN_MAX];
  gfloat *rows = job->rows + worker * ROWS * (width + 2);

  for (gsize y = 0; y < height; y++) {
    const gsize at = (z * height + y) * width;
    guint n = 0;

    for (guint t = 0; t < 3; t++) {
      for (gint64 dz = -depth; dz <= depth; dz++) {
        for (gint64 dy = -1; dy <= 1; dy++) {
          gfloat *row = rows + n / 3 * (width + 2);

          read_row (job, job->volumes[t], (gint64) y + dy, (gint64) z + dz,
              row);
          for (guint dx = 0; dx < 3; dx++)
            in[n++] = row + dx;
        }
      }
    }
    nd_adaptive_kernels ()->median (n, in, job->out + at, width);
    add_sample (job, at, (gfloat *[]){ rows, rows + width });
  }
}

/* Writes the means of each sample, with less noise over time, and of the median
 * of its neighbourhood to @out. @volumes are the one before it, its own and the
 * one after it; NULL is a volume of the border value. */
static void
half_median (const NdSpeckleFilter *self, const gfloat *const volumes[VOLUMES],
    gfloat *out)
{
  Job job = { volumes, self->size, &self->borders, out, self->rows };

  nd_parallel_for (self->size[2], filter_plane, &job);
}

static NdDenoiseSchedule
shrink_schedule (void)
{
  return (NdDenoiseSchedule){ .n_time = 1 };
}

gsize
nd_speckle_filter_bytes (const NdDenoiseSettings *settings, const gsize size[3])
{
  const NdDenoiseSchedule schedule = shrink_schedule ();
  const gsize parts[] = { nd_adaptive_filter_bytes (settings, size),
    nd_denoise_scale_bytes (size, &schedule), nd_speckle_noise_bytes (size),
    VOLUMES * size[0] * size[1] * size[2] * sizeof (gfloat) };
  gsize bytes = 0;

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    if (parts[i] == 0 || __builtin_add_overflow (bytes, parts[i], &bytes))
      return 0;
  }
  return bytes;
}

NdSpeckleFilter *
nd_speckle_filter_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const gsize size[3])
{
  const NdDenoiseSchedule schedule = shrink_schedule ();
  NdSpeckleFilter *self;

  if (nd_speckle_filter_bytes (settings, size) == 0)
    return NULL;
  self = g_new0 (NdSpeckleFilter, 1);
  self->borders = *borders;
  memcpy (self->size, size, sizeof (self->size));
  self->samples = size[0] * size[1] * size[2];
  self->inputs = g_try_new (gfloat, VOLUMES * self->samples);
  self->rows = g_try_new (gfloat, nd_threads () * ROWS * (size[0] + 2));
  self->memory = g_try_malloc (nd_speckle_noise_bytes (size));
  self->adaptive = nd_adaptive_filter_new (settings, borders, size);
  self->scale = nd_denoise_scale_new (nd_denoise_kernels (), size, &schedule);
  if (!self->inputs || !self->rows || !self->memory || !self->adaptive
      || !self->scale) {
    nd_speckle_filter_free (self);
    return NULL;
  }
  nd_denoise_scale_set_borders (self->scale, borders);
  return self;
}

void
nd_speckle_filter_free (NdSpeckleFilter *self)
{
  if (!self)
    return;
  g_free (self->inputs);
  g_free (self->rows);
  g_free (self->memory);
  nd_adaptive_filter_free (self->adaptive);
  nd_denoise_scale_free (self->scale);
  g_free (self);
}

gfloat *
nd_speckle_filter_input (const NdSpeckleFilter *self, gint64 position)
{
  return self->inputs + position % VOLUMES * self->samples;
}

/* Shrinks the coefficients of @volume. The result is valid until the next call;
 * without noise it is NULL. */
static gfloat *
shrink (NdSpeckleFilter *self, const gfloat *volume, gdouble strength)
{
  NdDenoiseScale *scale = self->scale;
  gfloat noise[ND_SHRINK_COEFFICIENTS], *result = NULL;

  if (!nd_speckle_noise (volume, self->size, &self->borders, self->memory,
          noise))
    return NULL;
  /* Each volume is a stream of its own. */
  nd_denoise_scale_reset (scale);
  nd_denoise_scale_set_noise (scale, noise);
  memcpy (nd_denoise_scale_input (scale, 0), volume,
      self->samples * sizeof (gfloat));
  nd_denoise_scale_stage1 (scale, 0, 1, strength);
  for (guint i = 0; i < ND_SHRINK_PASSES; i++) {
    if (i > 0)
      memcpy (nd_denoise_scale_pilot (scale, 0), result,
          self->samples * sizeof (gfloat));
    result = nd_denoise_scale_stage2 (scale, 0, 1, strength);
  }
  return result;
}

gfloat *
nd_speckle_filter_run (NdSpeckleFilter *self, gint64 position, gint64 known,
    gdouble strength)
{
  gfloat *volume = nd_adaptive_filter_input (self->adaptive, position);
  const gfloat *volumes[VOLUMES], *shrunk;
  gfloat *result;

  for (guint i = 0; i < VOLUMES; i++) {
    const gint64 from =
        nd_border_index (self->borders.time_border, position + i - 1, known);

    volumes[i] = from < 0 ? NULL : nd_speckle_filter_input (self, from);
  }
  half_median (self, volumes, volume);
  nd_adaptive_filter_push (self->adaptive, position);
  result = nd_adaptive_filter_run (self->adaptive, position, known, strength);
  shrunk = shrink (self, volume, strength);
  for (gsize i = 0; shrunk && i < self->samples; i++)
    result[i] = (result[i] + shrunk[i]) / 2;
  return result;
}
