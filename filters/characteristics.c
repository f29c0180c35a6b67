/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/characteristics.h"

#include "core/memory.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double _Complex Number;

/* Squares of singular values below this, relative to the largest, count as
 * 0. */
#define RANK_TOLERANCE 1e-12

/* The number of frequencies per axis at which the search for the gain begins: 2
 * for each coefficient, because a narrow peak would fall between fewer, and at
 * most as many as are searched in seconds, by the number of axes. All are even,
 * so that 0 is one of the frequencies. */
#define LEAST_FREQUENCIES 24
static const gsize most_frequencies[ND_AXES + 1] = { 1, 4096, 512, 128, 64 };

#define REFINEMENTS 12

/* A filter that is not a derivative or a band has at least this fraction of the
 * sum of its magnitudes as its sum. */
#define PASSES_CONSTANT 0.1

/* The number of frequencies on each side of the maximum in the search for the
 * ends of the band. */
#define RAY_POINTS 500

/* A product of finite numbers, without the checks for infinities that C
 * requires of its own product. */
static inline Number
times (Number a, Number b)
{
  /* CMPLX of the C library exists for GCC alone. */
  return __builtin_complex (creal (a) * creal (b) - cimag (a) * cimag (b),
      creal (a) * cimag (b) + cimag (a) * creal (b));
}

/* The coefficients of a filter, and memory to work with. */
typedef struct
{
  const gsize *size;
  Number *f;
  Number *rest[ND_AXES]; /* sums over the axes above each one */
  Number *weights;       /* of the longest axis */
  Number *memory;
} Samples;

static void
samples_clear (Samples *self)
{
  g_free (self->memory);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Samples, samples_clear)

/* FALSE without memory: a file may make filters large. */
static gboolean
samples_init (Samples *self, const NdFilter *real, const NdFilter *imaginary)
{
  const gsize count = nd_filter_count (real);
  gsize longest = 1, n = count;

  self->size = real->size;
  for (guint a = 0; a < ND_AXES; a++)
    longest = MAX (longest, real->size[a]);
  self->memory = nd_memory_new (nd_size_mul (count, ND_AXES + 1, 1) + longest,
      sizeof (Number), NULL);
  if (!self->memory)
    return FALSE;
  self->f = self->memory;
  self->weights = self->f + count;
  self->rest[ND_AXES - 1] = self->weights + longest;
  for (guint a = ND_AXES - 1; a > 0; a--) {
    n /= real->size[a];
    self->rest[a - 1] = self->rest[a] + n;
  }
  for (gsize i = 0; i < count; i++)
    self->f[i] = real->coefficients[i]
        + (imaginary ? I * imaginary->coefficients[i] : 0);
  return TRUE;
}

/* Sums @from over its first axis, which has @size, with weights exp (-i u
 * x). */
static void
sum_axis (const Samples *self, const Number *from, Number *to, gsize size,
    gsize n, gdouble u)
{
  Number *weights = self->weights;

  for (gsize i = 0; i < size; i++)
    weights[i] = cexp (-I * u * ((gdouble) i - (gdouble) (size - 1) / 2));
  for (gsize j = 0; j < n; j++) {
    Number sum = 0;

    for (gsize i = 0; i < size; i++)
      sum += times (weights[i], from[j * size + i]);
    to[j] = sum;
  }
}

static Number
characteristics_respond (const Samples *self, const gdouble u[ND_AXES])
{
  const gsize *size = self->size;
  gsize n = size[1] * size[2] * size[3];
  Number *rest = self->rest[ND_AXES - 1];

  sum_axis (self, self->f, rest, size[0], n, u[0]);
  for (guint a = 1; a < ND_AXES; a++) {
    n /= size[a];
    sum_axis (self, rest, rest, size[a], n, u[a]);
  }
  return rest[0];
}

gboolean
nd_filter_response (const NdFilter *real, const NdFilter *imaginary,
    const gdouble u[ND_AXES], gdouble *re, gdouble *im)
{
  g_auto (Samples) samples = { 0 };
  Number value;

  *re = *im = NAN;
  if (!samples_init (&samples, real, imaginary))
    return FALSE;
  value = characteristics_respond (&samples, u);
  *re = creal (value);
  *im = cimag (value);
  return TRUE;
}

static void
count_frequencies (const gsize size[ND_AXES], gsize points[ND_AXES])
{
  guint axes = 0;

  for (guint a = 0; a < ND_AXES; a++)
    axes += size[a] > 1;
  for (guint a = 0; a < ND_AXES; a++)
    points[a] = size[a] == 1
        ? 1
        : CLAMP (2 * size[a], LEAST_FREQUENCIES, most_frequencies[axes]);
}

/* The largest magnitude on a grid over the axes up to @axis; t is the outer
 * loop. */
static void
search (const Samples *self, const Number *f, const gsize points[ND_AXES],
    guint axis, gdouble u[ND_AXES], gdouble best[ND_AXES], gdouble *gain)
{
  gsize size = self->size[axis], n = 1;
  Number *rest = self->rest[axis];
  Number weight, step;

  for (guint a = 0; a < axis; a++)
    n *= self->size[a];
  for (gsize i = 0; i < points[axis]; i++) {
    u[axis] = size == 1 ? 0 : G_PI * (2.0 * i / points[axis] - 1);
    memset (rest, 0, n * sizeof (Number));
    weight = cexp (I * u[axis] * (size - 1) / 2);
    step = cexp (-I * u[axis]);
    for (gsize k = 0; k < size; k++, weight = times (weight, step)) {
      for (gsize j = 0; j < n; j++)
        rest[j] += times (f[k * n + j], weight);
    }
    if (axis > 0) {
      search (self, rest, points, axis - 1, u, best, gain);
    } else if (cabs (rest[0]) > *gain) {
      *gain = cabs (rest[0]);
      memcpy (best, u, ND_AXES * sizeof (gdouble));
    }
  }
}

gdouble
nd_filter_gain (const NdFilter *real, const NdFilter *imaginary,
    gdouble u[ND_AXES])
{
  g_auto (Samples) samples = { 0 };
  gdouble at[ND_AXES] = { 0 }, gain = -1, step = G_PI;
  gsize points[ND_AXES];

  memset (u, 0, sizeof (at));
  if (!samples_init (&samples, real, imaginary))
    return NAN;
  count_frequencies (real->size, points);
  search (&samples, samples.f, points, ND_AXES - 1, at, u, &gain);
  for (guint i = 0; i < REFINEMENTS; i++, step /= 2) {
    for (guint a = 0; a < ND_AXES; a++) {
      for (gint sign = -1; sign <= 1 && real->size[a] > 1; sign += 2) {
        gdouble value;

        memcpy (at, u, sizeof (at));
        at[a] = CLAMP (u[a] + sign * step / points[a], -G_PI, G_PI);
        value = cabs (characteristics_respond (&samples, at));
        if (value <= gain)
          continue;
        gain = value;
        u[a] = at[a];
      }
    }
  }
  return gain;
}

/* The first multiple of @u between @from and @to at which |F| is below @half,
 * or NAN. */
static gdouble
find_half (const Samples *samples, const gdouble u[ND_AXES], gdouble from,
    gdouble to, gdouble half)
{
  gdouble step = (to - from) / RAY_POINTS;

  for (guint i = 1; i <= RAY_POINTS; i++) {
    gdouble at[ND_AXES], factor = from + i * step;

    for (guint a = 0; a < ND_AXES; a++)
      at[a] = factor * u[a];
    if (cabs (characteristics_respond (samples, at)) < half)
      return factor - step / 2;
  }
  return NAN;
}

gboolean
nd_filter_band (const NdFilter *real, const NdFilter *imaginary,
    const gdouble u[ND_AXES], gdouble gain, gdouble *low, gdouble *high)
{
  g_auto (Samples) samples = { 0 };
  gdouble norm = 0, largest = 0;

  for (guint a = 0; a < ND_AXES; a++) {
    norm += u[a] * u[a];
    largest = MAX (largest, fabs (u[a]));
  }
  if (largest == 0 || !samples_init (&samples, real, imaginary))
    return FALSE;
  norm = sqrt (norm);
  *low = norm * find_half (&samples, u, 1, 0, gain / 2);
  *high = norm * find_half (&samples, u, 1, G_PI / largest, gain / 2);
  return !isnan (*low) && !isnan (*high);
}

static void
get_position (const NdFilter *filter, gsize i, gsize at[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++) {
    at[a] = i % filter->size[a];
    i /= filter->size[a];
  }
}

gdouble
nd_filter_lag (const NdFilter *real, const NdFilter *imaginary)
{
  const gsize count = nd_filter_count (real);
  const gsize volume = count / real->size[ND_AXIS_T];
  gdouble sum = 0, moment = 0, magnitude = 0, magnitude_moment = 0;

  for (gsize i = 0; i < count; i++) {
    const gdouble weight = hypot (real->coefficients[i],
        imaginary ? imaginary->coefficients[i] : 0);
    const gdouble age = (gdouble) (i / volume);

    sum += real->coefficients[i];
    moment += real->coefficients[i] * age;
    magnitude += weight;
    magnitude_moment += weight * age;
  }
  if (!imaginary && fabs (sum) > PASSES_CONSTANT * magnitude)
    return moment / sum;
  return magnitude > 0 ? magnitude_moment / magnitude : 0;
}

gdouble
nd_filter_anchor_lag (const NdFilter *real, const NdFilter *imaginary)
{
  gint low[ND_AXES], high[ND_AXES];

  nd_filter_reach (real, low, high);
  return nd_filter_lag (real, imaginary) - high[ND_AXIS_T];
}

gboolean
nd_filter_sigma (const NdFilter *filter, gdouble sigma[ND_AXES])
{
  gdouble sum = 0, first[ND_AXES] = { 0 }, second[ND_AXES] = { 0 };

  for (gsize i = 0; i < nd_filter_count (filter); i++) {
    const gdouble weight = filter->coefficients[i];
    gsize at[ND_AXES];

    if (weight < 0)
      return FALSE;
    get_position (filter, i, at);
    sum += weight;
    for (guint a = 0; a < ND_AXES; a++) {
      first[a] += weight * (gdouble) at[a];
      second[a] += weight * (gdouble) at[a] * (gdouble) at[a];
    }
  }
  for (guint a = 0; a < ND_AXES && sum > 0; a++) {
    const gdouble mean = first[a] / sum;

    sigma[a] = sqrt (MAX (second[a] / sum - mean * mean, 0));
  }
  return sum > 0;
}

gboolean
nd_filter_cutoff (const NdFilter *real, const NdFilter *imaginary,
    gdouble cutoff[ND_AXES])
{
  g_auto (Samples) samples = { 0 };
  const gdouble zero[ND_AXES] = { 0 };
  gdouble half;

  if (!samples_init (&samples, real, imaginary))
    return FALSE;
  half = cabs (characteristics_respond (&samples, zero)) / 2;
  for (guint a = 0; a < ND_AXES; a++) {
    gdouble u[ND_AXES] = { 0 };

    u[a] = 1;
    cutoff[a] =
        real->size[a] > 1 ? find_half (&samples, u, 0, G_PI, half) : NAN;
  }
  return TRUE;
}

/* Counts the pivots above rounding in Cholesky's decomposition of the Hermitian
 * matrix @g, and overwrites it. */
static gsize
count_pivots (Number *g, gsize n)
{
  gdouble largest = 0;

  for (gsize k = 0; k < n; k++) {
    gsize pivot = k;

    for (gsize i = k + 1; i < n; i++) {
      if (creal (g[i * n + i]) > creal (g[pivot * n + pivot]))
        pivot = i;
    }
    if (k == 0)
      largest = creal (g[pivot * n + pivot]);
    if (creal (g[pivot * n + pivot]) <= RANK_TOLERANCE * largest)
      return k;
    for (gsize i = 0; i < n; i++) {
      Number swap = g[k * n + i];

      g[k * n + i] = g[pivot * n + i];
      g[pivot * n + i] = swap;
    }
    for (gsize i = 0; i < n; i++) {
      Number swap = g[i * n + k];

      g[i * n + k] = g[i * n + pivot];
      g[i * n + pivot] = swap;
    }
    for (gsize i = k + 1; i < n; i++) {
      Number factor = g[i * n + k] / g[k * n + k];

      for (gsize j = k + 1; j < n; j++)
        g[i * n + j] -= times (factor, g[k * n + j]);
    }
  }
  return n;
}

/* The products that the rank takes: for each axis, those of all pairs of
 * samples of each line. count_pivots() adds few. */
static gdouble
count_products (const gsize size[ND_AXES])
{
  gdouble count = (gdouble) size[0] * size[1] * size[2] * size[3], sum = 0;

  for (guint a = 0; a < ND_AXES; a++)
    sum += size[a] == 1 ? 0 : count * size[a];
  return sum;
}

static gboolean
is_separable (const NdFilter *real, const NdFilter *imaginary)
{
  gdouble *factors[ND_AXES];
  gboolean separable = !imaginary && nd_filter_separate (real, factors);

  for (guint a = 0; a < ND_AXES && separable; a++)
    g_free (factors[a]);
  return separable;
}

gboolean
nd_filter_rank (const NdFilter *real, const NdFilter *imaginary,
    gsize rank[ND_AXES])
{
  g_auto (Samples) samples = { 0 };
  gsize count = nd_filter_count (real), stride = 1;

  for (guint a = 0; a < ND_AXES; a++)
    rank[a] = 1;
  if (count_products (real->size) > ND_RANK_MAX_PRODUCTS)
    return is_separable (real, imaginary);
  if (!samples_init (&samples, real, imaginary))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    gsize n = real->size[a];
    g_autofree Number *gram =
        nd_memory_new (nd_size_mul (n, n, 1), sizeof (Number), NULL);

    if (!gram)
      return FALSE;
    for (gsize at = 0; at < count; at++) {
      const Number *line = samples.f + at;

      if (at / stride % n != 0)
        continue;
      for (gsize i = 0; i < n; i++)
        for (gsize j = 0; j < n; j++)
          gram[i * n + j] += times (line[i * stride], conj (line[j * stride]));
    }
    rank[a] = count_pivots (gram, n);
    stride *= n;
  }
  return TRUE;
}
