/* Inner loops of the sliding 4D DCT, compiled once for each instruction set.
 *
 * A block has 4 samples along x and y, 4 or 1 along z, and 4 or 8 along time.
 * The transform over time is orthonormal and done before. Along the other axes
 * coefficients are kept without their norms: an even one has to be multiplied
 * by 1/2, an odd one by ND_DCT_ODD. With m odd indices among x, y and z, the
 * orthonormal coefficient is 2^-axes (2 ND_DCT_ODD)^m times the one kept.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_DCT_ODD 0.65328148243818826 /* cos (pi / 8) / sqrt (2) */
#define ND_DENOISE_CHUNK 64            /* positions in flight */
#define ND_DENOISE_MAX_TIME 8

/* Blocks at all positions of one plane z. Positions are counted along rows of
 * `row` floats: block p covers p + x + y * row. */
typedef struct
{
  gsize row;          /* at least 16 */
  gsize n;            /* positions, a multiple of ND_DENOISE_CHUNK */
  gsize length;       /* floats of a plane: n + 3 * row, and one chunk */
  guint n_z;          /* 4, or 1 for blocks of one plane */
  guint n_time;       /* 4 or 8 */
  const gint32 *mask; /* -1 where a position is one of a block, 0 elsewhere */
  const guint8 *partial; /* TRUE for every 4 positions if one has mask 0 */

  /* Coefficients over time of plane z + i, `stride` floats apart. */
  const gfloat *data[4];
  const gfloat *pilot[4]; /* stage 2 */
  gsize stride;

  /* Stage 1: the largest magnitude that is set to 0, stage 2: the noise's part
   * of the power; for 0 to 3 odd indices. */
  gfloat level[4];
  gfloat slice[ND_DENOISE_MAX_TIME]; /* of each coefficient over time, if one
                                       * volume of the block is wanted */

  /* Sums over blocks of plane z + i, `sum_stride` floats between coefficients
   * over time (one if only one volume is wanted). The last plane that a block
   * reaches is written, the others are added to. */
  gfloat *sum[4];
  gsize sum_stride;
  gfloat *weights[4];

  gfloat *scratch; /* scratch_floats () */
} NdDenoisePlane;

typedef struct
{
  const gchar *name; /* as NdKernels' */

  gsize (*scratch_floats) (const NdDenoisePlane *plane);

  /* Stage 1, hard threshold; stage 2, Wiener with the pilot. One volume of the
   * block, or the coefficients over time of all. */
  void (*threshold_one) (const NdDenoisePlane *plane);
  void (*threshold_all) (const NdDenoisePlane *plane);
  void (*wiener_one) (const NdDenoisePlane *plane);
  void (*wiener_all) (const NdDenoisePlane *plane);

  /* Orthonormal DCT of @n_time rows of @n samples. Equal rows give exactly 0
   * but for the first. */
  void (*time_forward) (guint n_time, const gfloat *const *in,
      gfloat *const *out, gsize n);

  /* Brings sums back from coefficients to volumes, with @gain, and adds them.
   * @weights too. Where @sums[j] is NULL, volume j is not wanted; the last is
   * written, not added to. */
  void (*time_inverse) (guint n_time, const gfloat *const *in,
      const gfloat *in_weights, gfloat gain, gfloat *const *sums,
      gfloat *const *weights, gsize n);

  /* to = (a + b), @b may be NULL; out = gain * sum / weight. */
  void (*add) (const gfloat *a, const gfloat *b, gfloat *to, gsize n);
  void (*divide) (const gfloat *sum, const gfloat *weight, gfloat gain,
      gfloat *out, gsize n);
} NdDenoiseKernels;

/* Those of the instruction set that nd_kernels() chooses. */
const NdDenoiseKernels *nd_denoise_kernels (void);

/* All that this processor can run, NULL at the end. */
const NdDenoiseKernels *const *nd_denoise_kernels_all (void);

G_END_DECLS
