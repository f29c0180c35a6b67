/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/parity.h"

#include "core/error.h"

#include <math.h>

/* By the number of axes: enough for a narrow band at little cost. */
static const gsize least_frequencies[ND_AXES + 1] = { 1, 128, 48, 24, 16 };

gsize
nd_sizes_product (const gsize n[ND_AXES])
{
  return n[0] * n[1] * n[2] * n[3];
}

void
nd_sizes_split (gsize index, const gsize n[ND_AXES], gsize at[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++) {
    at[a] = index % n[a];
    index /= n[a];
  }
}

gdouble *
nd_sizes_transform (const gdouble *in, const gsize n[ND_AXES],
    const gsize to[ND_AXES], gdouble *const table[ND_AXES], gboolean transposed)
{
  gdouble *now = g_memdup2 (in, nd_sizes_product (n) * sizeof (gdouble));
  gsize inner = 1, outer = nd_sizes_product (n);

  for (guint a = 0; a < ND_AXES; a++) {
    gdouble *next;

    outer /= n[a];
    next = g_new0 (gdouble, inner * to[a] * outer);
    for (gsize o = 0; o < outer; o++) {
      for (gsize i = 0; i < to[a]; i++) {
        gdouble *sum = next + (o * to[a] + i) * inner;

        for (gsize j = 0; j < n[a]; j++) {
          const gdouble *from = now + (o * n[a] + j) * inner;
          gdouble factor = table[a][transposed ? j * to[a] + i : i * n[a] + j];

          for (gsize k = 0; k < inner; k++)
            sum[k] += factor * from[k];
        }
      }
    }
    g_free (now);
    now = next;
    inner *= to[a];
  }
  return now;
}

void
nd_parity_free_tables (gdouble *table[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++)
    g_free (table[a]);
}

static void
make_weights (NdGrid *grid, const NdFitWeights *weights)
{
  grid->w2 = g_new (gdouble, grid->points);
  for (gsize i = 0; i < grid->points; i++) {
    gdouble squared = 0, signal = 1, w;
    gsize at[ND_AXES];

    nd_sizes_split (i, grid->m, at);
    for (guint a = 0; a < ND_AXES; a++) {
      gdouble u = grid->u[a][at[a]];

      squared += u * u;
      signal *= cos (u / 2);
    }
    w = signal * pow (squared, -weights->spectrum / 2) + 1 / weights->snr;
    grid->w2[i] = w * w;
    grid->total += w * w;
  }
}

static void
make_lags (NdGrid *grid)
{
  gdouble *table[ND_AXES];
  gsize n[ND_AXES];

  for (guint a = 0; a < ND_AXES; a++) {
    n[a] = 2 * grid->h[a] + 1;
    table[a] = g_new (gdouble, n[a] * grid->m[a]);
    for (gsize l = 0; l < n[a]; l++)
      for (gsize j = 0; j < grid->m[a]; j++)
        table[a][l * grid->m[a] + j] = cos (l * grid->u[a][j]);
  }
  grid->lags = nd_sizes_transform (grid->w2, grid->m, n, table, FALSE);
  nd_parity_free_tables (table);
}

void
nd_grid_init (NdGrid *grid, const gsize size[ND_AXES],
    const NdFitWeights *weights)
{
  guint axes = 0;

  *grid = (NdGrid){ .cancelled = weights->cancelled };
  for (guint a = 0; a < ND_AXES; a++)
    axes += size[a] > 1;
  for (guint a = 0; a < ND_AXES; a++) {
    grid->h[a] = size[a] / 2;
    grid->m[a] =
        size[a] == 1 ? 1 : MAX (least_frequencies[axes], 3 * (grid->h[a] + 1));
    grid->u[a] = g_new0 (gdouble, grid->m[a]);
    for (gsize j = 0; j < grid->m[a] && size[a] > 1; j++)
      grid->u[a][j] = G_PI * (j + 0.5) / grid->m[a];
  }
  grid->points = nd_sizes_product (grid->m);
  make_weights (grid, weights);
  make_lags (grid);
}

void
nd_grid_clear (NdGrid *grid)
{
  for (guint a = 0; a < ND_AXES; a++)
    g_free (grid->u[a]);
  g_free (grid->w2);
  g_free (grid->lags);
}

gboolean
nd_parity_is_odd (guint parity, guint axis)
{
  return parity >> axis & 1;
}

gboolean
nd_parity_unknowns (const NdGrid *grid, guint parity, gsize n[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++)
    n[a] = grid->h[a] + !nd_parity_is_odd (parity, a);
  return nd_sizes_product (n) > 0;
}

gsize
nd_parity_position (guint parity, guint axis, gsize k)
{
  return k + nd_parity_is_odd (parity, axis);
}

gdouble
nd_parity_phi (guint parity, guint axis, gsize k, gdouble u)
{
  gsize x = nd_parity_position (parity, axis, k);

  if (nd_parity_is_odd (parity, axis))
    return 2 * sin (u * x);
  return x == 0 ? 1 : 2 * cos (u * x);
}

gdouble
nd_parity_phi_slope (guint parity, guint axis, gsize k, gdouble u)
{
  gsize x = nd_parity_position (parity, axis, k);

  return nd_parity_is_odd (parity, axis) ? 2 * x * cos (u * x)
      : x == 0                           ? 0
                                         : -2 * (gdouble) x * sin (u * x);
}

void
nd_parity_make_tables (const NdGrid *grid, guint parity, const gsize n[ND_AXES],
    gdouble *table[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++) {
    table[a] = g_new (gdouble, n[a] * grid->m[a]);
    for (gsize k = 0; k < n[a]; k++)
      for (gsize j = 0; j < grid->m[a]; j++)
        table[a][k * grid->m[a] + j] =
            nd_parity_phi (parity, a, k, grid->u[a][j]);
  }
}

gdouble
nd_parity_multiplicity (guint parity, const gsize at[ND_AXES])
{
  gdouble count = 1;

  for (guint a = 0; a < ND_AXES; a++)
    count *= nd_parity_position (parity, a, at[a]) > 0 ? 2 : 1;
  return count;
}

/* sum_u W^2 phi_i phi_j. Along each axis, the product of two cosines or sines
 * is half the sum or the difference of the cosines of their lags. */
static gdouble
correlate (const NdGrid *grid, guint parity, const gsize i[ND_AXES],
    const gsize j[ND_AXES])
{
  gsize offset[ND_PARITIES] = { 0 }, stride = 1;
  gdouble sign[ND_PARITIES] = { 1 }, scale = 1, sum = 0;
  guint n = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    gsize x = nd_parity_position (parity, a, i[a]),
          y = nd_parity_position (parity, a, j[a]);
    gsize near = (x > y ? x - y : y - x) * stride, far = (x + y) * stride;

    if (grid->h[a] > 0) {
      scale *= (x > 0 ? 2 : 1) * (y > 0 ? 2 : 1) / 2.0;
      for (guint s = 0; s < n; s++) {
        offset[n + s] = offset[s] + far;
        sign[n + s] = nd_parity_is_odd (parity, a) ? -sign[s] : sign[s];
        offset[s] += near;
      }
      n *= 2;
    }
    stride *= 2 * grid->h[a] + 1;
  }
  for (guint s = 0; s < n; s++)
    sum += sign[s] * grid->lags[offset[s]];
  return scale * sum;
}

gdouble *
nd_parity_matrix (const NdGrid *grid, guint parity, const gsize n[ND_AXES],
    gdouble localization)
{
  gsize count = nd_sizes_product (n);
  gdouble *matrix = g_new (gdouble, count * count);

  for (gsize i = 0; i < count && !nd_is_cancelled (grid->cancelled); i++) {
    gdouble distance = 0;
    gsize at[ND_AXES];

    nd_sizes_split (i, n, at);
    for (gsize j = 0; j <= i; j++) {
      gsize other[ND_AXES];

      nd_sizes_split (j, n, other);
      matrix[i * count + j] = correlate (grid, parity, at, other);
    }
    for (guint a = 0; a < ND_AXES; a++) {
      gdouble x = nd_parity_position (parity, a, at[a]);

      if (grid->h[a] > 0)
        distance += x * x / (grid->h[a] * grid->h[a]);
    }
    matrix[i * count + i] += localization * grid->total * distance
        * nd_parity_multiplicity (parity, at);
  }
  return matrix;
}
