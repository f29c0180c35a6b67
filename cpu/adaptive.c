/* A volume is smoothed in space when it is pushed, once for each Gaussian of
 * the design. An output sums over time, differentiates, averages the tensors,
 * and remaps them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/adaptive.h"

#include "analysis/structure.h"
#include "cpu/adaptivekernels.h"
#include "engine/threads.h"

#include <math.h>
#include <string.h>

#define AXES ND_TENSOR_MAX_AXES
#define COMPONENTS ND_TENSOR_MAX_COMPONENTS
#define GAUSSIANS (ND_ADAPTIVE_NODES + 1)
#define LOW ND_ADAPTIVE_NODES
#define RADIUS ND_ADAPTIVE_MAX_RADIUS
#define BINS (1 << 16)
#define MAX_ROWS (ND_ADAPTIVE_NODES * ND_ADAPTIVE_TIMES)

struct _NdAdaptiveFilter
{
  const NdAdaptiveKernels *kernels;
  NdAdaptiveDesign design;
  NdAdaptiveRemap remap;
  NdDenoiseBorders borders;
  gsize size[3], samples;
  guint n_slots; /* of the rings */
  gboolean has_time, is_speckle;

  gfloat *memory; /* of all that follows */
  gfloat *inputs;
  gfloat *smooth[ND_ADAPTIVE_BANDS][GAUSSIANS]; /* rings */
  gfloat *low[2];
  gfloat *base[3]; /* B, and its derivatives over time */
  gfloat *gradient[AXES];
  gfloat *h[COMPONENTS], *tensor[COMPONENTS];
  gfloat *scratch; /* a volume */
  gfloat *result;
  gfloat *constants; /* rows of the border values of the input, of B in each
                      * band, and of 0 */
  gfloat *rows;      /* of each thread */
};

/* The rows of memory of one thread: a plane, and padded rows. */
static gsize
row_floats (const gsize size[3])
{
  return size[0] * size[1] + 4 * (size[0] + 2 * RADIUS);
}

/* The number of volumes for which there must be memory. */
static guint
count_volumes (const NdAdaptiveDesign *design, guint n_slots)
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
  if (__builtin_mul_overflow (n, (gsize) count_volumes (design, n_slots),
          &total)
      || __builtin_add_overflow (total,
          (ND_ADAPTIVE_BANDS + 2) * size[0] + nd_threads () * row_floats (size),
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
take (gfloat **memory, gsize n)
{
  gfloat *taken = *memory;

  *memory += n;
  return taken;
}

static void
divide_memory (NdAdaptiveFilter *self)
{
  const guint components = nd_tensor_components (self->design.axes);
  const gsize n = self->samples, width = self->size[0];
  gfloat *at = self->memory;

  self->inputs = take (&at, self->n_slots * n);
  for (guint i = 0; i < ND_ADAPTIVE_BANDS; i++) {
    for (guint k = 0; k < GAUSSIANS; k++)
      self->smooth[i][k] = take (&at, self->n_slots * n);
  }
  for (guint i = 0; i < 2; i++)
    self->low[i] = take (&at, n);
  for (guint i = 0; i < 3; i++)
    self->base[i] = take (&at, n);
  for (guint i = 0; i < self->design.axes; i++)
    self->gradient[i] = take (&at, n);
  for (guint i = 0; i < components; i++) {
    self->h[i] = take (&at, n);
    self->tensor[i] = take (&at, n);
  }
  self->scratch = take (&at, n);
  self->result = take (&at, n);
  self->constants = take (&at, (ND_ADAPTIVE_BANDS + 2) * width);
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
  self->memory = floats > 0 ? g_try_new (gfloat, floats) : NULL;
  if (!self->memory) {
    g_free (self);
    return NULL;
  }
  self->kernels = nd_adaptive_kernels ();
  self->remap = settings->remap;
  self->borders = *borders;
  self->has_time = filters_time (settings);
  self->is_speckle = settings->noise == ND_NOISE_SPECKLE;
  memcpy (self->size, size, sizeof (self->size));
  self->samples = size[0] * size[1] * size[2];
  divide_memory (self);
  return self;
}

void
nd_adaptive_filter_free (NdAdaptiveFilter *self)
{
  if (!self)
    return;
  g_free (self->memory);
  g_free (self);
}

static gfloat *
volume (const NdAdaptiveFilter *self, gfloat *ring, gint64 position)
{
  return ring + position % self->n_slots * self->samples;
}

gfloat *
nd_adaptive_filter_input (const NdAdaptiveFilter *self, gint64 position)
{
  return volume (self, self->inputs, position);
}

static const gfloat *
constant_row (const NdAdaptiveFilter *self, guint index)
{
  return self->constants + index * self->size[0];
}

static gfloat *
thread_rows (const NdAdaptiveFilter *self, guint worker)
{
  return self->rows + worker * row_floats (self->size);
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
smooth_plane (gsize z, guint worker, gpointer data)
{
  const SmoothJob *job = data;
  const NdAdaptiveFilter *self = job->filter;
  const gint64 width = self->size[0], height = self->size[1];
  const gint radius = job->radius;
  gfloat *plane = thread_rows (self, worker), *padded = plane + width * height;
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
smooth (const NdAdaptiveFilter *self, const gdouble *half, gint radius,
    const gfloat *constant, const gfloat *in, gfloat *out)
{
  SmoothJob job = {
    .filter = self, .in = in, .out = out, .radius = radius, .constant = constant
  };

  for (gint u = -radius; u <= radius; u++)
    job.weights[u + radius] = half[ABS (u)];
  nd_parallel_for (self->size[2], smooth_plane, &job);
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

      smooth (self, gaussian->space, gaussian->radius, constant_row (self, 0),
          in, volume (self, self->smooth[i][k], position));
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
sum_plane (gsize z, guint worker, gpointer data)
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
add_times (TimeJob *job, const NdAdaptiveGaussian *gaussian, gfloat *ring,
    guint order, gint64 position, gint64 known)
{
  const NdAdaptiveFilter *self = job->filter;

  for (gint u = -ND_ADAPTIVE_TIME_REACH; u <= ND_ADAPTIVE_TIME_REACH; u++) {
    const gfloat w = gaussian->time[order][u + ND_ADAPTIVE_TIME_REACH];
    gint64 from;

    if (w == 0)
      continue;
    from = nd_border_index (self->borders.time_border, position + u, known);
    job->in[job->n] =
        from < 0 ? constant_row (self, 0) : volume (self, ring, from);
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

  add_times (&job, &band->low, self->smooth[index][LOW], 0, position, known);
  nd_parallel_for (self->size[2], sum_plane, &job);
  for (guint order = 0; order < (self->has_time ? 3 : 1); order++) {
    job.n = 0;
    job.out = self->base[order];
    for (guint k = 0; k < ND_ADAPTIVE_NODES; k++)
      add_times (&job, &band->nodes[k], self->smooth[index][k], order, position,
          known);
    nd_parallel_for (self->size[2], sum_plane, &job);
  }
}

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
    return constant_row (self,
        is_value ? 1 + job->band : 1 + ND_ADAPTIVE_BANDS);
  return in + (z * height + y) * self->size[0];
}

/* out = factor (a - b). */
static void
subtract (const NdAdaptiveFilter *self, const gfloat *a, const gfloat *b,
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
pad (const NdAdaptiveFilter *self, const gfloat *row, gfloat constant,
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
  pad (self, bt + at, 0, padded);
  subtract (self, padded, padded + 2, .5f,
      self->h[nd_tensor_index (n, 0, t)] + at);
  subtract (self, neighbour (job, bt, FALSE, y - 1, z),
      neighbour (job, bt, FALSE, y + 1, z), .5f,
      self->h[nd_tensor_index (n, 1, t)] + at);
  if (self->design.space_axes == 3)
    subtract (self, neighbour (job, bt, FALSE, y, z - 1),
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

  subtract (self, after, before, .5f, self->gradient[2] + at);
  differentiate_twice (self, before, b + at, after,
      self->h[nd_tensor_index (n, 2, 2)] + at);
  self->kernels->sum (4, in, weights, self->h[nd_tensor_index (n, 1, 2)] + at,
      width);
  pad (self, self->gradient[2] + at, 0, padded);
  subtract (self, padded, padded + 2, .5f,
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

  pad (self, b + at, constant_row (self, 1 + job->band)[0], padded);
  subtract (self, padded + 2, padded, .5f, self->gradient[0] + at);
  differentiate_twice (self, padded, padded + 1, padded + 2,
      self->h[nd_tensor_index (n, 0, 0)] + at);
  subtract (self, after, before, .5f, self->gradient[1] + at);
  differentiate_twice (self, before, b + at, after,
      self->h[nd_tensor_index (n, 1, 1)] + at);
  pad (self, self->gradient[1] + at, 0, padded);
  subtract (self, padded, padded + 2, .5f,
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
differentiate_plane (gsize z, guint worker, gpointer data)
{
  const TensorJob *job = data;
  gfloat *padded = thread_rows (job->filter, worker);

  for (gsize y = 0; y < job->filter->size[1]; y++)
    differentiate_row (job, y, z, padded);
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

/* The mean eigenvalue of speckle. The quantile is found 16 bits at a time. */
static gdouble
measure_speckle (const NdAdaptiveFilter *self, const NdAdaptiveBand *band,
    gint64 position)
{
  const gfloat *in = nd_adaptive_filter_input (self, position);
  g_autofree guint32 *bins = g_new (guint32, BINS);
  gfloat least = INFINITY, trace;
  guint32 bits;
  gsize rank;

  for (gsize s = 0; s < self->samples; s++)
    least = in[s] < least ? in[s] : least;
  rank = count_bits (self, in, least, 16, 0, bins);
  if (rank == 0)
    return 0;
  rank *= ND_SPECKLE_QUANTILE;
  bits = find_bin (bins, &rank);
  count_bits (self, in, least, 0, bits, bins);
  bits = bits << 16 | find_bin (bins, &rank);
  memcpy (&trace, &bits, sizeof (trace));
  return band->speckle * trace / self->design.axes;
}

gfloat *
nd_adaptive_filter_run (NdAdaptiveFilter *self, gint64 position, gint64 known,
    gdouble sigma)
{
  const gfloat *above = nd_adaptive_filter_input (self, position);

  memcpy (self->result, above, self->samples * sizeof (gfloat));
  for (guint i = 0; i < ND_ADAPTIVE_BANDS; i++) {
    const NdAdaptiveBand *band = &self->design.bands[i];
    TensorJob tensor = { self, i,
      self->is_speckle ? 1 : 1 / (sigma * sqrt (band->noise)) };
    ControlJob control = {
      .filter = self, .above = above, .low = self->low[i % 2]
    };
    gdouble scale = 1;

    sum_times (self, i, position, known, self->low[i % 2]);
    nd_parallel_for (self->size[2], differentiate_plane, &tensor);
    for (guint k = 0; k < nd_tensor_components (self->design.axes); k++)
      smooth (self, band->window, band->radius, NULL, self->tensor[k],
          self->tensor[k]);
    if (self->is_speckle)
      scale = 1
          / MAX (measure_speckle (self, band, position) * sigma * sigma,
              ND_ADAPTIVE_MIN_NOISE);
    control.control = get_control (self, band, scale);
    nd_parallel_for (self->size[2], control_plane, &control);
    above = self->low[i % 2];
  }
  return self->result;
}
