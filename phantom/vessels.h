/* Bright tubes with known middle lines, for filters that find lines.
 *
 * Positions go from -1 to 1 along the shortest axis and as far, in the same
 * unit, along the others. Tube i has its middle line at
 *
 *   x = a sin (f z + p), y = b sin (g z + q)
 *
 * and the value 40 + 200 exp (-2 (d / r)^2) at the distance d from it; the
 * greatest value of all tubes counts.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gdouble a, f, p, b, g, q; /* above */
  gdouble radius;
} NdVessel;

#define ND_VESSELS 5
extern const NdVessel nd_vessels[ND_VESSELS];

/* The row (@y, @z) of a volume of @size, from 0 to 255. Values are multiplied
 * by 1 + 0.4 @noise u with u from -1 to 1, from the random numbers that begin
 * at @key. */
void nd_vessels_row (const gsize size[3], gdouble noise, guint64 key, gsize y,
    gsize z, gfloat *row);

G_END_DECLS
