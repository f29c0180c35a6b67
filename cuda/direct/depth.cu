/* The pass along z of method `separable` for any number of taps and any layout
 * of responses. A thread block reads the columns of a strip of one row, for all
 * its outputs, to shared memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/device.h"
#include "cuda/direct/columns.cuh"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cuda_pipeline.h>

namespace nd
{

namespace
{

struct DepthArguments
{
  const float *in;
  size_t row, slice;
  int border;
  float outside;
  int size[3];
  Factor z;
  Store out;
  int strips;
  int planes; /* of outputs of a thread block */
};

size_t
shared_bytes (int planes, int taps)
{
  return (taps + (size_t) STRIP * column_rows (planes, taps)) * sizeof (float);
}

/* Copies the rows from @begin to @end - 1 to shared memory, asynchronously. Row
 * r is in plane @first + r. */
__device__ __forceinline__ void
copy_rows (const DepthArguments &a, const float *in, float *sums, int first,
    int begin, int end)
{
  constexpr int LANES = STRIP / 4; /* of a row */
  constexpr int STEP = PASS_THREADS / LANES;
  const int x = threadIdx.x % LANES * 4, mine = begin + threadIdx.x / LANES;
  /* Rows inside the volume. */
  const int low = min (max (-first, begin), end);
  const int high = min (max (a.size[2] - first, low), end);
  const int before = max (low - mine + STEP - 1, 0) / STEP * STEP;
  const float *from = in + (size_t) (first + mine + before) * a.slice + x;
  const size_t step = STEP * a.slice;
  float *to = sums + (mine + before) * STRIP + x;

#pragma unroll 1
  for (int r = mine + before; r < high; r += STEP) {
    __pipeline_memcpy_async (to, from, 16);
    from += step;
    to += STEP * STRIP;
  }
  /* Rows beside it. */
#pragma unroll 1
  for (int i = threadIdx.x / LANES; i < low - begin + end - high; i += STEP) {
    const int r = i < low - begin ? begin + i : i - (low - begin) + high;
    const int z = border_index (a.border, first + r, a.size[2]);
    float *const to = sums + r * STRIP + x;

    if (z >= 0)
      __pipeline_memcpy_async (to, in + z * a.slice + x, 16);
    else
      *(float4 *) to = make_float4 (a.outside, a.outside, a.outside, a.outside);
  }
  __pipeline_commit ();
}

__global__ void __launch_bounds__ (PASS_THREADS, 4)
separable_z_kernel (const __grid_constant__ DepthArguments a)
{
  extern __shared__ float4 shared[];
  constexpr int TOGETHER = WARPS * OUTPUTS; /* outputs of all warps */
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float *const weights = (float *) shared, *const sums = weights + a.z.n;
  const int x0 = blockIdx.x % a.strips * STRIP, y = blockIdx.x / a.strips;
  const int z0 = blockIdx.y * a.planes, n = min (a.planes, a.size[2] - z0);
  const int rows = column_rows (n, a.z.n), first = z0 + a.z.low;
  const int split = min (rows, column_rows (TOGETHER, a.z.n));
  const float *const in = a.in + y * a.row + x0;

#pragma unroll 1
  for (int i = threadIdx.x; i < a.z.n; i += PASS_THREADS)
    weights[i] = a.z.weights[i];
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  copy_rows (a, in, sums, first, 0, split);
  copy_rows (a, in, sums, first, split, rows);
  __pipeline_wait_prior (1);
  __syncthreads ();
  unsigned char *const out =
      a.out.out + (x0 + lane) * a.out.sample + y * a.out.row;
#pragma unroll 1
  for (int r = warp * OUTPUTS; r < n; r += TOGETHER) {
    float sum[OUTPUTS];

    sum_column<STRIP> (sum, sums + r * STRIP + lane, weights, a.z.n, a.z.check);
    if (x0 + lane < a.size[0])
      store_column (a.out, sum, n - r, out + (z0 + r) * a.out.slice,
          a.out.slice);
    if (r < TOGETHER && n > TOGETHER) {
      __pipeline_wait_prior (0);
      __syncthreads ();
    }
  }
}

} // namespace

int
depth_planes (const size_t size[3], const Factor &z)
{
  return choose_outputs (size[2], (size[0] + STRIP - 1) / STRIP * size[1],
      [&] (int planes) { return shared_bytes (planes, z.n); });
}

void
prepare_depth ()
{
  prepare_shared (separable_z_kernel);
}

void
run_depth (const DepthPass &pass, const Store &out, cudaStream_t stream)
{
  DepthArguments a = {};

  a.in = pass.in;
  a.row = pass.layout.row;
  a.slice = pass.layout.slice;
  a.border = pass.border;
  a.outside = pass.outside;
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = pass.size[axis];
  a.z = pass.z;
  a.out = out;
  a.strips = (a.size[0] + STRIP - 1) / STRIP;
  a.planes = pass.planes;
  launch_early (separable_z_kernel,
      dim3 ((unsigned) a.strips * a.size[1],
          (a.size[2] + a.planes - 1) / a.planes),
      PASS_THREADS, shared_bytes (a.planes, a.z.n), stream, a);
}

} // namespace nd
