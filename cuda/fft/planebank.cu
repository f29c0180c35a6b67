/* Kernels of banks, for flat blocks of 32 x 32 samples: one launch computes all
 * responses. A warp computes two blocks at a time, as in
 * cuda/fft/planekernels.cu.
 *
 * For windows of one volume, a kernel keeps the spectrum of the two blocks, as
 * much as fits in shared memory and the rest in registers, while it goes
 * through the filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/planepairs.cuh"
#include "cuda/fft/windowlevels.cuh"
#include "cuda/sync.cuh"

namespace nd
{

namespace
{

constexpr int RESIDENT = 4; /* thread blocks of a multiprocessor */

/* Numbers of a column that shared memory keeps. Four thread blocks then use
 * 224 of the 228 KiB of a multiprocessor. */
constexpr int HELD = 22;
constexpr size_t BANK_SHARED = SHARED + sizeof (float2) * HELD * 32 * WARPS;

template <bool LEVEL>
__device__ __forceinline__ void
restore_pair (const BlockArguments &a, unsigned char *response,
    const Pair &pair, float2 level, float2 (&v)[BLOCK])
{
  restore_plane (shared_plane (), v);
  store_bank_columns<LEVEL> (a, response, pair.columns, level, shared_plane (),
      v);
}

/* From a volume to responses, for windows of one volume. */
template <typename T>
__global__ void __launch_bounds__ (32 * WARPS, RESIDENT)
fft_flat_bank_filter_kernel (const __grid_constant__ BlockArguments a)
{
  extern __shared__ float2 planes[];
  const BankPart part = part_of_bank (a.bank);
  float2 *const held = planes + WARPS * BLOCK * PITCH + threadIdx.x;
  float2 kept[BLOCK - HELD];
  float2 v[BLOCK];
  Pair pair;

  wait_on_dependent_grids ();
  if (a.bank.only_if && *a.bank.only_if == 0)
    return;
  if (!find_pair (a.blocks, part.unit, &pair))
    return;
  transform_bank_columns<T, false> (a, pair.columns, part.first == 0, v);
  transform_plane (shared_plane (), v);
#pragma unroll
  for (int k = 0; k < BLOCK; k++) {
    if (k < HELD)
      held[k * 32 * WARPS] = v[k];
    else
      kept[k - HELD] = v[k];
  }
#pragma unroll 1
  for (int i = part.first; i < part.end; i++) {
    const float2 *const filter =
        a.filter + i * a.bank.filter_stride + threadIdx.x % 32;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      v[k] = multiply_number (make_float2 (0, 0),
          k < HELD ? held[k * 32 * WARPS] : kept[k < HELD ? 0 : k - HELD],
          __ldg (filter + k * BLOCK), false);
    __syncwarp (); /* the warp has read its plane */
    restore_pair<false> (a, a.store.out + i * a.bank.response_stride, pair,
        make_float2 (0, 0), v);
  }
}

/* A response from the spectra of the window. */
__global__ void __launch_bounds__ (32 * WARPS, RESIDENT)
fft_flat_bank_respond_kernel (const __grid_constant__ BlockArguments a)
{
  const BankResponse response = response_of_bank (a.bank);
  const size_t f = response.filter;
  const double *const filter_sums = a.filter_sums + f * a.n_slots;
  float2 sum[BLOCK] = {};
  float level[2];
  Pair pair;

  if (!find_pair (a.blocks, response.unit, &pair))
    return;
  WindowLevels<2> levels (a, filter_sums, 2 * pair.index);

  if (a.sum) {
    const float2 *const begun =
        a.sum + f * a.bank.sum_stride + pair.index * NUMBERS + threadIdx.x % 32;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      sum[k] = __ldcs (begun + k * BLOCK);
  }
#pragma unroll 1
  for (int t = a.first; t < a.n_slots; t++) {
    const float2 *const spectrum = a.spectra + a.slots[t] * a.spectra_stride
        + pair.index * NUMBERS + threadIdx.x % 32;
    const float2 *const filter =
        a.filter + f * a.bank.filter_stride + t * NUMBERS + threadIdx.x % 32;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      sum[k] = multiply_number (sum[k], __ldcg (spectrum + k * BLOCK),
          __ldg (filter + k * BLOCK), false);
  }
  levels.sum (a, filter_sums, 2 * pair.index, level);
  restore_pair<true> (a, a.store.out + f * a.bank.response_stride, pair,
      make_float2 (level[0], level[1]), sum);
}

} // namespace

BankKernels
plane_bank_kernels (NdSampleType type)
{
  return visit_sample_type (type, [] (auto sample) {
    using T = typename decltype (sample)::Type;

    return BankKernels{ (const void *) fft_flat_bank_filter_kernel<T>,
      (const void *) fft_flat_bank_respond_kernel, BANK_SHARED, RESIDENT };
  });
}

} // namespace nd
