/* Speckle: the shrinkage of DCT coefficients, whose noise is measured, and its
 * reference in double precision. docs/algorithms.md has the formulas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"

G_BEGIN_DECLS

/* Of a block of 4 x 4 x 4 samples; one of 4 x 4 samples has the first 16. */
#define ND_SHRINK_COEFFICIENTS 64

/* As ND_DENOISE_WIENER. The second stage runs so often, each time with its last
 * result as the pilot. */
#define ND_SHRINK_WIENER 1.0
#define ND_SHRINK_PASSES 2

/* The noise of a coefficient is this quantile of its magnitudes in blocks whose
 * samples are finite and above the least one of the volume, divided by the same
 * quantile of normally distributed values with standard deviation 1. */
#define ND_SHRINK_QUANTILE .25
#define ND_SHRINK_NORMAL_QUANTILE 0.31863936396437517

/* The number of blocks that are measured along each axis, at positions 0, @step
 * and so on: about ND_SHRINK_BLOCKS at most. */
#define ND_SHRINK_BLOCKS (1 << 16)
void nd_shrink_grid (const gsize size[3], gsize blocks[3], gsize *step);

/* Sets the noise of the mean of a block to the largest one of the others,
 * because what was measured for it is the mean of the volume, and raises the
 * others to at least ND_SHRINK_LEAST of it. FALSE if there is no noise. */
#define ND_SHRINK_LEAST 1e-4
gboolean nd_shrink_complete (gdouble noise[ND_SHRINK_COEFFICIENTS]);

/* Shrinks one volume. @strength multiplies the noise. FALSE if there is no
 * noise; then @out is not written. */
gboolean nd_shrink_reference (const NdReferenceBorders *borders,
    const gsize size[3], gdouble strength, const gdouble *in, gdouble *out);

G_END_DECLS
