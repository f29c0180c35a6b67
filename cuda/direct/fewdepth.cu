/* The pass along z of method `separable` for few taps. A thread block reads the
 * columns of a strip of one row, for all its outputs, to shared memory. Half of
 * its threads read the samples of the first half of its outputs, and compute
 * these while the others read the rest.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/fewtaps.cuh"
#include "cuda/launch.cuh"

#include <cuda_pipeline.h>

namespace nd
{

namespace
{

constexpr int LANES = STRIP / 4; /* of a row */

struct FewDepthArguments
{
  const float *in;
  size_t row, slice;
  int border;
  float outside;
  int size[3];
  FewTaps z;
  Store out;
  int strips;
  int planes; /* of outputs of a thread block, as many as threads */
};

/* Copies the rows from @begin to @end - 1 to shared memory, by half of the
 * threads. Row r is in plane @first + r. */
__device__ __forceinline__ void
copy_rows (const FewDepthArguments &a, const float *in, float *sums, int first,
    int begin, int end)
{
  const int half = blockDim.x / 2, thread = threadIdx.x % half;
  const int x = thread % LANES * 4;

#pragma unroll 2
  for (int r = begin + thread / LANES; r < end; r += half / LANES) {
    const int z = border_index (a.border, first + r, a.size[2]);
    float *const to = sums + r * STRIP + x;

    if (z >= 0)
      __pipeline_memcpy_async (to, in + z * a.slice + x, 16);
    else
      *(float4 *) to = make_float4 (a.outside, a.outside, a.outside, a.outside);
  }
  __pipeline_commit ();
  __pipeline_wait_prior (0);
}

/* Barrier 1 is that of the first half of the threads. They arrive at barrier 2
 * without waiting. */
__device__ __forceinline__ void
wait_for_rows (bool is_first)
{
  const int threads = blockDim.x;

  if (is_first) {
    asm volatile ("bar.arrive 2, %0;" : : "r"(threads) : "memory");
    asm volatile ("bar.sync 1, %0;" : : "r"(threads / 2) : "memory");
  } else {
    asm volatile ("bar.sync 2, %0;" : : "r"(threads) : "memory");
  }
}

__global__ void __launch_bounds__ (PASS_THREADS, 4)
separable_z_few_kernel (const __grid_constant__ FewDepthArguments a)
{
  extern __shared__ float4 shared[];
  float *const sums = (float *) shared;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int x0 = blockIdx.x % a.strips * STRIP, y = blockIdx.x / a.strips;
  const int z0 = blockIdx.y * a.planes, n = min (a.planes, a.size[2] - z0);
  const int rows = n + a.z.n - 1;
  const int split = min (rows, a.planes / 2 + a.z.n - 1);
  const bool is_first = threadIdx.x < blockDim.x / 2;
  const int x = x0 + lane % LANES * 4;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  copy_rows (a, a.in + y * a.row + x0, sums, z0 + a.z.low, is_first ? 0 : split,
      is_first ? split : rows);
  wait_for_rows (is_first);
  compute_columns<STRIP> (a.z, a.out, sums + lane % LANES * 4,
      (warp * GROUPS + lane / LANES) * DOWN, a.planes, n, a.size[0] - x,
      a.out.out + x * a.out.sample + y * a.out.row + z0 * a.out.slice,
      a.out.slice, [&] (int r, const float (&sum)[4]) {
        store_four (a.out, sum, a.size[0] - x, x, y, z0 + r);
      });
}

} // namespace

bool
run_few_depth (const DepthPass &pass, const FewTaps &z, const Store &out,
    cudaStream_t stream)
{
  FewDepthArguments a = {};

  a.planes = pass.planes;
  if (z.n == 0 || !stores_quads (out) || a.planes % (2 * WARP_ROWS) != 0
      || a.planes > PASS_THREADS)
    return false;
  a.in = pass.in;
  a.row = pass.layout.row;
  a.slice = pass.layout.slice;
  a.border = pass.border;
  a.outside = pass.outside;
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = pass.size[axis];
  a.z = z;
  a.out = out;
  a.strips = (a.size[0] + STRIP - 1) / STRIP;
  launch_early (separable_z_few_kernel,
      dim3 ((unsigned) a.strips * a.size[1],
          (a.size[2] + a.planes - 1) / a.planes),
      a.planes, sizeof (float) * STRIP * (a.planes + z.n - 1), stream, a);
  return true;
}

} // namespace nd
