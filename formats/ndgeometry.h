/* NIfTI's two ways to say where a volume lies: affine and quaternion.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndrecording.h"

G_BEGIN_DECLS

/* Spacing alone: axes to R, A, S, origin 0. */
void nd_geometry_from_spacing (NdGeometry * geometry,
    const gdouble spacing[3]);

/* Rows x, y, z of the affine that takes (i, j, k, 1) to millimetres. Where a
 * spacing is not above 0 and finite, the length of its column stands for it.
 * FALSE where @affine is not finite. */
gboolean nd_geometry_from_affine (NdGeometry * geometry,
    const gdouble affine[3][4], const gdouble spacing[3]);
void nd_geometry_to_affine (const NdGeometry * geometry,
    gdouble affine[3][4]);

/* @b, @c, @d of the unit quaternion a + bi + cj + dk with a >= 0, and @qfac,
 * the sign of the third column ("method 2" of nifti1.h). FALSE where they are
 * no rotation or not finite. */
gboolean nd_geometry_from_quaternion (NdGeometry * geometry,
    const gdouble bcd[3], gdouble qfac, const gdouble spacing[3],
    const gdouble origin[3]);

/* FALSE where the directions are not orthonormal to 1e-4. */
gboolean nd_geometry_to_quaternion (const NdGeometry * geometry,
    gdouble bcd[3], gdouble * qfac);

G_END_DECLS
