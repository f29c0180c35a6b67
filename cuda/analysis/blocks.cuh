/* The blocks of the sliding 4D DCT on the device: 4 x 4 x 4 samples of 4 or 8
 * volumes, at every position. cpu/denoisekernels.h describes the stages and the
 * scales of coefficients; here the transform over 4 volumes has no norms
 * either.
 *
 * A tile of positions marches along z. Its threads load a plane of coefficients
 * over time, transform it along x into shared memory, along y from there, and
 * along z from a ring in registers. The inverse takes the same steps in
 * reverse. Each tile writes its own sums, so that results are the same in every
 * run; finish_blocks () adds those that overlap.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"

namespace nd
{

/* Samples that a block reaches beyond its position. */
constexpr int BLOCK_REACH = 3;
/* Positions of a tile along x. */
constexpr int TILE_WIDTH = 8;
/* The most volumes of a block. */
constexpr int MAX_TIME = 8;

/* The sizes of one scale. */
struct BlockGrid
{
  int size[3];              /* of a volume */
  int positions[3];         /* of blocks */
  int width, height, depth; /* of coefficients over time, with the border */
  int weight_width, weight_height; /* of the weights of all positions */
  int tiles_x;
};

BlockGrid make_block_grid (const int size[3]);

/* How the positions of one stage are divided. */
struct BlockTiles
{
  int height; /* positions of a tile along y */
  int depth;  /* and along z */
  int tiles_y, tiles_z;
  int n_time;  /* volumes of a block: 4 or 8 */
  bool is_one; /* the tiles hold one volume, not coefficients over time */

  /* The floats of a row of sums of a tile: 11 samples, padded, of 1 or
   * n_time. */
  int row () const { return is_one ? 12 : 11 * n_time; }
  size_t floats (const BlockGrid &grid) const
  {
    return (size_t) tiles_z * tiles_y * grid.tiles_x * (depth + BLOCK_REACH)
        * (height + BLOCK_REACH) * row ();
  }
};

struct DenoiseArguments
{
  BlockGrid grid;
  BlockTiles tiles;
  const float *data;  /* coefficients over time, [z][y][x][t] */
  const float *pilot; /* of the pilot; nullptr: stage 1 */
  float *sums;        /* BlockTiles::floats () */
  float *weights;     /* [z][y][x] of all positions */
  /* For 0 to 4 odd indices, of 8 volumes 0 to 3 without that over time: see
   * NdDenoisePlane. */
  float level[5];
};

/* The tiles of a stage on the current device. @one: of the last of 4 volumes of
 * blocks only, which stage 1 can do. */
BlockTiles choose_block_tiles (const BlockGrid &grid, int n_time, bool one);

/* Shrinks the coefficients of all blocks and sums the results. */
void compute_blocks (const DenoiseArguments &a, cudaStream_t stream);

} // namespace nd
