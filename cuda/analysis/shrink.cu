/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/shrink.h"

#include "cuda/analysis/blockvolumes.cuh"
#include "cuda/launch.cuh"
#include "cuda/rounding.h"

#include <algorithm>
#include <climits>

namespace nd
{

namespace
{

constexpr int THREADS = 256;

struct Mean
{
  float *volume;
  const float *shrunk;
  size_t n;
  const ShrinkLevels *levels;
};

__global__ void __launch_bounds__ (THREADS)
shrink_mean_kernel (const __grid_constant__ Mean a)
{
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (!a.levels->has_noise)
    return;
  for (size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x; i < a.n;
       i += (size_t) gridDim.x * THREADS)
    a.volume[i] = (a.volume[i] + a.shrunk[i]) / 2;
}

} // namespace

Shrink::Shrink (const size_t sizes[3], const NdDenoiseBorders &borders)
    : borders (borders)
{
  size_t samples = 1, blocks[3], step;

  nd_shrink_grid (sizes, blocks, &step);
  for (int a = 0; a < 3; a++) {
    size[a] = measurement.size[a] = (int) sizes[a];
    measurement.blocks[a] = (int) blocks[a];
    samples = multiply (samples, sizes[a]);
  }
  measurement.step = (int) step;
  measurement.border = borders.border;
  measurement.border_value = borders.border_value;
  grid = make_block_grid (size);
  tiles = choose_block_tiles (grid, 4, true);
  magnitudes.plan ((size_t) measurement.n_coefficients ()
      * measurement.n_blocks ());
  quantiles.plan (ND_SHRINK_COEFFICIENTS);
  levels.plan (1);
  sums.plan (tiles.floats (grid));
  weights.plan (multiply (multiply (grid.weight_width, grid.weight_height),
      grid.positions[2]));
  result.plan (samples);
}

size_t
Shrink::bytes () const
{
  return total_bytes (magnitudes, quantiles, levels, sums, weights, result);
}

void
Shrink::allocate ()
{
  allocate_all (magnitudes, quantiles, levels, sums, weights, result);
  measurement.magnitudes = magnitudes.get ();
  measurement.quantiles = quantiles.get ();
  measurement.levels = levels.get ();
}

void
Shrink::run (const float *volume, const unsigned *least, double strength,
    cudaStream_t stream)
{
  ShrinkArguments blocks = { grid, tiles, volume, nullptr, borders.border,
    borders.border_value, levels.get (), sums.get (), weights.get () };
  FinishBlocks finish = {};

  measurement.volume = volume;
  measurement.least = least;
  measurement.strength = strength;
  measure_levels (measurement, stream);
  finish.grid = grid;
  finish.tiles = tiles;
  finish.tile_sums = sums.get ();
  finish.weights = weights.get ();
  finish.out = result.get ();
  for (int pass = 0; pass <= ND_SHRINK_PASSES; pass++) {
    blocks.pilot = pass > 0 ? result.get () : nullptr;
    shrink_blocks (blocks, stream);
    finish_blocks (finish, stream);
  }
}

void
Shrink::add_to (float *volume, cudaStream_t stream)
{
  const Mean a = { volume, result.get (), result.count (), levels.get () };

  launch_early (shrink_mean_kernel,
      dim3 ((unsigned) std::min<size_t> (divide_up (a.n, THREADS), INT_MAX)),
      dim3 (THREADS), 0, stream, a);
}

} // namespace nd
