/* The pass along t of method `separable`: a weighted sum of volumes of the
 * ring.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/passes.cuh"
#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int TIME_THREADS = 256;

template <typename R>
struct TimeArguments
{
  const R *ring;
  size_t step, row, slice;
  int size[3];
  int quads; /* of a row */
  Store out;
  int n;
  int slots[MAX_SLOTS];
  R weights[MAX_SLOTS];
};

/* Loads four samples of a row. */
__device__ __forceinline__ void
load_four (const float *from, float (&v)[4])
{
  const float4 four = *(const float4 *) from;

  v[0] = four.x;
  v[1] = four.y;
  v[2] = four.z;
  v[3] = four.w;
}

__device__ __forceinline__ void
load_four (const double *from, double (&v)[4])
{
  const double2 first = *(const double2 *) from;
  const double2 second = *(const double2 *) (from + 2);

  v[0] = first.x;
  v[1] = first.y;
  v[2] = second.x;
  v[3] = second.y;
}

/* Each thread computes four outputs. */
template <typename R>
__global__ void __launch_bounds__ (TIME_THREADS)
time_kernel (const __grid_constant__ TimeArguments<R> a)
{
  const size_t i = (size_t) blockIdx.x * TIME_THREADS + threadIdx.x;
  const size_t line = i / a.quads;
  const int x = 4 * (i - line * a.quads);
  const int z = line / a.size[1], y = line - (size_t) z * a.size[1];
  R sum[4] = {};

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (z >= a.size[2])
    return;
  const R *const in = a.ring + z * a.slice + y * a.row + x;

#pragma unroll 8
  for (int t = 0; t < a.n; t++) {
    R v[4];

    load_four (in + a.slots[t] * a.step, v);
#pragma unroll
    for (int i = 0; i < 4; i++)
      sum[i] = fma (a.weights[t], v[i], sum[i]);
  }
  store_four (a.out, sum, a.size[0] - x, x, y, z);
}

} // namespace

template <typename R>
void
run_time (const TimePass<R> &pass, const Store &out, cudaStream_t stream)
{
  TimeArguments<R> a = {};

  a.ring = pass.ring;
  a.step = pass.step;
  a.row = pass.layout.row;
  a.slice = pass.layout.slice;
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = pass.size[axis];
  a.quads = (a.size[0] + 3) / 4;
  a.out = out;
  a.n = pass.slots.size ();
  std::copy (pass.slots.begin (), pass.slots.end (), a.slots);
  std::copy (pass.weights.begin (), pass.weights.end (), a.weights);
  const size_t all = (size_t) a.quads * a.size[1] * a.size[2];

  launch_early (time_kernel<R>, (all + TIME_THREADS - 1) / TIME_THREADS,
      TIME_THREADS, 0, stream, a);
}

template void run_time (const TimePass<float> &pass, const Store &out,
    cudaStream_t stream);
template void run_time (const TimePass<double> &pass, const Store &out,
    cudaStream_t stream);

} // namespace nd
