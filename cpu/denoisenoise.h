/* Estimation of the noise of a volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* sigma of one dense volume: median |HHH| / ND_NOISE_MEDIAN. HHH is the
 * orthonormal Haar difference along all axes that have more than one sample.
 * @low and @high are the range of an integer type, or infinite. Clipping to
 * this range reduces the differences, which is corrected. NaN is left out. */
gdouble nd_cpu_noise_sigma (const gfloat *volume, const gsize size[3],
    gfloat low, gfloat high);

G_END_DECLS
