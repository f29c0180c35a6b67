/* The noise of each coefficient of blocks of 4 x 4 x 4 samples (4 x 4 in
 * frames), from the difference of two volumes, whose contents are alike: the
 * median of its magnitudes over the blocks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"

G_BEGIN_DECLS

/* About as many blocks are measured. */
#define ND_SPECTRUM_BLOCKS 4096

/* @volume and, or NULL, the one before it, of @size. FALSE if there is no
 * noise, or not enough memory. */
gboolean nd_noise_spectrum_measure (const gfloat *volume, const gfloat *before,
    const gsize size[3], NdNoiseSpectrum *spectrum);

/* The medians of @n > 0 spectra. */
void nd_noise_spectrum_combine (const NdNoiseSpectrum *spectra, guint n,
    NdNoiseSpectrum *result);

/* The root mean square of the relative difference. */
gdouble nd_noise_spectrum_difference (const NdNoiseSpectrum *a,
    const NdNoiseSpectrum *b);

/* The standard deviation of the samples of noise. */
gdouble nd_noise_spectrum_sigma (const NdNoiseSpectrum *spectrum,
    gboolean is_flat);

G_END_DECLS
