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
#include "core/error.h"
#include "filters/band.h"
#include "filters/designs.h"

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
  gdouble values[ND_AXES];
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
make_filter (const gchar *design, const OneSided *one_sided, GError **error)
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
  return make_filter ("exponential", &filter, error);
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
  return make_filter ("gamma", &filter, error);
}

NdFilter *
nd_design_causal_derivative (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  OneSided smooth = { .order = 1 };
  NdFilter *filter;

  if (!read_size (parameters, axes, &smooth, error)
      || !read_tau (parameters, TRUE, &smooth, error))
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
  filter = make_filter ("causal-derivative", &smooth, error);
  if (filter) {
    const gsize size[ND_AXES] = { 1, 1, 1, smooth.size + 1 };
    NdFilter *difference =
        nd_design_new_filter ("causal-derivative", size, error);

    for (gsize m = 0; difference && m < smooth.size; m++) {
      difference->coefficients[m] += filter->coefficients[m];
      difference->coefficients[m + 1] -= filter->coefficients[m];
    }
    nd_filter_free (filter);
    filter = difference;
    if (filter)
      nd_filter_set_causal (filter);
  }
  return filter;
}
