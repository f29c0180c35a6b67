/* The two transforms of a NIfTI header, affine and quaternion.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/geometry.h"

G_BEGIN_DECLS

/* A geometry that has only spacing: axes to R, A, S and origin 0. */
void nd_geometry_from_spacing (NdGeometry *geometry, const gdouble spacing[3]);

/* @affine has the rows x, y, z of the matrix that maps (i, j, k, 1) to
 * millimetres. A spacing that is not finite and above 0 is replaced by the
 * length of its column. FALSE if @affine is not finite. */
gboolean nd_geometry_from_affine (NdGeometry *geometry,
    const gdouble affine[3][4], const gdouble spacing[3]);
void nd_geometry_to_affine (const NdGeometry *geometry, gdouble affine[3][4]);

/* @bcd are b, c, d of the unit quaternion a + bi + cj + dk with a >= 0; @qfac
 * is the sign of the third column ("method 2" of nifti1.h). One that is longer
 * than 1 is shortened. FALSE if they are not finite. */
gboolean nd_geometry_from_quaternion (NdGeometry *geometry,
    const gdouble bcd[3], gdouble qfac, const gdouble spacing[3],
    const gdouble origin[3]);

/* FALSE if the directions are not orthonormal to 1e-4. */
gboolean nd_geometry_to_quaternion (const NdGeometry *geometry, gdouble bcd[3],
    gdouble *qfac);

G_END_DECLS
