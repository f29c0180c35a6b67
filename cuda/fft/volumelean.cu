/* The lean kernels, for volumes whose rows can be copied
 * (cuda/fft/volumerows.cuh): a single filter in windows of one volume, if
 * responses are stored as they are, and the spectra of a volume. Their
 * transforms and spectra are those of cuda/fft/volumekernels.cu.
 *
 * A thread block computes several blocks in turn. While a warp still transforms
 * and stores its planes of a block, the samples of the next block are copied to
 * the same shared memory, which the warp does not need any more. The rest of
 * shared memory holds a part of the filter. If volumes are small, the kernels
 * of the next volumes run at the same time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/volumerows.cuh"
#include "cuda/fft/volumetransforms.cuh"
#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

/* Shared memory: planes that also have room for the samples of a block, and as
 * many numbers of the filter's columns as fit. */
template <typename T>
constexpr int WIDE_PLANE =
    std::max (PLANE, Rows<T>::BYTES / (int) sizeof (float2));
constexpr int HELD = 20;

template <typename T>
constexpr size_t
shared_bytes (int held)
{
  return sizeof (float2) * (PLANES * WIDE_PLANE<T> + held * THREADS);
}

/* Loads a thread's columns and transforms them along y. If a sum of samples is
 * not finite, loads them again without those that are not finite. LEVEL:
 * subtracts @level. */
template <typename T, bool LEVEL>
__device__ __forceinline__ void
transform_copied (const BlockArguments &a, const Columns &c, float level,
    Rows<T> &rows, float2 (&v)[BLOCK])
{
  bool again = false;

#pragma unroll 1
  do {
    rows.load (a, c, v);
#pragma unroll
    for (int y = 0; LEVEL && y < BLOCK; y++)
      v[y] = make_float2 (v[y].x - level, v[y].y - level);
    transform32<false> (v);
    again = sizeof (T) == 4 && !again
        && __any_sync (~0u, !isfinite (v[0].x + v[0].y));
    if (sizeof (T) == 4 && again) {
      wait_on_dependent_grids (); /* earlier kernels use the list */
      rows.take_out_non_finite (a, c);
    }
  } while (again);
}

/* Stores the first @n of 32 responses along y. */
template <typename OUT, typename F>
__device__ __forceinline__ void
put_lean (unsigned char *out, unsigned row, int n, F response)
{
#pragma unroll
  for (int y = 0; y < BLOCK; y++) {
    if (y < n)
      *(OUT *) row_at (out, row, y) = round_response<OUT> (response (y));
  }
}

/* The corner of the block that is @step after the one at @at. */
__device__ __forceinline__ Corner
next_corner (const Blocks &b, Corner at, const Corner &step)
{
  at.x += step.x;
  at.y += step.y;
  at.z += step.z;
  if (at.x >= b.count[0] * b.valid[0]) {
    at.x -= b.count[0] * b.valid[0];
    at.y += b.valid[1];
  }
  if (at.y >= b.count[1] * b.valid[1]) {
    at.y -= b.count[1] * b.valid[1];
    at.z += b.valid[2];
  }
  return at;
}

/* From a volume to responses, for windows of one volume and one filter. */
template <typename T>
__global__ void __launch_bounds__ (THREADS, 1)
fft_block_lean_filter_kernel (const __grid_constant__ BlockArguments a)
{
#if __CUDA_ARCH__ >= 900
  constexpr int N_HELD = HELD;
#else
  constexpr int N_HELD = 0;
#endif
  constexpr int STRIDE = WIDE_PLANE<T>;
  const Blocks &b = a.blocks;
  const Store &s = a.store;
  const int lane = threadIdx.x % 32;
  const int n_planes = (b.valid[2] + 1) / 2;
  const bool has_outputs = threadIdx.x / 32 < n_planes;
  const Column column = column_of (threadIdx.x);
  const float2 *const filter = a.filter + threadIdx.x;
  float2 *const planes = shared_planes ();
  float2 *const plane = planes + threadIdx.x / 32 * STRIDE;
  float2 *const held = planes + PLANES * STRIDE + threadIdx.x;
  float2 v[BLOCK];
  Corner at = corner_of (b, blockIdx.x);
  const Corner step = corner_of (b, gridDim.x);
  Rows<T> rows (threadIdx.x / 32 * STRIDE);

  launch_dependent_grids ();
  rows.copy (a, columns_of (at));
#pragma unroll
  for (int k = 0; k < N_HELD; k++)
    held[k * THREADS] = __ldg (filter + k * THREADS);
#pragma unroll 1
  for (int unit = blockIdx.x; unit < a.bank.n_units; unit += gridDim.x) {
    const Columns c = columns_of (at);

    transform_copied<T, false> (a, c, 0, rows, v);
    transform_plane (plane, v);
#pragma unroll
    for (int x = 0; x < BLOCK; x++)
      plane[lane * PITCH + x] = v[x];
    __syncthreads ();
    transform_column<STRIDE> (planes, column, v);
#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      v[k] = multiply_number (make_float2 (0, 0), v[k],
          k < N_HELD ? held[k * THREADS] : __ldg (filter + k * THREADS),
          column.real && k % 16 == 0);
    restore_column<STRIDE, false> (planes, column, n_planes, v);
    __syncthreads ();
    if (has_outputs) {
#pragma unroll
      for (int x = 0; x < BLOCK; x++)
        v[x] = plane[lane * PITCH + x];
      transform32<true> (v);
#pragma unroll
      for (int x = 0; x < BLOCK; x++)
        plane[lane * PITCH + x] = v[x];
      __syncwarp ();
#pragma unroll
      for (int y = 0; y < BLOCK; y++)
        v[y] = plane[y * PITCH + lane];
    }
    at = next_corner (b, at, step);
    if (unit + gridDim.x < a.bank.n_units)
      rows.copy (a, columns_of (at));
    if (has_outputs) {
      transform32<true> (v);
      if (a.begin == LOAD_EARLY)
        wait_on_dependent_grids ();
      const int n = min (b.valid[1], b.outputs[1] - c.at[0].y);
      const int nz = min (b.valid[2], b.outputs[2] - c.at[0].z);
      const bool stores = lane < min (b.valid[0], b.outputs[0] - c.at[0].x);
      unsigned char *const out = s.out + (c.at[0].x + lane) * s.sample
          + c.at[0].y * s.row + (c.at[0].z + c.plane[0]) * s.slice;

      if (stores) {
        visit_sample_type (s.type, [&] (auto sample) {
          using OUT = typename decltype (sample)::Type;

          if (c.plane[0] < nz)
            put_lean<OUT> (out, s.row, n, [&] (int y) { return v[y].x; });
          if (c.plane[1] < nz)
            put_lean<OUT> (out + s.slice, s.row, n,
                [&] (int y) { return v[y].y; });
        });
      }
    }
  }
  wait_on_dependent_grids ();
  add_non_finite_responses (a.work);
}

/* From a volume to the spectra and levels of its blocks. */
template <typename T>
__global__ void __launch_bounds__ (THREADS, 1)
fft_block_lean_push_kernel (const __grid_constant__ BlockArguments a)
{
  constexpr int STRIDE = WIDE_PLANE<T>;
  const Blocks &b = a.blocks;
  const int lane = threadIdx.x % 32;
  const Column column = column_of (threadIdx.x);
  const Corner step = corner_of (b, gridDim.x);
  float2 *const planes = shared_planes ();
  float2 *const plane = planes + threadIdx.x / 32 * STRIDE;
  float2 v[BLOCK];
  Corner at = corner_of (b, blockIdx.x);
  Rows<T> rows (threadIdx.x / 32 * STRIDE);

  rows.copy (a, columns_of (at));
#pragma unroll 1
  for (size_t unit = blockIdx.x; unit < a.bank.n_units; unit += gridDim.x) {
    float2 *const out = a.spectra + unit * NUMBERS + threadIdx.x;
    const float level = block_level<T> (b, a.in, at, BLOCK);

    transform_copied<T, true> (a, columns_of (at), level, rows, v);
    transform_plane (plane, v);
#pragma unroll
    for (int x = 0; x < BLOCK; x++)
      plane[lane * PITCH + x] = v[x];
    __syncthreads ();
    load_column<STRIDE> (planes, column, v);
    __syncthreads (); /* the next samples are copied to the planes */
    at = next_corner (b, at, step);
    if (unit + gridDim.x < a.bank.n_units)
      rows.copy (a, columns_of (at));
    transform_column (column, v);
#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      out[k * THREADS] = v[k];
    if (threadIdx.x == 0)
      a.levels[unit] = level;
  }
}

} // namespace

LeanKernels
lean_kernels (NdSampleType type)
{
  return visit_sample_type (type, [] (auto sample) {
    using T = typename decltype (sample)::Type;
    const void *const kernel = (const void *) fft_block_lean_filter_kernel<T>;

    return LeanKernels{ kernel, (const void *) fft_block_lean_push_kernel<T>,
      shared_bytes<T> (runs_as_sm90 (kernel) ? HELD : 0), shared_bytes<T> (0) };
  });
}

} // namespace nd
