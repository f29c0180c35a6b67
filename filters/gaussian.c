/* Designs gaussian, log and dog: the Gaussian, its Laplacian, and the
 * difference of two Gaussians.
 *
 * gaussian: G(x) = prod_a exp (-x_a^2 / 2 sigma_a^2), scaled to sum 1, as
 * scipy.ndimage.gaussian_filter does.
 *
 * log: sum_a (x_a^2 - sigma_a^2) / sigma_a^4 G(x), minus its mean, so that the
 * sum is 0 (Gonzalez and Woods, Digital Image Processing, 4th ed., eq. 10-29;
 * MATLAB's fspecial('log') subtracts the mean too).
 *
 * dog: the Gaussian of sigma minus the Gaussian of ratio sigma. The default
 * ratio, 1.6, comes nearest to the Laplacian of a Gaussian (Marr and Hildreth,
 * Theory of edge detection, 1980).
 *
 * sigma is in samples per axis; size is 2 floor (4 sigma + 0.5) + 1 by default,
 * SciPy's truncate = 4, and for dog that of the wider Gaussian. An axis with
 * sigma 0 has size 1.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/gaussian.h"

#include "core/error.h"
#include "filters/band.h"
#include "filters/designs.h"

#include <math.h>

/* Larger than any filter; 2 * 4 * sigma stays exact. */
#define MAX_SIGMA 1e6
#define REACH 4.0
#define MIN_DERIVATIVE_SIGMA 0.125
#define MAX_RATIO 100.0

gboolean
nd_parameters_get_gaussian (const NdParameters *parameters, const NdAxes *axes,
    gdouble reach, gdouble sigma[ND_AXES], gsize size[ND_AXES], GError **error)
{
  gboolean has_size = nd_parameters_has (parameters, "size");

  if (!nd_parameters_get_axes (parameters, "sigma", axes, 0, sigma, error))
    return FALSE;
  if (has_size && !nd_parameters_get_size (parameters, axes, 0, size, error))
    return FALSE;

  for (guint a = 0; a < ND_AXES; a++) {
    if (sigma[a] < 0 || sigma[a] > MAX_SIGMA) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "sigma is %g along %c; it must be from 0 to %g samples", sigma[a],
          nd_axis_letter (a), MAX_SIGMA);
      return FALSE;
    }
    if (!has_size)
      size[a] = 2 * (gsize) (reach * sigma[a] + 0.5) + 1;
    if (sigma[a] == 0 && size[a] > 1) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %" G_GSIZE_FORMAT " along %c; it must be 1, because "
          "sigma is 0 there",
          size[a], nd_axis_letter (a));
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
nd_gaussian_check_derivative (gdouble sigma, NdAxis axis, GError **error)
{
  if (sigma >= MIN_DERIVATIVE_SIGMA)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "sigma is %g along %c; it must be %g samples or more", sigma,
      nd_axis_letter (axis), MIN_DERIVATIVE_SIGMA);
  return FALSE;
}

/* The x of coefficient @i in a filter of @size. */
static gdouble
position (gsize i, gsize size)
{
  return (gdouble) i - (gdouble) (size - 1) / 2;
}

gdouble *
nd_gaussian_factor (gdouble sigma, gsize size)
{
  gdouble *factor = g_new (gdouble, size);
  /* Relative to the middle sample, so that not all samples underflow if sigma
   * is tiny. */
  gdouble middle = position (size / 2, size), sum = 0;

  for (gsize i = 0; i < size; i++) {
    gdouble x = position (i, size);

    factor[i] = exp (-(x * x - middle * middle) / sigma / sigma / 2);
    sum += factor[i];
  }
  for (gsize i = 0; i < size; i++)
    factor[i] /= sum;
  return factor;
}

static NdFilter *
new_gaussian (const gchar *design, const gdouble sigma[ND_AXES],
    const gsize size[ND_AXES], GError **error)
{
  gdouble *factors[ND_AXES] = { NULL };
  NdFilter *filter;

  if (!nd_design_check_size (size, error))
    return NULL;
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] > 1)
      factors[a] = nd_gaussian_factor (sigma[a], size[a]);
  }
  filter = nd_design_new_product (design, size, factors, error);
  for (guint a = 0; a < ND_AXES; a++)
    g_free (factors[a]);
  return filter;
}

NdFilter *
nd_design_gaussian (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  gdouble sigma[ND_AXES];
  gsize size[ND_AXES];

  if (!nd_parameters_get_gaussian (parameters, axes, REACH, sigma, size, error))
    return NULL;
  return new_gaussian ("gaussian", sigma, size, error);
}

static gboolean
check_log (const gdouble sigma[ND_AXES], const gsize size[ND_AXES],
    GError **error)
{
  gboolean any = FALSE;

  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 2) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is 2 along %c; it must be 1, or 3 or more, because two samples "
          "have no second derivative",
          nd_axis_letter (a));
      return FALSE;
    }
    if (size[a] > 1 && !nd_gaussian_check_derivative (sigma[a], a, error))
      return FALSE;
    any = any || size[a] > 1;
  }
  if (!any)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "size is 1 along every axis; sigma must be 0.125 or more along one at "
        "least, or size 3 or more");
  return any;
}

NdFilter *
nd_design_log (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  gdouble sigma[ND_AXES], mean;
  gsize size[ND_AXES], count;
  NdFilter *filter;

  if (!nd_parameters_get_gaussian (parameters, axes, REACH, sigma, size, error)
      || !check_log (sigma, size, error))
    return NULL;
  filter = new_gaussian ("log", sigma, size, error);
  if (!filter)
    return NULL;

  count = nd_filter_count (filter);
  for (gsize i = 0; i < count; i++) {
    gdouble sum = 0;
    gsize at = i;

    for (guint a = 0; a < ND_AXES; a++) {
      if (size[a] > 1) {
        gdouble x = position (at % size[a], size[a]) / sigma[a];

        sum += (x * x - 1) / sigma[a] / sigma[a];
      }
      at /= size[a];
    }
    filter->coefficients[i] *= sum;
  }
  mean = nd_filter_sum (filter) / (gdouble) count;
  for (gsize i = 0; i < count; i++)
    filter->coefficients[i] -= mean;
  return filter;
}

NdFilter *
nd_design_dog (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autoptr (NdFilter) narrow = NULL, wide = NULL;
  gdouble sigma[ND_AXES], ratio;
  gsize size[ND_AXES];
  gboolean any = FALSE;

  if (!nd_parameters_get_number (parameters, "ratio", 1.6, &ratio, error))
    return NULL;
  if (!(ratio > 1 && ratio <= MAX_RATIO)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "ratio is %g; it must be above 1 and at most %g", ratio, MAX_RATIO);
    return NULL;
  }
  if (!nd_parameters_get_gaussian (parameters, axes, REACH * ratio, sigma, size,
          error))
    return NULL;
  for (guint a = 0; a < ND_AXES; a++)
    any = any || size[a] > 1;
  if (!any) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "size is 1 along every axis, so that both Gaussians are equal; give a "
        "larger sigma or size");
    return NULL;
  }
  narrow = new_gaussian ("dog", sigma, size, error);
  for (guint a = 0; a < ND_AXES; a++)
    sigma[a] *= ratio;
  wide = narrow ? new_gaussian ("dog", sigma, size, error) : NULL;
  if (!wide)
    return NULL;
  for (gsize i = 0; i < nd_filter_count (narrow); i++)
    narrow->coefficients[i] -= wide->coefficients[i];
  return g_steal_pointer (&narrow);
}
