/* Designs exponential, gamma and causal-derivative: filters along t that read
 * no later volume, whatever the property causal is. tau is a time constant in
 * volumes; with a = exp (-1 / tau) and m the age of a volume, 0 for the newest:
 *
 * exponential: (1 - a) a^m, the exponential moving average.
 *
 * gamma: order n of them in series (default 2, 1 to 10), which is C(m + n - 1,
 * m) (1 - a)^n a^m: a smooth rise, then the decay of exponential.
 *
 * causal-derivative: the difference of exponential from one volume to the next.
 * Its sum is 0, and the response to rising samples is positive. tau may be 0:
 * [1 -1].
 *
 * The weights are scaled to sum 1 (to 0 for the derivative). size, along t, is
 * by default the age at which less than 0.1 % of the weights is left.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/onesided.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/band.h"
#include "filters/designs.h"
#include "filters/fit.h"
#include "filters/units.h"

#include <math.h>

#define MAX_TAU 1e4
#define MAX_ORDER 10
#define REST 1e-3
#define MAX_SIZE ((gsize) 1 << 20)

typedef struct
{
  gdouble decay; /* a */
  guint order;   /* n */
  gsize size;    /* along t; 0: by default */
} OneSided;

/* One number is the size along t; several are the sizes per axis. */
static gboolean
read_size_along_t (const NdParameters *parameters, const NdAxes *axes,
    gdouble *number, GError **error)
{
  g_autofree gdouble *numbers = NULL;
  gdouble values[ND_AXES] = { 0 };
  gsize n;

  numbers = nd_parameters_get_numbers (parameters, "size", &n, error);
  if (!numbers
      || (n > 1
          && !nd_parameters_get_axes (parameters, "size", axes, 1, values,
              error)))
    return FALSE;
  *number = n == 1 ? numbers[0] : values[ND_AXIS_T];
  for (guint a = 0; a < ND_AXIS_T && n > 1; a++) {
    if (values[a] != 1) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %g along %c; it must be 1, because the filter is along t",
          values[a], nd_axis_letter (a));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
read_size (const NdParameters *parameters, const NdAxes *axes, OneSided *filter,
    GError **error)
{
  gdouble number;

  filter->size = 0;
  if (!nd_axes_have (axes, ND_AXIS_T)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "it filters along t; use it in ndconv4dtemporal or in ndconv3d with "
        "axes=xyt");
    return FALSE;
  }
  if (!nd_parameters_has (parameters, "size"))
    return TRUE;
  if (!read_size_along_t (parameters, axes, &number, error))
    return FALSE;
  if (!(number >= 1 && number <= MAX_SIZE && number == floor (number))) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "size is %g; it must be one integer from 1 to %" G_GSIZE_FORMAT
        ", the volumes along t",
        number, MAX_SIZE);
    return FALSE;
  }
  filter->size = (gsize) number;
  return TRUE;
}

static gboolean
read_tau (const NdParameters *parameters, gboolean may_be_0, OneSided *filter,
    GError **error)
{
  gdouble tau;

  if (!may_be_0 && !nd_parameters_has (parameters, "tau")) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "tau is missing; give the time constant in volumes, or with a unit, "
        "as in tau=80ms");
    return FALSE;
  }
  if (!nd_parameters_get_number (parameters, "tau", 0, &tau, error))
    return FALSE;
  if (!(tau > 0 || (may_be_0 && tau == 0)) || tau > MAX_TAU) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "tau is %g; it must be %s, and at most %g volumes", tau,
        may_be_0 ? "0 or more" : "above 0", MAX_TAU);
    return FALSE;
  }
  filter->decay = tau > 0 ? exp (-1 / tau) : 0;
  return TRUE;
}

/* The weight of age @m relative to that of age m - 1. */
static gdouble
ratio (const OneSided *filter, gsize m)
{
  return filter->decay * (gdouble) (m + filter->order - 1) / (gdouble) m;
}

/* The least size that leaves out at most REST of the weights. */
static gsize
default_size (const OneSided *filter)
{
  gdouble weight = pow (1 - filter->decay, filter->order), sum = weight;
  gsize size = 1;

  while (1 - sum > REST && size < MAX_SIZE) {
    weight *= ratio (filter, size++);
    sum += weight;
  }
  return size;
}

/* A filter along t in which coefficient m has age m: its origin makes the first
 * coefficient read the newest volume. */
static NdFilter *
one_sided_make_filter (const gchar *design, const OneSided *one_sided,
    GError **error)
{
  const gsize size[ND_AXES] = { 1, 1, 1, one_sided->size };
  NdFilter *filter = nd_design_new_filter (design, size, error);
  gdouble sum = 0, weight = 1;

  if (!filter)
    return NULL;
  for (gsize m = 0; m < one_sided->size; m++) {
    filter->coefficients[m] = weight;
    sum += weight;
    weight *= ratio (one_sided, m + 1);
  }
  for (gsize m = 0; m < one_sided->size; m++)
    filter->coefficients[m] /= sum;
  nd_filter_set_causal (filter);
  return filter;
}

NdFilter *
nd_design_exponential (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  OneSided filter = { .order = 1 };

  if (!read_size (parameters, axes, &filter, error)
      || !read_tau (parameters, FALSE, &filter, error))
    return NULL;
  if (filter.size == 0)
    filter.size = default_size (&filter);
  return one_sided_make_filter ("exponential", &filter, error);
}

NdFilter *
nd_design_gamma (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  OneSided filter = { 0 };
  gdouble order;

  if (!read_size (parameters, axes, &filter, error)
      || !read_tau (parameters, FALSE, &filter, error)
      || !nd_parameters_get_number (parameters, "order", 2, &order, error))
    return NULL;
  if (!(order >= 1 && order <= MAX_ORDER && order == floor (order))) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "order is %g; it must be an integer from 1 to %d", order, MAX_ORDER);
    return NULL;
  }
  filter.order = (guint) order;
  if (filter.size == 0)
    filter.size = default_size (&filter);
  return one_sided_make_filter ("gamma", &filter, error);
}

NdFilter *
nd_design_causal_derivative (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  OneSided smooth = { .order = 1 };
  NdFilter *filter;
  gdouble scale;

  if (!read_size (parameters, axes, &smooth, error)
      || !read_tau (parameters, TRUE, &smooth, error)
      || !nd_units_get_scale (axes, ND_AXIS_T, &scale, error))
    return NULL;
  if (smooth.size == 0)
    smooth.size = default_size (&smooth) + 1;
  if (smooth.size < 2) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "size is 1; a difference needs 2 volumes or more");
    return NULL;
  }
  /* The last volume only ends the difference, so that the sum is exactly 0. */
  smooth.size--;
  filter = one_sided_make_filter ("causal-derivative", &smooth, error);
  if (filter) {
    const gsize size[ND_AXES] = { 1, 1, 1, smooth.size + 1 };
    NdFilter *difference =
        nd_design_new_filter ("causal-derivative", size, error);

    for (gsize m = 0; difference && m < smooth.size; m++) {
      difference->coefficients[m] += filter->coefficients[m] / scale;
      difference->coefficients[m + 1] -= filter->coefficients[m] / scale;
    }
    nd_filter_free (filter);
    filter = difference;
    if (filter)
      nd_filter_set_causal (filter);
  }
  return filter;
}

/* Along t, coefficient m of a filter has the age a_m = m - high, counted from
 * the anchor. The new filter has the ages j = 0, 1, ... With the correlation
 *
 *   r(k) = mean of W^2 cos (k u),  R_ij = r (i - j),  C_jm = r (j - a_m - lag)
 *
 * its line g of a line f solves R g = C f, and a multiplier adds R^-1 1 to it
 * so that both have the same sum. Both steps are linear: g = P f, with one
 * matrix P for all lines. */

#define CORRELATED (G_PI / 64)

/* The number of frequencies over which the integrals are computed. */
#define FREQUENCIES 4096

typedef struct
{
  gsize n_old, n_new; /* sizes along t */
  gint high;
  gdouble lag;
  gdouble snr;
  const gint *cancelled;

  gdouble *inner; /* r (0), r (1), ... */
  gdouble *cross; /* C, by j - m + n_old - 1 */
  gdouble *map;   /* P, n_new x n_old */
} Fit;

static gdouble
weight (gdouble u, gdouble snr)
{
  gdouble w = cos (u / 2) / hypot (u, CORRELATED) + 1 / snr;

  return w * w;
}

/* r (first), r (first + 1), ... */
static gdouble *
one_sided_correlate (const Fit *fit, gdouble first, gsize n, GError **error)
{
  const gsize points = FREQUENCIES + 2 * (fit->n_old + fit->n_new);
  gdouble *r = nd_memory_new (n, sizeof (gdouble), error);

  for (gsize i = 0; r && i < points && !nd_is_cancelled (fit->cancelled); i++) {
    const gdouble u = G_PI * (i + 0.5) / points;
    const gdouble w = weight (u, fit->snr) / points;

    for (gsize k = 0; k < n; k++)
      r[k] += w * cos ((first + k) * u);
  }
  return r;
}

static gdouble
one_sided_sum (const gdouble *values, gsize n)
{
  gdouble total = 0;

  for (gsize i = 0; i < n; i++)
    total += values[i];
  return total;
}

/* Computes P. */
static gboolean
one_sided_solve (Fit *fit, GError **error)
{
  const gsize n = fit->n_new, m = fit->n_old, bytes = sizeof (gdouble);
  g_autofree gdouble *factor = nd_memory_new (n, n * bytes, error);
  g_autofree gdouble *columns = NULL;
  gdouble *relief, *column;

  if (!factor || !(columns = nd_memory_new (n, 2 * bytes, error))
      || !(fit->inner = one_sided_correlate (fit, 0, MAX (n, m), error))
      || !(fit->cross = one_sided_correlate (fit,
               fit->high - fit->lag - (gdouble) (m - 1), n + m - 1, error))
      || !(fit->map = nd_memory_new (n, m * bytes, error)))
    return FALSE;
  relief = columns;
  column = columns + n;
  for (gsize i = 0; i < n; i++) {
    relief[i] = 1;
    for (gsize j = 0; j <= i; j++)
      factor[i * n + j] = fit->inner[i - j];
  }
  if (!nd_cholesky_factor (factor, n, fit->cancelled)) {
    if (!nd_set_error_if_cancelled (fit->cancelled, error))
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "lag has no solution in double precision; lag-snr is %g, give less",
          fit->snr);
    return FALSE;
  }
  nd_cholesky_solve (factor, n, relief);
  for (gsize a = 0; a < m && !nd_is_cancelled (fit->cancelled); a++) {
    gdouble missing;

    for (gsize j = 0; j < n; j++)
      column[j] = fit->cross[j + m - 1 - a];
    nd_cholesky_solve (factor, n, column);
    missing = (1 - one_sided_sum (column, n)) / one_sided_sum (relief, n);
    for (gsize j = 0; j < n; j++)
      fit->map[j * m + a] = column[j] + missing * relief[j];
  }
  return !nd_set_error_if_cancelled (fit->cancelled, error);
}

/* The squared error of a line @g for a line @f, and of 0. */
static void
add_error (const Fit *fit, const gdouble *f, const gdouble *g, gdouble *error,
    gdouble *power)
{
  const gsize n = fit->n_new, m = fit->n_old;
  gdouble own = 0, both = 0, fitted = 0;

  for (gsize i = 0; i < m; i++)
    for (gsize j = 0; j < m; j++)
      own += f[i] * f[j] * fit->inner[i > j ? i - j : j - i];
  for (gsize i = 0; i < n; i++) {
    for (gsize j = 0; j < m; j++)
      both += g[i] * f[j] * fit->cross[i + m - 1 - j];
    for (gsize j = 0; j < n; j++)
      fitted += g[i] * g[j] * fit->inner[i > j ? i - j : j - i];
  }
  *error += MAX (own - 2 * both + fitted, 0);
  *power += own;
}

/* The part of the line @f that a causal filter with @lag keeps, to the nearest
 * whole volume, scaled to the same sum. */
static void
cut_off (const Fit *fit, const gdouble *f, gdouble *g)
{
  const gint shift = (gint) lround (fit->lag) - fit->high;
  gdouble kept, whole = one_sided_sum (f, fit->n_old);

  for (gsize j = 0; j < fit->n_new; j++) {
    const gint64 m = (gint64) j - shift;

    g[j] = m >= 0 && m < (gint64) fit->n_old ? f[m] : 0;
  }
  kept = one_sided_sum (g, fit->n_new);
  for (gsize j = 0; j < fit->n_new && kept * whole > 0; j++)
    g[j] *= whole / kept;
}

static void
map_line (const Fit *fit, const gdouble *f, gdouble *g)
{
  for (gsize j = 0; j < fit->n_new; j++) {
    g[j] = 0;
    for (gsize m = 0; m < fit->n_old; m++)
      g[j] += fit->map[j * fit->n_old + m] * f[m];
  }
}

/* FALSE without memory. */
static gboolean
map_lines (const Fit *fit, const NdFilter *filter, NdFilter *fitted,
    GError **memory_error)
{
  const gsize lines = nd_filter_count (filter) / fit->n_old;
  g_autofree gdouble *f =
      nd_memory_new (fit->n_old + fit->n_new, sizeof (gdouble), memory_error);
  gdouble error = 0, cut_error = 0, power = 0, ignored = 0, *g;

  if (!f)
    return FALSE;
  g = f + fit->n_old;
  for (gsize i = 0; i < lines && !nd_is_cancelled (fit->cancelled); i++) {
    for (gsize m = 0; m < fit->n_old; m++)
      f[m] = filter->coefficients[m * lines + i];
    map_line (fit, f, g);
    for (gsize j = 0; j < fit->n_new; j++)
      fitted->coefficients[j * lines + i] = g[j];
    add_error (fit, f, g, &error, &power);
    cut_off (fit, f, g);
    add_error (fit, f, g, &cut_error, &ignored);
  }
  fitted->fit_error.total = fitted->fit_error.varying =
      power > 0 ? sqrt (error / power) : 0;
  fitted->truncation_error.total = fitted->truncation_error.varying =
      power > 0 ? sqrt (cut_error / power) : 0;
  return TRUE;
}

static NdFilter *
minimize (const NdFilter *filter, gdouble lag, gdouble snr,
    const gint *cancelled, GError **error)
{
  gint low[ND_AXES], high[ND_AXES];
  gsize size[ND_AXES];
  NdFilter *fitted = NULL;
  gboolean ok = FALSE;
  Fit fit = { .n_old = filter->size[ND_AXIS_T],
    .lag = lag,
    .snr = snr,
    .cancelled = cancelled };

  nd_filter_reach (filter, low, high);
  fit.high = high[ND_AXIS_T];
  fit.n_new = fit.n_old + (gsize) MAX (ceil (lag) - fit.high, 0);
  for (guint a = 0; a < ND_AXES; a++)
    size[a] = filter->size[a];
  size[ND_AXIS_T] = fit.n_new;
  if (fit.n_new > ND_LAG_MAX_SIZE) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "lag is %g and the filter spans %" G_GSIZE_FORMAT
        " volumes; together they must be at most %d",
        lag, fit.n_old, ND_LAG_MAX_SIZE);
    return NULL;
  }
  fitted = nd_design_new_filter (filter->name, size, error);
  if (fitted)
    ok = one_sided_solve (&fit, error)
        && map_lines (&fit, filter, fitted, error);
  g_free (fit.inner);
  g_free (fit.cross);
  g_free (fit.map);
  if (ok && nd_set_error_if_cancelled (cancelled, error))
    ok = FALSE;
  if (!ok) {
    nd_filter_free (fitted);
    return NULL;
  }
  for (guint a = 0; a < ND_AXES; a++)
    fitted->origin[a] = filter->origin[a];
  fitted->center_frequency = filter->center_frequency;
  fitted->bandwidth = filter->bandwidth;
  fitted->role = filter->role;
  nd_filter_set_causal (fitted);
  return fitted;
}

gboolean
nd_bank_minimize_lag (NdBank *bank, gdouble lag, gdouble snr,
    const gint *cancelled, GError **error)
{
  gboolean any = FALSE;

  for (guint i = 0; i < bank->n_filters; i++) {
    NdFilter *fitted;

    if (bank->filters[i]->size[ND_AXIS_T] == 1)
      continue;
    fitted = minimize (bank->filters[i], lag, snr, cancelled, error);
    if (!fitted)
      return FALSE;
    nd_filter_free (bank->filters[i]);
    bank->filters[i] = fitted;
    any = TRUE;
  }
  if (!any)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "lag is %g, but the filter has size 1 along t; leave lag out, or give "
        "a size along t",
        lag);
  return any;
}
