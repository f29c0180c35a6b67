/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/blockkernels.cuh"
#include "cuda/analysis/oneblocks.cuh"
#include "cuda/device.h"
#include "cuda/rounding.h"

#include <algorithm>
#include <cmath>

namespace nd
{

BlockGrid
make_block_grid (const int size[3])
{
  BlockGrid grid = {};

  for (int a = 0; a < 3; a++) {
    grid.size[a] = size[a];
    grid.positions[a] = size[a] + BLOCK_REACH;
  }
  grid.tiles_x = divide_up (grid.positions[0], TILE_WIDTH);
  /* One more, so that rows are aligned. */
  grid.width = grid.tiles_x * TILE_WIDTH + BLOCK_REACH + 1;
  /* Tiles read whole rows. */
  grid.height = round_up (grid.positions[1], ONE_HEIGHT) + BLOCK_REACH;
  grid.depth = grid.positions[2] + BLOCK_REACH;
  grid.weight_width = grid.tiles_x * TILE_WIDTH;
  grid.weight_height = grid.height;
  return grid;
}

/* Slabs that fill the multiprocessors, which also have the coarse scale to
 * compute: an eighth more. Each slab costs 8 more steps than it has positions
 * along z. */
BlockTiles
choose_block_tiles (const BlockGrid &grid, int n_time, bool one)
{
  const AllTiles all = choose_all_tiles (n_time);
  const int at_once = device_attribute (cudaDevAttrMultiProcessorCount)
      * (one ? 2 : all.resident);
  const int n = grid.positions[2];
  BlockTiles tiles = {};
  double least = INFINITY;

  tiles.n_time = n_time;
  tiles.is_one = one;
  tiles.height = one ? ONE_HEIGHT : all.height;
  tiles.tiles_y = divide_up (grid.positions[1], tiles.height);
  tiles.depth = n;
  for (int slabs = 1; slabs <= std::max (1, n / 4); slabs++) {
    const int depth = divide_up (n, slabs);
    const double waves =
        (double) grid.tiles_x * tiles.tiles_y * divide_up (n, depth) / at_once;
    const double cost =
        std::max (std::ceil (waves), 1.125 * waves) * (depth + 8);

    if (cost < .999 * least) {
      least = cost;
      tiles.depth = depth;
    }
  }
  tiles.tiles_z = divide_up (n, tiles.depth);
  return tiles;
}

void
compute_blocks (const DenoiseArguments &a, cudaStream_t stream)
{
  if (a.tiles.is_one)
    compute_one_blocks (a, stream);
  else
    compute_all_blocks (a, stream);
}

} // namespace nd
