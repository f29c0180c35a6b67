/* The shrinkage of speckle by its definition: block by block, in double
 * precision.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/speckle.h"

#include <math.h>
#include <string.h>

#define COEFFICIENTS ND_SHRINK_COEFFICIENTS

typedef struct
{
  const NdReferenceBorders *borders;
  const gsize *size;
  guint n; /* samples of a block */
  gdouble basis[4][4], window[4];
  gdouble noise[COEFFICIENTS];
} Reference;

/* Reads samples of the block at @origin. */
static void
read_samples (const Reference *r, const gdouble *volume, const gint64 *origin,
    gdouble *block)
{
  const NdReferenceBorders *b = r->borders;

  for (guint i = 0; i < r->n; i++) {
    const gint64 offsets[3] = { i % 4, i / 4 % 4, i / 16 };
    gint64 at[3];

    for (guint a = 0; a < 3; a++)
      at[a] = b->space (origin[a] + offsets[a], r->size[a], b->space_data);
    block[i] = MIN (at[0], MIN (at[1], at[2])) < 0
        ? b->border_value
        : volume[(at[2] * r->size[1] + at[1]) * r->size[0] + at[0]];
  }
}

/* Multiplies each axis by the basis or, if @inverse, by its transpose. */
static void
speckle_reference_transform (const Reference *r, gdouble *block,
    gboolean inverse)
{
  for (guint step = 1; step < r->n; step *= 4) {
    for (guint i = 0; i < r->n; i++) {
      gdouble line[4] = { 0 };

      if (i / step % 4 != 0)
        continue;
      for (guint k = 0; k < 4; k++) {
        for (guint j = 0; j < 4; j++)
          line[k] +=
              (inverse ? r->basis[j][k] : r->basis[k][j]) * block[i + j * step];
      }
      for (guint k = 0; k < 4; k++)
        block[i + k * step] = line[k];
    }
  }
}

static gint
speckle_reference_compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gboolean
speckle_reference_measure (Reference *r, const gdouble *in)
{
  gsize grid[3], step, n = 0;
  gdouble least = INFINITY, *magnitudes[COEFFICIENTS];

  for (gsize i = 0; i < r->size[0] * r->size[1] * r->size[2]; i++)
    least = isfinite (in[i]) ? fmin (least, in[i]) : least;
  nd_shrink_grid (r->size, grid, &step);
  for (guint k = 0; k < r->n; k++)
    magnitudes[k] = g_new (gdouble, grid[0] * grid[1] * grid[2]);
  for (gsize i = 0; i < grid[0] * grid[1] * grid[2]; i++) {
    const gint64 origin[3] = { i % grid[0] * step, i / grid[0] % grid[1] * step,
      i / grid[0] / grid[1] * step };
    gdouble block[COEFFICIENTS];
    gboolean is_inside = TRUE;

    read_samples (r, in, origin, block);
    for (guint k = 0; k < r->n; k++)
      is_inside &= block[k] > least && isfinite (block[k]);
    if (!is_inside)
      continue;
    speckle_reference_transform (r, block, FALSE);
    for (guint k = 0; k < r->n; k++)
      magnitudes[k][n] = fabs (block[k]);
    n++;
  }
  memset (r->noise, 0, sizeof (r->noise));
  for (guint k = 0; k < r->n; k++) {
    qsort (magnitudes[k], n, sizeof (gdouble), speckle_reference_compare);
    if (n > 0)
      r->noise[k] = magnitudes[k][(gsize) (ND_SHRINK_QUANTILE * n)]
          / ND_SHRINK_NORMAL_QUANTILE;
    g_free (magnitudes[k]);
  }
  return nd_shrink_complete (r->noise);
}

/* Adds the block at @origin to @sums. @pilot: NULL in the first stage. */
static void
speckle_reference_add_block (const Reference *r, const gint64 *origin,
    gdouble strength, const gdouble *in, const gdouble *pilot, gdouble *sums,
    gdouble *weights)
{
  gdouble block[COEFFICIENTS], guide[COEFFICIENTS], power = 0;

  read_samples (r, in, origin, block);
  speckle_reference_transform (r, block, FALSE);
  if (pilot) {
    read_samples (r, pilot, origin, guide);
    speckle_reference_transform (r, guide, FALSE);
  }
  for (guint k = 0; k < r->n; k++) {
    const gdouble noise = strength * r->noise[k];
    gdouble g = 1;

    if (k > 0 && pilot)
      g = guide[k] * guide[k]
          / (guide[k] * guide[k] + ND_SHRINK_WIENER * noise * noise);
    else if (k > 0)
      g = fabs (block[k]) <= ND_DENOISE_THRESHOLD * noise ? 0 : 1;
    block[k] *= g;
    power += g * g * r->noise[k] * r->noise[k];
  }
  speckle_reference_transform (r, block, TRUE);
  for (guint i = 0; i < r->n; i++) {
    const gint64 x = origin[0] + i % 4, y = origin[1] + i / 4 % 4;
    const gint64 z = origin[2] + i / 16;
    const gdouble w = r->window[i % 4] * r->window[i / 4 % 4]
        * (r->n == COEFFICIENTS ? r->window[i / 16] : 1) / power;
    const gsize at = (z * r->size[1] + y) * r->size[0] + x;

    if (x < 0 || x >= (gint64) r->size[0] || y < 0 || y >= (gint64) r->size[1]
        || z < 0 || z >= (gint64) r->size[2])
      continue;
    sums[at] += w * block[i];
    weights[at] += w;
  }
}

gboolean
nd_shrink_reference (const NdReferenceBorders *borders, const gsize size[3],
    gdouble strength, const gdouble *in, gdouble *out)
{
  const gsize samples = size[0] * size[1] * size[2];
  g_autofree gdouble *sums = g_new (gdouble, samples);
  g_autofree gdouble *weights = g_new (gdouble, samples);
  Reference r = {
    .borders = borders,
    .size = size,
    .n = size[2] > 1 ? COEFFICIENTS : COEFFICIENTS / 4,
    .window = { 0.43867628098290406, 0.92431387937045783, 0.92431387937045783,
        0.43867628098290406 },
  };

  for (guint k = 0; k < 4; k++) {
    for (guint i = 0; i < 4; i++)
      r.basis[k][i] =
          sqrt ((k ? 2.0 : 1.0) / 4) * cos (G_PI * k * (2 * i + 1) / 8);
  }
  if (!speckle_reference_measure (&r, in))
    return FALSE;
  for (guint pass = 0; pass <= ND_SHRINK_PASSES; pass++) {
    gint64 at[3];

    memset (sums, 0, samples * sizeof (gdouble));
    memset (weights, 0, samples * sizeof (gdouble));
    for (at[2] = size[2] > 1 ? -3 : 0; at[2] < (gint64) size[2]; at[2]++) {
      for (at[1] = -3; at[1] < (gint64) size[1]; at[1]++) {
        for (at[0] = -3; at[0] < (gint64) size[0]; at[0]++)
          speckle_reference_add_block (&r, at, strength, in,
              pass > 0 ? out : NULL, sums, weights);
      }
    }
    for (gsize i = 0; i < samples; i++)
      out[i] = sums[i] / weights[i];
  }
  return TRUE;
}

void
nd_shrink_grid (const gsize size[3], gsize blocks[3], gsize *step)
{
  gdouble n;

  *step = 1;
  do {
    ++*step;
    n = 1;
    for (guint a = 0; a < 3; a++) {
      blocks[a] = (size[a] > 4 ? size[a] - 4 : 0) / *step + 1;
      n *= blocks[a];
    }
  } while (n > ND_SHRINK_BLOCKS);
}

gboolean
nd_shrink_complete (gdouble noise[ND_SHRINK_COEFFICIENTS])
{
  noise[0] = 0;
  for (guint k = 1; k < ND_SHRINK_COEFFICIENTS; k++)
    noise[0] = MAX (noise[0], noise[k]);
  for (guint k = 1; k < ND_SHRINK_COEFFICIENTS; k++)
    noise[k] = MAX (noise[k], ND_SHRINK_LEAST * noise[0]);
  return noise[0] > ND_DENOISE_MIN_SIGMA;
}
