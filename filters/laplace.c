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
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"

#include <string.h>

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
  filter = nd_design_new_filter ("laplace", size, error);
  if (!filter)
    return NULL;

  count = nd_filter_count (filter);
  centre = count / 2;
  if (full) {
    for (gsize i = 0; i < count; i++)
      filter->coefficients[i] = 1;
    filter->coefficients[centre] -= (gdouble) count;
    return filter;
  }
  for (guint a = 0; a < ND_AXES; a++) {
    gsize first = centre - size[a] / 2 * stride;

    for (gsize i = 0; size[a] > 1 && i < k; i++)
      filter->coefficients[first + i * stride] +=
          second_difference[k / 2 - 1][i];
    stride *= size[a];
  }
  return filter;
}
