/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/specklefilter.h"

#include "core/threads.h"
#include "cpu/adaptivefilter.h"
#include "cpu/adaptivekernels.h"
#include "cpu/denoisekernels.h"
#include "cpu/denoisesamples.h"

#include <math.h>
#include <string.h>

#define COEFFICIENTS ND_SHRINK_COEFFICIENTS

typedef struct
{
  const gfloat *volume;
  const gsize *size;
  const NdDenoiseBorders *borders;
  gfloat least;
  gsize blocks[3], step, n_blocks;
  gfloat *magnitudes; /* those of all blocks for each coefficient */
  gdouble noise[COEFFICIENTS];
} NoiseJob;

static guint
speckle_count_coefficients (const gsize size[3])
{
  return size[2] > 1 ? COEFFICIENTS : COEFFICIENTS / 4;
}

/* The bytes of memory that measuring takes. */
static gsize
noise_bytes (const gsize size[3])
{
  gsize blocks[3], step;

  nd_shrink_grid (size, blocks, &step);
  return blocks[0] * blocks[1] * blocks[2] * speckle_count_coefficients (size)
      * sizeof (gfloat);
}

/* Reads the block at sample (x, y, z). FALSE unless all samples are finite and
 * above the least one. */
static gboolean
speckle_read_block (const NoiseJob *job, gsize x, gsize y, gsize z, guint n,
    gfloat *block)
{
  const NdBorder border = job->borders->border;
  const gsize *size = job->size;

  for (guint i = 0; i < n; i++) {
    const gint64 from_x = nd_border_index (border, x + i % 4, size[0]);
    const gint64 from_y = nd_border_index (border, y + i / 4 % 4, size[1]);
    const gint64 from_z = nd_border_index (border, z + i / 16, size[2]);

    block[i] = MIN (from_x, MIN (from_y, from_z)) < 0
        ? job->borders->border_value
        : job->volume[(from_z * size[1] + from_y) * size[0] + from_x];
    if (!(block[i] > job->least && isfinite (block[i])))
      return FALSE;
  }
  return TRUE;
}

/* The orthonormal DCT of 4 samples that are @step apart. */
static void
transform_line (gfloat *line, guint step)
{
  const gfloat a = line[0], b = line[step], c = line[2 * step];
  const gfloat d = line[3 * step];
  const gfloat large = ND_DCT_ODD, small = 0.27059805007309851f;

  line[0] = .5f * ((a + d) + (b + c));
  line[step] = large * (a - d) + small * (b - c);
  line[2 * step] = .5f * ((a + d) - (b + c));
  line[3 * step] = small * (a - d) - large * (b - c);
}

static void
measure_plane (gsize z, guint worker, gpointer data)
{
  NoiseJob *job = data;
  const guint n = speckle_count_coefficients (job->size);
  gsize at = z * job->blocks[0] * job->blocks[1];

  for (gsize y = 0; y < job->blocks[1]; y++) {
    for (gsize x = 0; x < job->blocks[0]; x++, at++) {
      gfloat block[COEFFICIENTS];

      if (!speckle_read_block (job, x * job->step, y * job->step, z * job->step,
              n, block)) {
        job->magnitudes[at] = NAN;
        continue;
      }
      for (guint step = 1; step < n; step *= 4) {
        for (guint i = 0; i < n; i++) {
          if (i / step % 4 == 0)
            transform_line (block + i, step);
        }
      }
      for (guint k = 0; k < n; k++)
        job->magnitudes[k * job->n_blocks + at] = fabsf (block[k]);
    }
  }
}

/* The value of @rank of @n; the values are put into another order. */
static gfloat
select_rank (gfloat *values, gsize n, gsize rank)
{
  gsize from = 0, to = n - 1;

  while (from < to) {
    const gfloat pivot = values[from + (to - from) / 2];
    gsize i = from, k = to;

    for (;;) {
      while (values[i] < pivot)
        i++;
      while (values[k] > pivot)
        k--;
      if (i >= k)
        break;
      gfloat other = values[i];

      values[i++] = values[k];
      values[k--] = other;
    }
    if (rank <= k)
      to = k;
    else
      from = k + 1;
  }
  return values[rank];
}

static void
measure_coefficient (gsize k, guint worker, gpointer data)
{
  NoiseJob *job = data;
  gfloat *values = job->magnitudes + k * job->n_blocks;
  gsize n = 0;

  for (gsize i = 0; i < job->n_blocks; i++) {
    if (isfinite (values[i]))
      values[n++] = values[i];
  }
  job->noise[k] = n > 0 ? select_rank (values, n, ND_SHRINK_QUANTILE * n)
          / ND_SHRINK_NORMAL_QUANTILE
                        : 0;
}

/* Measures the standard deviation of the noise of each coefficient, x + 4 y +
 * 16 z, of the blocks of @volume. @memory has noise_bytes(). FALSE
 * if there is none, for example without a sector. */
static gboolean
measure_noise (const gfloat *volume, const gsize size[3],
    const NdDenoiseBorders *borders, gfloat *memory,
    gfloat noise[ND_SHRINK_COEFFICIENTS])
{
  const guint n = speckle_count_coefficients (size);
  NoiseJob job = {
    .volume = volume,
    .size = size,
    .borders = borders,
    .least = INFINITY,
    .magnitudes = memory,
  };

  nd_shrink_grid (size, job.blocks, &job.step);
  job.n_blocks = job.blocks[0] * job.blocks[1] * job.blocks[2];
  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++)
    job.least =
        volume[i] < job.least && isfinite (volume[i]) ? volume[i] : job.least;
  nd_parallel_for (job.blocks[2], measure_plane, &job);
  /* Blocks outside of the sector have a magnitude of the mean only. */
  for (gsize i = 0; i < job.n_blocks; i++) {
    for (guint k = 1; k < n && isnan (memory[i]); k++)
      memory[k * job.n_blocks + i] = NAN;
  }
  nd_parallel_for (n, measure_coefficient, &job);
  if (!nd_shrink_complete (job.noise))
    return FALSE;
  for (guint k = 0; k < COEFFICIENTS; k++)
    noise[k] = job.noise[k];
  return TRUE;
}

#define VOLUMES 3
#define ROWS 27

struct _NdSpeckleFilter
{
  NdDenoiseBorders borders;
  gsize size[3], samples;
  gfloat *inputs; /* the last VOLUMES */
  gfloat *rows;   /* ROWS padded rows for each thread */
  gfloat *memory; /* of measure_noise() */
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
speckle_read_row (const Job *job, const gfloat *volume, gint64 y, gint64 z,
    gfloat *out)
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

          speckle_read_row (job, job->volumes[t], (gint64) y + dy,
              (gint64) z + dz, row);
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
    nd_denoise_scale_bytes (size, &schedule), noise_bytes (size),
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
  self->memory = g_try_malloc (noise_bytes (size));
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

  if (!measure_noise (volume, self->size, &self->borders, self->memory, noise))
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
