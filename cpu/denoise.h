/* Denoising of a stream on the CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/algorithm.h"

G_BEGIN_DECLS

/* NdAlgorithmFuncs.denoise_new(). */
NdAlgorithm *nd_cpu_denoise_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
    guint64 kept, gint device_id, GError **error);

G_END_DECLS
