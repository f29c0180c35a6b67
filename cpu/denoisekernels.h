/* Inner loops of the sliding 4D DCT, compiled once for each instruction set.
 *
 * A block has 4 samples along x and y, 4 or 1 along z, and 1, 4 or 8 along
 * time. The transform over time comes first and is orthonormal. Along the other
 * axes coefficients are stored without their norms, which are 1/2 for an even
 * index and ND_DCT_ODD for an odd one. With m odd indices among x, y and z, the
 * orthonormal coefficient is 2^-axes (2 ND_DCT_ODD)^m times the stored one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_DCT_ODD 0.65328148243818826 /* cos (pi / 8) / sqrt (2) */
#define ND_DENOISE_CHUNK 64            /* positions computed together */
#define ND_DENOISE_MAX_TIME 8

/* The blocks at all positions of one plane z. Positions are counted along rows
 * of `row` floats: block p covers p + x + y * row. */
typedef struct
{
  gsize row;          /* at least 16 */
  gsize n;            /* positions, a multiple of ND_DENOISE_CHUNK */
  gsize length;       /* floats of a plane: n + 3 * row, and one chunk */
  guint n_z;          /* 4, or 1 for blocks of one plane */
  guint n_time;       /* 4 or 8, or 1 for blocks of one volume */
  const gint32 *mask; /* of each position: -1 if it has a block, otherwise 0 */
  const guint8 *partial; /* of every 4 positions: TRUE if one has mask 0 */

  /* Coefficients over time of plane z + i, `stride` floats apart. */
  const gfloat *data[4];
  const gfloat *pilot[4]; /* stage 2 */
  gsize stride;

  /* For 0 to 3 odd indices. Stage 1: the largest magnitude that is set to 0.
   * Stage 2: the power of the noise, times ND_DENOISE_WIENER. */
  gfloat level[4];

  /* Blocks of one volume, and others if the noise is coloured, have a level for
   * each coefficient along space, and the power of its noise, which the weights
   * of blocks count. */
  gboolean is_coloured;
  const gfloat *levels, *powers;

  /* Only one volume of the block is computed: its factor of each coefficient
   * over time. */
  gfloat slice[ND_DENOISE_MAX_TIME];

  /* The sums over blocks of plane z + i, with `sum_stride` floats between
   * coefficients over time (one coefficient if only one volume is computed).
   * The last plane of a block is written, the others are added to. */
  gfloat *sum[4];
  gsize sum_stride;
  gfloat *weights[4];

  gfloat *scratch; /* scratch_floats () */
} NdDenoisePlane;

typedef struct
{
  gsize (*scratch_floats) (const NdDenoisePlane *plane);

  /* Stage 1 has a hard threshold, stage 2 a Wiener filter with the pilot. They
   * compute one volume of the block, or the coefficients over time of all. */
  void (*threshold_one) (const NdDenoisePlane *plane);
  void (*threshold_all) (const NdDenoisePlane *plane);
  void (*wiener_one) (const NdDenoisePlane *plane);
  void (*wiener_all) (const NdDenoisePlane *plane);

  /* The orthonormal DCT of @n_time rows of @n samples. For equal rows all
   * coefficients but the first are exactly 0. */
  void (*time_forward) (guint n_time, const gfloat *const *in,
      gfloat *const *out, gsize n);

  /* Transforms sums from coefficients back to volumes, multiplies them by
   * @gain, and adds them to @sums. Adds @in_weights to @weights. If sums[j] is
   * NULL, volume j is not needed. The last volume is written instead of added
   * to. */
  void (*time_inverse) (guint n_time, const gfloat *const *in,
      const gfloat *in_weights, gfloat gain, gfloat *const *sums,
      gfloat *const *weights, gsize n);

  /* Adds @sum / @in_weight, the result of one block, to the weighted @mean of
   * those before. A mean of equal results keeps their bits. */
  void (*refine) (const gfloat *sum, const gfloat *in_weight, gfloat *mean,
      gfloat *weight, gsize n);

  /* to = a + b, or a if @b is NULL. out = gain * sum / weight. */
  void (*add) (const gfloat *a, const gfloat *b, gfloat *to, gsize n);
  void (*divide) (const gfloat *sum, const gfloat *weight, gfloat gain,
      gfloat *out, gsize n);
} NdDenoiseKernels;

/* The kernels for the instruction set that nd_kernels() chooses. */
const NdDenoiseKernels *nd_denoise_kernels (void);

G_END_DECLS
