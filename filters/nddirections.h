/* Directions in 2, 3 and 4 dimensions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndparameters.h"

G_BEGIN_DECLS

#define ND_MAX_DIRECTIONS 12

/* The directions of a quadrature bank over @n of @axis, of length 1, one of
 * each pair of opposites; their number: 4 in 2D, 45 degrees apart; 6 in 3D,
 * through the vertices of an icosahedron; 12 in 4D, through those of a 24-cell.
 * 1 in 1D. (Granlund and Knutsson, Signal Processing for Computer Vision,
 * Kluwer 1995, chapter 6.) */
guint nd_directions (const NdAxis * axis, guint n,
    gdouble directions[ND_MAX_DIRECTIONS][ND_AXES]);

/* The parameter `direction`, by default @fallback: the name of an axis, or a
 * vector over @axes, fewer numbers being followed by zeros; brought to length
 * 1. ND_ERROR_SETTINGS where its length is 0, or where it leaves the axes along
 * which @size is above 1. */
gboolean nd_parameters_get_direction (const NdParameters * parameters,
    const NdAxes * axes, const gsize size[ND_AXES], NdAxis fallback,
    gdouble direction[ND_AXES], GError ** error);

G_END_DECLS
