/* Design coefficients: size, and values with x fastest and t slowest.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"

#include <string.h>

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
