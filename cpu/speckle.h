/* The median of 3 samples along each axis, which takes the outliers out of
 * speckle.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/algorithm.h"

G_BEGIN_DECLS

/* Writes the means of each sample and of the median of its neighbourhood to
 * @out. @volumes are the one before it, its own and the one after it; NULL is a
 * volume of the border value. */
void nd_speckle_half_median (const gfloat *const volumes[3],
    const gsize size[3], const NdDenoiseBorders *borders, gfloat *out);

G_END_DECLS
