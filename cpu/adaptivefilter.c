/* A volume is smoothed in space when it is pushed, once for each Gaussian of
 * the design. An output sums over time and filters each band of frequencies
 * (adaptivebands.c).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"
#include "cpu/adaptiveprivate.h"

#include <math.h>
#include <string.h>

#define GAUSSIANS ND_ADAPTIVE_GAUSSIANS
#define LOW ND_ADAPTIVE_NODES
#define RADIUS ND_ADAPTIVE_MAX_RADIUS
#define MAX_ROWS (ND_ADAPTIVE_NODES * ND_ADAPTIVE_TIMES)

/* The number of volumes for which there must be memory. */
static guint
adaptive_count_volumes (const NdAdaptiveDesign *design, guint n_slots)
{
  return n_slots * (1 + ND_ADAPTIVE_BANDS * GAUSSIANS) + 2 + 3 + design->axes
      + 2 * nd_tensor_components (design->axes) + 2;
}

static gsize
count_floats (const NdAdaptiveDesign *design, guint n_slots,
    const gsize size[3])
{
  gsize n = 1, total;

  for (guint a = 0; a < 3; a++) {
    if (__builtin_mul_overflow (n, size[a], &n))
      return 0;
  }
  if (__builtin_mul_overflow (n,
          (gsize) adaptive_count_volumes (design, n_slots), &total)
      || __builtin_add_overflow (total,
          (ND_ADAPTIVE_BANDS + 2) * size[0]
              + nd_threads () * nd_adaptive_row_floats (size),
          &total)
      || total > G_MAXSIZE / sizeof (gfloat))
    return 0;
  return total;
}

/* Time gains nothing on speckle, because it moves with the tissue. */
static gboolean
filters_time (const NdDenoiseSettings *settings)
{
  return settings->axes != ND_AXES_SPACE && settings->noise != ND_NOISE_SPECKLE;
}

static void
get_design (const NdDenoiseSettings *settings, const gsize size[3],
    NdAdaptiveDesign *design, guint *n_slots)
{
  const gboolean has_time = filters_time (settings);

  nd_adaptive_design_init (design, size[2] == 1 ? 2 : 3, has_time);
  *n_slots = has_time ? ND_ADAPTIVE_TIMES : 1;
}

gsize
nd_adaptive_filter_bytes (const NdDenoiseSettings *settings,
    const gsize size[3])
{
  NdAdaptiveDesign design;
  guint n_slots;

  get_design (settings, size, &design, &n_slots);
  return count_floats (&design, n_slots, size) * sizeof (gfloat);
}

static gfloat *
adaptive_take (gfloat **memory, gsize n)
{
  gfloat *taken = *memory;

  *memory += n;
  return taken;
}

static void
adaptive_divide_memory (NdAdaptiveFilter *self)
{
  const guint components = nd_tensor_components (self->design.axes);
  const gsize n = self->samples, width = self->size[0];
  gfloat *at = self->memory;

  self->inputs = adaptive_take (&at, self->n_slots * n);
  for (guint i = 0; i < ND_ADAPTIVE_BANDS; i++) {
    for (guint k = 0; k < GAUSSIANS; k++)
      self->smooth[i][k] = adaptive_take (&at, self->n_slots * n);
  }
  for (guint i = 0; i < 2; i++)
    self->low[i] = adaptive_take (&at, n);
  for (guint i = 0; i < 3; i++)
    self->base[i] = adaptive_take (&at, n);
  for (guint i = 0; i < self->design.axes; i++)
    self->gradient[i] = adaptive_take (&at, n);
  for (guint i = 0; i < components; i++) {
    self->h[i] = adaptive_take (&at, n);
    self->tensor[i] = adaptive_take (&at, n);
  }
  self->scratch = adaptive_take (&at, n);
  self->result = adaptive_take (&at, n);
  self->constants = adaptive_take (&at, (ND_ADAPTIVE_BANDS + 2) * width);
  self->rows = at;
  for (gsize i = 0; i < width; i++) {
    const gfloat value = self->borders.border_value;

    self->constants[i] = value;
    for (guint band = 0; band < ND_ADAPTIVE_BANDS; band++)
      self->constants[(1 + band) * width + i] =
          value * self->design.bands[band].sum;
    self->constants[(1 + ND_ADAPTIVE_BANDS) * width + i] = 0;
  }
}

NdAdaptiveFilter *
nd_adaptive_filter_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const gsize size[3])
{
  NdAdaptiveFilter *self = g_new0 (NdAdaptiveFilter, 1);
  gsize floats;

  get_design (settings, size, &self->design, &self->n_slots);
  floats = count_floats (&self->design, self->n_slots, size);
  self->is_speckle = settings->noise == ND_NOISE_SPECKLE;
  self->memory = floats > 0 ? g_try_new (gfloat, floats) : NULL;
  self->bins = self->is_speckle ? g_try_new (guint32, ND_ADAPTIVE_BINS) : NULL;
  if (!self->memory || (self->is_speckle && !self->bins)) {
    nd_adaptive_filter_free (self);
    return NULL;
  }
  self->kernels = nd_adaptive_kernels ();
  self->remap = settings->remap;
  self->borders = *borders;
  self->has_time = filters_time (settings);
  memcpy (self->size, size, sizeof (self->size));
  self->samples = size[0] * size[1] * size[2];
  adaptive_divide_memory (self);
  return self;
}

void
nd_adaptive_filter_free (NdAdaptiveFilter *self)
{
  if (!self)
    return;
  g_free (self->memory);
  g_free (self->bins);
  g_free (self);
}

static gfloat *
adaptive_volume (const NdAdaptiveFilter *self, gfloat *ring, gint64 position)
{
  return ring + position % self->n_slots * self->samples;
}

gfloat *
nd_adaptive_filter_input (const NdAdaptiveFilter *self, gint64 position)
{
  return adaptive_volume (self, self->inputs, position);
}

/* Smoothing in space */

typedef struct
{
  const NdAdaptiveFilter *filter;
  const gfloat *in;
  gfloat *out;
  gint radius;
  gfloat weights[2 * RADIUS + 1];
  /* The border value, or NULL for the nearest sample in its place. */
  const gfloat *constant;
} SmoothJob;

/* The index of sample @i of an axis of @n, or -1 for the border value. */
static gint64
inside (const SmoothJob *job, gint64 i, gint64 n)
{
  const gint64 at = nd_border_index (job->filter->borders.border, i, n);

  return at < 0 && !job->constant ? CLAMP (i, 0, n - 1) : at;
}

/* Along x and y. */
static void
adaptive_smooth_plane (gsize z, guint worker, gpointer data)
{
  const SmoothJob *job = data;
  const NdAdaptiveFilter *self = job->filter;
  const gint64 width = self->size[0], height = self->size[1];
  const gint radius = job->radius;
  gfloat *plane = nd_adaptive_thread_rows (self, worker),
         *padded = plane + width * height;
  const gfloat *in[2 * RADIUS + 1];

  for (gint64 y = 0; y < height; y++) {
    const gfloat *row = job->in + (z * height + y) * width;

    memcpy (padded + radius, row, width * sizeof (gfloat));
    for (gint64 i = 1; i <= radius; i++) {
      const gint64 left = inside (job, -i, width);
      const gint64 right = inside (job, width - 1 + i, width);

      padded[radius - i] = left < 0 ? job->constant[0] : row[left];
      padded[radius + width - 1 + i] =
          right < 0 ? job->constant[0] : row[right];
    }
    for (gint u = 0; u <= 2 * radius; u++)
      in[u] = padded + u;
    self->kernels->sum (2 * radius + 1, in, job->weights, plane + y * width,
        width);
  }
  for (gint64 y = 0; y < height; y++) {
    for (gint u = -radius; u <= radius; u++) {
      const gint64 from = inside (job, y + u, height);

      in[u + radius] = from < 0 ? job->constant : plane + from * width;
    }
    self->kernels->sum (2 * radius + 1, in, job->weights,
        (self->size[2] > 1 ? self->scratch : job->out)
            + (z * height + y) * width,
        width);
  }
}

/* Along z. */
static void
smooth_columns (gsize z, guint worker, gpointer data)
{
  const SmoothJob *job = data;
  const NdAdaptiveFilter *self = job->filter;
  const gsize width = self->size[0], height = self->size[1];
  const gint radius = job->radius;
  const gfloat *in[2 * RADIUS + 1];

  for (gsize y = 0; y < height; y++) {
    for (gint u = -radius; u <= radius; u++) {
      const gint64 from = inside (job, (gint64) z + u, self->size[2]);

      in[u + radius] = from < 0 ? job->constant
                                : self->scratch + (from * height + y) * width;
    }
    self->kernels->sum (2 * radius + 1, in, job->weights,
        job->out + (z * height + y) * width, width);
  }
}

/* With the coefficients of distances 0 to @radius. */
static void
adaptive_smooth (const NdAdaptiveFilter *self, const gdouble *half, gint radius,
    const gfloat *constant, const gfloat *in, gfloat *out)
{
  SmoothJob job = {
    .filter = self, .in = in, .out = out, .radius = radius, .constant = constant
  };

  for (gint u = -radius; u <= radius; u++)
    job.weights[u + radius] = half[ABS (u)];
  nd_parallel_for (self->size[2], adaptive_smooth_plane, &job);
  if (self->size[2] > 1)
    nd_parallel_for (self->size[2], smooth_columns, &job);
}

void
nd_adaptive_filter_push (NdAdaptiveFilter *self, gint64 position)
{
  const gfloat *in = nd_adaptive_filter_input (self, position);

  for (guint i = 0; i < ND_ADAPTIVE_BANDS; i++) {
    const NdAdaptiveBand *band = &self->design.bands[i];

    for (guint k = 0; k < GAUSSIANS; k++) {
      const NdAdaptiveGaussian *gaussian =
          k == LOW ? &band->low : &band->nodes[k];

      adaptive_smooth (self, gaussian->space, gaussian->radius,
          nd_adaptive_constant_row (self, 0), in,
          adaptive_volume (self, self->smooth[i][k], position));
    }
  }
}

/* Sums over time */

typedef struct
{
  const NdAdaptiveFilter *filter;
  gsize row; /* floats; 0: the same row for all */
  guint n;
  const gfloat *in[MAX_ROWS];
  gboolean is_constant[MAX_ROWS];
  gfloat weights[MAX_ROWS];
  gfloat *out;
} TimeJob;

static void
adaptive_sum_plane (gsize z, guint worker, gpointer data)
{
  const TimeJob *job = data;
  const NdAdaptiveFilter *self = job->filter;
  const gsize width = self->size[0];

  for (gsize y = 0; y < self->size[1]; y++) {
    const gsize at = (z * self->size[1] + y) * width;
    const gfloat *in[MAX_ROWS];

    for (guint i = 0; i < job->n; i++)
      in[i] = job->in[i] + (job->is_constant[i] ? 0 : at);
    self->kernels->sum (job->n, in, job->weights, job->out + at, width);
  }
}

static void
adaptive_add_times (TimeJob *job, const NdAdaptiveGaussian *gaussian,
    gfloat *ring, guint order, gint64 position, gint64 known)
{
  const NdAdaptiveFilter *self = job->filter;

  for (gint u = -ND_ADAPTIVE_TIME_REACH; u <= ND_ADAPTIVE_TIME_REACH; u++) {
    const gfloat w = gaussian->time[order][u + ND_ADAPTIVE_TIME_REACH];
    gint64 from;

    if (w == 0)
      continue;
    from = nd_border_index (self->borders.time_border, position + u, known);
    job->in[job->n] = from < 0 ? nd_adaptive_constant_row (self, 0)
                               : adaptive_volume (self, ring, from);
    job->is_constant[job->n] = from < 0;
    job->weights[job->n++] = w;
  }
}

static void
sum_times (NdAdaptiveFilter *self, guint index, gint64 position, gint64 known,
    gfloat *low)
{
  const NdAdaptiveBand *band = &self->design.bands[index];
  TimeJob job = { .filter = self, .out = low };

  adaptive_add_times (&job, &band->low, self->smooth[index][LOW], 0, position,
      known);
  nd_parallel_for (self->size[2], adaptive_sum_plane, &job);
  for (guint order = 0; order < (self->has_time ? 3 : 1); order++) {
    job.n = 0;
    job.out = self->base[order];
    for (guint k = 0; k < ND_ADAPTIVE_NODES; k++)
      adaptive_add_times (&job, &band->nodes[k], self->smooth[index][k], order,
          position, known);
    nd_parallel_for (self->size[2], adaptive_sum_plane, &job);
  }
}

gfloat *
nd_adaptive_filter_run (NdAdaptiveFilter *self, gint64 position, gint64 known,
    gdouble sigma)
{
  const gfloat *above = nd_adaptive_filter_input (self, position);

  memcpy (self->result, above, self->samples * sizeof (gfloat));
  for (guint i = 0; i < ND_ADAPTIVE_BANDS; i++) {
    const NdAdaptiveBand *band = &self->design.bands[i];
    gfloat *low = self->low[i % 2];
    gdouble scale = 1;

    sum_times (self, i, position, known, low);
    nd_adaptive_make_tensors (self, i,
        self->is_speckle ? 1 : 1 / (sigma * sqrt (band->noise)));
    for (guint k = 0; k < nd_tensor_components (self->design.axes); k++)
      adaptive_smooth (self, band->window, band->radius, NULL, self->tensor[k],
          self->tensor[k]);
    if (self->is_speckle)
      scale = 1
          / MAX (nd_adaptive_measure_speckle (self, i, position) * sigma
                  * sigma,
              ND_ADAPTIVE_MIN_NOISE);
    nd_adaptive_add_band (self, i, scale, above, low);
    above = low;
  }
  return self->result;
}
