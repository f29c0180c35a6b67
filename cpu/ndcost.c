/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndcost.h"

#include <math.h>
#include "ndkernels.h"
#include "ndthreads.h"

/* Seconds of one core, whatever the instruction set: to bring one padded sample
 * into the ring, to write one response, and for one complex number of a
 * transform times its relative cost. */
#define PAD_TIME 0.6e-9
#define STORE_TIME 0.5e-9
#define TRANSFORM_TIME 1e-9

static gdouble
samples (const NdJob * job)
{
  gdouble n = job->shape.components;

  for (guint a = 0; a < 3; a++)
    n *= job->shape.size[a];
  return n;
}

/* Samples with what the filters reach around them. */
static gdouble
padded_samples (const NdJob * job)
{
  NdReach reach = nd_job_reach (job);
  gdouble n = job->shape.components;

  for (guint a = 0; a < 3; a++)
    n *= job->shape.size[a] + reach.high[a] - reach.low[a];
  return n;
}

static gdouble
count_nonzero (const NdFilter * f)
{
  gsize n = nd_filter_count (f), count = 0;

  for (gsize i = 0; i < n; i++)
    count += f->coefficients[i] != 0;
  return count;
}

/* Blocks compute whole vectors and four rows at a time. */
static gdouble
block_waste (const NdJob * job)
{
  gdouble x = job->shape.size[0], y = job->shape.size[1];
  gdouble vector = nd_kernels ()->vector;

  return ceil (x / vector) * vector / x
      * ceil (y / ND_BLOCK_ROWS) * ND_BLOCK_ROWS / y;
}

gdouble
nd_cost_direct (const NdJob * job)
{
  const NdKernels *kernels = nd_kernels ();
  gdouble taps = 0;

  for (guint k = 0; k < job->bank->n_filters; k++) {
    const NdFilter *f = job->bank->filters[k];
    gdouble nonzero = count_nonzero (f);
    gboolean dense = nonzero >= 0.6 * nd_filter_count (f);

    taps += nonzero / (dense ? kernels->dense_rate : kernels->sparse_rate);
  }
  return (padded_samples (job) * PAD_TIME + samples (job)
      * (taps * block_waste (job) + job->bank->n_filters * STORE_TIME))
      / nd_threads ();
}

gdouble
nd_cost_separable (const NdJob * job)
{
  const NdKernels *kernels = nd_kernels ();
  gdouble taps = 0;

  for (guint k = 0; k < job->bank->n_filters; k++)
    for (guint a = 0; a < ND_AXES; a++)
      taps += job->bank->filters[k]->size[a];
  return (padded_samples (job) * (PAD_TIME + taps / kernels->sparse_rate
          + 3 * job->bank->n_filters * STORE_TIME)
      + samples (job) * job->bank->n_filters * STORE_TIME) / nd_threads ();
}

gdouble
nd_cost_transform (gsize n)
{
  static const struct
  {
    gsize radix;
    gdouble cost;
  } steps[] = { {4, 1.6}, {2, 1.2}, {3, 1.6}, {5, 2.6} };
  gdouble cost = 1.0;
  gsize left = n;

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    while (left % steps[i].radix == 0) {
      left /= steps[i].radix;
      cost += steps[i].cost;
    }
  }
  return left == 1 ? n * cost : INFINITY;
}

gdouble
nd_cost_fft (const NdJob * job, const gsize size[3], guint spectra)
{
  gdouble points = 0.5 * size[0] * size[1] * size[2];
  gdouble per_point = 0;

  for (guint a = 0; a < 3; a++)
    per_point += nd_cost_transform (size[a]) / size[a];
  return job->shape.components * points * (per_point * TRANSFORM_TIME
      * (1 + job->bank->n_filters)
      + spectra / nd_kernels ()->spectrum_rate) / nd_threads ();
}
