/* The DCT of 4 samples without norms, its adjoint, and the window of blocks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

namespace nd
{

/* tan (pi / 8), and the ratio of the square norms of an odd and an even basis
 * function. */
constexpr float DCT_ODD = 0.41421356237309503f;
constexpr float DCT_RATIO = 1.7071067811865475f;
/* The Kaiser window of 4 samples with beta = 2. */
constexpr float OUTER = 0.43867628098290406f;
constexpr float INNER = 0.92431387937045783f;

__device__ __forceinline__ void
forward4 (float a, float b, float c, float d, float &o0, float &o1, float &o2,
    float &o3)
{
  const float s0 = a + d, s1 = b + c, d0 = a - d, d1 = b - c;

  o0 = s0 + s1;
  o1 = fmaf (DCT_ODD, d1, d0);
  o2 = s0 - s1;
  o3 = fmaf (DCT_ODD, d0, -d1);
}

/* The adjoint, times the square norms. */
__device__ __forceinline__ void
inverse4 (float c0, float c1, float c2, float c3, float o[4])
{
  const float e0 = c0 + c2, e1 = c0 - c2;
  const float u0 = fmaf (DCT_ODD, c3, c1), u1 = fmaf (DCT_ODD, c1, -c3);

  o[0] = fmaf (DCT_RATIO, u0, e0);
  o[1] = fmaf (DCT_RATIO, u1, e1);
  o[2] = fmaf (-DCT_RATIO, u1, e1);
  o[3] = fmaf (-DCT_RATIO, u0, e0);
}

/* The same, times the window. */
__device__ __forceinline__ void
inverse4_window (float c0, float c1, float c2, float c3, float o[4])
{
  const float e0 = (c0 + c2) * OUTER, e1 = (c0 - c2) * INNER;
  const float u0 = fmaf (DCT_ODD, c3, c1), u1 = fmaf (DCT_ODD, c1, -c3);

  o[0] = fmaf (OUTER * DCT_RATIO, u0, e0);
  o[1] = fmaf (INNER * DCT_RATIO, u1, e1);
  o[2] = fmaf (-INNER * DCT_RATIO, u1, e1);
  o[3] = fmaf (-OUTER * DCT_RATIO, u0, e0);
}

/* The factor of coefficient @k in sample @i of inverse4_window (). */
__device__ __forceinline__ constexpr float
inverse4_factor (int k, int i)
{
  const bool outer = i == 0 || i == 3;
  const float window = outer ? OUTER : INNER, sign = i < 2 ? 1.f : -1.f;

  switch (k) {
    case 0:
      return window;
    case 1:
      return sign * window * DCT_RATIO * (outer ? 1.f : DCT_ODD);
    case 2:
      return outer ? window : -window;
    default:
      return sign * window * DCT_RATIO * (outer ? DCT_ODD : -1.f);
  }
}

} // namespace nd
