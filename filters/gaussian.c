/* Designs gaussian, log and dog: the Gaussian, its Laplacian, and the
 * difference of two Gaussians.
 *
 * gaussian: G(x) = prod_a exp (-x_a^2 / 2 sigma_a^2), scaled to sum 1, as
 * scipy.ndimage.gaussian_filter does.
 *
 * log: sum_a (x_a^2 - sigma_a^2) / sigma_a^4 G(x), minus its mean, so that the
 * sum is 0 (Gonzalez and Woods, Digital Image Processing, 4th ed., eq. 10-29;
 * MATLAB's fspecial('log') subtracts the mean too). If sigma or size has a
 * unit, the sum over a is in that unit.
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
#include "filters/designs.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/band.h"
#include "filters/units.h"

#include <math.h>
#include <string.h>

/* Larger than any filter; 2 * 4 * sigma stays exact. */
#define MAX_SIGMA 1e6
#define REACH 4.0
#define MIN_DERIVATIVE_SIGMA 0.125
#define MAX_RATIO 100.0

/* Reads sigma (samples, per axis) and size, by default
 * 2 floor (@reach sigma + 0.5) + 1. An axis with sigma 0 must have size 1. */
static gboolean
read_sigma_and_size (const NdParameters *parameters, const NdAxes *axes,
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

/* ND_ERROR_SETTINGS if @sigma is too small for a sampled derivative. */
static gboolean
check_derivative_sigma (gdouble sigma, NdAxis axis, GError **error)
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

/* exp (-x^2 / 2 sigma^2), scaled to sum 1. The caller frees it. */
static gdouble *
gaussian_factor (gdouble sigma, gsize size, GError **error)
{
  gdouble *factor = nd_memory_new (size, sizeof (gdouble), error);
  /* Relative to the middle sample, so that not all samples underflow if sigma
   * is tiny. */
  gdouble middle = position (size / 2, size), sum = 0;

  if (!factor)
    return NULL;
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
  NdFilter *filter = NULL;
  gboolean ok;

  ok = nd_design_check_size (size, error);
  for (guint a = 0; a < ND_AXES && ok; a++)
    ok = size[a] == 1
        || (factors[a] = gaussian_factor (sigma[a], size[a], error));
  if (ok)
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

  if (!read_sigma_and_size (parameters, axes, REACH, sigma, size, error))
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
    if (size[a] > 1 && !check_derivative_sigma (sigma[a], a, error))
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
  gdouble sigma[ND_AXES], scale[ND_AXES] = { 0 }, mean;
  gsize size[ND_AXES], count;
  NdFilter *filter;

  if (!read_sigma_and_size (parameters, axes, REACH, sigma, size, error)
      || !check_log (sigma, size, error))
    return NULL;
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] > 1 && !nd_units_get_scale (axes, a, &scale[a], error))
      return NULL;
  }
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

        sum += (x * x - 1) / pow (sigma[a] * scale[a], 2);
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
  if (!read_sigma_and_size (parameters, axes, REACH * ratio, sigma, size,
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
 * response to rising samples is positive. If sigma or size has a unit, sigma
 * of the first factor is in that unit. */

#define MAX_ORDER 20

static gboolean
gaussian_read_orders (const NdParameters *parameters, const NdAxes *axes,
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
make_factor (guint order, gdouble sigma, gdouble scale, gsize size,
    GError **error)
{
  g_autofree gdouble *gaussian = gaussian_factor (sigma, size, error);
  gdouble *factor = NULL, sum = 0;

  if (gaussian)
    factor = nd_memory_new (size, sizeof (gdouble), error);
  if (!factor)
    return NULL;
  for (gsize i = 0; i < size; i++) {
    gdouble x = ((gdouble) i - (gdouble) (size - 1) / 2) / sigma;

    factor[i] =
        pow (-1 / (sigma * scale), order) * hermite (order, x) * gaussian[i];
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
    return read_sigma_and_size (parameters, axes, REACH, sigma, size, error);
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
  gdouble sigma[ND_AXES], scale[ND_AXES] = { 0 };
  gsize size[ND_AXES];
  guint order[ND_AXES];
  NdFilter *filter = NULL;
  gboolean ok;

  if (!gaussian_read_orders (parameters, axes, order, error)
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
    if (order[a] > 0
        && (!check_derivative_sigma (sigma[a], a, error)
            || !nd_units_get_scale (axes, a, &scale[a], error)))
      return NULL;
  }
  ok = nd_design_check_size (size, error);
  for (guint a = 0; a < ND_AXES && ok; a++)
    ok = size[a] == 1
        || (factors[a] = make_factor (order[a], sigma[a],
                order[a] > 0 ? scale[a] : 1, size[a], error));
  if (ok)
    filter =
        nd_design_new_product ("gaussian-derivative", size, factors, error);
  for (guint a = 0; a < ND_AXES; a++)
    g_free (factors[a]);
  return filter;
}

/* Design laplace: connectivity, and size 3 (the default) or 5, the same along
 * all axes that are not 1.
 *
 * connectivity=faces (the default): the sum of the second differences along the
 * axes, [1 -2 1] for size 3 and [-1 16 -30 16 -1] for size 5. The latter is 12
 * times the difference of fourth order accuracy (Abramowitz and Stegun,
 * Handbook of Mathematical Functions, 25.3.24), so that the sum is exactly 0.
 *
 * connectivity=full: 1 for every neighbour, and minus their number for the
 * centre: 8, 26 or 80 neighbours in 2D, 3D or 4D with size 3.
 *
 * If size has a unit, differences are divided by the squared spacing. */

/* Weights that differ less count as equal. */
#define EQUAL 1e-3

static const gdouble second_difference[2][5] = {
  { 1, -2, 1 },
  { -1, 16, -30, 16, -1 },
};

/* The common size of all axes that are not 1, or 0 if sizes differ. */
static gsize
common_size (const gsize size[ND_AXES])
{
  gsize common = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 1)
      continue;
    if (common != 1 && size[a] != common)
      return 0;
    common = size[a];
  }
  return common;
}

NdFilter *
nd_design_laplace (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  const gchar *connectivity =
      nd_parameters_get_text (parameters, "connectivity");
  gboolean full = g_strcmp0 (connectivity, "full") == 0;
  gdouble weight[ND_AXES] = { 0 }, common = 0;
  gsize size[ND_AXES], k, count, centre, stride = 1;
  NdFilter *filter;

  if (!nd_parameters_get_size (parameters, axes, 3, size, error))
    return NULL;
  k = common_size (size);
  if (k != 3 && k != 5) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "size is %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT "; it must be 3 along all axes or 5 along all "
        "axes; axes that it leaves out have 1",
        size[0], size[1], size[2], size[3]);
    return NULL;
  }
  if (connectivity && !full && strcmp (connectivity, "faces") != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "connectivity is \"%.40s\"; it must be faces or full", connectivity);
    return NULL;
  }
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 1)
      continue;
    if (!nd_units_get_scale (axes, a, &weight[a], error))
      return NULL;
    weight[a] = 1 / (weight[a] * weight[a]);
    if (full && common != 0 && fabs (weight[a] / common - 1) > EQUAL) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "connectivity is full and size has a unit, but the spacing differs "
          "between the axes; use connectivity=faces or the design log");
      return NULL;
    }
    common = weight[a];
  }
  filter = nd_design_new_filter ("laplace", size, error);
  if (!filter)
    return NULL;

  count = nd_filter_count (filter);
  centre = count / 2;
  if (full) {
    for (gsize i = 0; i < count; i++)
      filter->coefficients[i] = common;
    filter->coefficients[centre] -= (gdouble) count * common;
    return filter;
  }
  for (guint a = 0; a < ND_AXES; a++) {
    gsize first = centre - size[a] / 2 * stride;

    for (gsize i = 0; size[a] > 1 && i < k; i++)
      filter->coefficients[first + i * stride] +=
          weight[a] * second_difference[k / 2 - 1][i];
    stride *= size[a];
  }
  return filter;
}
