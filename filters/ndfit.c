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
#include "ndparity.h"

/* Softness grows by this factor until the error is small enough. */
#define RELAXATION 4
#define RELAXATIONS 16

/* How much larger than without conditions the error may be. */
#define WORTH 1.5

/* Relative size of a pivot that is nothing but rounding. */
#define DEPENDENT 1e-12

/* Of all there is, that an ideal filter must let through. */
#define LEAST_ENERGY 1e-9

/* The mean of the input has this times the energy of all that varies. */
#define CONSTANT_ENERGY 10

/* One parity of one filter. */
typedef struct
{
  gdouble *ideal;               /* of all points */
  gdouble constant;             /* parity 0: the ideal response at u = 0 */
  gdouble *solution;            /* c0 */
  gdouble *relief[ND_FIT_CONDITIONS];   /* Z */
  gdouble *condition[ND_FIT_CONDITIONS];        /* C */
} Part;

/* All parities of the ideal response, by a Hadamard transform over the signs
 * of the frequencies. */
static void
take_ideal (const NdGrid * grid, const NdFit * fit, Part parts[ND_PARITIES])
{
  static const gdouble zero[ND_AXES] = { 0 };
  guint axes = 0;

  for (guint a = 0; a < ND_AXES; a++)
    axes |= grid->h[a] > 0 ? 1 << a : 0;
  for (guint p = 0; p < ND_PARITIES; p++)
    parts[p].ideal = (p & ~axes) == 0 ? g_new (gdouble, grid->points) : NULL;
  parts[0].constant = fit->ideal (zero, fit->data);
  for (gsize i = 0; i < grid->points; i++) {
    gdouble value[ND_PARITIES] = { 0 };
    gsize at[ND_AXES];

    nd_sizes_split (i, grid->m, at);
    for (guint s = 0; s < ND_PARITIES; s++) {
      gdouble u[ND_AXES];

      if (parts[s].ideal == NULL)
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
      if (parts[p].ideal != NULL)
        parts[p].ideal[i] = value[p];
    }
  }
}

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

static gdouble
energy (const NdGrid * grid, const gdouble * response)
{
  gdouble sum = 0;

  for (gsize i = 0; i < grid->points; i++)
    sum += grid->w2[i] * response[i] * response[i];
  return sum;
}

/* What constant input adds to the error: the sum of the filter is not what the
 * ideal one's is. Only parity 0 has a sum. */
static gdouble
squared_constant_error (const NdGrid * grid, const Part * part,
    const gdouble * c)
{
  gdouble sum = -part->constant;
  gsize n[ND_AXES];

  nd_parity_unknowns (grid, 0, n);
  for (gsize i = 0; i < nd_sizes_product (n); i++) {
    gsize at[ND_AXES];

    nd_sizes_split (i, n, at);
    sum += nd_parity_multiplicity (0, at) * c[i];
  }
  return CONSTANT_ENERGY * grid->total * sum * sum;
}

/* sum W^2 |ideal - response|^2 of a parity with coefficients @c. */
static gdouble
squared_error (const NdGrid * grid, guint parity, const Part * part,
    const gdouble * c)
{
  g_autofree gdouble *response = NULL;
  gdouble *table[ND_AXES], constant = 0;
  gsize n[ND_AXES];

  if (!nd_parity_unknowns (grid, parity, n))
    return energy (grid, part->ideal);
  nd_parity_make_tables (grid, parity, n, table);
  response = nd_sizes_transform (c, n, grid->m, table, TRUE);
  nd_parity_free_tables (table);
  for (gsize i = 0; i < grid->points; i++)
    response[i] -= part->ideal[i];
  if (parity == 0)
    constant = squared_constant_error (grid, part, c);
  return energy (grid, response) + constant;
}

/* The same where the ideal filter is cut off. */
static gdouble
squared_truncation_error (const NdGrid * grid, guint parity, const Part * part)
{
  g_autofree gdouble *c = NULL;
  gdouble *table[ND_AXES];
  gsize n[ND_AXES];

  if (!nd_parity_unknowns (grid, parity, n))
    return energy (grid, part->ideal);
  nd_parity_make_tables (grid, parity, n, table);
  c = nd_sizes_transform (part->ideal, grid->m, n, table, FALSE);
  nd_parity_free_tables (table);
  for (gsize i = 0; i < nd_sizes_product (n); i++) {
    gsize at[ND_AXES];

    nd_sizes_split (i, n, at);
    c[i] /= nd_parity_multiplicity (parity, at) * grid->points;
  }
  return squared_error (grid, parity, part, c);
}

/* c0 and Z of one parity of one filter. */
static void
solve_part (const NdGrid * grid, guint parity, const gsize n[ND_AXES],
    const gdouble * factor, const NdFit * fit, Part * part)
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
    const Part parts[ND_PARITIES], gdouble power, gdouble relaxation,
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

static gdouble *
combine (const Part * part, const gdouble y[ND_FIT_CONDITIONS], guint m,
    gsize count)
{
  gdouble *c = g_memdup2 (part->solution, count * sizeof (gdouble));

  for (guint j = 0; j < m; j++)
    for (gsize i = 0; i < count; i++)
      c[i] += y[j] * part->relief[j][i];
  return c;
}

/* Adds a parity to the filter, mirrored into all orthants. */
static void
spread (const NdGrid * grid, guint parity, const gsize n[ND_AXES],
    const gdouble * c, NdFit * fit)
{
  guint sines = __builtin_popcount (parity);
  gdouble *filter = sines % 2 ? fit->odd : fit->even;
  gsize size[ND_AXES];

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

/* The error with softness at @relaxation, and the multipliers. */
static gdouble
try_relaxation (const NdGrid * grid, const NdFit * fit,
    const Part parts[ND_PARITIES], gdouble power, gdouble relaxation,
    gdouble y[ND_FIT_CONDITIONS])
{
  gdouble squared = 0;

  solve_conditions (grid, fit, parts, power, relaxation, y);
  for (guint p = 0; p < ND_PARITIES; p++) {
    g_autofree gdouble *c = NULL;
    gsize n[ND_AXES];

    if (parts[p].ideal == NULL)
      continue;
    nd_parity_unknowns (grid, p, n);
    if (parts[p].solution != NULL)
      c = combine (&parts[p], y, fit->n_conditions, nd_sizes_product (n));
    squared += c ? squared_error (grid, p, &parts[p], c)
        : energy (grid, parts[p].ideal);
  }
  return squared;
}

/* Meets the conditions as far as the error allows, and writes the filter. */
static void
finish (const NdGrid * grid, NdFit * fit, const Part parts[ND_PARITIES],
    const gsize size[ND_AXES])
{
  gdouble power = 0, truncation = 0, squared = 0, relaxation = 1, allowed;
  gdouble y[ND_FIT_CONDITIONS];

  for (guint p = 0; p < ND_PARITIES; p++) {
    if (parts[p].ideal == NULL)
      continue;
    power += energy (grid, parts[p].ideal);
    truncation += squared_truncation_error (grid, p, &parts[p]);
  }
  allowed = WORTH * WORTH * try_relaxation (grid, fit, parts, power,
      pow (RELAXATION, RELAXATIONS), y);
  allowed = MIN (allowed, truncation);
  for (guint level = 0; level < RELAXATIONS; level++) {
    squared = try_relaxation (grid, fit, parts, power, relaxation, y);
    if (squared <= allowed)
      break;
    relaxation *= RELAXATION;
  }
  fit->error = sqrt (squared / power);
  fit->truncation_error = sqrt (truncation / power);

  fit->even = g_new0 (gdouble, nd_sizes_product (size));
  fit->odd = g_new0 (gdouble, nd_sizes_product (size));
  for (guint p = 0; p < ND_PARITIES; p++) {
    g_autofree gdouble *c = NULL;
    gsize n[ND_AXES];

    if (parts[p].solution == NULL)
      continue;
    nd_parity_unknowns (grid, p, n);
    c = combine (&parts[p], y, fit->n_conditions, nd_sizes_product (n));
    spread (grid, p, n, c, fit);
  }
}

static void
part_clear (Part * part)
{
  g_free (part->ideal);
  g_free (part->solution);
  for (guint j = 0; j < ND_FIT_CONDITIONS; j++) {
    g_free (part->relief[j]);
    g_free (part->condition[j]);
  }
}

/* A parity that no filter has needs no equations. */
static gboolean
is_empty (const NdGrid * grid, const Part * part)
{
  for (gsize i = 0; i < grid->points; i++) {
    if (fabs (part->ideal[i]) > 1e-13)
      return FALSE;
  }
  return TRUE;
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
  Part *parts;                  /* ND_PARITIES of each fit */
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
    Part *part = &task->parts[f * ND_PARITIES + parity];

    if (part->ideal == NULL || is_empty (&task->grid, part))
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
check_ideal (const NdGrid * grid, const Part parts[ND_PARITIES],
    GError ** error)
{
  gdouble sum = 0;

  for (guint p = 0; p < ND_PARITIES; p++)
    sum += parts[p].ideal ? energy (grid, parts[p].ideal) : 0;
  if (sum > LEAST_ENERGY * grid->total)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "the ideal filter lets through nothing that this size can tell apart; a "
      "larger bandwidth or size will do.");
  return FALSE;
}

gboolean
nd_fit (NdFit * fits, guint n_fits, const gsize size[ND_AXES],
    const NdFitWeights * weights, GError ** error)
{
  Task task = {.localization = weights->localization,.fits = fits,
    .n_fits = n_fits
  };
  gboolean ok = TRUE;

  if (!check_size (size, error))
    return FALSE;
  nd_grid_init (&task.grid, size, weights);
  task.parts = g_new0 (Part, n_fits * ND_PARITIES);
  for (guint f = 0; f < n_fits; f++) {
    take_ideal (&task.grid, &fits[f], task.parts + f * ND_PARITIES);
    ok = ok && check_ideal (&task.grid, task.parts + f * ND_PARITIES, error);
  }
  if (ok)
    solve (&task);
  for (guint f = 0; f < n_fits && ok && !task.failed; f++)
    finish (&task.grid, &fits[f], task.parts + f * ND_PARITIES, size);
  for (guint i = 0; i < n_fits * ND_PARITIES; i++)
    part_clear (&task.parts[i]);
  g_free (task.parts);
  nd_grid_clear (&task.grid);
  if (task.failed)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "the fit has no solution in double precision: snr is %g and spectrum "
        "%g; a smaller snr or spectrum, or a larger localization, gives one.",
        weights->snr, weights->spectrum);
  return ok && !task.failed;
}
