/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/noise.h"

#include "analysis/denoise.h"

#include <math.h>
#include <string.h>

/* The least differences of a histogram that is used. */
#define MIN_DIFFERENCES 200
/* More differences do not improve the median. */
#define MAX_DIFFERENCES (1 << 18)

gsize
nd_noise_every (gsize n)
{
  return 1 + n / MAX_DIFFERENCES;
}

static gdouble
bin_start (guint32 bin)
{
  const guint32 bits = bin << ND_NOISE_SHIFT;
  gfloat value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

/* The number of zeros that noise does not explain. An area of one value, for
 * example around a sector of ultrasound, has zeros and tells nothing about the
 * noise. Noise of rounded samples has about half as many zeros as differences
 * of one step, which have two signs. */
static guint64
unexplained_zeros (const NdNoiseHistogram *histogram)
{
  for (guint32 bin = 1; bin < histogram->n_bins; bin++) {
    const guint32 explained = histogram->bins[bin] / 2;

    if (histogram->bins[bin] > 0)
      return histogram->bins[0] - MIN (histogram->bins[0], explained);
  }
  return 0;
}

/* The median of a histogram without @n_ignored zeros. Assumes that values are
 * evenly spread within a bin, except for zeros. */
static gdouble
median (const NdNoiseHistogram *histogram, guint64 n_ignored)
{
  const gdouble half = (histogram->n - n_ignored) / 2.0;
  guint64 below = 0;

  for (guint32 bin = 0; bin < histogram->n_bins; bin++) {
    const guint64 here = histogram->bins[bin] - (bin == 0 ? n_ignored : 0);

    if (below + here >= half && here > 0) {
      const guint32 number = histogram->first + bin - 1;
      const gdouble start = bin_start (number);

      if (bin == 0)
        return 0;
      return start + (bin_start (number + 1) - start) * (half - below) / here;
    }
    below += here;
  }
  return 0;
}

/* sigma of noise before clipping. @deviation and @mean are the standard
 * deviation and the mean after clipping. */
static gdouble
undo_clipping (gdouble mean, gdouble deviation, gdouble low, gdouble high)
{
  gdouble sigma = deviation;

  if (deviation < (mean - low) / 5 && deviation < (high - mean) / 5)
    return deviation;
  for (guint i = 0; i < 20; i++) {
    const gdouble value = nd_unclipped_mean (mean, sigma, low, high);
    const gdouble ratio =
        deviation / nd_clipped_deviation (value, sigma, low, high);

    sigma *= ratio;
    if (fabs (ratio - 1) < 1e-9)
      break;
  }
  return sigma;
}

/* Combines the estimates of all parts. Samples near the middle of the range
 * count most, because clipping changes them least. */
static gdouble
combine (const NdNoiseHistogram *parts, gdouble norm, gdouble low, gdouble high)
{
  gdouble weights = 0, sum = 0, fallback = 0;
  guint64 most = 0;

  for (guint i = 0; i < ND_NOISE_PARTS; i++) {
    const NdNoiseHistogram *part = &parts[i];
    gdouble deviation, mean, room, weight;

    if (part->n == 0)
      continue;
    deviation = median (part, 0) / norm;
    if (part->n > most) {
      most = part->n;
      fallback = deviation;
    }
    mean = part->sum / part->n;
    room = MIN (mean - low, high - mean);
    if (part->n < MIN_DIFFERENCES || room < deviation)
      continue;
    weight = part->n * MIN (1, pow (room / (3 * MAX (deviation, 1e-9)), 4));
    weights += weight;
    sum += weight * undo_clipping (mean, deviation, low, high);
  }
  return weights > 0 ? sum / weights : fallback;
}

gdouble
nd_noise_sigma (const NdNoiseHistogram *parts, guint n, const gsize size[3],
    gdouble low, gdouble high)
{
  guint axes = 0;
  gdouble norm;

  for (guint a = 0; a < 3; a++)
    axes += size[a] > 1;
  if (axes == 0)
    return 0;
  norm = ND_NOISE_MEDIAN * sqrt (1 << axes);
  if (n == 1)
    return median (parts, unexplained_zeros (parts)) / norm;
  return combine (parts, norm, low, high);
}
