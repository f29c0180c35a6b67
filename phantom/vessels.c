/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "phantom/vessels.h"

#include "phantom/hash.h"

#include <math.h>

const NdVessel nd_vessels[ND_VESSELS] = {
  { 0.55, 2.2, 0.4, 0.55, 2.2, 1.97, 0.16 },
  { 0.7, 0.9, 0, 0.5, 1.1, 2.6, 0.12 },
  { 0.35, 2.8, 3.4, 0.75, 0.8, 0.3, 0.1 },
  { 0.8, 1.2, 2.9, 0.3, 3.1, 0.8, 0.08 },
  { 0.6, 1.7, 4.6, 0.8, 1.3, 5.3, 0.07 },
};

/* Indices in units of half of the shortest axis, from the middle. */
static gdouble
vessels_place (const gsize size[3], guint axis, gsize index)
{
  const gsize least = MIN (MIN (size[0], size[1]), MAX (size[2], 1));
  const gsize unit = size[2] > 1 ? least : MIN (size[0], size[1]);

  return (2.0 * index + 1 - size[axis]) / unit;
}

void
nd_vessels_row (const gsize size[3], gdouble noise, guint64 key, gsize y,
    gsize z, gfloat *row)
{
  const gdouble v = vessels_place (size, 1, y), w = vessels_place (size, 2, z);

  for (gsize x = 0; x < size[0]; x++)
    row[x] = 0;
  for (guint i = 0; i < ND_VESSELS; i++) {
    const NdVessel *t = &nd_vessels[i];
    const gdouble middle = t->a * sin (t->f * w + t->p);
    const gdouble dy = v - t->b * sin (t->g * w + t->q);
    /* The direction of the line, per unit of z. */
    const gdouble tx = t->a * t->f * cos (t->f * w + t->p);
    const gdouble ty = t->b * t->g * cos (t->g * w + t->q);
    const gdouble along = 1 + tx * tx + ty * ty;

    for (gsize x = 0; x < size[0]; x++) {
      const gdouble dx = vessels_place (size, 0, x) - middle;
      const gdouble dot = dx * tx + dy * ty;
      const gdouble square = MAX (dx * dx + dy * dy - dot * dot / along, 0);

      row[x] = MAX (row[x], exp (-2 * square / (t->radius * t->radius)));
    }
  }
  key += (z * size[1] + y) * size[0];
  for (gsize x = 0; x < size[0]; x++) {
    const gdouble u = (nd_hash (key + x) >> 11) * 0x1p-52 - 1;

    row[x] = CLAMP ((40 + 200 * row[x]) * (1 + 0.4 * noise * u), 0, 255);
  }
}
