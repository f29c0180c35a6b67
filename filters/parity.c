/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/parity.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

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
nd_grid_allocate (const NdGrid *grid, gsize n)
{
  gdouble *memory = g_try_new0 (gdouble, n);

  if (!memory)
    atomic_store (grid->missing, nd_size_mul (n, sizeof (gdouble), 1));
  return memory;
}

gboolean
nd_grid_is_stopped (const NdGrid *grid)
{
  return nd_is_cancelled (grid->cancelled) || atomic_load (grid->missing) > 0;
}

gdouble *
nd_grid_transform (const NdGrid *grid, const gdouble *in,
    const gsize n[ND_AXES], const gsize to[ND_AXES],
    gdouble *const table[ND_AXES], gboolean transposed)
{
  const gdouble *before = in;
  gdouble *now = NULL;
  gsize inner = 1, outer = nd_sizes_product (n);

  for (guint a = 0; a < ND_AXES; a++) {
    gdouble *next = NULL;

    outer /= n[a];
    if (before && table[a])
      next = nd_grid_allocate (grid, inner * to[a] * outer);
    for (gsize o = 0; next && o < outer; o++) {
      for (gsize i = 0; i < to[a]; i++) {
        gdouble *sum = next + (o * to[a] + i) * inner;

        for (gsize j = 0; j < n[a]; j++) {
          const gdouble *from = before + (o * n[a] + j) * inner;
          gdouble factor = table[a][transposed ? j * to[a] + i : i * n[a] + j];

          for (gsize k = 0; k < inner; k++)
            sum[k] += factor * from[k];
        }
      }
    }
    g_free (now);
    before = now = next;
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
  grid->w2 = nd_grid_allocate (grid, grid->points);
  for (gsize i = 0; grid->w2 && i < grid->points; i++) {
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
    table[a] = nd_grid_allocate (grid, n[a] * grid->m[a]);
    for (gsize l = 0; table[a] && l < n[a]; l++)
      for (gsize j = 0; j < grid->m[a]; j++)
        table[a][l * grid->m[a] + j] = cos (l * grid->u[a][j]);
  }
  grid->lags = nd_grid_transform (grid, grid->w2, grid->m, n, table, FALSE);
  nd_parity_free_tables (table);
}

gboolean
nd_grid_init (NdGrid *grid, const gsize size[ND_AXES],
    const NdFitWeights *weights, atomic_size_t *missing)
{
  guint axes = 0;

  *grid = (NdGrid){ .cancelled = weights->cancelled, .missing = missing };
  for (guint a = 0; a < ND_AXES; a++)
    axes += size[a] > 1;
  for (guint a = 0; a < ND_AXES; a++) {
    grid->h[a] = size[a] / 2;
    grid->m[a] =
        size[a] == 1 ? 1 : MAX (least_frequencies[axes], 3 * (grid->h[a] + 1));
    grid->u[a] = nd_grid_allocate (grid, grid->m[a]);
    if (!grid->u[a])
      return FALSE;
    for (gsize j = 0; j < grid->m[a] && size[a] > 1; j++)
      grid->u[a][j] = G_PI * (j + 0.5) / grid->m[a];
  }
  grid->points = nd_sizes_product (grid->m);
  make_weights (grid, weights);
  make_lags (grid);
  return grid->lags != NULL;
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
    table[a] = nd_grid_allocate (grid, n[a] * grid->m[a]);
    for (gsize k = 0; table[a] && k < n[a]; k++)
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
parity_correlate (const NdGrid *grid, guint parity, const gsize i[ND_AXES],
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
  gdouble *matrix = nd_grid_allocate (grid, count * count);

  for (gsize i = 0; i < count && !nd_grid_is_stopped (grid); i++) {
    gdouble distance = 0;
    gsize at[ND_AXES];

    nd_sizes_split (i, n, at);
    for (gsize j = 0; j <= i; j++) {
      gsize other[ND_AXES];

      nd_sizes_split (j, n, other);
      matrix[i * count + j] = parity_correlate (grid, parity, at, other);
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

/* The energy of the mean of the input, relative to that of its other
 * frequencies. */
#define CONSTANT_ENERGY 10

/* The rounding error of an ideal response, whose largest value is about 1. */
#define ROUNDING 1e-13

/* Points between two looks at the flag of cancellation. */
#define POINTS_PER_CHECK 1024

/* A Hadamard transform over the signs of the frequencies separates the
 * parities. */
gboolean
nd_parity_components_init (NdParityComponent components[ND_PARITIES],
    const NdGrid *grid, const NdFit *fit)
{
  static const gdouble zero[ND_AXES] = { 0 };
  guint axes = 0;

  for (guint a = 0; a < ND_AXES; a++)
    axes |= grid->h[a] > 0 ? 1 << a : 0;
  for (guint p = 0; p < ND_PARITIES; p++) {
    if ((p & ~axes) == 0
        && !(components[p].ideal = nd_grid_allocate (grid, grid->points)))
      return FALSE;
  }
  components[0].constant = fit->ideal (zero, fit->data);
  for (gsize i = 0; i < grid->points; i++) {
    gdouble value[ND_PARITIES] = { 0 };
    gsize at[ND_AXES];

    if (i % POINTS_PER_CHECK == 0 && nd_is_cancelled (grid->cancelled))
      break;
    nd_sizes_split (i, grid->m, at);
    for (guint s = 0; s < ND_PARITIES; s++) {
      gdouble u[ND_AXES];

      if (!components[s].ideal)
        continue;
      for (guint a = 0; a < ND_AXES; a++)
        u[a] = s >> a & 1 ? -grid->u[a][at[a]] : grid->u[a][at[a]];
      value[s] = fit->ideal (u, fit->data);
    }
    for (guint a = 0; a < ND_AXES; a++) {
      for (guint s = 0; s < ND_PARITIES && grid->h[a] > 0; s++) {
        gdouble plus, minus;

        if (s >> a & 1)
          continue;
        plus = value[s];
        minus = value[s | 1 << a];
        value[s] = (plus + minus) / 2;
        value[s | 1 << a] = (plus - minus) / 2;
      }
    }
    for (guint p = 0; p < ND_PARITIES; p++) {
      if (components[p].ideal)
        components[p].ideal[i] = value[p];
    }
  }
  return TRUE;
}

void
nd_parity_components_clear (NdParityComponent components[ND_PARITIES])
{
  for (guint p = 0; p < ND_PARITIES; p++) {
    g_free (components[p].ideal);
    g_free (components[p].solution);
    for (guint j = 0; j < ND_FIT_CONDITIONS; j++) {
      g_free (components[p].relief[j]);
      g_free (components[p].condition[j]);
    }
  }
}

gboolean
nd_parity_component_is_empty (const NdParityComponent *component,
    const NdGrid *grid)
{
  for (gsize i = 0; i < grid->points; i++) {
    if (fabs (component->ideal[i]) > ROUNDING)
      return FALSE;
  }
  return TRUE;
}

static gdouble
energy (const NdGrid *grid, const gdouble *response)
{
  gdouble sum = 0;

  for (gsize i = 0; i < grid->points; i++)
    sum += grid->w2[i] * response[i] * response[i];
  return sum;
}

gdouble
nd_parity_component_energy (const NdParityComponent *component,
    const NdGrid *grid)
{
  return energy (grid, component->ideal);
}

gdouble *
nd_parity_component_combine (const NdParityComponent *component,
    const NdGrid *grid, guint parity, const gdouble *y, guint conditions)
{
  gsize n[ND_AXES], count;
  gdouble *c;

  if (!component->solution)
    return NULL;
  nd_parity_unknowns (grid, parity, n);
  count = nd_sizes_product (n);
  c = nd_grid_allocate (grid, count);
  if (!c)
    return NULL;
  memcpy (c, component->solution, count * sizeof (gdouble));
  for (guint j = 0; j < conditions; j++)
    for (gsize i = 0; i < count; i++)
      c[i] += y[j] * component->relief[j][i];
  return c;
}

/* The error for constant input is the difference between the sums of the filter
 * and of the ideal filter. Only parity 0 has a sum other than 0. */
static gdouble
constant_error (const NdGrid *grid, const NdParityComponent *component,
    const gdouble *c)
{
  gdouble sum = -component->constant;
  gsize n[ND_AXES];

  nd_parity_unknowns (grid, 0, n);
  for (gsize i = 0; i < nd_sizes_product (n); i++) {
    gsize at[ND_AXES];

    nd_sizes_split (i, n, at);
    sum += nd_parity_multiplicity (0, at) * c[i];
  }
  return CONSTANT_ENERGY * grid->total * sum * sum;
}

NdComponentError
nd_parity_component_error (const NdParityComponent *component,
    const NdGrid *grid, guint parity, const gdouble *c)
{
  g_autofree gdouble *response = NULL;
  NdComponentError error = { 0 };
  gdouble *table[ND_AXES];
  gsize n[ND_AXES];

  if (!c || !nd_parity_unknowns (grid, parity, n)) {
    error.varying = energy (grid, component->ideal);
    return error;
  }
  nd_parity_make_tables (grid, parity, n, table);
  response = nd_grid_transform (grid, c, n, grid->m, table, TRUE);
  nd_parity_free_tables (table);
  if (!response)
    return error;
  for (gsize i = 0; i < grid->points; i++)
    response[i] -= component->ideal[i];
  error.varying = energy (grid, response);
  if (parity == 0)
    error.constant = constant_error (grid, component, c);
  return error;
}

NdComponentError
nd_parity_component_truncation_error (const NdParityComponent *component,
    const NdGrid *grid, guint parity)
{
  g_autofree gdouble *c = NULL;
  gdouble *table[ND_AXES];
  gsize n[ND_AXES];

  if (!nd_parity_unknowns (grid, parity, n))
    return nd_parity_component_error (component, grid, parity, NULL);
  nd_parity_make_tables (grid, parity, n, table);
  c = nd_grid_transform (grid, component->ideal, grid->m, n, table, FALSE);
  nd_parity_free_tables (table);
  for (gsize i = 0; c && i < nd_sizes_product (n); i++) {
    gsize at[ND_AXES];

    nd_sizes_split (i, n, at);
    c[i] /= nd_parity_multiplicity (parity, at) * grid->points;
  }
  return nd_parity_component_error (component, grid, parity, c);
}

void
nd_parity_component_spread (const NdGrid *grid, guint parity, const gdouble *c,
    NdFit *fit)
{
  guint sines = __builtin_popcount (parity);
  gdouble *filter = sines % 2 ? fit->odd : fit->even;
  gsize size[ND_AXES], n[ND_AXES];

  nd_parity_unknowns (grid, parity, n);
  for (guint a = 0; a < ND_AXES; a++)
    size[a] = 2 * grid->h[a] + 1;
  for (gsize i = 0; i < nd_sizes_product (size); i++) {
    gdouble value = sines & 2 ? -1 : 1;
    gsize at[ND_AXES], index = 0;

    nd_sizes_split (i, size, at);
    for (guint a = ND_AXES; a-- > 0;) {
      gssize x = (gssize) at[a] - (gssize) grid->h[a];
      gsize k = ABS (x) - nd_parity_is_odd (parity, a);

      if (nd_parity_is_odd (parity, a) && x <= 0)
        value = x == 0 ? 0 : -value;
      if (value == 0)
        break;
      index = index * n[a] + k;
    }
    if (value != 0)
      filter[i] += value * c[index];
  }
}
