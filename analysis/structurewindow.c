/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/structurewindow.h"

#include <math.h>
#include <string.h>

guint
nd_structure_window_reach (gdouble sigma)
{
  return (guint) rint (2 * sigma);
}

static gdouble
gaussian (gdouble u, gdouble sigma)
{
  return sigma > 0 ? exp (-u * u / (2 * sigma * sigma)) : u == 0;
}

void
nd_structure_window_init (NdStructureWindow *window, gdouble sigma,
    const gsize size[3])
{
  const gint radius = ceil (3 * sigma), n = 2 * radius + 1;
  const gint reach = nd_structure_window_reach (sigma);
  gdouble sum = 0;

  memcpy (window->size, size, sizeof (window->size));
  window->radius = radius;
  window->weights = g_new (gfloat, 3 * n);
  for (gint u = -radius; u <= radius; u++) {
    for (guint p = 0; p < 3; p++)
      window->weights[p * n + u + radius] = gaussian (u, sigma) * pow (u, p);
  }
  for (guint a = 0; a < 3; a++) {
    window->scale[a] = g_new (gfloat, size[a]);
    for (gint64 i = 0; i < (gint64) size[a]; i++) {
      gdouble inside = 0;

      for (gint u = -radius; u <= radius; u++)
        inside +=
            i + u >= 0 && i + u < (gint64) size[a] ? gaussian (u, sigma) : 0;
      window->scale[a][i] = 1 / inside;
    }
  }
  for (gint u = -reach; u <= reach; u++)
    sum += gaussian (u, sigma);
  for (gint u = -reach; u <= reach; u++)
    window->time[u + reach] = gaussian (u, sigma) / sum;
}

void
nd_structure_window_clear (NdStructureWindow *window)
{
  g_clear_pointer (&window->weights, g_free);
  for (guint a = 0; a < 3; a++)
    g_clear_pointer (&window->scale[a], g_free);
}
