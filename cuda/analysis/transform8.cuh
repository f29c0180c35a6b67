/* The orthonormal DCT of 8 samples. For equal samples all coefficients but the
 * first are exactly 0.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/transform4.cuh"

namespace nd
{

/* The norms of the transform of 4 samples, as part of that of 8. */
constexpr float EVEN_NORM = 0.35355339059327376f; /* sqrt (1/8) */
constexpr float ODD_NORM = 0.46193976625564337f;  /* cos (pi / 8) / 2 */

/* sqrt (1/4) cos ((2 i + 1) k pi / 16) for odd coefficient k = 2 @n + 1 of
 * sample @i. */
__device__ __forceinline__ constexpr float
odd8 (int n, int i)
{
  constexpr float c[4] = { 0.49039264020161522f, 0.41573480615127262f,
    0.27778511650980114f, 0.09754516100806412f };
  /* The angle in units of pi / 16, an odd number. */
  const int angle = (2 * i + 1) * (2 * n + 1) % 32;
  const int folded = angle < 16 ? angle : 32 - angle;

  return folded < 8 ? c[folded / 2] : -c[(16 - folded) / 2];
}

__device__ __forceinline__ void
forward8 (const float in[8], float out[8])
{
  float s[4], d[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    s[i] = in[i] + in[7 - i];
    d[i] = in[i] - in[7 - i];
  }
  forward4 (s[0], s[1], s[2], s[3], out[0], out[2], out[4], out[6]);
  out[0] *= EVEN_NORM;
  out[2] *= ODD_NORM;
  out[4] *= EVEN_NORM;
  out[6] *= ODD_NORM;
#pragma unroll
  for (int n = 0; n < 4; n++)
    out[2 * n + 1] = (odd8 (n, 0) * d[0] + odd8 (n, 1) * d[1])
        + (odd8 (n, 2) * d[2] + odd8 (n, 3) * d[3]);
}

/* The inverse, times @gain. */
__device__ __forceinline__ void
inverse8 (const float in[8], float gain, float out[8])
{
  const float e0 = (in[0] + in[4]) * (EVEN_NORM * gain);
  const float e1 = (in[0] - in[4]) * (EVEN_NORM * gain);
  const float u0 = fmaf (DCT_ODD, in[6], in[2]) * (ODD_NORM * gain);
  const float u1 = fmaf (DCT_ODD, in[2], -in[6]) * (ODD_NORM * gain);
  const float even[4] = { e0 + u0, e1 + u1, e1 - u1, e0 - u0 };

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float odd = ((odd8 (0, i) * in[1] + odd8 (1, i) * in[3])
                          + (odd8 (2, i) * in[5] + odd8 (3, i) * in[7]))
        * gain;

    out[i] = even[i] + odd;
    out[7 - i] = even[i] - odd;
  }
}

} // namespace nd
