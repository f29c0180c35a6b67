/* Design gaussian-derivative: order per axis (by default 1 along the first),
 * and sigma and size as in gaussian; the default sigma is 1 sample.
 *
 * Along each axis the factor is d^n/dx^n of the Gaussian with sum 1,
 *
 *   (-1 / sigma)^n He_n (x / sigma) G(x),
 *
 * with Hermite's polynomials He_n+1(x) = x He_n(x) - n He_n-1(x) (Abramowitz
 * and Stegun 22.7.14), as scipy.ndimage.gaussian_filter does. If n is even and
 * above 0, a multiple of the Gaussian is subtracted that makes the sum 0. The
 * response to rising samples is positive.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "filters/gaussian.h"

#include <math.h>

#define MAX_ORDER 20
#define REACH 4.0

static gboolean
read_orders (const NdParameters *parameters, const NdAxes *axes,
    guint order[ND_AXES], GError **error)
{
  gdouble values[ND_AXES] = { 0 };

  if (!nd_parameters_has (parameters, "order"))
    values[axes->axis[0]] = 1;
  else if (!nd_parameters_get_axes (parameters, "order", axes, 0, values,
               error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    if (values[a] < 0 || values[a] > MAX_ORDER
        || values[a] != floor (values[a])) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "order is %g along %c; it must be an integer from 0 to %d", values[a],
          nd_axis_letter (a), MAX_ORDER);
      return FALSE;
    }
    order[a] = (guint) values[a];
  }
  return TRUE;
}

static gdouble
hermite (guint n, gdouble x)
{
  gdouble before = 0, now = 1;

  for (guint i = 0; i < n; i++) {
    gdouble next = x * now - i * before;

    before = now;
    now = next;
  }
  return now;
}

static gdouble *
make_factor (guint order, gdouble sigma, gsize size)
{
  g_autofree gdouble *gaussian = nd_gaussian_factor (sigma, size);
  gdouble *factor = g_new (gdouble, size);
  gdouble sum = 0;

  for (gsize i = 0; i < size; i++) {
    gdouble x = ((gdouble) i - (gdouble) (size - 1) / 2) / sigma;

    factor[i] = pow (-1 / sigma, order) * hermite (order, x) * gaussian[i];
    sum += factor[i];
  }
  for (gsize i = 0; i < size && order > 0 && order % 2 == 0; i++)
    factor[i] -= sum * gaussian[i];
  return factor;
}

/* sigma, by default 1, and size. */
static gboolean
read_gaussian (const NdParameters *parameters, const NdAxes *axes,
    gdouble sigma[ND_AXES], gsize size[ND_AXES], GError **error)
{
  if (nd_parameters_has (parameters, "sigma"))
    return nd_parameters_get_gaussian (parameters, axes, REACH, sigma, size,
        error);
  if (!nd_parameters_get_size (parameters, axes, 2 * (gsize) REACH + 1, size,
          error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++)
    sigma[a] = 1;
  return TRUE;
}

NdFilter *
nd_design_gaussian_derivative (const NdParameters *parameters,
    const NdAxes *axes, GError **error)
{
  gdouble *factors[ND_AXES] = { NULL };
  gdouble sigma[ND_AXES];
  gsize size[ND_AXES];
  guint order[ND_AXES];
  NdFilter *filter;

  if (!read_orders (parameters, axes, order, error)
      || !read_gaussian (parameters, axes, sigma, size, error))
    return NULL;
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] <= order[a] && order[a] > 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %" G_GSIZE_FORMAT " along %c; it must be above the "
          "order, %u",
          size[a], nd_axis_letter (a), order[a]);
      return NULL;
    }
    if (order[a] > 0 && !nd_gaussian_check_derivative (sigma[a], a, error))
      return NULL;
  }
  if (!nd_design_check_size (size, error))
    return NULL;
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] > 1)
      factors[a] = make_factor (order[a], sigma[a], size[a]);
  }
  filter = nd_design_new_product ("gaussian-derivative", size, factors, error);
  for (guint a = 0; a < ND_AXES; a++)
    g_free (factors[a]);
  return filter;
}
