/* One scale of the streaming 4D DCT, of denoisescale.c (the stream and the
 * transform over time) and denoiseblocks.c (the blocks of one position in
 * time).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/denoisescale.h"

G_BEGIN_DECLS

/* The samples of a block beyond an edge. */
#define ND_DENOISE_REACH 3

/* The blocks at positions from (z, y) on, and their sums, which extend into the
 * next slab. */
typedef struct
{
  gsize z, n_z, y, n_y;
  gsize n, length; /* as in NdDenoisePlane */
  gint32 *mask;
  guint8 *partial;
  gfloat *sums;    /* planes of n_sums * length */
  gfloat *weights; /* planes of length */
} NdDenoiseSlab;

struct _NdDenoiseScale
{
  const NdDenoiseKernels *kernels;
  NdDenoiseSchedule schedule;
  NdDenoiseBorders borders;
  gsize size[3], samples;
  gboolean is_flat; /* one plane */
  gdouble gain;     /* of the noise, because of short axes */
  /* Blocks of one volume and coloured noise: the noise of each coefficient, and
   * its power divided by that of the mean. */
  gboolean is_coloured;
  gfloat noise[ND_SHRINK_COEFFICIENTS], powers[ND_SHRINK_COEFFICIENTS];

  guint n_inputs, n_pilots;
  gfloat *inputs, *pilots; /* n_inputs, n_pilots volumes */
  /* n_time volumes each, of stages 1 and 2. With n_blocks those of stage 1 are
   * weighted means, and stage 2 has one volume or, with motion, also means. */
  gfloat *sums[2], *weights[2];
  gfloat *result; /* with motion n_pilots volumes */

  gsize row, stride;    /* floats of a row, of a padded plane */
  gfloat *data, *pilot; /* coefficients over time, padded planes */
  gfloat *constant;     /* coefficients of a plane of the border value */
  gfloat *constant_row;
  gint64 begun[2]; /* with n_blocks: the volumes before it have means */
  /* The volumes that `data` was computed from. */
  gint64 data_from[ND_DENOISE_MAX_TIME];

  NdDenoiseSlab *slabs;
  guint n_slabs;
  gfloat *scratch; /* of each worker */
  gsize scratch_floats;
};

/* The computation of all blocks at one position in time. */
typedef struct
{
  NdDenoiseScale *scale;
  guint stage;
  gboolean one; /* one volume of the blocks: number `slice` */
  guint slice;
  gfloat level[4];
  gfloat levels[ND_SHRINK_COEFFICIENTS]; /* of coloured noise */

  /* The sums of each volume of the block; NULL if the volume is not needed. */
  gfloat *sums[ND_DENOISE_MAX_TIME], *weights[ND_DENOISE_MAX_TIME];
  /* The sums of the volume that is complete, and its result. */
  const gfloat *complete_sum, *complete_weight;
  gfloat *out; /* or NULL */

  /* With n_blocks: the means and the pilots of stage 1 (with motion also those
   * of stage 2), whether they begin with the blocks, and whether the blocks are
   * the first or the last of a result in stage 2. */
  gfloat *means[ND_DENOISE_MAX_TIME], *mean_weights[ND_DENOISE_MAX_TIME];
  gfloat *pilots[ND_DENOISE_MAX_TIME];
  gboolean is_new[ND_DENOISE_MAX_TIME];
  gboolean is_first, is_last;
} NdDenoiseBlockJob;

/* Adds the coefficients of all blocks of @job to the sums of its volumes, and
 * writes the results that are then complete. */
void nd_denoise_scale_compute_blocks (NdDenoiseBlockJob *job);

G_END_DECLS
