/* Designs sobel and scharr: the derivative along direction (default x),
 * smoothed along the other axes. size is 3 by default; sobel also has 5, and
 * axes other than direction may have 1.
 *
 * sobel smooths by [1 2 1] or [1 4 6 4 1]; its derivative is [1 0 -1], or [1 2
 * 0 -2 -1], which is [1 0 -1] convolved with [1 2 1]. A convolution flips the
 * filter: the response is in[i+1] - in[i-1], positive on a ramp that rises
 * along direction. (Sobel and Feldman 1968; size 5 as in OpenCV's
 * getDerivKernels.)
 *
 * scharr smooths by [3 10 3], which makes the direction of the gradient more
 * accurate (Scharr, Optimal operators in digital image processing, thesis,
 * Heidelberg 2000).
 *
 * If size has a unit, the derivative is divided by the spacing along direction.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "filters/units.h"

#include <string.h>

typedef gdouble Factors[2][5]; /* for size 3 and size 5 */

static Factors sobel_smoothing = { { 1, 2, 1 }, { 1, 4, 6, 4, 1 } };
static Factors scharr_smoothing = { { 3, 10, 3 } };
static Factors derivative = { { 1, 0, -1 }, { 1, 2, 0, -2, -1 } };

static gboolean
read_direction (const NdParameters *parameters, const NdAxes *axes,
    NdAxis *direction, GError **error)
{
  const gchar *text = nd_parameters_get_text (parameters, "direction");

  *direction = ND_AXIS_X;
  if (!text)
    return TRUE;
  for (guint i = 0; i < axes->n; i++) {
    *direction = axes->axis[i];
    if (text[0] == nd_axis_letter (*direction) && text[1] == '\0')
      return TRUE;
  }
  {
    g_autofree gchar *letters = nd_axes_to_string (axes);

    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "direction is \"%.40s\"; it must be one of %s", text, letters);
  }
  return FALSE;
}

static NdFilter *
masks_design (const gchar *name, Factors smoothing, gsize largest,
    const NdParameters *parameters, const NdAxes *axes, GError **error)
{
  gdouble *factors[ND_AXES] = { NULL };
  gsize size[ND_AXES];
  NdAxis direction;
  NdFilter *filter;
  gdouble scale;

  if (!read_direction (parameters, axes, &direction, error)
      || !nd_parameters_get_size (parameters, axes, 3, size, error)
      || !nd_units_get_scale (axes, direction, &scale, error))
    return NULL;
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 1 && a != direction)
      continue;
    if (size[a] != 3 && size[a] != largest) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %" G_GSIZE_FORMAT " along %c; it must be 3%s%s", size[a],
          nd_axis_letter (a), largest == 5 ? " or 5" : "",
          a == direction ? "" : ", or 1");
      return NULL;
    }
    factors[a] = (a == direction ? derivative : smoothing)[size[a] / 2 - 1];
  }
  filter = nd_design_new_product (name, size, factors, error);
  for (gsize i = 0; filter && i < nd_filter_count (filter); i++)
    filter->coefficients[i] /= scale;
  return filter;
}

NdFilter *
nd_design_sobel (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  return masks_design ("sobel", sobel_smoothing, 5, parameters, axes, error);
}

NdFilter *
nd_design_scharr (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  return masks_design ("scharr", scharr_smoothing, 3, parameters, axes, error);
}

/* Design box: the mean of size samples, with each coefficient 1/count. */

NdFilter *
nd_design_box (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  NdFilter *filter;
  gsize size[ND_AXES], count;

  if (!nd_parameters_get_size (parameters, axes, 0, size, error))
    return NULL;
  filter = nd_design_new_filter ("box", size, error);
  if (!filter)
    return NULL;

  count = nd_filter_count (filter);
  for (gsize i = 0; i < count; i++)
    filter->coefficients[i] = 1.0 / (gdouble) count;
  return filter;
}

/* Design coefficients: size, and values with x fastest and t slowest. */

NdFilter *
nd_design_coefficients (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autoptr (NdFilter) filter = NULL;
  g_autofree gdouble *values = NULL;
  gsize size[ND_AXES], n;

  if (!nd_parameters_get_size (parameters, axes, 0, size, error))
    return NULL;
  filter = nd_design_new_filter ("coefficients", size, error);
  if (!filter)
    return NULL;
  values = nd_parameters_get_numbers (parameters, "values", &n, error);
  if (!values)
    return NULL;
  if (n != nd_filter_count (filter)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "values has %" G_GSIZE_FORMAT
        " numbers, but size needs %" G_GSIZE_FORMAT " (%" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        "); give as many as size needs",
        n, nd_filter_count (filter), size[0], size[1], size[2], size[3]);
    return NULL;
  }
  memcpy (filter->coefficients, values, n * sizeof (gdouble));
  return g_steal_pointer (&filter);
}
