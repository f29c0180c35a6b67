/* Kernels that combine the responses of a bank in registers, for flat blocks
 * (cuda/fft/combineflat.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/combineflat.cuh"
#include "cuda/fft/combinevalues.cuh"

namespace nd
{

namespace
{

/* SUM: of the magnitudes; otherwise the largest one. */
template <typename T, bool SUM>
__global__ void __launch_bounds__ (32 * WARPS, RESIDENT)
fft_flat_combine_kernel (const __grid_constant__ CombineArguments a)
{
  extern __shared__ float2 shared[];
  const Blocks &b = a.blocks;
  const int block = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  float2 *const plane = shared + threadIdx.x / 32 * WARP_NUMBERS;
  float2 *const kept = plane + BLOCK * PITCH;
  float2 v[BLOCK];
  Combined c;

  begin_combining (a);
  if (block >= b.count[0] * b.count[1] * b.count[2])
    return;
  const Corner at = corner_of (b, block);

  transform_bank_columns<T, true, true> (a, Columns{ { at, at }, { 0, 0 } },
      false, v);
  transform_plane (plane, v);
#pragma unroll
  for (int x = 0; x < KEPT; x++)
    kept[lane * KEPT + x] = v[x];
#pragma unroll 1
  for (int k = 0; k < a.pairs; k++) {
    __syncwarp (); /* the plane has been read, the spectrum is written */
    multiply_rows (kept, a.weights + (size_t) k * COMBINED_WEIGHTS + lane, v);
    combine_pair<SUM, true> (a, k, plane, v, c);
  }
  store_combined<SUM> (a, at, (float *) plane, c);
}

} // namespace

CombineKernel
combine_planes_kernel (NdSampleType type, bool is_sum)
{
  return visit_sample_type (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    return CombineKernel{ is_sum
          ? (const void *) fft_flat_combine_kernel<T, true>
          : (const void *) fft_flat_combine_kernel<T, false>,
      32 * WARPS, WARPS * WARP_NUMBERS * sizeof (float2), weight_of_rows, WARPS,
      0, 0 };
  });
}

} // namespace nd
