/* One band of frequencies at one time: derivatives in space, the tensor T of
 * each sample, and the control tensor that weighs the band.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"
#include "cpu/adaptiveprivate.h"

#include <math.h>
#include <string.h>

#define AXES ND_TENSOR_MAX_AXES
#define COMPONENTS ND_TENSOR_MAX_COMPONENTS
#define BINS ND_ADAPTIVE_BINS

/* Derivatives, and tensors */

typedef struct
{
  const NdAdaptiveFilter *filter;
  guint band;
  gfloat scale;
} TensorJob;

/* Row (y, z) of @in, or that of the border. */
static const gfloat *
neighbour (const TensorJob *job, const gfloat *in, gboolean is_value, gint64 y,
    gint64 z)
{
  const NdAdaptiveFilter *self = job->filter;
  const gint64 height = self->size[1];

  y = nd_border_index (self->borders.border, y, height);
  z = nd_border_index (self->borders.border, z, self->size[2]);
  if (y < 0 || z < 0)
    return nd_adaptive_constant_row (self,
        is_value ? 1 + job->band : 1 + ND_ADAPTIVE_BANDS);
  return in + (z * height + y) * self->size[0];
}

/* out = factor (a - b). */
static void
bands_subtract (const NdAdaptiveFilter *self, const gfloat *a, const gfloat *b,
    gfloat factor, gfloat *out)
{
  const gfloat *in[2] = { a, b };
  const gfloat weights[2] = { factor, -factor };

  self->kernels->sum (2, in, weights, out, self->size[0]);
}

/* out = 2 b - a - c: minus the second derivative. */
static void
differentiate_twice (const NdAdaptiveFilter *self, const gfloat *a,
    const gfloat *b, const gfloat *c, gfloat *out)
{
  const gfloat *in[3] = { a, b, c };
  static const gfloat weights[3] = { -1, 2, -1 };

  self->kernels->sum (3, in, weights, out, self->size[0]);
}

/* Copies @row with one sample of the border before it and one after it. */
static gfloat *
bands_pad (const NdAdaptiveFilter *self, const gfloat *row, gfloat constant,
    gfloat *padded)
{
  const gint64 n = self->size[0];
  const gint64 left = nd_border_index (self->borders.border, -1, n);
  const gint64 right = nd_border_index (self->borders.border, n, n);

  memcpy (padded + 1, row, n * sizeof (gfloat));
  padded[0] = left < 0 ? constant : row[left];
  padded[n + 1] = right < 0 ? constant : row[right];
  return padded;
}

/* Derivatives over time and those over space of it, at row (y, z). */
static void
differentiate_time (const TensorJob *job, gint64 y, gint64 z, gfloat *padded)
{
  const NdAdaptiveFilter *self = job->filter;
  const guint n = self->design.axes, t = n - 1;
  const gsize width = self->size[0];
  const gsize at = (z * self->size[1] + y) * width;
  const gfloat *bt = self->base[1], *btt = self->base[2];
  static const gfloat minus[1] = { -1 };
  const gfloat *in[1] = { btt + at };

  memcpy (self->gradient[t] + at, bt + at, width * sizeof (gfloat));
  self->kernels->sum (1, in, minus, self->h[nd_tensor_index (n, t, t)] + at,
      width);
  bands_pad (self, bt + at, 0, padded);
  bands_subtract (self, padded, padded + 2, .5f,
      self->h[nd_tensor_index (n, 0, t)] + at);
  bands_subtract (self, neighbour (job, bt, FALSE, y - 1, z),
      neighbour (job, bt, FALSE, y + 1, z), .5f,
      self->h[nd_tensor_index (n, 1, t)] + at);
  if (self->design.space_axes == 3)
    bands_subtract (self, neighbour (job, bt, FALSE, y, z - 1),
        neighbour (job, bt, FALSE, y, z + 1), .5f,
        self->h[nd_tensor_index (n, 2, t)] + at);
}

/* Derivatives over z, at row (y, z). */
static void
differentiate_depth (const TensorJob *job, gint64 y, gint64 z, gfloat *padded)
{
  const NdAdaptiveFilter *self = job->filter;
  const guint n = self->design.axes;
  const gsize width = self->size[0];
  const gsize at = (z * self->size[1] + y) * width;
  const gfloat *b = self->base[0];
  const gfloat *before = neighbour (job, b, TRUE, y, z - 1);
  const gfloat *after = neighbour (job, b, TRUE, y, z + 1);
  const gfloat *in[4] = { neighbour (job, b, TRUE, y - 1, z - 1),
    neighbour (job, b, TRUE, y + 1, z - 1),
    neighbour (job, b, TRUE, y - 1, z + 1),
    neighbour (job, b, TRUE, y + 1, z + 1) };
  static const gfloat weights[4] = { -.25f, .25f, .25f, -.25f };

  bands_subtract (self, after, before, .5f, self->gradient[2] + at);
  differentiate_twice (self, before, b + at, after,
      self->h[nd_tensor_index (n, 2, 2)] + at);
  self->kernels->sum (4, in, weights, self->h[nd_tensor_index (n, 1, 2)] + at,
      width);
  bands_pad (self, self->gradient[2] + at, 0, padded);
  bands_subtract (self, padded, padded + 2, .5f,
      self->h[nd_tensor_index (n, 0, 2)] + at);
}

/* b, H and T of a row. */
static void
differentiate_row (const TensorJob *job, gint64 y, gint64 z, gfloat *padded)
{
  const NdAdaptiveFilter *self = job->filter;
  const NdAdaptiveBand *band = &self->design.bands[job->band];
  const guint n = self->design.axes, components = nd_tensor_components (n);
  const gsize width = self->size[0];
  const gsize at = (z * self->size[1] + y) * width;
  const gfloat *b = self->base[0];
  const gfloat *before = neighbour (job, b, TRUE, y - 1, z);
  const gfloat *after = neighbour (job, b, TRUE, y + 1, z);
  const gfloat *h[COMPONENTS], *gradient[AXES];
  gfloat *tensor[COMPONENTS];

  bands_pad (self, b + at, nd_adaptive_constant_row (self, 1 + job->band)[0],
      padded);
  bands_subtract (self, padded + 2, padded, .5f, self->gradient[0] + at);
  differentiate_twice (self, padded, padded + 1, padded + 2,
      self->h[nd_tensor_index (n, 0, 0)] + at);
  bands_subtract (self, after, before, .5f, self->gradient[1] + at);
  differentiate_twice (self, before, b + at, after,
      self->h[nd_tensor_index (n, 1, 1)] + at);
  bands_pad (self, self->gradient[1] + at, 0, padded);
  bands_subtract (self, padded, padded + 2, .5f,
      self->h[nd_tensor_index (n, 0, 1)] + at);
  if (self->design.space_axes == 3)
    differentiate_depth (job, y, z, padded);
  if (self->has_time)
    differentiate_time (job, y, z, padded);
  for (guint i = 0; i < n; i++)
    gradient[i] = self->gradient[i] + at;
  for (guint i = 0; i < components; i++) {
    h[i] = self->h[i] + at;
    tensor[i] = self->tensor[i] + at;
  }
  self->kernels->tensor (n, h, gradient, job->scale, band->gradient, tensor,
      width);
}

static void
bands_make_plane (gsize z, guint worker, gpointer data)
{
  const TensorJob *job = data;
  gfloat *padded = nd_adaptive_thread_rows (job->filter, worker);

  for (gsize y = 0; y < job->filter->size[1]; y++)
    differentiate_row (job, y, z, padded);
}

void
nd_adaptive_make_tensors (NdAdaptiveFilter *self, guint index, gfloat scale)
{
  TensorJob job = { self, index, scale };

  nd_parallel_for (self->size[2], bands_make_plane, &job);
}

/* The control tensor */

typedef struct
{
  const NdAdaptiveFilter *filter;
  NdAdaptiveControl control;
  const gfloat *above, *low;
} ControlJob;

static void
control_plane (gsize z, guint worker, gpointer data)
{
  const ControlJob *job = data;
  const NdAdaptiveFilter *self = job->filter;
  const gsize width = self->size[0] * self->size[1];
  const gfloat *h[COMPONENTS], *tensor[COMPONENTS];
  const gsize at = z * width;

  for (guint i = 0; i < nd_tensor_components (self->design.axes); i++) {
    h[i] = self->h[i] + at;
    tensor[i] = self->tensor[i] + at;
  }
  self->kernels->control (&job->control, tensor, h, job->above + at,
      job->low + at, self->result + at, width);
}

static NdAdaptiveControl
get_control (const NdAdaptiveFilter *self, const NdAdaptiveBand *band,
    gdouble scale)
{
  const NdAdaptiveRemap r = self->remap;

  return (NdAdaptiveControl){
    .axes = self->design.axes,
    .scale = scale,
    .floor = band->floor,
    .min_value = ND_ADAPTIVE_MIN_VALUE,
    .m_beta = r.m_beta,
    .m_power = r.m_beta + r.m_alpha,
    .m_root = 1 / r.m_j,
    .m_sigma = pow (band->m_sigma * r.m_sigma, r.m_beta),
    .keep = pow (ND_ADAPTIVE_KEEP * r.m_sigma, r.m_beta),
    .mu_alpha = r.mu_alpha,
    .mu_beta = r.mu_beta,
    .mu_root = 1 / r.mu_j,
  };
}

void
nd_adaptive_add_band (NdAdaptiveFilter *self, guint index, gdouble scale,
    const gfloat *above, const gfloat *low)
{
  ControlJob job = {
    .filter = self,
    .control = get_control (self, &self->design.bands[index], scale),
    .above = above,
    .low = low,
  };

  nd_parallel_for (self->size[2], control_plane, &job);
}

/* Speckle */

/* The sum of the eigenvalues at sample @s as the bits of a float. They have the
 * order of the sums. */
static guint32
trace_bits (const NdAdaptiveFilter *self, gsize s)
{
  const guint n = self->design.axes;
  gfloat trace = 0;
  guint32 bits;

  for (guint i = 0; i < n; i++)
    trace += self->tensor[nd_tensor_index (n, i, i)][s];
  memcpy (&bits, &trace, sizeof (bits));
  return bits;
}

/* Counts, for the samples whose bits above @shift + 16 are @above, the values
 * of the 16 bits above @shift. Samples that are not above @least, NaN and
 * infinity do not count. */
static gsize
count_bits (const NdAdaptiveFilter *self, const gfloat *in, gfloat least,
    guint shift, guint32 above, guint32 *bins)
{
  gsize count = 0;

  memset (bins, 0, BINS * sizeof (guint32));
  for (gsize s = 0; s < self->samples; s++) {
    const guint32 bits = trace_bits (self, s);

    if (!(in[s] > least) || bits >= 0x7f800000
        || (guint64) bits >> (shift + 16) != above)
      continue;
    bins[bits >> shift & (BINS - 1)]++;
    count++;
  }
  return count;
}

/* The bin of @rank, which becomes the rank within the bin. */
static guint32
find_bin (const guint32 *bins, gsize *rank)
{
  guint32 bin = 0;

  while (*rank >= bins[bin])
    *rank -= bins[bin++];
  return bin;
}

/* The quantile is found 16 bits at a time. */
gdouble
nd_adaptive_measure_speckle (const NdAdaptiveFilter *self, guint index,
    gint64 position)
{
  const gfloat *in = nd_adaptive_filter_input (self, position);
  guint32 *bins = self->bins;
  gfloat least = INFINITY, trace;
  guint32 bits;
  gsize rank;

  for (gsize s = 0; s < self->samples; s++)
    least = in[s] < least && isfinite (in[s]) ? in[s] : least;
  rank = count_bits (self, in, least, 16, 0, bins);
  if (rank == 0)
    return 0;
  rank *= ND_SPECKLE_QUANTILE;
  bits = find_bin (bins, &rank);
  count_bits (self, in, least, 0, bits, bins);
  bits = bits << 16 | find_bin (bins, &rank);
  memcpy (&trace, &bits, sizeof (trace));
  return self->design.bands[index].speckle * trace / self->design.axes;
}
