/* The position of a volume in space.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Millimetres, axes to the Right, Anterior, Superior, as in NIfTI. The sample
 * at index (i, j, k) is at origin + directions * (spacing * (i, j, k)). Columns
 * of directions have length 1, unless a file states a spacing that differs from
 * the spacing in its matrix: spacing and directions then keep the values of the
 * file. */
typedef struct
{
  gboolean known;
  gdouble spacing[3]; /* above 0 */
  gdouble origin[3];
  gdouble directions[9]; /* row by row; column a is the direction of axis a */
} NdGeometry;

G_END_DECLS
