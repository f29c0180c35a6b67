/* Kernels of banks, for blocks of 32 x 32 x 32 samples: one launch computes all
 * responses. The transforms are those of cuda/fft/volumekernels.cu.
 *
 * For windows of one volume, a kernel keeps the spectrum of a block, as much as
 * fits in shared memory and the rest in registers, while it goes through the
 * filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/volumetransforms.cuh"
#include "cuda/fft/windowlevels.cuh"
#include "cuda/sync.cuh"

namespace nd
{

namespace
{

/* Numbers of a column that shared memory keeps, which has up to 227 KiB for
 * them. */
constexpr int HELD = 23;
constexpr size_t BANK_SHARED = SHARED + sizeof (float2) * HELD * THREADS;

/* @lists: whether samples that are not finite are listed. */
template <typename T>
__device__ __forceinline__ void
transform_block (const BlockArguments &a, const Corner &at,
    const Column &column, bool lists, float2 (&v)[BLOCK])
{
  float2 *const planes = shared_planes ();
  float2 *const plane = planes + threadIdx.x / 32 * BLOCK * PITCH;
  const int lane = threadIdx.x % 32;

  transform_bank_columns<T, true> (a, columns_of (at), lists, v);
  transform_plane (plane, v);
#pragma unroll
  for (int x = 0; x < BLOCK; x++)
    plane[lane * PITCH + x] = v[x];
  __syncthreads ();
  transform_column<PLANE> (planes, column, v);
}

/* WAIT: see restore_column (). */
template <bool LEVEL, bool WAIT>
__device__ __forceinline__ void
restore_block (const BlockArguments &a, unsigned char *response,
    const Corner &at, const Column &column, float level, float2 (&v)[BLOCK])
{
  float2 *const planes = shared_planes ();
  float2 *const plane = planes + threadIdx.x / 32 * BLOCK * PITCH;
  const int lane = threadIdx.x % 32;
  const int n_planes = (a.blocks.valid[2] + 1) / 2;

  restore_column<PLANE, WAIT> (planes, column, n_planes, v);
  __syncthreads ();
  if (threadIdx.x / 32 >= n_planes)
    return; /* the warp has no valid output */
#pragma unroll
  for (int x = 0; x < BLOCK; x++)
    v[x] = plane[lane * PITCH + x];
  restore_plane (plane, v);
  store_bank_columns<LEVEL> (a, response, columns_of (at),
      make_float2 (level, level), plane, v);
}

/* From a volume to responses, for windows of one volume. */
template <typename T>
__global__ void __launch_bounds__ (THREADS, 1)
fft_block_bank_filter_kernel (const __grid_constant__ BlockArguments a)
{
  const BankPart part = part_of_bank (a.bank);
  const Corner at = corner_of (a.blocks, part.unit);
  const Column column = column_of (threadIdx.x);
  float2 *const held = shared_planes () + PLANES * BLOCK * PITCH + threadIdx.x;
  float2 kept[BLOCK - HELD];
  float2 v[BLOCK];

  wait_on_dependent_grids ();
  if (a.bank.only_if && *a.bank.only_if == 0)
    return;
  transform_block<T> (a, at, column, part.first == 0, v);
#pragma unroll
  for (int k = 0; k < BLOCK; k++) {
    if (k < HELD)
      held[k * THREADS] = v[k];
    else
      kept[k - HELD] = v[k];
  }
#pragma unroll 1
  for (int i = part.first; i < part.end; i++) {
    const float2 *const filter =
        a.filter + i * a.bank.filter_stride + threadIdx.x;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      v[k] = multiply_number (make_float2 (0, 0),
          k < HELD ? held[k * THREADS] : kept[k < HELD ? 0 : k - HELD],
          __ldg (filter + k * THREADS), column.real && k % 16 == 0);
    restore_block<false, true> (a, a.store.out + i * a.bank.response_stride, at,
        column, 0, v);
  }
}

/* A response from the spectra of the window. */
__global__ void __launch_bounds__ (THREADS, 1)
fft_block_bank_respond_kernel (const __grid_constant__ BlockArguments a)
{
  const BankResponse response = response_of_bank (a.bank);
  const size_t block = response.unit, f = response.filter;
  const Corner at = corner_of (a.blocks, response.unit);
  const Column column = column_of (threadIdx.x);
  const double *const filter_sums = a.filter_sums + f * a.n_slots;
  WindowLevels<1> levels (a, filter_sums, block);
  float2 sum[BLOCK] = {};
  float level[1];

  if (a.sum) {
    const float2 *const begun =
        a.sum + f * a.bank.sum_stride + block * NUMBERS + threadIdx.x;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      sum[k] = __ldcs (begun + k * THREADS);
  }
#pragma unroll 1
  for (int t = a.first; t < a.n_slots; t++) {
    const float2 *const spectrum = a.spectra + a.slots[t] * a.spectra_stride
        + block * NUMBERS + threadIdx.x;
    const float2 *const filter =
        a.filter + f * a.bank.filter_stride + t * NUMBERS + threadIdx.x;

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      sum[k] = multiply_number (sum[k], __ldcg (spectrum + k * THREADS),
          __ldg (filter + k * THREADS), column.real && k % 16 == 0);
  }
  levels.sum (a, filter_sums, block, level);
  restore_block<true, false> (a, a.store.out + f * a.bank.response_stride, at,
      column, level[0], sum);
}

} // namespace

BankKernels
block_bank_kernels (NdSampleType type)
{
  return visit_sample_type (type, [] (auto sample) {
    using T = typename decltype (sample)::Type;

    return BankKernels{ (const void *) fft_block_bank_filter_kernel<T>,
      (const void *) fft_block_bank_respond_kernel, BANK_SHARED, 1 };
  });
}

} // namespace nd
