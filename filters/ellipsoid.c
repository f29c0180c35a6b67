/* Designs sphere and ellipsoid: the mean over the samples with
 * sum_a (x_a / radius_a)^2 <= 1. radius is in samples: one number for sphere,
 * one per axis for ellipsoid.
 *
 * size is 2 floor (radius) + 1 by default. If radius is missing, it is half of
 * size. Axes of radius 0 or size 1 are ignored.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "filters/band.h"

#include <math.h>

/* Rounding must not exclude a sample at the radius. */
#define TOLERANCE 1e-9
#define MAX_RADIUS 1e6

static gboolean
ellipsoid_complete (const NdParameters *parameters, const NdAxes *axes,
    gdouble radius[ND_AXES], gsize size[ND_AXES], GError **error)
{
  gboolean has_size = nd_parameters_has (parameters, "size");

  if (has_size && !nd_parameters_get_size (parameters, axes, 0, size, error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    if (!nd_parameters_has (parameters, "radius"))
      radius[a] = (gdouble) size[a] / 2;
    if (!(radius[a] >= 0 && radius[a] <= MAX_RADIUS)) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "radius is %g along %c; it must be from 0 to %g samples", radius[a],
          nd_axis_letter (a), MAX_RADIUS);
      return FALSE;
    }
    if (!has_size)
      size[a] = 2 * (gsize) (radius[a] + TOLERANCE) + 1;
    if (radius[a] == 0 && size[a] > 1) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %" G_GSIZE_FORMAT " along %c; it must be 1, because "
          "radius is 0 there",
          size[a], nd_axis_letter (a));
      return FALSE;
    }
  }
  return TRUE;
}

static NdFilter *
ellipsoid_design (const gchar *name, const gdouble radius[ND_AXES],
    const gsize size[ND_AXES], GError **error)
{
  NdFilter *filter = nd_design_new_filter (name, size, error);
  gsize count, inside = 0;

  if (!filter)
    return NULL;
  count = nd_filter_count (filter);
  for (gsize i = 0; i < count; i++) {
    gdouble sum = 0;
    gsize at = i;

    for (guint a = 0; a < ND_AXES; a++) {
      gdouble x = (gdouble) (at % size[a]) - (gdouble) (size[a] - 1) / 2;

      if (size[a] > 1)
        sum += x * x / (radius[a] * radius[a]);
      at /= size[a];
    }
    filter->coefficients[i] = sum <= 1 + TOLERANCE;
    inside += sum <= 1 + TOLERANCE;
  }
  if (inside == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "radius is so small that no sample of this size lies inside; give a "
        "larger radius, or an odd size");
    g_clear_pointer (&filter, nd_filter_free);
    return NULL;
  }
  for (gsize i = 0; i < count; i++)
    filter->coefficients[i] /= (gdouble) inside;
  return filter;
}

static gboolean
need_one (const NdParameters *parameters, GError **error)
{
  if (nd_parameters_has (parameters, "radius")
      || nd_parameters_has (parameters, "size"))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "radius is missing; give it, or size");
  return FALSE;
}

NdFilter *
nd_design_sphere (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  gdouble radius[ND_AXES] = { 0 }, common;
  gsize size[ND_AXES];

  if (!need_one (parameters, error)
      || !nd_parameters_get_number (parameters, "radius", 0, &common, error))
    return NULL;
  for (guint i = 0; i < axes->n; i++)
    radius[axes->axis[i]] = axes->single[axes->axis[i]] ? 0 : common;
  if (!ellipsoid_complete (parameters, axes, radius, size, error))
    return NULL;
  return ellipsoid_design ("sphere", radius, size, error);
}

NdFilter *
nd_design_ellipsoid (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  gdouble radius[ND_AXES] = { 0 };
  gsize size[ND_AXES];

  if (!need_one (parameters, error)
      || (nd_parameters_has (parameters, "radius")
          && !nd_parameters_get_axes (parameters, "radius", axes, 0, radius,
              error))
      || !ellipsoid_complete (parameters, axes, radius, size, error))
    return NULL;
  return ellipsoid_design ("ellipsoid", radius, size, error);
}
