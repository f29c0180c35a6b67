/* The noise of the coefficients of speckle, which is correlated in space.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/speckle.h"
#include "engine/algorithm.h"

G_BEGIN_DECLS

/* The bytes of memory that measuring takes. */
gsize nd_speckle_noise_bytes (const gsize size[3]);

/* Measures the standard deviation of the noise of each coefficient, x + 4 y +
 * 16 z, of the blocks of @volume. @memory has nd_speckle_noise_bytes(). FALSE
 * if there is none, for example without a sector. */
gboolean nd_speckle_noise (const gfloat *volume, const gsize size[3],
    const NdDenoiseBorders *borders, gfloat *memory,
    gfloat noise[ND_SHRINK_COEFFICIENTS]);

G_END_DECLS
