/* Transforms along z for blocks of 32 x 32 x 32 samples, of which planes 2 z
 * and 2 z + 1 are the real and the imaginary part of a complex plane
 * (cuda/fft/volumelean.cu, cuda/fft/volumebank.cu). A warp whose two planes
 * have no valid output then takes no part in the last transforms along x and y.
 * Spectra are those of cuda/fft/volumekernels.cu, in whose kernels this order
 * is slower.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/volumecolumns.cuh"

namespace nd
{

/* Computes twice the column of 32 planes. STRIDE: numbers from plane to
 * plane. */
template <int STRIDE>
__device__ __forceinline__ void
load_column (const float2 *shared, const Column &c, float2 (&v)[BLOCK])
{
#pragma unroll
  for (int z = 0; z < PLANES; z++) {
    const float2 p = shared[z * STRIDE + c.at];
    const float2 q = shared[z * STRIDE + c.mirror];

    v[2 * z] = make_float2 (p.x + q.x, p.y - q.y);
    v[2 * z + 1] = make_float2 (p.y + q.y, q.x - p.x);
  }
  if (c.real) {
#pragma unroll
    for (int z = 0; z < PLANES; z++) {
      const float2 p = shared[z * STRIDE + c.at];
      const float2 q = shared[z * STRIDE + c.mirror];

      v[2 * z] = make_float2 (2 * p.x, 2 * q.x);
      v[2 * z + 1] = make_float2 (2 * p.y, 2 * q.y);
    }
  }
}

/* Transforms a column along z. If the thread has two real columns with spectra
 * F and G, number 0 is the pair of F(0) and F(16), which are real, numbers 1 to
 * 15 are F(1) to F(15), number 16 is the pair of G(0) and G(16), and numbers 17
 * to 31 are G(15) to G(1). */
__device__ __forceinline__ void
transform_column (const Column &c, float2 (&v)[BLOCK])
{
  transform32<false> (v);
  if (c.real)
    split_real_columns (v);
}

/* Both. */
template <int STRIDE>
__device__ __forceinline__ void
transform_column (const float2 *shared, const Column &c, float2 (&v)[BLOCK])
{
  load_column<STRIDE> (shared, c, v);
  transform_column (c, v);
}

/* The inverse of transform_column (), of the first @planes complex planes.
 * WAIT: first waits until all warps have read @shared. */
template <int STRIDE, bool WAIT>
__device__ __forceinline__ void
restore_column (float2 *shared, const Column &c, int planes, float2 (&v)[BLOCK])
{
  if (c.real)
    join_real_columns (v);
  transform32<true> (v);
  if (WAIT)
    __syncthreads ();
#pragma unroll
  for (int z = 0; z < PLANES; z++) {
    const float2 p = v[2 * z], q = v[2 * z + 1];
    float2 *const plane = shared + z * STRIDE;

    if (z >= planes)
      break;
    plane[c.at] = make_float2 (p.x - q.y, p.y + q.x);
    plane[c.mirror] = make_float2 (p.x + q.y, q.x - p.y);
  }
  if (c.real) {
#pragma unroll
    for (int z = 0; z < PLANES; z++) {
      float2 *const plane = shared + z * STRIDE;

      plane[c.at] = make_float2 (v[2 * z].x, v[2 * z + 1].x);
      plane[c.mirror] = make_float2 (v[2 * z].y, v[2 * z + 1].y);
    }
  }
}

/* The thread's columns along y. */
__device__ __forceinline__ Columns
columns_of (const Corner &at)
{
  const int plane = threadIdx.x / 32;

  return Columns{ at, at, 2 * plane, 2 * plane + 1 };
}

} // namespace nd
