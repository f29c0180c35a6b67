/* Kernels for blocks of 32 x 32 x 32 samples. A thread block of 16 warps
 * computes one.
 *
 * Planes z and z + 16 of the block are the real and the imaginary part of one
 * complex plane, which a warp transforms. Each thread first transforms a
 * column, which it loads from device memory, and then a row, which it gets
 * through shared memory. The two planes are separated before z is transformed:
 * the spectrum of a real plane at (kx, ky) is the conjugate of that at (-kx,
 * -ky), so that each thread reads 16 numbers at both frequencies and computes
 * the column of 32 planes at (kx, ky) from them (Press et al., Numerical
 * Recipes, section 12.3). The columns at the four frequencies that are their
 * own mirror are real, and two of them are transformed as one complex column.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/volumecolumns.cuh"
#include "cuda/fft/windowlevels.cuh"

namespace nd
{

namespace
{

/* Computes twice the column of 32 planes and transforms it along z. If the
 * thread has two real columns with spectra F and G, number 0 is the pair of
 * F(0) and F(16), which are real, numbers 1 to 15 are F(1) to F(15), number 16
 * is the pair of G(0) and G(16), and numbers 17 to 31 are G(15) to G(1). */
__device__ __forceinline__ void
transform_column (const float2 *shared, const Column &c, float2 (&v)[BLOCK])
{
#pragma unroll
  for (int z = 0; z < PLANES; z++) {
    const float2 p = shared[z * BLOCK * PITCH + c.at];
    const float2 q = shared[z * BLOCK * PITCH + c.mirror];

    if (c.real) {
      v[z] = make_float2 (2 * p.x, 2 * q.x);
      v[z + PLANES] = make_float2 (2 * p.y, 2 * q.y);
    } else {
      v[z] = make_float2 (p.x + q.x, p.y - q.y);
      v[z + PLANES] = make_float2 (p.y + q.y, q.x - p.x);
    }
  }
  transform32<false> (v);
  if (c.real)
    split_real_columns (v);
}

/* The inverse of transform_column (). */
__device__ __forceinline__ void
restore_column (float2 *shared, const Column &c, float2 (&v)[BLOCK])
{
  if (c.real)
    join_real_columns (v);
  transform32<true> (v);
#pragma unroll
  for (int z = 0; z < PLANES; z++) {
    const float2 p = v[z], q = v[z + PLANES];
    float2 *const plane = shared + z * BLOCK * PITCH;

    plane[c.at] =
        c.real ? make_float2 (p.x, q.x) : make_float2 (p.x - q.y, p.y + q.x);
    plane[c.mirror] =
        c.real ? make_float2 (p.y, q.y) : make_float2 (p.x + q.y, q.x - p.y);
  }
}

/* The thread's columns along y. */
__device__ Columns
columns_of (const Corner &at)
{
  const int plane = threadIdx.x / 32;

  return Columns{ at, at, plane, plane + PLANES };
}

__device__ __forceinline__ void
multiply_column (float2 (&v)[BLOCK], const float2 *filter, bool real)
{
#pragma unroll
  for (int k = 0; k < BLOCK; k++)
    v[k] = multiply_number (make_float2 (0, 0), v[k],
        __ldg (filter + k * THREADS), real && k % 16 == 0);
}

template <typename T>
__device__ __forceinline__ float
transform_block (const BlockArguments &a, const Corner &at,
    const Column &column, float2 (&v)[BLOCK])
{
  float2 *const planes = shared_planes ();
  float2 *const plane = planes + threadIdx.x / 32 * BLOCK * PITCH;
  const int lane = threadIdx.x % 32;
  const float level = a.levels ? block_level<T> (a.blocks, a.in, at, BLOCK) : 0;
  const Columns columns = columns_of (at);

  transform_columns<T, true> (a, columns, level, level, v);
  transform_plane (plane, v);
#pragma unroll
  for (int x = 0; x < BLOCK; x++)
    plane[lane * PITCH + x] = v[x];
  __syncthreads ();
  transform_column (planes, column, v);
  return level;
}

__device__ __forceinline__ void
restore_block (const BlockArguments &a, const Corner &at, const Column &column,
    float level, float2 (&v)[BLOCK])
{
  float2 *const planes = shared_planes ();
  float2 *const plane = planes + threadIdx.x / 32 * BLOCK * PITCH;
  const int lane = threadIdx.x % 32;

  restore_column (planes, column, v);
  __syncthreads ();
#pragma unroll
  for (int x = 0; x < BLOCK; x++)
    v[x] = plane[lane * PITCH + x];
  restore_plane (plane, v);
  store_columns (a, columns_of (at), level, level, v);
}

/* From a volume to responses, for windows of one volume and one filter. */
template <typename T>
__global__ void __launch_bounds__ (THREADS, 1)
fft_block_filter_kernel (const __grid_constant__ BlockArguments a)
{
  const Corner at = corner_of (a.blocks, blockIdx.x);
  const Column column = column_of (threadIdx.x);
  float2 v[BLOCK];
  const float level = transform_block<T> (a, at, column, v);

  multiply_column (v, a.filter + threadIdx.x, column.real);
  restore_block (a, at, column, level * (float) a.filter_sums[0], v);
}

/* The spectra of a volume's blocks. */
template <typename T>
__global__ void __launch_bounds__ (THREADS, 1)
fft_block_push_kernel (const __grid_constant__ BlockArguments a)
{
  const Corner at = corner_of (a.blocks, blockIdx.x);
  float2 *const out = a.spectra + blockIdx.x * NUMBERS + threadIdx.x;
  float2 v[BLOCK];
  const float level = transform_block<T> (a, at, column_of (threadIdx.x), v);

#pragma unroll
  for (int k = 0; k < BLOCK; k++)
    out[k * THREADS] = v[k];
  if (threadIdx.x == 0 && a.levels)
    a.levels[blockIdx.x] = level;
}

/* A response from the spectra of the window. */
__global__ void __launch_bounds__ (THREADS, 1)
fft_block_respond_kernel (const __grid_constant__ BlockArguments a)
{
  const Corner at = corner_of (a.blocks, blockIdx.x);
  const Column column = column_of (threadIdx.x);
  float2 sum[BLOCK] = {};
  WindowLevels<1> levels (a, a.filter_sums, blockIdx.x);
  float level[1];

  if (a.sum) {
    const float2 *const begun = a.sum + blockIdx.x * NUMBERS + threadIdx.x;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      sum[k] = __ldcs (begun + k * THREADS);
  }
#pragma unroll 1
  for (int t = a.first; t < a.n_slots; t++) {
    const float2 *const spectrum = a.spectra + a.slots[t] * a.spectra_stride
        + blockIdx.x * NUMBERS + threadIdx.x;
    const float2 *const filter = a.filter + t * NUMBERS + threadIdx.x;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      sum[k] = multiply_number (sum[k], __ldcs (spectrum + k * THREADS),
          __ldg (filter + k * THREADS), column.real && k % 16 == 0);
  }
  levels.sum (a, a.filter_sums, blockIdx.x, level);
  restore_block (a, at, column, level[0], sum);
}

template <typename T>
BlockKernels
kernels_for ()
{
  return BlockKernels{ (const void *) fft_block_filter_kernel<T>,
    (const void *) fft_block_push_kernel<T>,
    (const void *) fft_block_respond_kernel, THREADS, SHARED, 1, NUMBERS };
}

} // namespace

BlockKernels
block_kernels (NdSampleType type)
{
  return visit_sample_type (type, [] (auto sample) {
    return kernels_for<typename decltype (sample)::Type> ();
  });
}

} // namespace nd
