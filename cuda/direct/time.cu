/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/time.cuh"

#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int TIME_THREADS = 256;

/* The sums that a thread block begins, of which it completes the first one. In
 * windows of 9 volumes, 6.25 volumes are then read and written per output
 * instead of 10. */
constexpr int BEGUN = 4;

/* The fewest volumes of a window with sums that are begun ahead. */
constexpr int LEAST_AHEAD = 6;

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
  R *sums; /* of the next outputs */
  size_t sums_step;
  /* For each fourth thread block: the outputs since its sums were begun, and
   * the sums of next outputs that it begins now, if that is 0. */
  int used[BEGUN], ahead[BEGUN];
};

/* Four numbers of a row. */
template <typename R>
struct Four
{
  R v[4];
};

__device__ __forceinline__ Four<float>
load (const float *from)
{
  const float4 v = __ldcg ((const float4 *) from);

  return Four<float>{ { v.x, v.y, v.z, v.w } };
}

__device__ __forceinline__ Four<double>
load (const double *from)
{
  const double2 p = __ldcg ((const double2 *) from);
  const double2 q = __ldcg ((const double2 *) from + 1);

  return Four<double>{ { p.x, p.y, q.x, q.y } };
}

__device__ __forceinline__ void
store (float *to, const Four<float> &four)
{
  __stcg ((float4 *) to,
      make_float4 (four.v[0], four.v[1], four.v[2], four.v[3]));
}

__device__ __forceinline__ void
store (double *to, const Four<double> &four)
{
  __stcg ((double2 *) to, make_double2 (four.v[0], four.v[1]));
  __stcg ((double2 *) to + 1, make_double2 (four.v[2], four.v[3]));
}

/* Weights of 0 do not multiply numbers that are not finite. */
template <typename R>
__device__ __forceinline__ void
add (Four<R> &sum, R weight, const Four<R> &four)
{
  if (weight == 0)
    return;
#pragma unroll
  for (int i = 0; i < 4; i++)
    sum.v[i] = fma (weight, four.v[i], sum.v[i]);
}

/* The sum of the volumes of a window, and the sums of the next N - 1 outputs,
 * as far as the window has their volumes. */
template <int N, typename R>
__device__ __forceinline__ Four<R>
begin_sums (const TimeArguments<R> &a, const R *in, R *sums, int ahead)
{
  Four<R> sum[N] = {};
  R w[N] = {}; /* w[j] of the sum of the j-th next output */

#pragma unroll 8
  for (int t = 0; t < a.n; t++) {
    const Four<R> four = load (in + a.slots[t] * a.step);

#pragma unroll
    for (int j = N - 1; j > 0; j--)
      w[j] = w[j - 1];
    w[0] = a.weights[t];
#pragma unroll
    for (int j = 0; j < N; j++)
      add (sum[j], w[j], four);
  }
#pragma unroll
  for (int j = 1; j < N; j++) {
    if (j <= ahead)
      store (sums + (j - 1) * a.sums_step, sum[j]);
  }
  return sum[0];
}

/* Each thread computes four outputs. */
template <int N, typename R>
__global__ void __launch_bounds__ (TIME_THREADS)
separable_t_kernel (const __grid_constant__ TimeArguments<R> a)
{
  const size_t i = (size_t) blockIdx.x * TIME_THREADS + threadIdx.x;
  const size_t line = i / a.quads;
  const int x = 4 * (i - line * a.quads);
  const int z = line / a.size[1], y = line - (size_t) z * a.size[1];
  const int part = blockIdx.x % BEGUN, used = a.used[part];
  const size_t at = z * a.slice + y * a.row + x;
  Four<R> sum;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (z >= a.size[2])
    return;
  if (N == 1 || used == 0) {
    sum = begin_sums<N> (a, a.ring + at, a.sums + at, a.ahead[part]);
  } else {
    Four<R> last[BEGUN - 1];

    sum = load (a.sums + (used - 1) * a.sums_step + at);
#pragma unroll
    for (int k = 0; k < BEGUN - 1; k++) {
      if (k < used)
        last[k] = load (a.ring + a.slots[a.n - used + k] * a.step + at);
    }
#pragma unroll
    for (int k = 0; k < BEGUN - 1; k++) {
      if (k < used)
        add (sum, a.weights[a.n - used + k], last[k]);
    }
  }
  store_four (a.out, sum.v, a.size[0] - x, x, y, z);
}

} // namespace

template <typename R>
TimeSums<R>::TimeSums (const RingJob &job, const SumLayout &layout,
    size_t windows)
    : reach (nd_job_reach (&job)), layout (layout),
      size{ job.shape.size[0], job.shape.size[1], job.shape.size[2] },
      generations (ahead_slots (job))
{
  if (reach.slots >= LEAST_AHEAD)
    sums.plan (multiply (layout.volume, multiply (windows, BEGUN - 1)));
}

/* Whether the last window has moved on by one volume, and no slot that is in
 * both was written again. */
template <typename R>
bool
TimeSums<R>::goes_on (const int *next) const
{
  for (size_t t = 1; t < slots.size (); t++) {
    if (next[t - 1] != slots[t] || generations[next[t - 1]] != in_slots[t])
      return false;
  }
  return !slots.empty ();
}

template <typename R>
void
TimeSums<R>::move (const int *next)
{
  moves = goes_on (next) ? moves + 1 : 0;
  slots.assign (next, next + reach.slots);
  in_slots.resize (reach.slots);
  for (unsigned t = 0; t < reach.slots; t++)
    in_slots[t] = generations[next[t]];
}

template <typename R>
void
TimeSums<R>::run (const TimePass<R> &pass, const Store &out,
    cudaStream_t stream)
{
  TimeArguments<R> a = {};
  int first = 0, end = pass.n;

  while (end > 0 && pass.weights[end - 1] == 0)
    end--;
  while (first < end && pass.weights[first] == 0)
    first++;
  a.ring = pass.ring;
  a.step = pass.step;
  a.row = layout.row;
  a.slice = layout.slice;
  std::copy_n (size, 3, a.size);
  a.quads = (a.size[0] + 3) / 4;
  a.out = out;
  a.n = end - first;
  std::copy_n (slots.data () + pass.first + first, a.n, a.slots);
  std::copy_n (pass.weights + first, a.n, a.weights);
  a.sums = sums.get () + pass.window * (BEGUN - 1) * layout.volume;
  a.sums_step = layout.volume;
  for (unsigned part = 0; part < BEGUN; part++) {
    /* At first all begin; the sums of the parts last for 1 to BEGUN outputs. */
    a.used[part] = moves <= part ? moves : (moves - 1 - part) % BEGUN;
    a.ahead[part] = moves == 0 ? part : BEGUN - 1;
  }
  const size_t all = (size_t) a.quads * a.size[1] * a.size[2];

  launch_early (sums.count () > 0 && a.n >= LEAST_AHEAD
          ? separable_t_kernel<BEGUN, R>
          : separable_t_kernel<1, R>,
      (all + TIME_THREADS - 1) / TIME_THREADS, TIME_THREADS, 0, stream, a);
}

template class TimeSums<float>;
template class TimeSums<double>;

} // namespace nd
