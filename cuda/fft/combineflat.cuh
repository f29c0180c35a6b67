/* How a warp filters a flat block of 32 x 32 samples with pairs of filters
 * (cuda/fft/combineplanes.cu, cuda/fft/tensorplanes.cu). Two filters are the
 * real and the imaginary part of one complex filter, so that one inverse
 * transform gives a thread both responses to its samples.
 *
 * A warp computes a block, without waiting for other warps. It transforms the
 * block as both the real and the imaginary part of complex numbers, and keeps
 * 17 of the 32 numbers of a row of the spectrum in shared memory: real and
 * imaginary parts exchanged, the others are numbers of the mirrored row.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/combinebank.cuh"
#include "cuda/fft/planepairs.cuh"

namespace nd
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

/* Weight 32 * i + y: numbers 2 i and 2 i + 1 of row y. The kernel's spectrum is
 * that of the block times 1 + i, which the host makes 2 here. */
inline float4
weight_of_rows (int i, const CombineNumber &at)
{
  const std::complex<double> scale (1, -1);
  const std::complex<double> p = scale * at (i / 32 * 2, i % 32, 0);
  const std::complex<double> q = scale * at (i / 32 * 2 + 1, i % 32, 0);

  return make_float4 (p.real (), p.imag (), q.real (), q.imag ());
}

} // namespace nd
