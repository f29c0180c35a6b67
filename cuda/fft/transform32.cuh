/* The Fourier transform of 32 numbers in the registers of one thread, by the
 * same steps as that of 64 numbers (cuda/fft/transform64.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/transform64.cuh"

namespace nd
{

/* Not scaled. */
template <bool INVERSE>
__device__ __forceinline__ void
transform32 (float2 (&v)[32])
{
  float2 sorted[32];

#pragma unroll
  for (int i = 0; i < 32; i++)
    sorted[(i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2
        | (i & 16) >> 4] = v[i];
#pragma unroll
  for (int stage = 0; stage < 5; stage++) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      const int half = 1 << stage, k = i % half;
      const int a = i / half * 2 * half + k;

      butterfly<INVERSE> (sorted[a], sorted[a + half], k << (5 - stage));
    }
  }
#pragma unroll
  for (int i = 0; i < 32; i++)
    v[i] = sorted[i];
}

} // namespace nd
