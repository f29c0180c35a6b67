/* The equations fall apart. W is the same in all orthants of frequency, so that
 * functions which are even along some axes and odd along the others (a parity:
 * one bit per axis) meet no other parity: each has a system of its own, with
 * products of cosines and sines over one orthant,
 *
 *   response_p(u) = sum_x c_p[x] prod_a phi(u_a, x_a),  x_a >= 0
 *
 * phi being 1 for x = 0, otherwise 2 cos (ux) along an even axis and 2 sin (ux)
 * along an odd one. 11^4 coefficients are 16 systems of at most 6^4 unknowns.
 * (ndparity.h).
 *
 * cos (u.x) holds the products with an even number of sines, sin (u.x) those
 * with an odd number, both with the sign (-1)^floor(number / 2).
 *
 * Conditions C c = v come in by their multipliers: with c0 the solution without
 * them and Z = A^-1 C^T, c = c0 + Z y, (C Z + softness) y = v - C c0.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndfit.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "engine/nderror.h"
#include "ndcholesky.h"
#include "ndpart.h"

/* Softness grows by this factor until the errors are small enough, and is then
 * brought down again as far as they allow. */
#define RELAXATION 4
#define RELAXATIONS 16
#define BISECTIONS 4

/* How much larger than without conditions the error may be. */
#define WORTH 1.5

/* Relative size of a pivot that is nothing but rounding. */
#define DEPENDENT 1e-12

/* Of all there is, that an ideal filter must let through. */
#define LEAST_ENERGY 1e-9

/* A filter of zeros has error 1. */
#define USELESS 0.99

/* The row of C that belongs to a parity. */
static gdouble *
make_condition (const NdFitCondition * condition, guint parity,
    const gsize n[ND_AXES])
{
  gdouble part = __builtin_popcount (parity) % 2 ? condition->odd
      : condition->even;
  gsize count = nd_sizes_product (n);
  gdouble *row = g_new0 (gdouble, count);
  gboolean slope = FALSE;

  for (guint a = 0; a < ND_AXES; a++)
    slope = slope || condition->slope[a] != 0;
  for (gsize i = 0; i < count && part != 0; i++) {
    gsize at[ND_AXES];

    nd_sizes_split (i, n, at);
    for (guint along = 0; along < (slope ? ND_AXES : 1); along++) {
      gdouble value = slope ? condition->slope[along] : 1;

      for (guint a = 0; a < ND_AXES && value != 0; a++)
        value *= slope && a == along
            ? nd_parity_phi_slope (parity, a, at[a], condition->u[a])
            : nd_parity_phi (parity, a, at[a], condition->u[a]);
      row[i] += part * value;
    }
  }
  return row;
}

/* c0 and Z of one parity of one filter. */
static void
solve_part (const NdGrid * grid, guint parity, const gsize n[ND_AXES],
    const gdouble * factor, const NdFit * fit, NdPart * part)
{
  g_autofree gdouble *weighted = g_new (gdouble, grid->points);
  gdouble *table[ND_AXES];
  gsize count = nd_sizes_product (n);

  for (gsize i = 0; i < grid->points; i++)
    weighted[i] = grid->w2[i] * part->ideal[i];
  nd_parity_make_tables (grid, parity, n, table);
  part->solution = nd_sizes_transform (weighted, grid->m, n, table, FALSE);
  nd_parity_free_tables (table);
  nd_cholesky_solve (factor, count, part->solution);
  for (guint j = 0; j < fit->n_conditions; j++) {
    part->condition[j] = make_condition (&fit->conditions[j], parity, n);
    part->relief[j] = g_memdup2 (part->condition[j], count * sizeof (gdouble));
    nd_cholesky_solve (factor, count, part->relief[j]);
  }
}

/* Gauss with pivots, scaled to a diagonal of 1; equations that depend on others
 * are left out. */
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
dot (const gdouble * a, const gdouble * b, gsize n)
{
  gdouble sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* The multipliers y, where softness is @relaxation times what was asked. */
static void
solve_conditions (const NdGrid * grid, const NdFit * fit,
    const NdPart parts[ND_PARITIES], gdouble power, gdouble relaxation,
    gdouble y[ND_FIT_CONDITIONS])
{
  gdouble a[ND_FIT_CONDITIONS][ND_FIT_CONDITIONS + 1] = { {0}, };
  guint m = fit->n_conditions;

  for (guint i = 0; i < m; i++) {
    a[i][i] = relaxation * fit->conditions[i].softness / power;
    a[i][m] = fit->conditions[i].value;
    for (guint p = 0; p < ND_PARITIES; p++) {
      gsize n[ND_AXES];

      if (parts[p].solution == NULL)
        continue;
      nd_parity_unknowns (grid, p, n);
      a[i][m] -=
          dot (parts[p].condition[i], parts[p].solution, nd_sizes_product (n));
      for (guint j = 0; j < m; j++)
        a[i][j] +=
            dot (parts[p].condition[i], parts[p].relief[j],
            nd_sizes_product (n));
    }
  }
  solve_small (a, m, y);
}

/* The errors with softness at @relaxation, and the multipliers. */
static NdPartError
try_relaxation (const NdGrid * grid, const NdFit * fit,
    const NdPart parts[ND_PARITIES], gdouble power, gdouble relaxation,
    gdouble y[ND_FIT_CONDITIONS])
{
  NdPartError sum = { 0 };

  solve_conditions (grid, fit, parts, power, relaxation, y);
  for (guint p = 0; p < ND_PARITIES; p++) {
    g_autofree gdouble *c = NULL;
    NdPartError error;

    if (parts[p].ideal == NULL)
      continue;
    c = nd_part_combine (&parts[p], grid, p, y, fit->n_conditions);
    error = nd_part_error (&parts[p], grid, p, c);
    sum.varying += error.varying;
    sum.constant += error.constant;
  }
  return sum;
}

/* What the squared errors of a fit may be. */
typedef struct
{
  gdouble varying;
  gdouble total;                /* with the mean */
} Limits;

static gboolean
keeps (const NdPartError * error, const Limits * limits)
{
  return error->varying <= limits->varying
      && error->varying + error->constant <= limits->total;
}

/* The least relaxation, from 1, that keeps @limits; FALSE where none does. */
static gboolean
find_relaxation (const NdGrid * grid, const NdFit * fit,
    const NdPart parts[ND_PARITIES], gdouble power, const Limits * limits,
    gdouble * relaxation)
{
  gdouble y[ND_FIT_CONDITIONS], softer = 1, ratio = RELAXATION;
  NdPartError error = try_relaxation (grid, fit, parts, power, softer, y);

  *relaxation = 1;
  if (keeps (&error, limits))
    return TRUE;
  for (guint level = 1; level < RELAXATIONS; level++) {
    softer *= RELAXATION;
    error = try_relaxation (grid, fit, parts, power, softer, y);
    if (keeps (&error, limits))
      break;
  }
  *relaxation = softer;
  if (!keeps (&error, limits))
    return FALSE;
  for (guint i = 0; i < BISECTIONS; i++) {
    ratio = sqrt (ratio);
    error = try_relaxation (grid, fit, parts, power, *relaxation / ratio, y);
    if (keeps (&error, limits))
      *relaxation /= ratio;
  }
  return TRUE;
}

/* Conditions hold as far as the errors stay below those of the ideal filter cut
 * off; where the error of what varies cannot, because what is left, a sum of 0,
 * costs more than that, as far as the other stays. */
static gdouble
choose_relaxation (const NdGrid * grid, const NdFit * fit,
    const NdPart parts[ND_PARITIES], gdouble power,
    const NdPartError * truncation)
{
  gdouble y[ND_FIT_CONDITIONS], relaxation;
  NdPartError loose = try_relaxation (grid, fit, parts, power,
      pow (RELAXATION, RELAXATIONS), y);
  Limits limits = {.total = MIN (truncation->varying + truncation->constant,
        WORTH * WORTH * (loose.varying + loose.constant))
  };

  limits.varying = truncation->varying;
  if (find_relaxation (grid, fit, parts, power, &limits, &relaxation))
    return relaxation;
  limits.varying = INFINITY;
  find_relaxation (grid, fit, parts, power, &limits, &relaxation);
  return relaxation;
}

/* Meets the conditions as far as the errors allow, and writes the filter. */
static void
finish (const NdGrid * grid, NdFit * fit, const NdPart parts[ND_PARITIES],
    const gsize size[ND_AXES])
{
  NdPartError truncation = { 0 }, error;
  gdouble y[ND_FIT_CONDITIONS], power = 0;

  for (guint p = 0; p < ND_PARITIES; p++) {
    if (parts[p].ideal == NULL)
      continue;
    power += nd_part_energy (&parts[p], grid);
    error = nd_part_truncation_error (&parts[p], grid, p);
    truncation.varying += error.varying;
    truncation.constant += error.constant;
  }
  error = try_relaxation (grid, fit, parts, power,
      choose_relaxation (grid, fit, parts, power, &truncation), y);
  fit->error.varying = sqrt (error.varying / power);
  fit->error.total = sqrt ((error.varying + error.constant) / power);
  fit->truncation_error.varying = sqrt (truncation.varying / power);
  fit->truncation_error.total =
      sqrt ((truncation.varying + truncation.constant) / power);

  fit->even = g_new0 (gdouble, nd_sizes_product (size));
  fit->odd = g_new0 (gdouble, nd_sizes_product (size));
  for (guint p = 0; p < ND_PARITIES; p++) {
    g_autofree gdouble *c = nd_part_combine (&parts[p], grid, p, y,
        fit->n_conditions);

    if (c != NULL)
      nd_part_spread (grid, p, c, fit);
  }
}

static gboolean
check_size (const gsize size[ND_AXES], GError ** error)
{
  gsize unknowns = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] % 2 == 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %" G_GSIZE_FORMAT " along %c, where it must be odd.",
          size[a], "xyzt"[a]);
      return FALSE;
    }
    if (!g_size_checked_mul (&unknowns, unknowns, size[a] / 2 + 1))
      unknowns = G_MAXSIZE;
  }
  if (unknowns == 1 || unknowns > ND_FIT_MAX_UNKNOWNS)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "size is %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%"
        G_GSIZE_FORMAT ", where it must be 3 or more along an axis, and not "
        "above 97 in 2D, 25 in 3D, 13 in 4D, for a design that is fitted.",
        size[0], size[1], size[2], size[3]);
  return unknowns > 1 && unknowns <= ND_FIT_MAX_UNKNOWNS;
}

typedef struct
{
  NdGrid grid;
  gdouble localization;
  NdFit *fits;
  guint n_fits;
  NdPart *parts;                /* ND_PARITIES of each fit */
  atomic_uint next;             /* parity to solve */
  atomic_bool failed;
} Task;

/* The equations of one parity, of all filters. */
static void
solve_parity (Task * task, guint parity)
{
  g_autofree gdouble *factor = NULL;
  gsize n[ND_AXES];

  if (!nd_parity_unknowns (&task->grid, parity, n))
    return;
  for (guint f = 0; f < task->n_fits; f++) {
    NdPart *part = &task->parts[f * ND_PARITIES + parity];

    if (part->ideal == NULL || nd_part_is_empty (part, &task->grid))
      continue;
    if (factor == NULL) {
      factor = nd_parity_matrix (&task->grid, parity, n, task->localization);
      if (!nd_cholesky_factor (factor, nd_sizes_product (n))) {
        atomic_store (&task->failed, TRUE);
        return;
      }
    }
    solve_part (&task->grid, parity, n, factor, &task->fits[f], part);
  }
}

static gpointer
solve_parities (gpointer data)
{
  Task *task = data;
  guint parity;

  while ((parity = atomic_fetch_add (&task->next, 1)) < ND_PARITIES)
    solve_parity (task, parity);
  return NULL;
}

/* POSIX threads, as many as processors, this one included. */
static void
solve (Task * task)
{
  pthread_t threads[ND_PARITIES];
  guint n = 0, wanted = MIN (g_get_num_processors (), ND_PARITIES) - 1;

  while (n < wanted
      && pthread_create (&threads[n], NULL, solve_parities, task) == 0)
    n++;
  solve_parities (task);
  while (n > 0)
    pthread_join (threads[--n], NULL);
}

static gboolean
lets_through (const NdGrid * grid, const NdPart parts[ND_PARITIES])
{
  gdouble sum = 0;

  for (guint p = 0; p < ND_PARITIES; p++)
    sum += parts[p].ideal ? nd_part_energy (&parts[p], grid) : 0;
  return sum > LEAST_ENERGY * grid->total;
}

static void
set_useless (GError ** error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "the ideal filter lets through nothing that this size can tell apart; a "
      "larger bandwidth or size will do.");
}

gboolean
nd_fit (NdFit * fits, guint n_fits, const gsize size[ND_AXES],
    const NdFitWeights * weights, GError ** error)
{
  Task task = {.localization = weights->localization,.fits = fits,
    .n_fits = n_fits
  };
  gboolean useful = TRUE;

  if (!check_size (size, error))
    return FALSE;
  nd_grid_init (&task.grid, size, weights);
  task.parts = g_new0 (NdPart, n_fits * ND_PARITIES);
  for (guint f = 0; f < n_fits; f++) {
    nd_parts_init (task.parts + f * ND_PARITIES, &task.grid, &fits[f]);
    useful = useful && lets_through (&task.grid, task.parts + f * ND_PARITIES);
  }
  if (useful)
    solve (&task);
  for (guint f = 0; f < n_fits && useful && !task.failed; f++) {
    finish (&task.grid, &fits[f], task.parts + f * ND_PARITIES, size);
    useful = fits[f].error.varying < USELESS;
  }
  for (guint f = 0; f < n_fits; f++)
    nd_parts_clear (task.parts + f * ND_PARITIES);
  g_free (task.parts);
  nd_grid_clear (&task.grid);
  if (task.failed)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "the fit has no solution in double precision: snr is %g and spectrum "
        "%g; a smaller snr or spectrum, or a larger localization, gives one.",
        weights->snr, weights->spectrum);
  else if (!useful)
    set_useless (error);
  return useful && !task.failed;
}
