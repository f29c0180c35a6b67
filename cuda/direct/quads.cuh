/* Four samples side by side, which kernels of method `separable` read at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/sampletypes.cuh"

#include <cstdint>

namespace nd
{

template <typename T>
struct alignas (4 * sizeof (T)) Quad
{
  T v[4];
};

/* Integers become the low bits of floats from 2^23 on, from which 2^23 is
 * subtracted: quicker than conversions. */
template <typename T>
__device__ __forceinline__ void
to_floats (const Quad<T> &quad, float *v)
{
  constexpr unsigned LEAST = 0x4b000000; /* 2^23 */

  if constexpr (!is_integer<T>) {
#pragma unroll
    for (int i = 0; i < 4; i++)
      v[i] = quad.v[i];
  } else if constexpr (sizeof (T) == 1) {
    const unsigned bytes = *(const unsigned *) &quad;

#pragma unroll
    for (int i = 0; i < 4; i++)
      v[i] =
          __uint_as_float (__byte_perm (bytes, LEAST, 0x7440 + i)) - 8388608.f;
  } else {
    constexpr unsigned flip = lowest<T> < 0 ? 0x80008000 : 0;
    const uint2 pairs = *(const uint2 *) &quad;

#pragma unroll
    for (int i = 0; i < 4; i++)
      v[i] = __uint_as_float (__byte_perm ((i < 2 ? pairs.x : pairs.y) ^ flip,
                 LEAST, i % 2 ? 0x7432 : 0x7410))
          - (8388608.f - lowest<T>);
  }
}

} // namespace nd
