/* Shrinkage of DCT coefficients with measured noise on the device:
 * nd_shrink_reference () for one volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/speckle.h"
#include "cuda/analysis/blocks.cuh"
#include "cuda/memory.h"
#include "engine/algorithm.h"

namespace nd
{

/* The levels of coefficients without norms. The coefficient (x, y, z) is at
 * 16 x + 4 y + z. */
struct ShrinkLevels
{
  float thresholds[ND_SHRINK_COEFFICIENTS]; /* set to 0 up to it; stage 1 */
  float wiener[ND_SHRINK_COEFFICIENTS];     /* power of the noise; stage 2 */
  float powers[ND_SHRINK_COEFFICIENTS];     /* their part of the weight */
  int has_noise;
};

/* The blocks in which the noise is measured. */
struct ShrinkMeasurement
{
  const float *volume;
  const unsigned *least; /* find_least () */
  int size[3];
  int border; /* NdBorder */
  float border_value;
  int blocks[3], step; /* nd_shrink_grid () */
  float *magnitudes;   /* n_coefficients () of n_blocks () */
  float *quantiles;    /* ND_SHRINK_COEFFICIENTS */
  double strength;
  ShrinkLevels *levels;

  __host__ __device__ int n_coefficients () const
  {
    return size[2] > 1 ? ND_SHRINK_COEFFICIENTS : ND_SHRINK_COEFFICIENTS / 4;
  }
  __host__ __device__ int n_blocks () const
  {
    return blocks[0] * blocks[1] * blocks[2];
  }
};

/* Writes the levels. */
void measure_levels (const ShrinkMeasurement &a, cudaStream_t stream);

struct ShrinkArguments
{
  BlockGrid grid;
  BlockTiles tiles;
  const float *volume, *pilot; /* nullptr: stage 1 */
  int border;                  /* NdBorder */
  float border_value;
  const ShrinkLevels *levels;
  float *sums;    /* as in DenoiseArguments */
  float *weights; /* as in DenoiseArguments */
};

/* Shrinks the coefficients of all blocks and sums the results. */
void shrink_blocks (const ShrinkArguments &a, cudaStream_t stream);

class Shrink
{
public:
  Shrink (const size_t size[3], const NdDenoiseBorders &borders);

  size_t bytes () const;
  void allocate ();

  /* Enqueues the shrinkage of @volume, whose least sample find_least () has
   * found. */
  void run (const float *volume, const unsigned *least, double strength,
      cudaStream_t stream);

  /* Replaces @volume by the mean of it and of the last result, if there was
   * noise. */
  void add_to (float *volume, cudaStream_t stream);

private:
  const NdDenoiseBorders borders;
  int size[3];
  BlockGrid grid;
  BlockTiles tiles;
  ShrinkMeasurement measurement = {};
  Memory<float> magnitudes, quantiles, sums, weights, result;
  Memory<ShrinkLevels> levels;
};

} // namespace nd
