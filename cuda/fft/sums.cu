/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/sums.cuh"

#include "cuda/device.h"
#include "cuda/fft/spectrum.cuh"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cstring>

namespace nd
{

/* The sums that one pass begins: that of its own output, which it completes,
 * and those of the next outputs. With 4, a window of 11 volumes reads and
 * writes about 10 spectra per volume instead of 22. */
constexpr int BEGUN = 4;
constexpr int THREADS = 256;

/* A pass for the filters of a bank begins fewer sums, because it writes those
 * of all filters. */
constexpr int BEGUN_BANK = 2;

/* Thread blocks of the pass for a bank have BANK_THREADS threads. Each thread
 * computes numbers of one of SLAB frequencies. Shared memory holds the spectra
 * of the filters at these. Windows have up to BANK_SLOTS volumes. */
constexpr int BANK_THREADS = 512, SLAB = 64, BANK_SLOTS = 16;

template <typename R>
struct SumArguments
{
  WindowSpectra<R> spectra;
  size_t numbers;
  int n_slots;
  int slots[MAX_SLOTS];
  Number<R> *sums[BEGUN];
  /* Of the pass for a bank, from one filter to the next. */
  int n_filters;
  size_t filter_stride, sum_stride;
};

namespace
{

/* Two numbers, which a thread reads together. */
struct alignas (16) Double4
{
  double x, y, z, w;
};
template <typename R>
struct TwoNumbers
{
  using Type = float4;
};
template <>
struct TwoNumbers<double>
{
  using Type = Double4;
};
template <typename R>
using Two = typename TwoNumbers<R>::Type;

/* Loads for the first level cache, and past it. */
template <typename W>
__device__ __forceinline__ W
load_cached (const W *from)
{
  return __ldg (from);
}

__device__ __forceinline__ Double4
load_cached (const Double4 *from)
{
  const double2 p = __ldg ((const double2 *) from);
  const double2 q = __ldg ((const double2 *) from + 1);

  return Double4{ p.x, p.y, q.x, q.y };
}

__device__ __forceinline__ float4
load_once (const float4 *from)
{
  return __ldcg (from);
}

__device__ __forceinline__ Double4
load_once (const Double4 *from)
{
  const double2 p = __ldcg ((const double2 *) from);
  const double2 q = __ldcg ((const double2 *) from + 1);

  return Double4{ p.x, p.y, q.x, q.y };
}

__device__ __forceinline__ float4
multiply_two (float4 sum, float4 a, float4 b, bool two_real)
{
  const float2 p = multiply_number (make_float2 (sum.x, sum.y),
      make_float2 (a.x, a.y), make_float2 (b.x, b.y), two_real);
  const float2 q = multiply_number (make_float2 (sum.z, sum.w),
      make_float2 (a.z, a.w), make_float2 (b.z, b.w), false);

  return make_float4 (p.x, p.y, q.x, q.y);
}

__device__ __forceinline__ Double4
multiply_two (Double4 sum, Double4 a, Double4 b, bool)
{
  return Double4{ fma (-a.y, b.y, fma (a.x, b.x, sum.x)),
    fma (a.y, b.x, fma (a.x, b.y, sum.y)),
    fma (-a.w, b.w, fma (a.z, b.z, sum.z)),
    fma (a.w, b.z, fma (a.z, b.w, sum.w)) };
}

/* The same with numbers @b of the real spectrum of a symmetric filter. */
__device__ __forceinline__ float4
multiply_two (float4 sum, float4 a, float2 b, bool)
{
  return make_float4 (fmaf (a.x, b.x, sum.x), fmaf (a.y, b.x, sum.y),
      fmaf (a.z, b.y, sum.z), fmaf (a.w, b.y, sum.w));
}

__device__ __forceinline__ Double4
multiply_two (Double4 sum, Double4 a, double2 b, bool)
{
  return Double4{ fma (a.x, b.x, sum.x), fma (a.y, b.x, sum.y),
    fma (a.z, b.y, sum.z), fma (a.w, b.y, sum.w) };
}

/* sums[j] = sum over i >= j of volume i times filter i - j: for j = 0 the
 * complete sum of this output, for j = 1 to N - 1 the begun sums of the next
 * outputs. A thread reads two numbers of each filter spectrum, of type W, which
 * stay in the cache, and multiplies them with the numbers at their place in
 * each block. */
template <int N, typename R, typename W>
__global__ void __launch_bounds__ (THREADS)
fft_sums_begin_kernel (const __grid_constant__ SumArguments<R> a)
{
  const WindowSpectra<R> &s = a.spectra;
  const size_t f = (size_t) blockIdx.x * THREADS + threadIdx.x;
  const bool two_real = s.blocks && BlockSpectrum::is_two_real (2 * f);

  if (2 * f >= s.filter_numbers)
    return;
  for (size_t i = f + blockIdx.y * s.filter_numbers / 2; i < a.numbers / 2;
       i += gridDim.y * s.filter_numbers / 2) {
    Two<R> sum[N] = {};
    W w[N] = {};

#pragma unroll 4
    for (int t = 0; t < a.n_slots; t++) {
      const Two<R> v =
          load_once ((const Two<R> *) (s.ring + a.slots[t] * s.ring_stride)
              + i);

#pragma unroll
      for (int j = N - 1; j > 0; j--)
        w[j] = w[j - 1];
      w[0] = load_cached ((const W *) s.filter + t * s.filter_numbers / 2 + f);
#pragma unroll
      for (int j = 0; j < N; j++)
        sum[j] = multiply_two (sum[j], v, w[j], two_real);
    }
#pragma unroll
    for (int j = 0; j < N; j++)
      ((Two<R> *) a.sums[j])[i] = sum[j];
  }
}

/* Adds the volumes from @first on to sums[0]. */
template <typename R, typename W>
__global__ void __launch_bounds__ (THREADS)
fft_sums_finish_kernel (const __grid_constant__ SumArguments<R> a, int first)
{
  const WindowSpectra<R> &s = a.spectra;
  const size_t f = (size_t) blockIdx.x * THREADS + threadIdx.x;
  const bool two_real = s.blocks && BlockSpectrum::is_two_real (2 * f);

  if (2 * f >= s.filter_numbers)
    return;
  for (size_t i = f + blockIdx.y * s.filter_numbers / 2; i < a.numbers / 2;
       i += gridDim.y * s.filter_numbers / 2) {
    Two<R> sum = ((const Two<R> *) a.sums[0])[i];

    for (int t = first; t < a.n_slots; t++)
      sum = multiply_two (sum,
          ((const Two<R> *) (s.ring + a.slots[t] * s.ring_stride))[i],
          load_cached ((const W *) s.filter + t * s.filter_numbers / 2 + f),
          two_real);
    ((Two<R> *) a.sums[0])[i] = sum;
  }
}

/* The same as fft_sums_begin_kernel for the filters of a bank: the volumes are
 * read once for all of them. Windows have up to SLOTS volumes; missing ones are
 * zero. */
template <int SLOTS, int N>
__global__ void __launch_bounds__ (BANK_THREADS, 2)
fft_sums_begin_bank_kernel (const __grid_constant__ SumArguments<float> a)
{
  extern __shared__ float2 slab[]; /* [filter][t][SLAB] */
  const WindowSpectra<float> &s = a.spectra;
  const int at = threadIdx.x % SLAB, group = threadIdx.x / SLAB;
  const size_t f = (size_t) blockIdx.x * SLAB + at;
  const bool two_real = s.blocks && BlockSpectrum::is_two_real (f);
  const size_t step = s.filter_numbers * (BANK_THREADS / SLAB) * gridDim.y;

  for (int i = group; i < a.n_filters * SLOTS; i += BANK_THREADS / SLAB) {
    const int k = i / SLOTS, t = i % SLOTS;

    slab[i * SLAB + at] = t < a.n_slots
        ? ((const float2 *)
                  s.filter)[k * a.filter_stride + t * s.filter_numbers + f]
        : make_float2 (0, 0);
  }
  __syncthreads ();
  for (size_t i =
           f + (blockIdx.y * (BANK_THREADS / SLAB) + group) * s.filter_numbers;
       i < a.numbers; i += step) {
    float2 v[SLOTS] = {};

#pragma unroll
    for (int t = 0; t < SLOTS; t++) {
      if (t < a.n_slots)
        v[t] = __ldcs (s.ring + a.slots[t] * s.ring_stride + i);
    }
#pragma unroll 1
    for (int k = 0; k < a.n_filters; k++) {
      float2 sum[N] = {};

#pragma unroll
      for (int t = 0; t < SLOTS; t++) {
        const float2 w = slab[(k * SLOTS + t) * SLAB + at];

#pragma unroll
        for (int j = 0; j < N && t + j < SLOTS; j++)
          sum[j] = multiply_number (sum[j], v[t + j], w, two_real);
      }
#pragma unroll
      for (int j = 0; j < N; j++)
        a.sums[j][k * a.sum_stride + i] = sum[j];
    }
  }
}

template <int SLOTS>
const void *
bank_kernel_of (int ahead)
{
  return ahead == BEGUN
      ? (const void *) fft_sums_begin_bank_kernel<SLOTS, BEGUN>
      : (const void *) fft_sums_begin_bank_kernel<SLOTS, BEGUN_BANK>;
}

/* Begins the sums of a.n_filters filters, as many at a time as shared memory
 * holds for two thread blocks. */
void
begin_bank (SumArguments<float> a, int ahead, cudaStream_t stream)
{
  const int slots = a.n_slots <= 8 ? 8 : a.n_slots <= 12 ? 12 : BANK_SLOTS;
  const void *const kernel = slots == 8 ? bank_kernel_of<8> (ahead)
      : slots == 12                     ? bank_kernel_of<12> (ahead)
                                        : bank_kernel_of<BANK_SLOTS> (ahead);
  const size_t most =
      device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin) / 2 - 2048;
  const size_t of_filter = sizeof (float2) * slots * SLAB;
  const int at_once = std::max<size_t> (1, most / of_filter);
  const size_t across = a.spectra.filter_numbers / SLAB;
  const size_t repeats =
      a.numbers / a.spectra.filter_numbers / (BANK_THREADS / SLAB);
  const dim3 blocks (across,
      std::max<size_t> (1, std::min<size_t> (repeats, 256 / across)));
  int left = a.n_filters;

  allow_shared (kernel, max_dynamic_shared ());
  while (left > 0) {
    const size_t shared = std::min (left, at_once) * of_filter;
    void *arguments[] = { (void *) &a };

    a.n_filters = std::min (left, at_once);
    ND_CUDA (cudaLaunchKernel (kernel, blocks, dim3 (BANK_THREADS), arguments,
        shared, stream));
    record_launch (kernel);
    left -= a.n_filters;
    a.spectra.filter =
        (const float2 *) a.spectra.filter + a.n_filters * a.filter_stride;
    for (int j = 0; j < ahead; j++)
      a.sums[j] += a.n_filters * a.sum_stride;
  }
}

template <typename W, typename R>
void
begin_sums (const SumArguments<R> &a, int ahead, dim3 blocks,
    cudaStream_t stream)
{
  if (ahead == BEGUN)
    fft_sums_begin_kernel<BEGUN, R, W><<<blocks, THREADS, 0, stream>>> (a);
  else
    fft_sums_begin_kernel<1, R, W><<<blocks, THREADS, 0, stream>>> (a);
  ND_CUDA_LAUNCHED (fft_sums_begin_kernel);
}

/* The grid: thread blocks for all numbers of a filter, repeated along y until
 * the device is full. */
template <typename R>
dim3
blocks_for (const SumArguments<R> &a)
{
  const size_t across = (a.spectra.filter_numbers / 2 + THREADS - 1) / THREADS;
  const size_t repeats = a.numbers / a.spectra.filter_numbers;

  return dim3 (across,
      std::max<size_t> (1, std::min<size_t> (repeats, 1024 / across)));
}

int
sums_ahead (const RingJob &job, const NdReach &reach, bool share)
{
  if (reach.slots <= 2)
    return 1;
  return share && job.bank->n_filters > 2 ? BEGUN_BANK : BEGUN;
}

} // namespace

bool
passes_are_shared (const RingJob &job, const NdReach &reach)
{
  return job.bank->n_filters > 1 && reach.slots > 2
      && reach.slots <= BANK_SLOTS;
}

template <typename R>
WindowSums<R>::WindowSums (const RingJob &job, const NdReach &reach,
    size_t numbers, bool share, cudaStream_t stream)
    : reach (reach), n_filters (job.bank->n_filters), numbers (numbers),
      share (share && passes_are_shared (job, reach)), stream (stream),
      ahead (sums_ahead (job, reach, this->share)),
      begun (job.bank->n_filters * job.shape.components),
      generations (ahead_slots (job))
{
  sums.plan (multiply (numbers, multiply (begun.size (), ahead)));
}

/* Whether the sum that was begun @used outputs ago is valid for @slots: since
 * then the window has moved by @used volumes, and no slot was written again. */
template <typename R>
bool
WindowSums<R>::goes_on (const int *slots, size_t window, int used) const
{
  const Begun &b = begun[window];

  for (unsigned t = 0; t + used < reach.slots; t++) {
    if (slots[t] != b.slots[t + used]
        || generations[slots[t]] != b.generations[t + used])
      return false;
  }
  return true;
}

template <typename R>
SumArguments<R>
WindowSums<R>::arguments_for (const int *slots,
    const WindowSpectra<R> &spectra) const
{
  SumArguments<R> a = { spectra, numbers, (int) reach.slots };

  memcpy (a.slots, slots, reach.slots * sizeof (int));
  return a;
}

/* Counts one more output. Returns false if a pass must begin its sum. */
template <typename R>
bool
WindowSums<R>::use_begun (const int *slots, size_t window)
{
  Begun &b = begun[window];

  b.used++;
  if (!b.slots.empty () && b.used < ahead && goes_on (slots, window, b.used))
    return true;
  b.used = 0;
  b.slots.assign (slots, slots + reach.slots);
  b.generations.resize (reach.slots);
  for (unsigned t = 0; t < reach.slots; t++)
    b.generations[t] = generations[slots[t]];
  return false;
}

template <typename R>
typename WindowSums<R>::Start
WindowSums<R>::start (const int *slots, size_t window,
    const WindowSpectra<R> &spectra)
{
  Number<R> *const own = sums.get () + window * ahead * numbers;
  SumArguments<R> a = arguments_for (slots, spectra);

  if (use_begun (slots, window)) {
    const int used = begun[window].used;

    return Start{ own + used * numbers, reach.slots - used };
  }
  for (int j = 0; j < ahead; j++)
    a.sums[j] = own + j * numbers;
  if (spectra.real)
    begin_sums<Number<R>> (a, ahead, blocks_for (a), stream);
  else
    begin_sums<Two<R>> (a, ahead, blocks_for (a), stream);
  return Start{ own, reach.slots };
}

template <>
WindowSums<float>::Start
WindowSums<float>::start_bank (const int *slots, size_t component,
    const WindowSpectra<float> &spectra)
{
  const size_t filter_stride = reach.slots * spectra.filter_numbers;
  const size_t components = begun.size () / n_filters;

  if (!share) {
    const Start first = start (slots, component, spectra);
    WindowSpectra<float> s = spectra;

    for (unsigned k = 1; k < n_filters; k++) {
      s.filter = (const float2 *) s.filter + filter_stride;
      start (slots, k * components + component, s);
    }
    return first;
  }
  float2 *const own = sums.get () + component * ahead * numbers;
  SumArguments<float> a = arguments_for (slots, spectra);

  if (use_begun (slots, component)) {
    const int used = begun[component].used;

    return Start{ own + used * numbers, reach.slots - used };
  }
  for (int j = 0; j < ahead; j++)
    a.sums[j] = own + j * numbers;
  a.n_filters = n_filters;
  a.filter_stride = filter_stride;
  a.sum_stride = stride ();
  begin_bank (a, ahead, stream);
  return Start{ own, reach.slots };
}

template <typename R>
Number<R> *
WindowSums<R>::finish (const int *slots, const Start &start,
    const WindowSpectra<R> &spectra)
{
  SumArguments<R> a = arguments_for (slots, spectra);

  if (start.first == reach.slots)
    return start.sum;
  a.sums[0] = start.sum;
  if (spectra.real)
    fft_sums_finish_kernel<R, Number<R>>
        <<<blocks_for (a), THREADS, 0, stream>>> (a, start.first);
  else
    fft_sums_finish_kernel<R, Two<R>>
        <<<blocks_for (a), THREADS, 0, stream>>> (a, start.first);
  ND_CUDA_LAUNCHED (fft_sums_finish_kernel);
  return start.sum;
}

template class WindowSums<float>;
template class WindowSums<double>;

} // namespace nd
