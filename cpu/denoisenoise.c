/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisenoise.h"

#include "analysis/noise.h"

#include <math.h>
#include <string.h>

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
count_row (NdNoiseHistogram *parts, const gfloat *difference, const gfloat *sum,
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
      part = MIN ((guint32) ((mean - low) * scale), ND_NOISE_PARTS - 1);
    parts[part].bins[bits >> ND_NOISE_SHIFT]++;
    parts[part].n++;
    parts[part].sum += mean;
  }
}

static void
collect (const gfloat *volume, const gsize size[3], gfloat low, gfloat high,
    NdNoiseHistogram *parts)
{
  const gsize plane = size[0] * size[1];
  const gboolean has_x = size[0] > 1, has_y = size[1] > 1, has_z = size[2] > 1;
  const gsize n_x = size[0] - has_x, n_y = size[1] - has_y;
  const gsize n_z = size[2] - has_z;
  const gsize every = nd_noise_every (n_x * n_y * n_z);
  const gfloat scale = isfinite (low) ? ND_NOISE_PARTS / (high - low) : 0;
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

gdouble
nd_cpu_noise_sigma (const gfloat *volume, const gsize size[3], gfloat low,
    gfloat high)
{
  const guint n = isfinite (low) ? ND_NOISE_PARTS : 1;
  g_autofree guint32 *bins = g_new0 (guint32, n * ND_NOISE_BINS);
  NdNoiseHistogram parts[ND_NOISE_PARTS] = { { 0 } };

  for (guint i = 0; i < n; i++) {
    parts[i].bins = bins + i * ND_NOISE_BINS;
    parts[i].first = 1;
    parts[i].n_bins = ND_NOISE_BINS;
  }
  if (size[0] > 1 || size[1] > 1 || size[2] > 1)
    collect (volume, size, low, high, parts);
  return nd_noise_sigma (parts, n, size, low, high);
}
