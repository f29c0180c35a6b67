/* The one place that says where axes without directions point: to the left,
 * posterior and superior, as in an image of ITK without directions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/geometry.h"

G_BEGIN_DECLS

/* The factor of each coordinate between left, posterior, superior and
 * NdGeometry, and the diagonal of the directions of such axes. */
extern const gdouble nd_axes_signs[3];

/* Sets the geometry of axes without directions; @origin is in left, posterior,
 * superior. FALSE, and nothing is set, unless each spacing is above 0 and all
 * is finite. */
gboolean nd_axes_set (NdGeometry *geometry, const gdouble spacing[3],
    const gdouble origin[3]);

/* The origin for a file without directions. */
void nd_axes_get_origin (const NdGeometry *geometry, gdouble origin[3]);

/* Whether the directions are those that a reader of such a file gives. */
gboolean nd_axes_are_plain (const NdGeometry *geometry);

G_END_DECLS
