/* Denoising of speckle: half of a median over space and time, then the mean of
 * the adaptive filter and of the shrinkage of DCT coefficients, both along
 * space.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"
#include "engine/algorithm.h"

G_BEGIN_DECLS

typedef struct _NdSpeckleFilter NdSpeckleFilter;

/* NULL if there is not enough memory for volumes of @size. */
NdSpeckleFilter *nd_speckle_filter_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const gsize size[3]);
void nd_speckle_filter_free (NdSpeckleFilter *filter);

/* The bytes of memory for volumes of @size; 0 if a gsize cannot hold the
 * number. */
gsize nd_speckle_filter_bytes (const NdDenoiseSettings *settings,
    const gsize size[3]);

/* The place of volume @position, to read or to write: x * y * z floats. It is
 * overwritten when the third volume after it is written. */
gfloat *nd_speckle_filter_input (const NdSpeckleFilter *filter,
    gint64 position);

/* The result of volume @position of a stream that has @known volumes so far,
 * valid until the next call. @strength > 0 multiplies the measured noise. */
gfloat *nd_speckle_filter_run (NdSpeckleFilter *filter, gint64 position,
    gint64 known, gdouble strength);

G_END_DECLS
