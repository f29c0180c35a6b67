/* Design psf with location: a point spread function that was measured, for
 * example of a bead, from a file as the design file reads it. The background is
 * subtracted, negative rest becomes 0, and the sum is scaled to 1.
 *
 * background: a sample value; by default the median of the outermost samples
 * along all axes. center: the index, from 0, of the sample along x:y:z:t that a
 * point is imaged to; by default that of the largest sample, the first of
 * several.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "filters/band.h"

#include <math.h>
#include <stdlib.h>

static gboolean
is_outermost (const gsize size[ND_AXES], gsize i)
{
  gboolean outer = FALSE;

  for (guint a = 0; a < ND_AXES; a++) {
    const gsize at = i % size[a];

    outer |= size[a] > 1 && (at == 0 || at == size[a] - 1);
    i /= size[a];
  }
  return outer;
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  const gdouble p = *(const gdouble *) a, q = *(const gdouble *) b;

  return (p > q) - (p < q);
}

/* 0 if all sizes are 1. */
static gboolean
find_background (const NdFilter *filter, gdouble *background, GError **error)
{
  const gsize n = nd_filter_count (filter);
  g_autofree gdouble *outer = g_try_new (gdouble, n);
  gsize found = 0;

  if (!outer) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "not enough memory to find the background; use a smaller file");
    return FALSE;
  }
  for (gsize i = 0; i < n; i++) {
    if (is_outermost (filter->size, i))
      outer[found++] = filter->coefficients[i];
  }
  qsort (outer, found, sizeof (*outer), compare_numbers);
  *background = found > 0 ? (outer[(found - 1) / 2] + outer[found / 2]) / 2 : 0;
  return TRUE;
}

static gboolean
subtract (NdFilter *filter, const NdParameters *parameters, GError **error)
{
  gdouble background, sum = 0;

  if (!find_background (filter, &background, error)
      || !nd_parameters_get_number (parameters, "background", background,
          &background, error))
    return FALSE;
  for (gsize i = 0; i < nd_filter_count (filter); i++) {
    filter->coefficients[i] = MAX (filter->coefficients[i] - background, 0);
    sum += filter->coefficients[i];
  }
  if (sum > 0)
    return nd_filter_normalize (filter, error);
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "location: no sample of the file is above the background, %g; give the "
      "image of a point, or its background",
      background);
  return FALSE;
}

/* Sets the origin so that a point is imaged to its own place. */
static gboolean
set_center (NdFilter *filter, const NdParameters *parameters,
    const NdAxes *axes, GError **error)
{
  gdouble center[ND_AXES];
  gsize peak = 0;

  for (gsize i = 1; i < nd_filter_count (filter); i++) {
    if (filter->coefficients[i] > filter->coefficients[peak])
      peak = i;
  }
  for (guint a = 0; a < ND_AXES; a++) {
    center[a] = peak % filter->size[a];
    peak /= filter->size[a];
  }
  if (nd_parameters_has (parameters, "center")
      && !nd_parameters_get_axes (parameters, "center", axes, 0, center, error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    const gint last = (gint) filter->size[a] - 1;

    if (center[a] < 0 || center[a] > last || center[a] != floor (center[a])) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "center is %g along %c; it must be an integer from 0 to %d",
          center[a], nd_axis_letter (a), last);
      return FALSE;
    }
    filter->origin[a] = (gint) center[a] - (gint) (filter->size[a] / 2);
  }
  return TRUE;
}

static gboolean
check_measured (const NdParameters *parameters, GError **error)
{
  static const gchar *const others[] = { "model", "wavelength", "aperture",
    "sampling", "index" };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    if (!nd_parameters_has (parameters, others[i]))
      continue;
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is given with location; the file has the whole psf: give one of "
        "them",
        others[i]);
    return FALSE;
  }
  return TRUE;
}

NdFilter *
nd_design_measured_psf (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autoptr (NdBank) bank = NULL;
  NdFilter *filter;

  if (!check_measured (parameters, error))
    return NULL;
  bank = nd_design_file (parameters, axes, error);
  if (!bank)
    return NULL;
  if (bank->n_filters > 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "location: the file has complex samples; a psf is real: save its "
        "squared magnitude");
    return NULL;
  }
  filter = bank->filters[0];
  if (!subtract (filter, parameters, error)
      || !set_center (filter, parameters, axes, error))
    return NULL;
  return nd_filter_copy (filter);
}
