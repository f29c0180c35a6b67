/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/sums.cuh"

#include "cuda/fft/spectrum.cuh"

#include <algorithm>
#include <cstring>

namespace nd
{

/* The sums that one pass begins: that of its own output, which it completes,
 * and those of the next outputs. With 4, a window of 11 volumes reads and
 * writes about 10 spectra per volume instead of 22. */
constexpr int BEGUN = 4;
constexpr int THREADS = 256;

struct SumArguments
{
  WindowSpectra spectra;
  size_t numbers;
  int n_slots;
  int slots[MAX_SLOTS];
  float2 *sums[BEGUN];
};

namespace
{

__device__ __forceinline__ float4
multiply_two (float4 sum, float4 a, float4 b, bool two_real)
{
  const float2 p = multiply_number (make_float2 (sum.x, sum.y),
      make_float2 (a.x, a.y), make_float2 (b.x, b.y), two_real);
  const float2 q = multiply_number (make_float2 (sum.z, sum.w),
      make_float2 (a.z, a.w), make_float2 (b.z, b.w), false);

  return make_float4 (p.x, p.y, q.x, q.y);
}

/* The same with numbers @b of the real spectrum of a symmetric filter. */
__device__ __forceinline__ float4
multiply_two (float4 sum, float4 a, float2 b, bool)
{
  return make_float4 (fmaf (a.x, b.x, sum.x), fmaf (a.y, b.x, sum.y),
      fmaf (a.z, b.y, sum.z), fmaf (a.w, b.y, sum.w));
}

/* sums[j] = sum over i >= j of volume i times filter i - j: for j = 0 the
 * complete sum of this output, for j = 1 to N - 1 the begun sums of the next
 * outputs. A thread reads two numbers of each filter spectrum, of type W, which
 * stay in the cache, and multiplies them with the numbers at their place in
 * each block. */
template <int N, typename W>
__global__ void __launch_bounds__ (THREADS)
begin_kernel (const __grid_constant__ SumArguments a)
{
  const WindowSpectra &s = a.spectra;
  const size_t f = (size_t) blockIdx.x * THREADS + threadIdx.x;
  const bool two_real = s.blocks && BlockSpectrum::is_two_real (2 * f);

  if (2 * f >= s.filter_numbers)
    return;
  for (size_t i = f + blockIdx.y * s.filter_numbers / 2; i < a.numbers / 2;
       i += gridDim.y * s.filter_numbers / 2) {
    float4 sum[N] = {};
    W w[N] = {};

#pragma unroll 4
    for (int t = 0; t < a.n_slots; t++) {
      const float4 v =
          __ldcg ((const float4 *) (s.ring + a.slots[t] * s.ring_stride) + i);

#pragma unroll
      for (int j = N - 1; j > 0; j--)
        w[j] = w[j - 1];
      w[0] = __ldg ((const W *) s.filter + t * s.filter_numbers / 2 + f);
#pragma unroll
      for (int j = 0; j < N; j++)
        sum[j] = multiply_two (sum[j], v, w[j], two_real);
    }
#pragma unroll
    for (int j = 0; j < N; j++)
      ((float4 *) a.sums[j])[i] = sum[j];
  }
}

/* Adds the volumes from @first on to sums[0]. */
template <typename W>
__global__ void __launch_bounds__ (THREADS)
finish_kernel (const __grid_constant__ SumArguments a, int first)
{
  const WindowSpectra &s = a.spectra;
  const size_t f = (size_t) blockIdx.x * THREADS + threadIdx.x;
  const bool two_real = s.blocks && BlockSpectrum::is_two_real (2 * f);

  if (2 * f >= s.filter_numbers)
    return;
  for (size_t i = f + blockIdx.y * s.filter_numbers / 2; i < a.numbers / 2;
       i += gridDim.y * s.filter_numbers / 2) {
    float4 sum = ((const float4 *) a.sums[0])[i];

    for (int t = first; t < a.n_slots; t++)
      sum = multiply_two (sum,
          ((const float4 *) (s.ring + a.slots[t] * s.ring_stride))[i],
          __ldg ((const W *) s.filter + t * s.filter_numbers / 2 + f),
          two_real);
    ((float4 *) a.sums[0])[i] = sum;
  }
}

template <typename W>
void
begin_sums (const SumArguments &a, int ahead, dim3 blocks, cudaStream_t stream)
{
  if (ahead == BEGUN)
    begin_kernel<BEGUN, W><<<blocks, THREADS, 0, stream>>> (a);
  else
    begin_kernel<1, W><<<blocks, THREADS, 0, stream>>> (a);
  ND_CUDA_LAUNCHED (begin_kernel);
}

/* The grid: thread blocks for all numbers of a filter, repeated along y until
 * the device is full. */
dim3
blocks_for (const SumArguments &a)
{
  const size_t across = (a.spectra.filter_numbers / 2 + THREADS - 1) / THREADS;
  const size_t repeats = a.numbers / a.spectra.filter_numbers;

  return dim3 (across,
      std::max<size_t> (1, std::min<size_t> (repeats, 1024 / across)));
}

} // namespace

WindowSums::WindowSums (const RingJob &job, const NdReach &reach,
    size_t numbers, cudaStream_t stream)
    : reach (reach), numbers (numbers), stream (stream),
      ahead (reach.slots > 2 ? BEGUN : 1),
      begun (job.bank->n_filters * job.shape.components),
      generations (ahead_slots (job))
{
  sums.plan (multiply (numbers, multiply (begun.size (), ahead)));
}

/* Whether the sum that was begun @used outputs ago is valid for @slots: since
 * then the window has moved by @used volumes, and no slot was written again. */
bool
WindowSums::goes_on (const int *slots, size_t window, int used) const
{
  const Begun &b = begun[window];

  for (unsigned t = 0; t + used < reach.slots; t++) {
    if (slots[t] != b.slots[t + used]
        || generations[slots[t]] != b.generations[t + used])
      return false;
  }
  return true;
}

SumArguments
WindowSums::arguments_for (const int *slots, const WindowSpectra &spectra) const
{
  SumArguments a = { spectra, numbers, (int) reach.slots };

  memcpy (a.slots, slots, reach.slots * sizeof (int));
  return a;
}

WindowSums::Start
WindowSums::start (const int *slots, size_t window,
    const WindowSpectra &spectra)
{
  float2 *const own = sums.get () + window * ahead * numbers;
  SumArguments a = arguments_for (slots, spectra);
  Begun &b = begun[window];

  b.used++;
  if (!b.slots.empty () && b.used < ahead && goes_on (slots, window, b.used))
    return Start{ own + b.used * numbers, reach.slots - b.used };
  b.used = 0;
  b.slots.assign (slots, slots + reach.slots);
  b.generations.resize (reach.slots);
  for (unsigned t = 0; t < reach.slots; t++)
    b.generations[t] = generations[slots[t]];
  for (int j = 0; j < ahead; j++)
    a.sums[j] = own + j * numbers;
  if (spectra.real)
    begin_sums<float2> (a, ahead, blocks_for (a), stream);
  else
    begin_sums<float4> (a, ahead, blocks_for (a), stream);
  return Start{ own, reach.slots };
}

float2 *
WindowSums::finish (const int *slots, const Start &start,
    const WindowSpectra &spectra)
{
  SumArguments a = arguments_for (slots, spectra);

  if (start.first == reach.slots)
    return start.sum;
  a.sums[0] = start.sum;
  if (spectra.real)
    finish_kernel<float2>
        <<<blocks_for (a), THREADS, 0, stream>>> (a, start.first);
  else
    finish_kernel<float4>
        <<<blocks_for (a), THREADS, 0, stream>>> (a, start.first);
  ND_CUDA_LAUNCHED (finish_kernel);
  return start.sum;
}

} // namespace nd
