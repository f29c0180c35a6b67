/* A beating heart as a matrix ultrasound probe sees it from the apex: four
 * chambers, valves, speckle that moves with the wall, in a pyramid of 72 by 72
 * degrees and 136 mm depth inside a cube of 160 mm.
 *
 * Axes: x lateral, y depth (the probe is at the top, small y), z elevation.
 * The cube is divided into as many voxels as asked for.
 *
 * How it moves: a point at the normalised radius P in the ellipsoid of the
 * left ventricle at end diastole stands at rho, rho^3 = P^3 - c, when the
 * ventricle has ejected the fraction c of its volume. This keeps the volume
 * of the wall, so that the wall thickens as it contracts. Speckle is a
 * property of the tissue and moves with it.
 *
 * How speckle is made: scatterers with complex Gaussian amplitudes, weighted
 * by the echogenicity of the tissue, convolved in beam coordinates with a
 * point spread that is fine in depth and coarse across the beam; the power of
 * the sum is what the probe receives (fully developed speckle: R. F. Wagner et
 * al., "Statistics of Speckle in Ultrasound B-Scans", IEEE Trans. Sonics
 * Ultrason. 30(3), 1983). The picture is its logarithm over 60 dB.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndrecording.h"

G_BEGIN_DECLS

typedef struct _NdPhantom NdPhantom;

/* @size: voxels in x, y, z, each at least 1. @noise: amplitude of the
 * electronic noise, 1 is usual, 0 none. ND_ERROR_NO_SPACE. */
NdPhantom *nd_phantom_new (const gsize size[3], guint64 seed, gdouble noise,
    GError ** error);
void nd_phantom_free (NdPhantom * phantom);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPhantom, nd_phantom_free)

/* From now on rows belong to volume @n, at @phase of the heart beat: 0 is the
 * end of diastole (as the R wave), 0.34 the end of systole, 1 the next beat. */
void nd_phantom_set_time (NdPhantom * phantom, guint64 n, gdouble phase);

/* The greys, 0 to 255, of one row of size[0] voxels. */
void nd_phantom_row (const NdPhantom * phantom, gsize y, gsize z,
    gfloat * row);

/* Spacing and place of a phantom of @size voxels. */
void nd_phantom_geometry (const gsize size[3], NdGeometry * geometry);

G_END_DECLS
