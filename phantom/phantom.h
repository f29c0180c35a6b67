/* A beating heart, as a matrix ultrasound probe at the apex sees it: four
 * chambers, valves, speckle that moves with the wall, in a pyramid of 72 by 72
 * degrees and 136 mm depth inside a cube of 160 mm.
 *
 * Axes: x is lateral, y depth (the probe is at small y), z elevation. The
 * samples fill the cube.
 *
 * Motion: when the left ventricle has ejected the fraction c of its volume, a
 * point that was at the normalised radius P of its ellipsoid at end diastole is
 * at radius rho, with rho^3 = P^3 - c. This preserves the volume of the wall,
 * which therefore thickens as it contracts. Speckle is a property of the tissue
 * and moves with it.
 *
 * Speckle: scatterers with complex Gaussian amplitudes are weighted by the
 * echogenicity of the tissue and convolved, in beam coordinates, with a point
 * spread that is fine in depth and coarse across the beam. The probe receives
 * the power of the sum (fully developed speckle: R. F. Wagner et al.,
 * "Statistics of Speckle in Ultrasound B-Scans", IEEE Trans. Sonics Ultrason.
 * 30(3), 1983). The picture is the logarithm of the power over 60 dB.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/geometry.h"

G_BEGIN_DECLS

typedef struct _NdPhantom NdPhantom;

/* @size: samples in x, y, z, each at least 1. @noise: amplitude of the
 * electronic noise, 1 is usual, 0 none. ND_ERROR_MEMORY. */
NdPhantom *nd_phantom_new (const gsize size[3], guint64 seed, gdouble noise,
    GError **error);
void nd_phantom_free (NdPhantom *phantom);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPhantom, nd_phantom_free)

/* Selects volume @n for nd_phantom_row(), at @phase of the heart beat: 0 is the
 * end of diastole (the R wave), 0.34 the end of systole, 1 the next beat. */
void nd_phantom_set_time (NdPhantom *phantom, guint64 n, gdouble phase);

/* Computes one row of size[0] greys, 0 to 255. */
void nd_phantom_row (const NdPhantom *phantom, gsize y, gsize z, gfloat *row);

/* Computes one row of the velocity of the tissue in samples per volume, along
 * x, y and z, and 1, or four times 0 outside of the pyramid: 4 size[0] floats.
 * @beats: from one volume to the next. The valves move in another way. */
void nd_phantom_velocity_row (const NdPhantom *phantom, gdouble beats, gsize y,
    gsize z, gfloat *row);

/* The geometry of a phantom of @size samples. */
void nd_phantom_geometry (const gsize size[3], NdGeometry *geometry);

/* Random numbers from a counter, so that they can be computed in any order. */

/* Output number @i of SplitMix64 started at 0: G. L. Steele, D. Lea,
 * C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA
 * 2014. 64 random bits. */
static inline guint64
nd_hash (guint64 i)
{
  i = (i + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  i = (i ^ (i >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  i = (i ^ (i >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return i ^ (i >> 31);
}

/* The first counter for the numbers of volume @n. */
static inline guint64
nd_hash_volume (guint64 seed, guint64 n)
{
  return nd_hash (nd_hash (seed) + n);
}

G_END_DECLS
