/* From volumes to the coefficients of blocks over time, and from the sums over
 * blocks to volumes. cpu/denoisescale.c and denoiseblocks.c do the same on the
 * CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/blocks.cuh"

namespace nd
{

struct TimeTransform
{
  BlockGrid grid;
  int n_time;                     /* 4 or 8 */
  const float *volumes[MAX_TIME]; /* nullptr: a volume of the border value */
  int border;                     /* NdBorder */
  float border_value;
  float *out; /* [z][y][x][t] with the border */
};
void transform_time (const TimeTransform &a, cudaStream_t stream);

struct FinishBlocks
{
  BlockGrid grid;
  BlockTiles tiles;
  const float *tile_sums, *weights; /* of compute_blocks () */

  /* Unless tiles.is_one: the sums over blocks of each volume of the block, to
   * which these blocks are added; the last one is written. nullptr: the volume
   * is not needed. */
  float *sums[MAX_TIME], *sum_weights[MAX_TIME];
  float *out; /* the result, of volume `complete`; nullptr: none */
  int complete;

  /* Instead, the sums are means of each volume that these blocks refine, and
   * copied to results[], unless that is nullptr. Means that are new begin with
   * these blocks. Means of equal volumes keep their bits. */
  bool refines, is_new[MAX_TIME];
  float *results[MAX_TIME];
};
void finish_blocks (const FinishBlocks &a, cudaStream_t stream);

} // namespace nd
