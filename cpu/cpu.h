/* The CPU back end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/algorithm.h"
#include "engine/backend.h"
#include "view/scene.h"

G_BEGIN_DECLS

extern const NdBackend nd_cpu_backend;

/* NdAlgorithmFuncs.denoise_new(). */
NdAlgorithm *nd_cpu_noise_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
    guint64 kept, gint device_id, GError **error);

/* The same for noise that does not depend on the value, and for speckle. */
NdAlgorithm *nd_cpu_denoise_new (const NdDenoiseSettings *settings,
    const NdDenoiseBorders *borders, const NdShape *shape, NdSampleType type,
    guint64 kept, gint device_id, GError **error);

/* With method=transform, and blocks of 4 volumes: @spectrum, which `sigma` of
 * the settings multiplies, is that of the noise of all components. */
void nd_cpu_denoise_set_spectrum (NdAlgorithm *algorithm,
    const NdNoiseSpectrum *spectrum);

/* NdAlgorithmFuncs.structure_new(). */
NdAlgorithm *nd_cpu_structure_new (const NdStructureSettings *settings,
    const NdShape *shape, gint device_id, GError **error);

/* NdAlgorithmFuncs.rank_new(). */
NdAlgorithm *nd_cpu_rank_new (const NdRankOptions *options,
    const NdShape *shape, NdSampleType type, guint64 kept, gint device_id,
    GError **error);

/* NdAlgorithmFuncs.register_new(). */
NdAlgorithm *nd_cpu_register_new (const NdRegisterOptions *options,
    const NdShape *shapes, guint n_planes, NdSampleType type,
    const gdouble spacing[3], gint device_id, GError **error);

/* NdAlgorithmFuncs.scan_new(). */
NdAlgorithm *nd_cpu_scan_new (const NdScan *scan, NdSampleType type,
    gint device_id, GError **error);

/* NdAlgorithmFuncs.bmode_new(). */
NdAlgorithm *nd_cpu_bmode_new (const NdBmode *bmode, NdSampleType type,
    NdSampleType out_type, gint device_id, GError **error);

/* NdAlgorithmFuncs.deconvolve_new(). */
NdAlgorithm *nd_cpu_deconvolve_new (const NdDeconvolveOptions *options,
    const NdBank *psf, const NdShape *shape, NdSampleType type, guint64 kept,
    gint device_id, GError **error);

/* Scenes on the CPU. */
extern const NdSceneFuncs nd_cpu_scenes;

G_END_DECLS
