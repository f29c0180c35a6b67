/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/noisefit.h"

#include "analysis/noise.h"
#include "analysis/stabilise.h"

#include <math.h>
#include <stdlib.h>

/* A part with fewer cubes is left out. */
#define MIN_CUBES 60
/* Texture makes the deviation of a part larger. Parts that differ from the fit
 * by more than this fraction count less. */
#define TOLERANCE 0.15
#define STEPS 30
/* The shares of cubes below and above all parts. */
#define TAIL 2e-4

static gint
compare_means (gconstpointer a, gconstpointer b)
{
  const gfloat x = ((const NdNoiseCube *) a)->mean;
  const gfloat y = ((const NdNoiseCube *) b)->mean;

  return (x > y) - (x < y);
}

static gint
compare_differences (gconstpointer a, gconstpointer b)
{
  const gfloat x = ((const NdNoiseCube *) a)->difference;
  const gfloat y = ((const NdNoiseCube *) b)->difference;

  return (x > y) - (x < y);
}

/* The median of sorted differences. Those of counts are few values: each stands
 * for the range around it, halfway to the next ones. */
static gdouble
median_difference (const NdNoiseCube *cubes, gsize n)
{
  const gdouble median = cubes[n / 2].difference;
  gsize first = n / 2, end = n / 2;
  gdouble from, to;

  while (first > 0 && cubes[first - 1].difference == median)
    first--;
  while (end < n && cubes[end].difference == median)
    end++;
  from = first > 0 ? (median + cubes[first - 1].difference) / 2 : 0;
  to = end < n ? (median + cubes[end].difference) / 2 : median;
  return from + (to - from) * (n / 2. - first) / (end - first);
}

static gboolean
measure_part (NdNoiseCube *cubes, gsize n, NdNoisePart *part)
{
  gsize equal = 0;
  gdouble sum = 0;

  if (n < MIN_CUBES)
    return FALSE;
  for (gsize i = 0; i < n; i++) {
    equal += cubes[i].difference == 0;
    sum += cubes[i].mean;
  }
  /* An area of one value tells nothing. */
  if (equal > n / 2)
    return FALSE;
  qsort (cubes, n, sizeof (*cubes), compare_differences);
  part->n = n;
  part->mean = sum / n;
  part->deviation = median_difference (cubes, n) / ND_NOISE_MEDIAN;
  return part->deviation > 0;
}

guint
nd_noise_parts (NdNoiseCube *cubes, gsize n, NdNoisePart parts[ND_FIT_PARTS])
{
  gsize finite = 0, at = 0;
  gdouble low, width;
  guint count = 0;

  for (gsize i = 0; i < n; i++) {
    if (isfinite (cubes[i].mean) && isfinite (cubes[i].difference))
      cubes[finite++] = cubes[i];
  }
  if (finite < MIN_CUBES)
    return 0;
  qsort (cubes, finite, sizeof (*cubes), compare_means);
  low = cubes[(gsize) (TAIL * finite)].mean;
  width =
      (cubes[finite - 1 - (gsize) (TAIL * finite)].mean - low) / ND_FIT_PARTS;
  for (guint i = 0; i < ND_FIT_PARTS; i++) {
    const gdouble end = i + 1 < ND_FIT_PARTS ? low + (i + 1) * width : INFINITY;
    const gsize begin = at;

    while (at < finite && cubes[at].mean < end)
      at++;
    count += measure_part (cubes + begin, at - begin, &parts[count]);
  }
  return count;
}

/* Least squares of variance = gain mean + constant. The standard error of a
 * variance is proportional to it. */
static NdNoiseFound
fit_poisson (const NdNoisePart *parts, guint n, gdouble high)
{
  NdNoiseFound fit = { .noise = ND_NOISE_POISSON };
  gdouble error = 0;

  for (guint step = 0; step < STEPS; step++) {
    gdouble s = 0, sx = 0, sxx = 0, sy = 0, sxy = 0, residual = 0, det;
    guint used = 0;

    for (guint i = 0; i < n; i++) {
      const NdNoisePart *p = &parts[i];
      const gdouble y = p->deviation * p->deviation;
      const gdouble model =
          step == 0 ? y : MAX (fit.gain * p->mean + fit.constant, y / 16);
      const gdouble off = step == 0 ? 0 : (y - model) / model;
      gdouble w = p->n / (model * model);

      if (p->mean + 3 * p->deviation > high)
        continue;
      w /= 1 + off * off / (TOLERANCE * TOLERANCE);
      s += w;
      sx += w * p->mean;
      sxx += w * p->mean * p->mean;
      sy += w * y;
      sxy += w * p->mean * y;
      residual += w * (off * model) * (off * model);
      used++;
    }
    det = s * sxx - sx * sx;
    if (used < 3 || !(det > 1e-9 * s * sxx))
      return (NdNoiseFound){ 0 };
    fit.gain = (s * sxy - sx * sy) / det;
    fit.constant = (sy - fit.gain * sx) / s;
    error = sqrt (residual / (used - 2) * s / det);
  }
  if (!(fit.gain > 0))
    return (NdNoiseFound){ 0 };
  fit.certainty = CLAMP (1 - error / fit.gain, 0, 1);
  return fit;
}

/* sigma of magnitudes with @mean and @deviation: their ratio rises with the
 * value before noise (C. G. Koay, P. J. Basser, "Analytically exact correction
 * scheme for signal extraction from noisy magnitude MR signals", J. Magn.
 * Reson. 179, 2006). */
static gdouble
rice_sigma (gdouble mean, gdouble deviation)
{
  gdouble from = 0, to = 50, m, d;

  if (mean > 40 * deviation)
    return deviation;
  for (guint i = 0; i < 40; i++) {
    const gdouble value = (from + to) / 2;

    nd_rice_moments (value, &m, &d);
    if (m * deviation < mean * d)
      from = value;
    else
      to = value;
  }
  nd_rice_moments (from, &m, &d);
  return deviation / d;
}

typedef struct
{
  gdouble value, weight;
} Weighted;

static gint
compare_weighted (gconstpointer a, gconstpointer b)
{
  const gdouble x = ((const Weighted *) a)->value;
  const gdouble y = ((const Weighted *) b)->value;

  return (x > y) - (x < y);
}

/* The weighted median, and the mean deviation from it of the parts that are
 * near. */
static NdNoiseFound
fit_rice (const NdNoisePart *parts, guint n, gdouble high)
{
  Weighted values[ND_FIT_PARTS];
  gdouble all = 0, below = 0, sum = 0, square = 0, weights = 0;
  NdNoiseFound fit = { .noise = ND_NOISE_RICIAN };
  guint used = 0;

  for (guint i = 0; i < n; i++) {
    if (parts[i].mean + 3 * parts[i].deviation > high)
      continue;
    values[used] = (Weighted){ rice_sigma (parts[i].mean, parts[i].deviation),
      parts[i].n };
    all += values[used++].weight;
  }
  if (used == 0)
    return fit;
  qsort (values, used, sizeof (*values), compare_weighted);
  for (guint i = 0; i < used && below < all / 2; i++) {
    fit.sigma = values[i].value;
    below += values[i].weight;
  }
  for (guint i = 0; i < used; i++) {
    const gdouble off = values[i].value / fit.sigma - 1;
    const gdouble w =
        values[i].weight / (1 + off * off / (TOLERANCE * TOLERANCE));

    weights += w;
    sum += w * values[i].value;
    square += w * off * off;
  }
  fit.sigma = sum / weights;
  fit.certainty = CLAMP (1 - sqrt (square / weights), 0, 1);
  return fit;
}

NdNoiseFound
nd_noise_fit (NdNoise noise, const NdNoisePart *parts, guint n, gdouble high)
{
  if (n == 0)
    return (NdNoiseFound){ 0 };
  return noise == ND_NOISE_RICIAN ? fit_rice (parts, n, high)
                                  : fit_poisson (parts, n, high);
}

static gint
compare_fits (gconstpointer a, gconstpointer b)
{
  const NdNoiseFound *x = a, *y = b;
  const gdouble p = x->gain + x->sigma, q = y->gain + y->sigma;

  return (p > q) - (p < q);
}

NdNoiseFound
nd_noise_median_fit (NdNoise noise, const NdNoiseFound *fits, guint n)
{
  NdNoiseFound sorted[ND_DENOISE_MAX_ESTIMATES];
  guint good = 0;

  for (guint i = 0; i < n && good < G_N_ELEMENTS (sorted); i++) {
    if (fits[i].certainty > 0)
      sorted[good++] = fits[i];
  }
  if (good == 0)
    return (NdNoiseFound){ 0 };
  qsort (sorted, good, sizeof (*sorted), compare_fits);
  return sorted[good / 2];
}
