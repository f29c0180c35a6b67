/* One scale of the streaming 4D DCT for volumes of one component: a ring of
 * volumes, blocks of which each is computed once, and what they are summed in.
 *
 * Step n is the arrival of volume n; steps continue after the end. Stage 1 of
 * step n completes the pilot of volume n - pilot_latency, stage 2 the result of
 * volume n - latency (see NdDenoiseSchedule). Both are called for all steps in
 * their order, stage 2 of a step after stage 1 of it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"
#include "cpu/denoisekernels.h"
#include "engine/border.h"

G_BEGIN_DECLS

typedef struct
{
  NdBorder border, time_border;
  gfloat border_value;
} NdDenoiseBorders;

typedef struct _NdDenoiseScale NdDenoiseScale;

/* NULL if there is no memory for volumes of @size. */
NdDenoiseScale *nd_denoise_scale_new (const NdDenoiseKernels *kernels,
    const gsize size[3], const NdDenoiseSchedule *schedule);
void nd_denoise_scale_free (NdDenoiseScale *scale);

void nd_denoise_scale_set_borders (NdDenoiseScale *scale,
    const NdDenoiseBorders *borders);

/* Bytes of memory for volumes of @size; 0 if they do not fit in a gsize. */
gsize nd_denoise_scale_bytes (const gsize size[3],
    const NdDenoiseSchedule *schedule);

/* Where volume @position lies, or shall be written: x * y * z floats. It stays
 * until volume @position + latency + 1 is written, and at least 4 volumes. */
gfloat *nd_denoise_scale_input (const NdDenoiseScale *scale, gint64 position);

/* The pilot of volume @position, which may be changed before stage 2. */
gfloat *nd_denoise_scale_pilot (const NdDenoiseScale *scale, gint64 position);

/* @known volumes (or pilots) stand at the beginning of the stream: what lies
 * before them and behind them comes from them. @sigma is the noise's standard
 * deviation. */
void nd_denoise_scale_stage1 (NdDenoiseScale *scale, gint64 step, gint64 known,
    gfloat sigma);

/* The result of volume @step - latency, or NULL if that is below 0. It stays
 * until the next call. */
gfloat *nd_denoise_scale_stage2 (NdDenoiseScale *scale, gint64 step,
    gint64 known, gfloat sigma);

G_END_DECLS
