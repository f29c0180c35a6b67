/* Denoising of a stream on the processor.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"
#include "cpu/denoisescale.h"
#include "engine/algorithm.h"

G_BEGIN_DECLS

/* A stream of volumes of @shape, each component denoised by itself. Components
 * with their bit in @kept come out as they went in. Outputs have the type of
 * the input. ND_ERROR_MEMORY if the rings do not fit in memory. */
NdAlgorithm *nd_cpu_denoise_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
    guint64 kept, GError **error);

/* Sigma and strength of @settings, from the next output on. */
void nd_cpu_denoise_set_strength (NdAlgorithm *self,
    const NdDenoiseSettings *settings);

/* What the noise's standard deviation was taken for in the last output, without
 * strength; the largest of all components. */
gdouble nd_cpu_denoise_sigma (const NdAlgorithm *self);

/* Bytes of the rings. */
gsize nd_cpu_denoise_bytes (const NdAlgorithm *self);

G_END_DECLS
