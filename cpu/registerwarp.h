/* Volumes that are moved.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/register.h"
#include "engine/border.h"

G_BEGIN_DECLS

/* Volumes have at most this many samples. */
#define ND_WARP_MAX_SAMPLES ((gsize) G_MAXINT32)

/* out[x] = the interpolation of @in at @map (x), indices of samples. Samples
 * beyond the edges are those of @border. @in has ND_REGISTER_ROOM more floats
 * than samples. */
void nd_cpu_warp (const gsize in_size[3], const gfloat *in, const NdAffine *map,
    NdInterpolation interpolation, NdBorder border, gfloat border_value,
    const gsize out_size[3], gfloat *out);

G_END_DECLS
