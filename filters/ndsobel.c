/* The Sobel operator: the derivative along direction (x by default), smoothed
 * along the other axes; size 3 (the default) or 5, or 1 along axes that take no
 * part.
 *
 * Smoothing [1 2 1] or [1 4 6 4 1]; derivative [1 0 -1], or that convolved
 * with [1 2 1]: [1 2 0 -2 -1]. A convolution flips the filter, so that it
 * answers in[i+1] - in[i-1]: a ramp that rises along direction gives positive
 * responses. (Sobel and Feldman 1968; size 5 as in OpenCV's getDerivKernels.)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "nddesigns.h"

#include <string.h>

#include "engine/nderror.h"

static gdouble smoothing[2][5] = {
  {1, 2, 1},
  {1, 4, 6, 4, 1},
};

static gdouble derivative[2][5] = {
  {1, 0, -1},
  {1, 2, 0, -2, -1},
};

static gboolean
read_direction (const NdParameters * parameters, const NdAxes * axes,
    NdAxis * direction, GError ** error)
{
  const gchar *text = nd_parameters_get_text (parameters, "direction");

  *direction = ND_AXIS_X;
  if (text == NULL)
    return TRUE;
  for (guint i = 0; i < axes->n; i++) {
    *direction = axes->axis[i];
    if (text[0] == nd_axis_letter (*direction) && text[1] == '\0')
      return TRUE;
  }
  {
    g_autofree gchar *letters = nd_axes_to_string (axes);

    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "direction is \"%.40s\", where it must be one of %s.", text, letters);
  }
  return FALSE;
}

NdFilter *
nd_design_sobel (const NdParameters * parameters, const NdAxes * axes,
    GError ** error)
{
  gdouble *factors[ND_AXES] = { NULL, };
  gsize size[ND_AXES];
  NdAxis direction;

  if (!read_direction (parameters, axes, &direction, error)
      || !nd_parameters_get_size (parameters, axes, 3, size, error))
    return NULL;
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 1 && a != direction)
      continue;
    if (size[a] != 3 && size[a] != 5) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %" G_GSIZE_FORMAT " along %c, where it must be 3 or 5%s.",
          size[a], nd_axis_letter (a), a == direction ? "" : ", or 1");
      return NULL;
    }
    factors[a] = (a == direction ? derivative : smoothing)[size[a] / 2 - 1];
  }
  return nd_design_new_product ("sobel", size, factors, error);
}
