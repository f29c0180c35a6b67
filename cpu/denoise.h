/* Denoising of a stream on the CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"
#include "cpu/denoisescale.h"
#include "engine/algorithm.h"

G_BEGIN_DECLS

/* Denoises a stream of volumes of @shape, each component by itself. Components
 * whose bit is set in @kept pass unchanged. Outputs have the type of the input.
 * ND_ERROR_MEMORY if the rings do not fit in memory. */
NdAlgorithm *nd_cpu_denoise_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
    guint64 kept, GError **error);

/* Uses sigma and strength of @settings from the next output on. */
void nd_cpu_denoise_set_strength (NdAlgorithm *self,
    const NdDenoiseSettings *settings);

/* The standard deviation of the noise, given or estimated, that the last output
 * was computed with, without the strength: the largest of all components. */
gdouble nd_cpu_denoise_sigma (const NdAlgorithm *self);

/* The bytes of the rings. */
gsize nd_cpu_denoise_bytes (const NdAlgorithm *self);

G_END_DECLS
