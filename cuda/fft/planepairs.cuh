/* How a warp computes two flat blocks of 32 x 32 samples
 * (cuda/fft/planekernels.cu, cuda/fft/planebank.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/blockkernels.cuh"

namespace nd
{

constexpr int WARPS = 4;
constexpr size_t SHARED = sizeof (float2) * WARPS * BLOCK * PITCH;
constexpr size_t NUMBERS = BLOCK * BLOCK; /* of a spectrum */

/* The two blocks of a warp. */
struct Pair
{
  size_t index; /* among all pairs */
  Columns columns;
  bool is_one; /* the second block does not exist */
};

/* Finds the pair of this warp, if it belongs to the @unit-th WARPS pairs.
 * Returns false if there is none. */
__device__ __forceinline__ bool
find_pair (const Blocks &b, int unit, Pair *pair)
{
  const int count = b.count[0] * b.count[1] * b.count[2];
  const int i = 2 * (unit * WARPS + threadIdx.x / 32);

  if (i >= count)
    return false;
  pair->index = i / 2;
  pair->is_one = i + 1 == count;
  pair->columns = Columns{ corner_of (b, i),
    corner_of (b, pair->is_one ? i : i + 1), 0, 0 };
  if (pair->is_one)
    pair->columns.plane[1] = b.outputs[2]; /* reads and stores nothing */
  return true;
}

__device__ __forceinline__ float2 *
shared_plane ()
{
  extern __shared__ float2 planes[];

  return planes + threadIdx.x / 32 * BLOCK * PITCH;
}

} // namespace nd
