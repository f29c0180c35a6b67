/* Directions in 2, 3 and 4 dimensions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/parameters.h"

G_BEGIN_DECLS

#define ND_MAX_DIRECTIONS 12

/* Fills the directions of a quadrature bank over the first @n of @axis: unit
 * vectors, one of each pair of opposites. Returns their number: 1 in 1D; 4 in
 * 2D, 45 degrees apart; 6 in 3D, through the vertices of an icosahedron; 12 in
 * 4D, through the vertices of a 24-cell. (Granlund and Knutsson, Signal
 * Processing for Computer Vision, Kluwer 1995, chapter 6.) */
guint nd_directions (const NdAxis *axis, guint n,
    gdouble directions[ND_MAX_DIRECTIONS][ND_AXES]);

/* Reads the parameter direction, by default @fallback, as a unit vector: the
 * name of an axis, or a vector over @axes, in which missing numbers are 0.
 * ND_ERROR_SETTINGS if the length of the vector is 0, or if it is not 0 along
 * an axis of size 1. */
gboolean nd_parameters_get_direction (const NdParameters *parameters,
    const NdAxes *axes, const gsize size[ND_AXES], NdAxis fallback,
    gdouble direction[ND_AXES], GError **error);

G_END_DECLS
