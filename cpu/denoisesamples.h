/* Samples of denoising: conversion to floats and back, the mean of clipped
 * samples, noise, and two scales.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/noise.h"
#include "engine/job.h"

#include <glib.h>

G_BEGIN_DECLS

/* Conversion of samples to floats and back, and the correction of the mean of
 * clipped samples. */

/* Decides from one volume whether noise was added before samples were clipped:
 * whether about as many samples of @in are clipped as noise of @sigma around
 * the means @out would cause. */
void nd_samples_count_clipped (NdClipping *clipping, const gfloat *in,
    const gfloat *out, const gsize size[3], gdouble sigma, gfloat low,
    gfloat high);

/* Convert component @c of a volume to and from dense floats. For integer types,
 * values are rounded half to even and saturated, and NaN becomes 0. @clipping
 * may be NULL. */
void nd_samples_read (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, gfloat *out);
void nd_samples_write (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, const gfloat *in, const NdClipping *clipping);

/* Estimation of the noise of a volume. */

/* sigma of one dense volume: median |HHH| / ND_NOISE_MEDIAN. HHH is the
 * orthonormal Haar difference along all axes that have more than one sample.
 * @low and @high are the range of an integer type, or infinite. Clipping to
 * this range reduces the differences, which is corrected. NaN is left out. -1
 * without memory. */
gdouble nd_cpu_noise_sigma (const gfloat *volume, const gsize size[3],
    gfloat low, gfloat high);

/* The coarse scale of a volume, and fusing the results of both scales. */

/* Sets @coarse to @size with all axes halved and rounded up. FALSE if an axis
 * is too short for a coarse scale. */
gboolean nd_cpu_coarse_size (const gsize size[3], gsize coarse[3]);

/* Computes the means D of 2 samples along each axis. If an axis has an odd
 * number of samples, its last sample counts twice. */
void nd_cpu_coarsen (const gfloat *fine, const gsize size[3], gfloat *coarse);

/* fine += U (coarse - D fine). D is nd_cpu_coarsen(), U linear interpolation.
 * @difference is memory for a coarse volume. */
void nd_cpu_fuse (gfloat *fine, const gsize size[3], const gfloat *coarse,
    gfloat *difference);

G_END_DECLS
