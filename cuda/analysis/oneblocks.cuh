/* Tiles of blocks whose sums are those of one volume. A thread computes one
 * position and one coefficient along x: thread (y * 4 + coefficient) * 8 + x.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/blocks.cuh"
#include "cuda/analysis/blockstages.cuh"

namespace nd
{

/* Positions of a tile along y. */
constexpr int ONE_HEIGHT = 8;
constexpr int ONE_ROWS = ONE_HEIGHT + BLOCK_REACH;
constexpr int ONE_THREADS = 32 * ONE_HEIGHT;
constexpr int ONE_AHEAD = 2, ONE_BUFFERS = 2 * ONE_AHEAD;

/* In shared memory. */
struct OneSums
{
  /* Contributions to row y + j of position y: [j][y + j][x coefficient][x]. */
  float along_y[ONE_BUFFERS][4][ONE_ROWS][32];
  /* [y][x coefficient][x + 3] */
  float along_x[ONE_BUFFERS][ONE_ROWS][4][16];
};

/* The last stages of a tile, and its weights, as a thread computes them. Step
 * @k of a slab of @n_z positions uses the buffers @now and @then, of this step
 * and of the one that is ONE_AHEAD later. */
class OneTile
{
public:
  /* For slabs of @depth. Clears @shared; a barrier comes before the steps. */
  __device__ __forceinline__ OneTile (OneSums &shared, const BlockGrid &grid,
      int depth, float *sums, float *weights);

  /* Transforms along x and writes. */
  __device__ __forceinline__ void write (int k, int n_z, int then)
  {
    if (!writes || k < 3 + 2 * ONE_AHEAD || k >= n_z + 6 + 2 * ONE_AHEAD)
      return;
    *out = gather_x (write_from + then * ALONG_X);
    out += ONE_ROWS * 12;
  }

  /* Adds along y. */
  __device__ __forceinline__ void add (int k, int n_z, int now, int then) const
  {
    if (!adds || k < 3 + ONE_AHEAD || k >= n_z + 6 + ONE_AHEAD)
      return;
    const SharedAddress to = add_to + now * ALONG_X;
    const float4 sum = add_rows (add_from + then * 4 * ALONG_Y, ALONG_Y);

    store_shared (to, sum.x);
    store_shared (to + 4, sum.y);
    store_shared (to + 8, sum.z);
    store_shared (to + 12, sum.w);
  }

  /* Returns the weight of a position, and stores it. @n: the part of this
   * thread's coefficients in its inverse. */
  __device__ __forceinline__ float weigh (float n)
  {
    n += __shfl_xor_sync (ALL_LANES, n, 8);
    n += __shfl_xor_sync (ALL_LANES, n, 16);

    const float w = approximate_reciprocal (n);

    if ((threadIdx.x & 31) < 8)
      *weight = w;
    weight += weight_plane;
    return w;
  }

  /* Stores a complete sum along z. */
  __device__ __forceinline__ void store (int k, int n_z, const float *sum,
      int now) const
  {
    if (k >= 3 && k < n_z + 6)
      store_along_y (sum, sum_at + now * 4 * ALONG_Y, ALONG_Y + 32 * 4);
  }

private:
  /* Bytes of a buffer of each row of blocks. */
  static constexpr int ALONG_Y = ONE_ROWS * 32 * 4, ALONG_X = ONE_ROWS * 64 * 4;

  bool adds, writes;
  SharedAddress add_from, add_to, write_from, sum_at;
  float *out, *weight;
  size_t weight_plane;
};

__device__ __forceinline__
OneTile::OneTile (OneSums &shared, const BlockGrid &grid, int depth,
    float *sums, float *weights)
{
  const int tid = threadIdx.x, lane = tid & 31, y = tid >> 5;

  for (int i = tid; i < int (sizeof (OneSums) / 4); i += ONE_THREADS)
    (&shared.along_y[0][0][0][0])[i] = 0;

  /* 4 values of 88 threads. */
  adds = tid < ONE_ROWS * 8;
  const int from = adds ? tid : 0;

  add_from =
      shared_address ((const float4 *) &shared.along_y[0][0][0][0] + from);
  add_to = shared_address (&shared.along_x[0][from >> 3][(from & 7) >> 1]
                                          [(from & 1) * 4 + 3]);
  /* 121 of the upper 128 threads. */
  const int writer = tid - ONE_THREADS / 2;

  writes = writer >= 0 && writer < ONE_ROWS * 11;
  const int at = writes ? writer : 0;

  write_from = shared_address (&shared.along_x[0][at / 11][0][at % 11 + 3]);
  out = sums
      + ((size_t) (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x
            + blockIdx.x)
          * (depth + BLOCK_REACH) * ONE_ROWS * 12
      + at / 11 * 12 + at % 11;
  sum_at = shared_address (&shared.along_y[0][0][y][lane]);
  weight = weights
      + ((size_t) blockIdx.z * depth * grid.weight_height
            + blockIdx.y * ONE_HEIGHT + y)
          * grid.weight_width
      + blockIdx.x * TILE_WIDTH + (lane & 7);
  weight_plane = (size_t) grid.weight_height * grid.weight_width;
}

} // namespace nd
