/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cost.h"

#include "core/threads.h"
#include "cpu/kernels.h"
#include "cpu/linefft.h"
#include "cpu/stencil.h"

#include <math.h>

/* Times of single precision were measured. Vectors hold half as many numbers
 * in double precision. */
#define TIME(single) (single * ND_REAL_BYTES / 4)

/* Seconds on one core. They hardly depend on the instruction set. */
#define PAD_TIME TIME (0.4e-9)   /* to convert one padded sample */
#define STORE_TIME TIME (0.3e-9) /* to write one response */
#define TILE_PAD_TIME TIME (0.1e-9)
#define TILE_STORE_TIME TIME (0.15e-9)
#define PASS_TIME TIME (0.25e-9) /* per sample of a pass, without taps */
#define READ_TIME TIME (0.1e-9)  /* to read a sample of a volume of a window */

/* The same for the rows that transforms read and write. */
#define FFT_PAD_TIME TIME (0.6e-9)
#define FFT_STORE_TIME TIME (0.5e-9)

/* By this share, each thread after the first one delays the transforms of the
 * others, which need more of the caches and memory that they share than the
 * other methods. */
#define FFT_SHARE 0.02

/* To write and read a sum that is begun ahead. */
#define BEGUN_TIME TIME (0.5e-9)

/* The share of the time of work ahead that counts. It delays no output, but a
 * stream that is too fast must not lose volumes. */
#define AHEAD_SHARE 0.25

/* Per complex number of a pass of transforms, without the transform. */
#define GATHER_TIME TIME (2.5e-9)

/* The same of pieces of rows, which stay in the cache. */
#define LINE_NUMBER_TIME TIME (1e-9)

/* A pass of a box takes as long as one of so many taps. */
#define BOX_TAPS 16

/* Per product of two complex numbers of spectra. */
#define PRODUCT_TIME TIME (0.4e-9)

/* To read a float of a spectrum in the ring of a window. */
#define SPECTRUM_TIME TIME (0.1e-9)

static gdouble
samples (const NdJob *job)
{
  gdouble n = job->shape.components;

  for (guint a = 0; a < 3; a++)
    n *= job->shape.size[a];
  return n;
}

/* Samples of a padded volume: with the border samples that the filters read. */
static gdouble
padded_samples (const NdJob *job)
{
  NdReach reach = nd_job_reach (job);
  gdouble n = job->shape.components;

  for (guint a = 0; a < 3; a++)
    n *= job->shape.size[a] + reach.high[a] - reach.low[a];
  return n;
}

static gdouble
count_nonzero (const NdFilter *f)
{
  gsize n = nd_filter_count (f), count = 0;

  for (gsize i = 0; i < n; i++)
    count += f->coefficients[i] != 0;
  return count;
}

/* The non-zero coefficients of @f for all volumes of the window but the last
 * one. */
static gdouble
count_early (const NdFilter *f, const NdReach *reach)
{
  const gsize volume = f->size[0] * f->size[1] * f->size[2];
  gint low[ND_AXES], high[ND_AXES];
  gsize late = 0;

  nd_filter_reach (f, low, high);
  for (gsize i = 0; high[ND_AXIS_T] == reach->high[ND_AXIS_T] && i < volume;
       i++)
    late += f->coefficients[i] != 0;
  return count_nonzero (f) - late;
}

/* The factor by which blocks compute more than the volume: they are whole
 * vectors wide and ND_BLOCK_ROWS rows high, or ND_BLOCK_ROWS parts of a line
 * that stays in place (cpu/tiles.c). */
static gdouble
block_waste (const NdJob *job, gboolean in_place)
{
  gdouble x = job->shape.size[0], y = job->shape.size[1];
  gdouble vector = nd_kernels ()->vector;
  const gdouble line = ND_BLOCK_ROWS * ND_BLOCK_MAX_WIDTH;

  if (in_place
      && padded_samples (job) <= job->shape.components
              * (x + nd_job_reach (job).high[0] - nd_job_reach (job).low[0]))
    return ceil (x / line) * line / x;
  return ceil (x / vector) * vector / x * ceil (y / ND_BLOCK_ROWS)
      * ND_BLOCK_ROWS / y;
}

gdouble
nd_cost_direct (const NdJob *job, const NdRingOptions *options)
{
  const gboolean ahead = options->ahead;
  /* Rows that are converted just before they are read stay in the cache. */
  const gdouble pad = options->in_place ? TILE_PAD_TIME : PAD_TIME;
  const gdouble store = options->in_place ? TILE_STORE_TIME : STORE_TIME;
  const NdKernels *kernels = nd_kernels ();
  const NdReach reach = nd_job_reach (job);
  gdouble taps = 0, begun = 0;

  for (guint k = 0; k < job->bank->n_filters; k++) {
    const NdFilter *f = job->bank->filters[k];
    gdouble nonzero = count_nonzero (f);
    gboolean dense = nonzero >= ND_DENSE_SHARE * nd_filter_count (f);
    gdouble early = ahead ? count_early (f, &reach) : 0;

    if (early >= ND_EARLY_TAPS) {
      nonzero -= (1 - AHEAD_SHARE) * early;
      begun += BEGUN_TIME;
    }
    taps += nonzero / (dense ? kernels->dense_rate : kernels->sparse_rate);
  }
  return (padded_samples (job) * pad
             + samples (job)
                 * (taps * block_waste (job, options->in_place) + begun
                     + job->bank->n_filters * store))
      / nd_threads ();
}

static gboolean
is_flat (const NdFilter *f)
{
  const gsize n = nd_filter_count (f);
  gsize i = 1;

  while (i < n && f->coefficients[i] == f->coefficients[0])
    i++;
  return i == n;
}

gdouble
nd_cost_separable (const NdJob *job)
{
  const NdReach reach = nd_job_reach (job);
  const guint n_filters = job->bank->n_filters;
  gdouble seconds = 0;

  for (guint k = 0; k < n_filters; k++) {
    const NdFilter *f = job->bank->filters[k];
    const gboolean flat = is_flat (f);

    for (guint a = 0; a < ND_AXES; a++)
      seconds += (flat ? MIN (f->size[a], BOX_TAPS) : f->size[a])
              / nd_kernels ()->dense_rate
          + (a < 2 || (a == 2 && f->size[a] > 1) ? PASS_TIME : 0);
    if (reach.slots > 1)
      seconds += reach.slots * READ_TIME + STORE_TIME;
  }
  return samples (job) * seconds / nd_threads ();
}

gdouble
nd_cost_transform (gsize n)
{
  /* Fitted to measurements with AVX-512 for sizes 64 to 4096; within 25 % of
   * them. */
  static const struct
  {
    gsize radix;
    gdouble time;
  } steps[] = { { 4, 0.15e-9 }, { 2, 0.13e-9 }, { 3, 0.14e-9 },
    { 5, 0.17e-9 } };
  gdouble time = 0;
  gsize left = n;

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    while (left % steps[i].radix == 0) {
      left /= steps[i].radix;
      time += steps[i].time;
    }
  }
  return left == 1 ? n * TIME (time) * nd_line_kernels ()->slowness : INFINITY;
}

gdouble
nd_cost_fft_lines (const NdJob *job, gsize n, gsize tasks)
{
  const guint n_filters = job->bank->n_filters;
  const gdouble threads = nd_threads ();
  const gdouble transform =
      nd_cost_transform (n / 2) + n / 2 * LINE_NUMBER_TIME;
  const gdouble task = nd_line_kernels ()->lanes
      * (transform * (1 + n_filters) + n_filters * n / 2 * PRODUCT_TIME);

  return job->shape.components * ceil (tasks / threads) * task
      * (1 + FFT_SHARE * (threads - 1))
      + (padded_samples (job) * FFT_PAD_TIME
            + samples (job) * n_filters * FFT_STORE_TIME)
      / threads;
}

gdouble
nd_cost_fft_whole (const NdJob *job, const gsize size[3], guint spectra)
{
  gdouble numbers = (size[0] / 2 + 1.0) * size[1] * size[2];
  /* Rows are transformed as many at a time as a vector has lanes. */
  const gdouble rows = (gdouble) size[1] * size[2];
  const gdouble lanes = nd_line_kernels ()->lanes;
  gdouble transform = 0;

  for (guint a = 0; a < 3; a++)
    transform += (a == 0 ? ceil (rows / lanes) * lanes / rows : 1)
        * (GATHER_TIME
            + (size[a] > 1 ? nd_cost_transform (size[a]) / size[a] : 0));
  return job->shape.components * numbers
      * (transform * (1 + job->bank->n_filters) + spectra * PRODUCT_TIME)
      / nd_threads ();
}

gdouble
nd_cost_fft_blocks (const NdJob *job, const NdFftBlock *block, gsize pairs,
    gsize planes, guint spectra)
{
  const guint n_filters = job->bank->n_filters,
              slots = nd_job_reach (job).slots;
  const gdouble inverse = TIME (block->inverse_time) * planes / block->size[2];
  const gdouble threads = nd_threads ();
  const gdouble slower = 1 + FFT_SHARE * (threads - 1);
  gdouble pair;

  if (slots == 1 && n_filters == 1)
    pair = TIME (block->forward_time) + TIME (block->convolve_time) + inverse;
  else
    pair = TIME (block->forward_time) + TIME (block->spectrum_time)
        + n_filters * (TIME (block->sum_time) + inverse)
        + spectra * TIME (block->product_time);
  if (slots > 1)
    pair += spectra * block->numbers * SPECTRUM_TIME;
  return job->shape.components * ceil (pairs / threads) * pair * slower
      + (padded_samples (job) * FFT_PAD_TIME
            + samples (job) * n_filters * FFT_STORE_TIME)
      / threads;
}
