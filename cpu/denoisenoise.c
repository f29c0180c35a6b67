/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisenoise.h"

#include "analysis/denoise.h"

#include <math.h>
#include <string.h>

/* Histograms over the bits of floats: exponent, and 6 bits of the mantissa. */
#define SHIFT 17
#define BINS (1 << (31 - SHIFT))
/* The range of an integer type is divided into this number of parts, each with
 * its own histogram. */
#define PARTS 16
/* More differences do not improve the median. */
#define MAX_DIFFERENCES (1 << 18)
/* The least differences of a histogram that is used. */
#define MIN_DIFFERENCES 200

typedef struct
{
  guint32 *bins;
  guint64 n;
  gdouble sum; /* over the differences: the mean of their samples */
} Histogram;

static gdouble
bin_start (guint32 bin)
{
  const guint32 bits = bin << SHIFT;
  gfloat value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

/* The median of a histogram. Assumes that values are evenly spread within a
 * bin, except for zeros. */
static gdouble
median (const Histogram *histogram)
{
  const gdouble half = histogram->n / 2.0;
  guint64 below = 0;

  for (guint32 bin = 0; bin < BINS - 1; bin++) {
    const guint32 here = histogram->bins[bin];

    if (below + here >= half && here > 0) {
      const gdouble start = bin_start (bin);

      if (bin == 0)
        return 0;
      return start + (bin_start (bin + 1) - start) * (half - below) / here;
    }
    below += here;
  }
  return 0;
}

/* Computes the differences over z and y of one row, and the sums. An axis of
 * one sample has no difference. */
static void
fold_rows (const gfloat *const rows[4], gboolean has_y, gboolean has_z,
    gfloat *difference, gfloat *sum, gsize n)
{
  const gfloat *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const gfloat y = has_y ? 1 : 0, z = has_z ? 1 : 0;

  for (gsize i = 0; i < n; i++) {
    difference[i] = (a[i] - y * b[i]) - z * (c[i] - y * d[i]);
    sum[i] = (a[i] + b[i]) + (c[i] + d[i]);
  }
}

static void
count_row (Histogram *parts, const gfloat *difference, const gfloat *sum,
    gboolean has_x, gsize n, gfloat low, gfloat scale)
{
  for (gsize i = 0; i < n; i++) {
    const gfloat d = has_x ? difference[i] - difference[i + 1] : difference[i];
    const gfloat mean = (sum[i] + sum[has_x ? i + 1 : i]) / 8;
    guint32 bits, part = 0;

    memcpy (&bits, &d, sizeof (bits));
    bits &= 0x7fffffff;
    /* NaN or infinite */
    if (bits >= 0x7f800000)
      continue;
    if (scale > 0)
      part = MIN ((guint32) ((mean - low) * scale), PARTS - 1);
    parts[part].bins[bits >> SHIFT]++;
    parts[part].n++;
    parts[part].sum += mean;
  }
}

static void
collect (const gfloat *volume, const gsize size[3], gfloat low, gfloat high,
    Histogram *parts)
{
  const gsize plane = size[0] * size[1];
  const gboolean has_x = size[0] > 1, has_y = size[1] > 1, has_z = size[2] > 1;
  const gsize n_x = size[0] - has_x, n_y = size[1] - has_y;
  const gsize n_z = size[2] - has_z;
  const gsize every = 1 + n_x * n_y * n_z / MAX_DIFFERENCES;
  const gfloat scale = isfinite (low) ? PARTS / (high - low) : 0;
  g_autofree gfloat *difference = g_new (gfloat, 2 * size[0]);
  gfloat *sum = difference + size[0];

  for (gsize row = 0; row < n_y * n_z; row += every) {
    const gsize y = row % n_y, z = row / n_y;
    const gfloat *a = volume + z * plane + y * size[0];
    const gfloat *b = has_y ? a + size[0] : a;
    const gsize step = has_z ? plane : 0;
    const gfloat *const rows[4] = { a, b, a + step, b + step };

    fold_rows (rows, has_y, has_z, difference, sum, size[0]);
    count_row (parts, difference, sum, has_x, n_x, low, scale);
  }
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

    sigma *= deviation / nd_clipped_deviation (value, sigma, low, high);
  }
  return sigma;
}

/* Combines the estimates of all parts. Samples near the middle of the range
 * count most, because clipping changes them least. */
static gdouble
combine (const Histogram *parts, gdouble norm, gdouble low, gdouble high)
{
  gdouble weights = 0, sum = 0, fallback = 0;
  guint64 most = 0;

  for (guint i = 0; i < PARTS; i++) {
    const Histogram *part = &parts[i];
    gdouble deviation, mean, room, weight;

    if (part->n == 0)
      continue;
    deviation = median (part) / norm;
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
nd_cpu_noise_sigma (const gfloat *volume, const gsize size[3], gfloat low,
    gfloat high)
{
  const guint n = isfinite (low) ? PARTS : 1;
  g_autofree guint32 *bins = g_new0 (guint32, n * BINS);
  Histogram parts[PARTS] = { { 0 } };
  guint axes = 0;
  gdouble norm;

  for (guint a = 0; a < 3; a++)
    axes += size[a] > 1;
  if (axes == 0)
    return 0;
  for (guint i = 0; i < n; i++)
    parts[i].bins = bins + i * BINS;
  collect (volume, size, low, high, parts);
  norm = ND_NOISE_MEDIAN * sqrt (1 << axes);
  return n == 1 ? median (parts) / norm : combine (parts, norm, low, high);
}
