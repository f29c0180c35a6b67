/* Motion compensation: volumes are moved along the flow to a target, so that
 * structures are at the same place in all of them. docs/algorithms.md has the
 * formulas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _NdFlow NdFlow;

/* NULL if there is not enough memory for volumes of @size. */
NdFlow *nd_flow_new (const gsize size[3]);
void nd_flow_free (NdFlow *motion);

/* The bytes of memory for volumes of @size; 0 if a gsize cannot hold the
 * number. */
gsize nd_flow_bytes (const gsize size[3]);

/* Begins with a new target. @target is denoised; @sigma is the standard
 * deviation of the noise that it had. */
void nd_flow_set_target (NdFlow *motion, const gfloat *target, gdouble sigma);

/* Follows the flow to a volume @offset volumes after the target, or before it
 * if that is negative. @volumes are the volume with noise and the denoised one,
 * from which the flow is estimated. Both are moved to the target, into @moved.
 * Call it for offsets 1, 2, 3 and -1, -2, -3 in these orders, because the flow
 * of an offset begins with that of the one before. */
void nd_flow_move (NdFlow *motion, gint offset, const gfloat *const volumes[2],
    gfloat *const moved[2]);

G_END_DECLS
