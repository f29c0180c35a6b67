/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/paritycomponent.h"

#include "core/error.h"

#include <math.h>

/* The energy of the mean of the input, relative to that of its other
 * frequencies. */
#define CONSTANT_ENERGY 10

/* The rounding error of an ideal response, whose largest value is about 1. */
#define ROUNDING 1e-13

/* Points between two looks at the flag of cancellation. */
#define POINTS_PER_CHECK 1024

/* A Hadamard transform over the signs of the frequencies separates the
 * parities. */
void
nd_parity_components_init (NdParityComponent components[ND_PARITIES],
    const NdGrid *grid, const NdFit *fit)
{
  static const gdouble zero[ND_AXES] = { 0 };
  guint axes = 0;

  for (guint a = 0; a < ND_AXES; a++)
    axes |= grid->h[a] > 0 ? 1 << a : 0;
  for (guint p = 0; p < ND_PARITIES; p++)
    components[p].ideal =
        (p & ~axes) == 0 ? g_new0 (gdouble, grid->points) : NULL;
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
  c = g_memdup2 (component->solution, count * sizeof (gdouble));
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
  response = nd_sizes_transform (c, n, grid->m, table, TRUE);
  nd_parity_free_tables (table);
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
  c = nd_sizes_transform (component->ideal, grid->m, n, table, FALSE);
  nd_parity_free_tables (table);
  for (gsize i = 0; i < nd_sizes_product (n); i++) {
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
