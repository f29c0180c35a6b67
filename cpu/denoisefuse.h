/* Two scales of one volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Axes of more than one sample are halved, rounded up. FALSE if one is too
 * short for a coarse scale. */
gboolean nd_cpu_coarse_size (const gsize size[3], gsize coarse[3]);

/* Means of 2 samples along each axis that is halved; a last one without a
 * partner stands for both. */
void nd_cpu_coarsen (const gfloat *fine, const gsize size[3], gfloat *coarse);

/* fine += U (coarse - D fine), with D as above and U linear interpolation.
 * @difference is memory for a coarse volume. */
void nd_cpu_fuse (gfloat *fine, const gsize size[3], const gfloat *coarse,
    gfloat *difference);

G_END_DECLS
