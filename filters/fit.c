/* W is the same in all orthants of frequency, so that functions that are even
 * along some axes and odd along the others (a parity, one bit per axis) are
 * orthogonal to functions of any other parity. Each parity has its own system
 * of equations, with products of cosines and sines over one orthant:
 *
 *   response_p(u) = sum_x c_p[x] prod_a phi(u_a, x_a),  x_a >= 0
 *
 * phi is 1 for x = 0, otherwise 2 cos (ux) along an even axis and 2 sin (ux)
 * along an odd one. 11^4 coefficients become 16 systems of at most 6^4 unknowns
 * (filters/parity.h).
 *
 * cos (u.x) is the sum of the products with an even number of sines, sin (u.x)
 * of those with an odd number, both with the sign (-1)^floor(number / 2).
 *
 * Conditions C c = v enter by multipliers y: if c0 is the solution without
 * conditions and Z = A^-1 C^T, then c = c0 + Z y and (C Z + softness) y = v - C
 * c0.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/fit.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/parity.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* The search multiplies the softness by this factor until the errors are small
 * enough, then reduces it by bisection. */
#define RELAXATION 4
#define RELAXATIONS 16
#define BISECTIONS 4

/* The largest error of a fit with conditions, relative to the error without
 * conditions. */
#define WORTH 1.5

/* A pivot below this, relative to 1, is rounding. */
#define DEPENDENT 1e-12

/* A design is refused if its ideal filter passes less than this share of the
 * energy of the input. */
#define LEAST_ENERGY 1e-9

/* A fit with a larger error is refused; a filter of zeros has error 1. */
#define USELESS 0.99

/* The row of C for a parity. */
static gdouble *
make_condition (const NdGrid *grid, const NdFitCondition *condition,
    guint parity, const gsize n[ND_AXES])
{
  gdouble factor =
      __builtin_popcount (parity) % 2 ? condition->odd : condition->even;
  gsize count = nd_sizes_product (n);
  gdouble *row = nd_grid_allocate (grid, count);
  gboolean slope = FALSE;

  for (guint a = 0; a < ND_AXES; a++)
    slope = slope || condition->slope[a] != 0;
  for (gsize i = 0; i < count && factor != 0 && row; i++) {
    gsize at[ND_AXES];

    nd_sizes_split (i, n, at);
    for (guint along = 0; along < (slope ? ND_AXES : 1); along++) {
      gdouble value = slope ? condition->slope[along] : 1;

      for (guint a = 0; a < ND_AXES && value != 0; a++)
        value *= slope && a == along
            ? nd_parity_phi_slope (parity, a, at[a], condition->u[a])
            : nd_parity_phi (parity, a, at[a], condition->u[a]);
      row[i] += factor * value;
    }
  }
  return row;
}

/* Computes c0 and Z of one parity of one filter, unless the grid is stopped. */
static void
solve_component (const NdGrid *grid, guint parity, const gsize n[ND_AXES],
    const gdouble *factor, const NdFit *fit, NdParityComponent *component)
{
  g_autofree gdouble *weighted = nd_grid_allocate (grid, grid->points);
  gdouble *table[ND_AXES];
  gsize count = nd_sizes_product (n);

  for (gsize i = 0; weighted && i < grid->points; i++)
    weighted[i] = grid->w2[i] * component->ideal[i];
  nd_parity_make_tables (grid, parity, n, table);
  component->solution =
      nd_grid_transform (grid, weighted, grid->m, n, table, FALSE);
  nd_parity_free_tables (table);
  if (!component->solution)
    return;
  nd_cholesky_solve (factor, count, component->solution);
  for (guint j = 0; j < fit->n_conditions; j++) {
    component->condition[j] =
        make_condition (grid, &fit->conditions[j], parity, n);
    component->relief[j] = nd_grid_allocate (grid, count);
    if (nd_grid_is_stopped (grid))
      return;
    memcpy (component->relief[j], component->condition[j],
        count * sizeof (gdouble));
    nd_cholesky_solve (factor, count, component->relief[j]);
  }
}

/* Gaussian elimination with pivots, scaled to a diagonal of 1. Equations that
 * depend on others are left out. */
static void
solve_small (gdouble a[ND_FIT_CONDITIONS][ND_FIT_CONDITIONS + 1], guint n,
    gdouble y[ND_FIT_CONDITIONS])
{
  gdouble scale[ND_FIT_CONDITIONS];

  for (guint i = 0; i < n; i++)
    scale[i] = a[i][i] > 0 ? 1 / sqrt (a[i][i]) : 0;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j <= n; j++)
      a[i][j] *= scale[i] * (j < n ? scale[j] : 1);
  for (guint k = 0; k < n; k++) {
    guint pivot = k;

    for (guint i = k + 1; i < n; i++) {
      if (fabs (a[i][k]) > fabs (a[pivot][k]))
        pivot = i;
    }
    for (guint j = 0; j <= n; j++) {
      gdouble swap = a[k][j];

      a[k][j] = a[pivot][j];
      a[pivot][j] = swap;
    }
    if (fabs (a[k][k]) <= DEPENDENT)
      continue;
    for (guint i = k + 1; i < n; i++) {
      gdouble factor = a[i][k] / a[k][k];

      for (guint j = k; j <= n; j++)
        a[i][j] -= factor * a[k][j];
    }
  }
  for (guint k = n; k-- > 0;) {
    gdouble rest = a[k][n];

    for (guint j = k + 1; j < n; j++)
      rest -= a[k][j] * y[j];
    y[k] = fabs (a[k][k]) <= DEPENDENT ? 0 : rest / a[k][k];
  }
  for (guint k = 0; k < n; k++)
    y[k] *= scale[k];
}

static gdouble
dot (const gdouble *a, const gdouble *b, gsize n)
{
  gdouble sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* The multipliers y with every softness multiplied by @relaxation. */
static void
solve_conditions (const NdGrid *grid, const NdFit *fit,
    const NdParityComponent components[ND_PARITIES], gdouble power,
    gdouble relaxation, gdouble y[ND_FIT_CONDITIONS])
{
  gdouble a[ND_FIT_CONDITIONS][ND_FIT_CONDITIONS + 1] = { { 0 } };
  guint m = fit->n_conditions;

  for (guint i = 0; i < m; i++) {
    a[i][i] = relaxation * fit->conditions[i].softness / power;
    a[i][m] = fit->conditions[i].value;
    for (guint p = 0; p < ND_PARITIES; p++) {
      gsize n[ND_AXES];

      if (!components[p].solution)
        continue;
      nd_parity_unknowns (grid, p, n);
      a[i][m] -= dot (components[p].condition[i], components[p].solution,
          nd_sizes_product (n));
      for (guint j = 0; j < m; j++)
        a[i][j] += dot (components[p].condition[i], components[p].relief[j],
            nd_sizes_product (n));
    }
  }
  solve_small (a, m, y);
}

/* The errors and the multipliers with every softness multiplied by
 * @relaxation. */
static NdComponentError
try_relaxation (const NdGrid *grid, const NdFit *fit,
    const NdParityComponent components[ND_PARITIES], gdouble power,
    gdouble relaxation, gdouble y[ND_FIT_CONDITIONS])
{
  NdComponentError sum = { 0 };

  solve_conditions (grid, fit, components, power, relaxation, y);
  for (guint p = 0; p < ND_PARITIES && !nd_grid_is_stopped (grid); p++) {
    g_autofree gdouble *c = NULL;
    NdComponentError error;

    if (!components[p].ideal)
      continue;
    c = nd_parity_component_combine (&components[p], grid, p, y,
        fit->n_conditions);
    error = nd_parity_component_error (&components[p], grid, p, c);
    sum.varying += error.varying;
    sum.constant += error.constant;
  }
  return sum;
}

/* Limits of the squared errors of a fit. */
typedef struct
{
  gdouble varying;
  gdouble total; /* with the mean */
} Limits;

static gboolean
keeps (const NdComponentError *error, const Limits *limits)
{
  return error->varying <= limits->varying
      && error->varying + error->constant <= limits->total;
}

/* The least relaxation of 1 or more that keeps the errors within @limits; FALSE
 * if none does. */
static gboolean
find_relaxation (const NdGrid *grid, const NdFit *fit,
    const NdParityComponent components[ND_PARITIES], gdouble power,
    const Limits *limits, gdouble *relaxation)
{
  gdouble y[ND_FIT_CONDITIONS], softer = 1, ratio = RELAXATION;
  NdComponentError error =
      try_relaxation (grid, fit, components, power, softer, y);

  *relaxation = 1;
  if (keeps (&error, limits))
    return TRUE;
  for (guint level = 1; level < RELAXATIONS; level++) {
    softer *= RELAXATION;
    error = try_relaxation (grid, fit, components, power, softer, y);
    if (keeps (&error, limits))
      break;
  }
  *relaxation = softer;
  if (!keeps (&error, limits))
    return FALSE;
  for (guint i = 0; i < BISECTIONS; i++) {
    ratio = sqrt (ratio);
    error =
        try_relaxation (grid, fit, components, power, *relaxation / ratio, y);
    if (keeps (&error, limits))
      *relaxation /= ratio;
  }
  return TRUE;
}

/* Relaxes the conditions until the errors are at most those of the ideal filter
 * cut off. If varying stays above that (the exact condition of a sum of 0 may
 * cost more), only total counts. */
static gdouble
choose_relaxation (const NdGrid *grid, const NdFit *fit,
    const NdParityComponent components[ND_PARITIES], gdouble power,
    const NdComponentError *truncation)
{
  gdouble y[ND_FIT_CONDITIONS], relaxation;
  NdComponentError loose = try_relaxation (grid, fit, components, power,
      pow (RELAXATION, RELAXATIONS), y);
  Limits limits = { .total = MIN (truncation->varying + truncation->constant,
                        WORTH * WORTH * (loose.varying + loose.constant)) };

  limits.varying = truncation->varying;
  if (find_relaxation (grid, fit, components, power, &limits, &relaxation))
    return relaxation;
  limits.varying = INFINITY;
  find_relaxation (grid, fit, components, power, &limits, &relaxation);
  return relaxation;
}

/* Chooses the relaxation and writes the filter and its errors. */
static void
fit_finish (const NdGrid *grid, NdFit *fit,
    const NdParityComponent components[ND_PARITIES], const gsize size[ND_AXES])
{
  NdComponentError truncation = { 0 }, error;
  gdouble y[ND_FIT_CONDITIONS], power = 0;

  for (guint p = 0; p < ND_PARITIES; p++) {
    if (!components[p].ideal)
      continue;
    power += nd_parity_component_energy (&components[p], grid);
    error = nd_parity_component_truncation_error (&components[p], grid, p);
    truncation.varying += error.varying;
    truncation.constant += error.constant;
  }
  error = try_relaxation (grid, fit, components, power,
      choose_relaxation (grid, fit, components, power, &truncation), y);
  fit->error.varying = sqrt (error.varying / power);
  fit->error.total = sqrt ((error.varying + error.constant) / power);
  fit->truncation_error.varying = sqrt (truncation.varying / power);
  fit->truncation_error.total =
      sqrt ((truncation.varying + truncation.constant) / power);

  fit->even = nd_grid_allocate (grid, nd_sizes_product (size));
  fit->odd = nd_grid_allocate (grid, nd_sizes_product (size));
  for (guint p = 0; p < ND_PARITIES && !nd_grid_is_stopped (grid); p++) {
    g_autofree gdouble *c = nd_parity_component_combine (&components[p], grid,
        p, y, fit->n_conditions);

    if (c)
      nd_parity_component_spread (grid, p, c, fit);
  }
}

static gboolean
fit_check_size (const gsize size[ND_AXES], GError **error)
{
  gsize unknowns = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] % 2 == 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %" G_GSIZE_FORMAT " along %c; it must be odd", size[a],
          "xyzt"[a]);
      return FALSE;
    }
    if (!g_size_checked_mul (&unknowns, unknowns, size[a] / 2 + 1))
      unknowns = G_MAXSIZE;
  }
  if (unknowns == 1 || unknowns > ND_FIT_MAX_UNKNOWNS)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "size is %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT "; it must be 3 or more along an axis, and not "
        "above 97 in 2D, 25 in 3D, 13 in 4D, for a design that is fitted",
        size[0], size[1], size[2], size[3]);
  return unknowns > 1 && unknowns <= ND_FIT_MAX_UNKNOWNS;
}

typedef struct
{
  NdGrid grid;
  gdouble localization;
  NdFit *fits;
  guint n_fits;
  NdParityComponent *components; /* ND_PARITIES for each fit */
  atomic_uint next;              /* the next parity to solve */
  atomic_bool failed;
} Task;

/* Solves the equations of one parity for all filters. */
static void
solve_parity (Task *task, guint parity)
{
  g_autofree gdouble *factor = NULL;
  gsize n[ND_AXES];

  if (!nd_parity_unknowns (&task->grid, parity, n))
    return;
  for (guint f = 0; f < task->n_fits; f++) {
    NdParityComponent *component = &task->components[f * ND_PARITIES + parity];

    if (!component->ideal
        || nd_parity_component_is_empty (component, &task->grid))
      continue;
    if (!factor) {
      factor = nd_parity_matrix (&task->grid, parity, n, task->localization);
      if (!factor)
        return;
      if (!nd_cholesky_factor (factor, nd_sizes_product (n),
              task->grid.cancelled)) {
        atomic_store (&task->failed, TRUE);
        return;
      }
    }
    solve_component (&task->grid, parity, n, factor, &task->fits[f], component);
  }
}

static gpointer
solve_parities (gpointer data)
{
  Task *task = data;
  guint parity;

  while ((parity = atomic_fetch_add (&task->next, 1)) < ND_PARITIES
      && !nd_grid_is_stopped (&task->grid))
    solve_parity (task, parity);
  return NULL;
}

/* Uses as many threads as there are processors, including this one. GLib's
 * threads abort if none can be created; POSIX threads report it. */
static void
fit_solve (Task *task)
{
  pthread_t threads[ND_PARITIES];
  guint n = 0, wanted = MIN (nd_usable_cores (), ND_PARITIES) - 1;

  while (n < wanted
      && pthread_create (&threads[n], NULL, solve_parities, task) == 0)
    n++;
  solve_parities (task);
  while (n > 0)
    pthread_join (threads[--n], NULL);
}

static gboolean
lets_through (const NdGrid *grid,
    const NdParityComponent components[ND_PARITIES])
{
  gdouble sum = 0;

  for (guint p = 0; p < ND_PARITIES; p++)
    sum += components[p].ideal
        ? nd_parity_component_energy (&components[p], grid)
        : 0;
  return sum > LEAST_ENERGY * grid->total;
}

static void
set_useless (GError **error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "the ideal filter passes no frequencies that this size can resolve; give "
      "a larger bandwidth or size");
}

gboolean
nd_fit (NdFit *fits, guint n_fits, const gsize size[ND_AXES],
    const NdFitWeights *weights, GError **error)
{
  Task task = {
    .localization = weights->localization, .fits = fits, .n_fits = n_fits
  };
  gboolean useful = TRUE;
  atomic_size_t missing = 0;

  if (!fit_check_size (size, error))
    return FALSE;
  task.components =
      nd_memory_new (n_fits * ND_PARITIES, sizeof (NdParityComponent), error);
  if (!task.components)
    return FALSE;
  if (nd_grid_init (&task.grid, size, weights, &missing)) {
    for (guint f = 0; f < n_fits && useful; f++) {
      NdParityComponent *components = task.components + f * ND_PARITIES;

      useful = nd_parity_components_init (components, &task.grid, &fits[f])
          && lets_through (&task.grid, components);
    }
    if (useful)
      fit_solve (&task);
  }
  for (guint f = 0;
       f < n_fits && useful && !task.failed && !nd_grid_is_stopped (&task.grid);
       f++) {
    fit_finish (&task.grid, &fits[f], task.components + f * ND_PARITIES, size);
    useful = fits[f].error.varying < USELESS;
  }
  for (guint f = 0; f < n_fits; f++)
    nd_parity_components_clear (task.components + f * ND_PARITIES);
  g_free (task.components);
  nd_grid_clear (&task.grid);
  if (nd_set_error_if_cancelled (weights->cancelled, error))
    return FALSE;
  if (missing > 0) {
    nd_memory_set_error (error, missing);
    return FALSE;
  }
  if (task.failed)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "the fit has no solution in double precision: snr is %g and spectrum "
        "%g; a smaller snr or spectrum, or a larger localization, gives one",
        weights->snr, weights->spectrum);
  else if (!useful)
    set_useless (error);
  return useful && !task.failed;
}

/* Cholesky's decomposition by rows (Golub and Van Loan, Matrix Computations,
 * 4th ed., 4.2.9), four rows at a time, so that each row above them is read
 * once for all four. */

#define ROWS 4
#define LANES 4

/* sums[r] = rows[r] . other, each in LANES partial sums, so that the compiler
 * can use vectors. */
static void
dots (const gdouble *const rows[ROWS], const gdouble *other, gsize n,
    gdouble sums[ROWS])
{
  gdouble partial[ROWS][LANES] = { { 0 } };
  gsize i = 0;

  for (; i + LANES <= n; i += LANES) {
    for (guint r = 0; r < ROWS; r++) {
      for (guint l = 0; l < LANES; l++)
        partial[r][l] += rows[r][i + l] * other[i + l];
    }
  }
  for (guint r = 0; r < ROWS; r++) {
    sums[r] = (partial[r][0] + partial[r][1]) + (partial[r][2] + partial[r][3]);
    for (gsize j = i; j < n; j++)
      sums[r] += rows[r][j] * other[j];
  }
}

static gdouble
row_dot (const gdouble *a, const gdouble *b, gsize n)
{
  const gdouble *const rows[ROWS] = { a, a, a, a };
  gdouble sums[ROWS];

  dots (rows, b, n, sums);
  return sums[0];
}

gboolean
nd_cholesky_factor (gdouble *matrix, gsize n, const gint *cancelled)
{
  for (gsize first = 0; first < n; first += ROWS) {
    gsize count = MIN (ROWS, n - first);
    gdouble *rows[ROWS];

    if (nd_is_cancelled (cancelled))
      return FALSE;
    for (gsize r = 0; r < ROWS; r++)
      rows[r] = matrix + (first + MIN (r, count - 1)) * n;
    for (gsize j = 0; j < first; j++) {
      const gdouble *above = matrix + j * n;
      gdouble sums[ROWS];

      dots ((const gdouble *const *) rows, above, j, sums);
      for (gsize r = 0; r < count; r++)
        rows[r][j] = (rows[r][j] - sums[r]) / above[j];
    }
    for (gsize r = 0; r < count; r++) {
      gsize i = first + r;

      for (gsize j = first; j < i; j++) {
        const gdouble *above = matrix + j * n;

        rows[r][j] = (rows[r][j] - row_dot (rows[r], above, j)) / above[j];
      }
      rows[r][i] -= row_dot (rows[r], rows[r], i);
      if (!(rows[r][i] > 0))
        return FALSE;
      rows[r][i] = sqrt (rows[r][i]);
    }
  }
  return TRUE;
}

void
nd_cholesky_solve (const gdouble *factor, gsize n, gdouble *x)
{
  for (gsize i = 0; i < n; i++)
    x[i] = (x[i] - row_dot (factor + i * n, x, i)) / factor[i * n + i];
  for (gsize i = n; i-- > 0;) {
    const gdouble *row = factor + i * n;

    x[i] /= row[i];
    for (gsize j = 0; j < i; j++)
      x[j] -= row[j] * x[i];
  }
}
