/* One scale of the streaming 4D DCT for volumes of one component: a ring of
 * volumes, the sums over their blocks, and the computation of blocks, each
 * once.
 *
 * Step n is the arrival of volume n; steps continue after the end of the
 * stream. Stage 1 of step n completes the pilot of volume n - pilot_latency,
 * stage 2 completes the result of volume n - latency (see NdDenoiseSchedule).
 * Call both stages for all steps in order, and stage 2 of a step after its
 * stage 1.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"
#include "analysis/speckle.h"
#include "cpu/denoisekernels.h"
#include "engine/algorithm.h"

G_BEGIN_DECLS

typedef struct _NdDenoiseScale NdDenoiseScale;

/* NULL if there is not enough memory for volumes of @size. */
NdDenoiseScale *nd_denoise_scale_new (const NdDenoiseKernels *kernels,
    const gsize size[3], const NdDenoiseSchedule *schedule);
void nd_denoise_scale_free (NdDenoiseScale *scale);

/* Sets the rules of the borders and begins a new stream. */
void nd_denoise_scale_set_borders (NdDenoiseScale *scale,
    const NdDenoiseBorders *borders);

/* Begins a new stream, whose volumes count from 0 again. */
void nd_denoise_scale_reset (NdDenoiseScale *scale);

/* The bytes of memory for volumes of @size; 0 if a gsize cannot hold the
 * number. */
gsize nd_denoise_scale_bytes (const gsize size[3],
    const NdDenoiseSchedule *schedule);

/* The place of volume @position in the ring, to read or to write: x * y * z
 * floats. It is overwritten after volume @position + latency + 1 is written,
 * and not before 4 later volumes are. */
gfloat *nd_denoise_scale_input (const NdDenoiseScale *scale, gint64 position);

/* The pilot of volume @position. It may be changed before stage 2; with
 * n_blocks, stage 1 of a step writes the pilots of all volumes of its block. */
gfloat *nd_denoise_scale_pilot (const NdDenoiseScale *scale, gint64 position);

/* The result of volume @position with the blocks so far; only with motion.
 * Stage 2 of a step writes the results of all volumes of its block. */
gfloat *nd_denoise_scale_result (const NdDenoiseScale *scale, gint64 position);

/* For blocks of one or 4 volumes (n_time): the standard deviation of the noise
 * of each coefficient, x + 4 y + 16 z, which `sigma` then multiplies. With one
 * volume, that of the mean is the largest one. */
void nd_denoise_scale_set_noise (NdDenoiseScale *scale,
    const gfloat noise[ND_SHRINK_COEFFICIENTS]);

/* The stream has @known volumes (for stage 2: pilots) so far. They decide the
 * border before the first and after the last of them. @sigma is the standard
 * deviation of the noise. */
void nd_denoise_scale_stage1 (NdDenoiseScale *scale, gint64 step, gint64 known,
    gfloat sigma);

/* Returns the result of volume @step - latency, or NULL if that is below 0 or,
 * with motion, always. It is valid until the next call. */
gfloat *nd_denoise_scale_stage2 (NdDenoiseScale *scale, gint64 step,
    gint64 known, gfloat sigma);

G_END_DECLS
