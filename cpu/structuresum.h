/* Sums of tensors over their window in space.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structure.h"

G_BEGIN_DECLS

/* out[i] = sum over u of w(u) in[i + u] u_x^p[0] u_y^p[1] u_z^p[2], divided by
 * the sum of the weights inside the volume. @scratch is memory for two
 * volumes. */
void nd_cpu_structure_sum (const NdStructureWindow *window, const gfloat *in,
    const guint p[3], gfloat *scratch, gfloat *out);

G_END_DECLS
