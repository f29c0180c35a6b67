/* The flow along which stage 3 of nddenoise moves volumes: constants, and the
 * reference in double precision. docs/algorithms.md has the formulas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Steps of Gauss and Newton on the coarse level, which only the first volume
 * after or before the target has, and on the fine level. */
#define ND_FLOW_COARSE_STEPS 2
#define ND_FLOW_FINE_STEPS 1

/* The structure tensor is regularized by this many sigma^2 of the noise. */
#define ND_FLOW_REGULAR 0.01

/* The largest flow along an axis, in samples per volume. */
#define ND_FLOW_LIMIT 3.0

/* The cells, of 2 x 2 x 2 samples, of a volume of @size. */
void nd_flow_cells (const gsize size[3], gsize cells[3]);

/* Estimates the flow from @target to @other, which is @offset volumes later, at
 * cells of 2 x 2 x 2 samples: x of all cells, then y, then z. @flow is that of
 * the offset closer to 0 before the call, unless @offset is 1 or -1. @sigma is
 * that of the noise before the volumes were denoised. */
void nd_flow_reference (const gsize size[3], const gdouble *target,
    const gdouble *other, gdouble sigma, gint offset, gdouble *flow);

/* Moves @in along @flow to the target. */
void nd_flow_reference_move (const gsize size[3], const gdouble *flow,
    const gdouble *in, gdouble *out);

G_END_DECLS
