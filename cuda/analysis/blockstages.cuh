/* Parts of the kernels that compute blocks.
 *
 * The planes of a slab go through stages, each AHEAD steps after the one before
 * it, with one barrier every AHEAD steps. Stages exchange planes by 2 AHEAD
 * buffers. At step k:
 *   plane k + AHEAD is loaded and transformed along x;
 *   plane k is transformed along y; from k = 3 on, the blocks of position k - 3
 *     are transformed along z and shrunk, and the sums of plane k - 3 along z
 *     are complete and are transformed along y;
 *   the sums of plane k - 3 - AHEAD are added along y;
 *   the sums of plane k - 3 - 2 AHEAD are transformed along x and written.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/approximate.cuh"
#include "cuda/analysis/sharedaccess.cuh"
#include "cuda/analysis/transform4.cuh"

namespace nd
{

constexpr unsigned ALL_LANES = 0xffffffffu;

/* Floats between rows of coefficients in shared memory, which avoid bank
 * conflicts. */
constexpr int ROW_PADDING = 8;

/* Transforms the coefficients of a block back along z, times @weight, and adds
 * them to the sums of its four planes. Plane 3 is new. @c: [along y * 4 + along
 * z]; step @s of four. */
__device__ __forceinline__ void
add_along_z (const float *c, float weight, int s, float (*sums)[4])
{
  const float outer = weight * OUTER, inner = weight * INNER;

#pragma unroll
  for (int yc = 0; yc < 4; yc++) {
    float o[4];

    inverse4 (c[yc * 4], c[yc * 4 + 1], c[yc * 4 + 2], c[yc * 4 + 3], o);
    sums[(s + 1) & 3][yc] = fmaf (outer, o[0], sums[(s + 1) & 3][yc]);
    sums[(s + 2) & 3][yc] = fmaf (inner, o[1], sums[(s + 2) & 3][yc]);
    sums[(s + 3) & 3][yc] = fmaf (inner, o[2], sums[(s + 3) & 3][yc]);
    sums[s][yc] = outer * o[3];
  }
}

/* Transforms a complete sum back along y, and stores its parts of four rows,
 * @pitch bytes apart. */
__device__ __forceinline__ void
store_along_y (const float *sum, SharedAddress to, int pitch)
{
  float o[4];

  inverse4_window (sum[0], sum[1], sum[2], sum[3], o);
#pragma unroll
  for (int j = 0; j < 4; j++)
    store_shared (to + j * pitch, o[j]);
}

/* The sum of four values of @pitch bytes apart, each of four floats. */
__device__ __forceinline__ float4
add_rows (SharedAddress from, int pitch)
{
  const float4 p = load_shared4 (from), q = load_shared4 (from + pitch);
  const float4 r = load_shared4 (from + 2 * pitch);
  const float4 u = load_shared4 (from + 3 * pitch);

  return make_float4 ((p.x + q.x) + (r.x + u.x), (p.y + q.y) + (r.y + u.y),
      (p.z + q.z) + (r.z + u.z), (p.w + q.w) + (r.w + u.w));
}

/* Transforms a row back along x: the sample at @c. */
__device__ __forceinline__ float
gather_x (SharedAddress c)
{
  float sum = 0;

#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int k = 0; k < 4; k++)
      sum =
          fmaf (inverse4_factor (k, i), load_shared (c + 64 * k - 4 * i), sum);
  }
  return sum;
}

} // namespace nd
