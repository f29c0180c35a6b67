/* Adaptive filtering of a stream of volumes of one component.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/adaptive.h"
#include "cpu/denoisescale.h"

G_BEGIN_DECLS

typedef struct _NdAdaptiveFilter NdAdaptiveFilter;

/* NULL if there is not enough memory for volumes of @size. */
NdAdaptiveFilter *nd_adaptive_filter_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const gsize size[3]);
void nd_adaptive_filter_free (NdAdaptiveFilter *filter);

/* The bytes of memory for volumes of @size; 0 if a gsize cannot hold the
 * number. */
gsize nd_adaptive_filter_bytes (const NdDenoiseSettings *settings,
    const gsize size[3]);

/* The place of volume @position, to read or to write: x * y * z floats. It is
 * overwritten when volume @position + ND_ADAPTIVE_TIMES is written or, if only
 * space is filtered, when the next volume is written. */
gfloat *nd_adaptive_filter_input (const NdAdaptiveFilter *filter,
    gint64 position);

/* Adds volume @position, which nd_adaptive_filter_input() returned and the
 * caller has written. */
void nd_adaptive_filter_push (NdAdaptiveFilter *filter, gint64 position);

/* The result of volume @position of a stream that has @known volumes so far,
 * valid until the next call. @sigma > 0 is the standard deviation of the
 * noise. */
gfloat *nd_adaptive_filter_run (NdAdaptiveFilter *filter, gint64 position,
    gint64 known, gdouble sigma);

G_END_DECLS
