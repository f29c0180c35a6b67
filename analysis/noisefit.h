/* How the noise of a volume depends on the value: the parameters of Poisson and
 * Rice, and which kind explains it. The data are cubes of 2 x 2 x 2 samples
 * with their mean and |HHH|, the orthonormal difference along all axes, as in
 * analysis/noise.h. Cubes with about the same mean make a part, whose median
 * |HHH| tells the deviation of the noise there.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"

G_BEGIN_DECLS

#define ND_FIT_PARTS 32
/* Cubes of a volume are taken from every n-th row, so that they are at most
 * about this many. */
#define ND_FIT_CUBES (1 << 15)

typedef struct
{
  gfloat mean, difference; /* |HHH| / sqrt (samples of a cube) */
} NdNoiseCube;

typedef struct
{
  gdouble n, mean, deviation;
} NdNoisePart;

/* Sorts @cubes, and fills @parts. Returns the number of parts with enough
 * cubes, in order of their means. Cubes that are not finite are left out. */
guint nd_noise_parts (NdNoiseCube *cubes, gsize n,
    NdNoisePart parts[ND_FIT_PARTS]);

/* The noise of one volume. The certainty is 1 minus the standard error of the
 * gain, or the spread of sigma between the parts, divided by it; 0 without
 * data. @high is the end of the range of the samples, where noise is
 * clipped. */
NdNoiseFound nd_noise_fit (NdNoise noise, const NdNoisePart *parts, guint n,
    gdouble high);

/* The fit of the median gain or sigma of @n > 0. */
NdNoiseFound nd_noise_median_fit (NdNoise noise, const NdNoiseFound *fits,
    guint n);

G_END_DECLS
