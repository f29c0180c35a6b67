/* The noise level of volumes, and what clipping did to their mean.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* sigma of one dense volume: median |HHH| / ND_NOISE_MEDIAN, HHH the
 * orthonormal Haar difference along all axes that have more than one sample.
 * Samples of an integer type may have been clipped to @low and @high, and what
 * that did to sigma is undone; otherwise these are infinite. NaN does not
 * count. */
gdouble nd_cpu_noise_sigma (const gfloat *volume, const gsize size[3],
    gfloat low, gfloat high);

G_END_DECLS
