/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/quantile.cuh"

#include "cuda/device.h"
#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int THREADS = 512;
constexpr int ARRAY_THREADS = 1024;
constexpr unsigned ALL = 0xffffffffu, NO_LEAST = 0xffffffffu;
constexpr unsigned INFINITE = 0x7f800000u;
/* Bits that no value has. */
constexpr unsigned NO_VALUE = 0xffffffffu;

/* The 31 bits below the sign are found in three rounds. */
constexpr int ROUNDS = 3;

__device__ __forceinline__ int
round_shift (int round)
{
  return round == 0 ? 20 : round == 1 ? 10 : 0;
}

__device__ __forceinline__ int
round_bits (int round)
{
  return round == 0 ? QUANTILE_BITS : 10;
}

/* Counts a value in shared memory if it has the known bits. */
__device__ __forceinline__ void
count_value (float value, int round, unsigned known, unsigned *bins)
{
  const unsigned bits = __float_as_uint (value);
  const int shift = round_shift (round), width = round_bits (round);

  if (bits < INFINITE && bits >> (shift + width) == known)
    atomicAdd (&bins[bits >> shift & ((1u << width) - 1)], 1u);
}

/* Finds the bin of the rank. All N threads of the block call it, and @search
 * is valid after a barrier. */
template <int N>
__device__ void
find_bin (const unsigned *bins, int round, double fraction,
    QuantileSearch *search)
{
  constexpr int OWN = QUANTILE_BINS / N;
  __shared__ unsigned of_warps[N / 32];
  const int tid = threadIdx.x, lane = tid & 31;
  const QuantileSearch known = round == 0 ? QuantileSearch{} : *search;
  unsigned own = 0, before = 0, total = 0, rank;

#pragma unroll
  for (int i = 0; i < OWN; i++)
    own += bins[tid * OWN + i];

  unsigned sum = own;

#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync (ALL, sum, step);

    sum += lane >= step ? other : 0;
  }
  if (lane == 31)
    of_warps[tid / 32] = sum;
  __syncthreads ();
  for (int i = 0; i < N / 32; i++) {
    before += i < tid / 32 ? of_warps[i] : 0;
    total += of_warps[i];
  }
  before += sum - own;
  rank = round == 0 ? (unsigned) (fraction * total) : known.rank;
  if (total == 0) {
    if (tid == 0)
      *search = { NO_VALUE, 0 };
    return;
  }
  if (rank < before || rank - before >= own)
    return;
  rank -= before;
  for (int i = 0; i < OWN; i++) {
    const unsigned bin = tid * OWN + i;

    if (rank < bins[bin]) {
      *search = { known.bits << round_bits (round) | bin, rank };
      return;
    }
    rank -= bins[bin];
  }
}

__device__ __forceinline__ float
found_value (const QuantileSearch &search)
{
  return search.bits == NO_VALUE ? 0.f : __uint_as_float (search.bits);
}

/* One of the rounds */

struct Round
{
  QuantileArguments a;
  int round;
};

__global__ void __launch_bounds__ (THREADS)
quantile_round_kernel (const __grid_constant__ Round r)
{
  const QuantileArguments &a = r.a;
  __shared__ unsigned bins[QUANTILE_BINS];
  __shared__ bool is_last;
  const int tid = threadIdx.x;

  for (unsigned i = tid; i < QUANTILE_BINS; i += THREADS)
    bins[i] = 0;
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  const float least = least_value (*a.least);
  const unsigned known = r.round == 0 ? 0 : a.state->search.bits;

  __syncthreads ();
  for (size_t i = (size_t) blockIdx.x * THREADS + tid; i < a.n;
       i += (size_t) gridDim.x * THREADS) {
    if (a.samples[i] > least)
      count_value (a.values[i], r.round, known, bins);
  }
  __syncthreads ();
  for (unsigned i = tid; i < QUANTILE_BINS; i += THREADS) {
    if (bins[i] > 0)
      atomicAdd (&a.state->bins[i], bins[i]);
  }
  __threadfence ();
  __syncthreads ();
  if (tid == 0)
    is_last = atomicAdd (&a.state->blocks_done, 1u) == gridDim.x - 1;
  __syncthreads ();
  if (!is_last)
    return;
  __threadfence ();
  for (unsigned i = tid; i < QUANTILE_BINS; i += THREADS) {
    bins[i] = __ldcg (&a.state->bins[i]);
    a.state->bins[i] = 0;
  }
  if (tid == 0)
    a.state->blocks_done = 0;
  __syncthreads ();
  find_bin<THREADS> (bins, r.round, a.fraction, &a.state->search);
  __syncthreads ();
  if (r.round == ROUNDS - 1 && tid == 0)
    *a.out = found_value (a.state->search);
}

/* Arrays that a thread block each searches */

struct Arrays
{
  const float *values;
  size_t n;
  double fraction;
  float *out;
};

__global__ void __launch_bounds__ (ARRAY_THREADS)
quantile_arrays_kernel (const __grid_constant__ Arrays a)
{
  __shared__ unsigned bins[QUANTILE_BINS];
  __shared__ QuantileSearch search;
  const float *values = a.values + blockIdx.x * a.n;
  const int tid = threadIdx.x;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (tid == 0)
    search = {};
  for (int round = 0; round < ROUNDS; round++) {
    for (unsigned i = tid; i < QUANTILE_BINS; i += ARRAY_THREADS)
      bins[i] = 0;
    __syncthreads ();
    for (size_t i = tid; i < a.n; i += ARRAY_THREADS)
      count_value (values[i], round, search.bits, bins);
    __syncthreads ();
    find_bin<ARRAY_THREADS> (bins, round, a.fraction, &search);
    __syncthreads ();
  }
  if (tid == 0)
    a.out[blockIdx.x] = found_value (search);
}

/* The least sample */

struct Least
{
  const float *volume;
  size_t n;
  unsigned *least;
};

__global__ void __launch_bounds__ (THREADS)
quantile_least_kernel (const __grid_constant__ Least a)
{
  unsigned least = NO_LEAST;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  for (size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x; i < a.n;
       i += (size_t) gridDim.x * THREADS) {
    const unsigned bits = __float_as_uint (a.volume[i]);
    const unsigned key = bits >> 31 ? ~bits : bits | 0x80000000u;

    if ((bits & INFINITE) != INFINITE)
      least = min (least, key);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    least = min (least, __shfl_xor_sync (ALL, least, step));
  if (threadIdx.x % 32 == 0)
    atomicMin (a.least, least);
}

dim3
count_blocks (size_t n)
{
  const size_t most =
      4 * (size_t) device_attribute (cudaDevAttrMultiProcessorCount);

  return dim3 (std::min<size_t> (most, (n + 8 * THREADS - 1) / (8 * THREADS)));
}

} // namespace

void
find_least (const float *volume, size_t n, unsigned *least, cudaStream_t stream)
{
  const Least a = { volume, n, least };

  ND_CUDA (cudaMemsetAsync (least, 0xff, sizeof (NO_LEAST), stream));
  launch_early (quantile_least_kernel, count_blocks (n), dim3 (THREADS), 0,
      stream, a);
}

void
find_quantile (const QuantileArguments &a, cudaStream_t stream)
{
  for (int round = 0; round < ROUNDS; round++)
    launch_early (quantile_round_kernel, count_blocks (a.n), dim3 (THREADS), 0,
        stream, Round{ a, round });
}

void
find_quantiles (const float *values, int n_arrays, size_t n, double fraction,
    float *out, cudaStream_t stream)
{
  const Arrays a = { values, n, fraction, out };

  launch_early (quantile_arrays_kernel, dim3 (n_arrays), dim3 (ARRAY_THREADS),
      0, stream, a);
}

} // namespace nd
