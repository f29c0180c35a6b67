/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/axes.h"

#include <math.h>

const gdouble nd_axes_signs[3] = { -1, -1, 1 };

gboolean
nd_axes_set (NdGeometry *geometry, const gdouble spacing[3],
    const gdouble origin[3])
{
  NdGeometry found = { .known = TRUE };

  for (guint a = 0; a < 3; a++) {
    if (!(spacing[a] > 0 && isfinite (spacing[a]) && isfinite (origin[a])))
      return FALSE;
    found.spacing[a] = spacing[a];
    /* Not -0. */
    found.origin[a] = origin[a] == 0 ? 0 : nd_axes_signs[a] * origin[a];
    found.directions[4 * a] = nd_axes_signs[a];
  }
  *geometry = found;
  return TRUE;
}

void
nd_axes_get_origin (const NdGeometry *geometry, gdouble origin[3])
{
  for (guint a = 0; a < 3; a++)
    origin[a] =
        geometry->origin[a] == 0 ? 0 : nd_axes_signs[a] * geometry->origin[a];
}

gboolean
nd_axes_are_plain (const NdGeometry *geometry)
{
  gboolean plain = TRUE;

  for (guint i = 0; i < 9; i++)
    plain &= geometry->directions[i] == (i % 4 == 0 ? nd_axes_signs[i / 4] : 0);
  return plain;
}
