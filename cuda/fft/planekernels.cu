/* Kernels for flat blocks of 32 x 32 samples. A warp computes two blocks at a
 * time, one as the real part and the other as the imaginary part of complex
 * numbers. Filters are real and do not mix the two.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/planepairs.cuh"
#include "cuda/fft/windowlevels.cuh"

namespace nd
{

namespace
{

template <typename T>
__device__ __forceinline__ float2
transform_pair (const BlockArguments &a, const Pair &pair, float2 (&v)[BLOCK])
{
  float2 level = make_float2 (0, 0);

  if (a.levels) {
    level.x = block_level<T> (a.blocks, a.in, pair.columns.at[0], 1);
    level.y = block_level<T> (a.blocks, a.in, pair.columns.at[1], 1);
  }
  transform_columns<T, false> (a, pair.columns, level.x, level.y, v);
  transform_plane (shared_plane (), v);
  return level;
}

__device__ __forceinline__ void
restore_pair (const BlockArguments &a, const Pair &pair, float2 level,
    float2 (&v)[BLOCK])
{
  restore_plane (shared_plane (), v);
  store_columns (a, pair.columns, level.x, level.y, v);
}

template <typename T>
__global__ void __launch_bounds__ (32 * WARPS, 4)
fft_flat_filter_kernel (const __grid_constant__ BlockArguments a)
{
  const float2 *const filter = a.filter + threadIdx.x % 32;
  const float sum = a.filter_sums[0];
  float2 v[BLOCK];
  Pair pair;

  if (!find_pair (a.blocks, blockIdx.x, &pair))
    return;
  const float2 level = transform_pair<T> (a, pair, v);

#pragma unroll
  for (int k = 0; k < BLOCK; k++)
    v[k] = multiply_number (make_float2 (0, 0), v[k],
        __ldg (filter + k * BLOCK), false);
  restore_pair (a, pair, make_float2 (sum * level.x, sum * level.y), v);
}

template <typename T>
__global__ void __launch_bounds__ (32 * WARPS, 4)
fft_flat_push_kernel (const __grid_constant__ BlockArguments a)
{
  float2 v[BLOCK];
  Pair pair;

  if (!find_pair (a.blocks, blockIdx.x, &pair))
    return;
  const float2 level = transform_pair<T> (a, pair, v);
  float2 *const out = a.spectra + pair.index * NUMBERS + threadIdx.x % 32;

#pragma unroll
  for (int k = 0; k < BLOCK; k++)
    out[k * BLOCK] = v[k];
  if (threadIdx.x % 32 == 0 && a.levels) {
    a.levels[2 * pair.index] = level.x;
    a.levels[2 * pair.index + 1] = level.y;
  }
}

__global__ void __launch_bounds__ (32 * WARPS, 4)
fft_flat_respond_kernel (const __grid_constant__ BlockArguments a)
{
  float2 sum[BLOCK] = {};
  float level[2];
  Pair pair;

  if (!find_pair (a.blocks, blockIdx.x, &pair))
    return;
  WindowLevels<2> levels (a, a.filter_sums, 2 * pair.index);

  if (a.sum) {
    const float2 *const begun = a.sum + pair.index * NUMBERS + threadIdx.x % 32;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      sum[k] = __ldcs (begun + k * BLOCK);
  }
#pragma unroll 1
  for (int t = a.first; t < a.n_slots; t++) {
    const float2 *const spectrum = a.spectra + a.slots[t] * a.spectra_stride
        + pair.index * NUMBERS + threadIdx.x % 32;
    const float2 *const filter = a.filter + t * NUMBERS + threadIdx.x % 32;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      sum[k] = multiply_number (sum[k], __ldcs (spectrum + k * BLOCK),
          __ldg (filter + k * BLOCK), false);
  }
  levels.sum (a, a.filter_sums, 2 * pair.index, level);
  restore_pair (a, pair, make_float2 (level[0], level[1]), sum);
}

template <typename T>
BlockKernels
kernels_for ()
{
  return BlockKernels{ (const void *) fft_flat_filter_kernel<T>,
    (const void *) fft_flat_push_kernel<T>,
    (const void *) fft_flat_respond_kernel, 32 * WARPS, SHARED, 2, NUMBERS };
}

} // namespace

BlockKernels
plane_kernels (NdSampleType type)
{
  return visit_sample_type (type, [] (auto sample) {
    return kernels_for<typename decltype (sample)::Type> ();
  });
}

} // namespace nd
