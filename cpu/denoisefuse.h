/* The coarse scale of a volume, and fusing the results of both scales.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

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
