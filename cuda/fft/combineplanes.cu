/* Kernels that combine the responses of a bank in registers, for flat blocks of
 * 32 x 32 samples. Two filters are the real and the imaginary part of one
 * complex filter, so that one inverse transform gives a thread both responses
 * to its samples.
 *
 * A warp computes a block, without waiting for other warps. It transforms the
 * block as both the real and the imaginary part of complex numbers, and keeps
 * 17 of the 32 numbers of a row of the spectrum in shared memory: real and
 * imaginary parts exchanged, the others are numbers of the mirrored row.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/combinevalues.cuh"
#include "cuda/fft/planepairs.cuh"

namespace nd
{

namespace
{

constexpr int KEPT = BLOCK / 2 + 1; /* numbers of a row */
constexpr int RESIDENT = 4;         /* thread blocks of a multiprocessor */
constexpr size_t WARP_NUMBERS = BLOCK * (PITCH + KEPT);

/* Multiplies the rows of the kept spectrum by a complex filter. */
__device__ __forceinline__ void
multiply_rows (const float2 *kept, const float4 *weights, float2 (&v)[BLOCK])
{
  const int lane = threadIdx.x % 32;
  const float2 *const row = kept + lane * KEPT;
  const float2 *const mirror = kept + (BLOCK - lane) % BLOCK * KEPT;

#pragma unroll
  for (int x = 0; x < BLOCK; x++) {
    const float2 n = x < KEPT ? row[x] : mirror[BLOCK - x];

    v[x] = x < KEPT ? n : make_float2 (n.y, n.x);
  }
#pragma unroll
  for (int x = 0; x < BLOCK; x += 2) {
    const float4 w = __ldg (weights + x / 2 * 32);

    v[x] = multiply_number (make_float2 (0, 0), v[x], make_float2 (w.x, w.y),
        false);
    v[x + 1] = multiply_number (make_float2 (0, 0), v[x + 1],
        make_float2 (w.z, w.w), false);
  }
}

/* SUM: of the magnitudes; otherwise the largest one. */
template <typename T, bool SUM>
__global__ void __launch_bounds__ (32 * WARPS, RESIDENT)
combine_kernel (const __grid_constant__ CombineArguments a)
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

/* Weight 32 * i + y: numbers 2 i and 2 i + 1 of row y. The kernel's spectrum is
 * that of the block times 1 + i, which the host makes 2 here. */
float4
weight (int i, const CombineNumber &at)
{
  const std::complex<double> scale (1, -1);
  const std::complex<double> p = scale * at (i / 32 * 2, i % 32, 0);
  const std::complex<double> q = scale * at (i / 32 * 2 + 1, i % 32, 0);

  return make_float4 (p.real (), p.imag (), q.real (), q.imag ());
}

} // namespace

CombineKernel
combine_planes_kernel (NdSampleType type, bool is_sum)
{
  return visit_sample_type (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    return CombineKernel{ is_sum ? (const void *) combine_kernel<T, true>
                                 : (const void *) combine_kernel<T, false>,
      32 * WARPS, WARPS * WARP_NUMBERS * sizeof (float2), weight, WARPS, 0, 0 };
  });
}

} // namespace nd
