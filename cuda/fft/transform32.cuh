/* The Fourier transform of 32 numbers in the registers of one thread:
 * decimation in time (Cooley and Tukey 1965), radix 2. It is unrolled, so that
 * twiddle factors are constants and the permutation costs nothing. A butterfly
 * with a twiddle factor takes six multiply-adds (Linzer and Feig 1993).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

namespace nd
{

/* Replaces a by a + w b and b by a - w b, with w = exp (-2 pi i k / 32), k = 0
 * to 15; INVERSE: with the conjugate of w. */
template <bool INVERSE>
__device__ __forceinline__ void
butterfly (float2 &a, float2 &b, int k)
{
  constexpr float COS[17] = { 1, 0.98078528040323044913f,
    0.92387953251128675613f, 0.83146961230254523708f, 0.70710678118654752440f,
    0.55557023301960222474f, 0.38268343236508977173f, 0.19509032201612826785f,
    0, -0.19509032201612826785f, -0.38268343236508977173f,
    -0.55557023301960222474f, -0.70710678118654752440f,
    -0.83146961230254523708f, -0.92387953251128675613f,
    -0.98078528040323044913f, -1 };
  /* tan (pi k / 16) for k = 0 to 4. */
  constexpr float TAN[5] = { 0, 0.19891236737965800691f,
    0.41421356237309504880f, 0.66817863791929891999f, 1 };
  const float sign = INVERSE ? -1 : 1;
  float2 t;
  float factor;

  if (k == 0) {
    t = b;
    factor = 1;
  } else if (k == 8) {
    t = make_float2 (sign * b.y, -sign * b.x);
    factor = 1;
  } else if (k < 4 || k > 12) {
    /* w b = cos (b + tan (-i b)) */
    const float tangent = sign * (k < 4 ? TAN[k] : -TAN[16 - k]);

    t = make_float2 (fmaf (tangent, b.y, b.x), fmaf (-tangent, b.x, b.y));
    factor = COS[k];
  } else {
    /* w b = sin (-i b + cot b) */
    const float cotangent = sign * (k < 8 ? TAN[8 - k] : -TAN[k - 8]);

    t = make_float2 (fmaf (cotangent, b.x, b.y), fmaf (cotangent, b.y, -b.x));
    factor = sign * COS[k < 8 ? 8 - k : k - 8];
  }
  b = make_float2 (fmaf (-factor, t.x, a.x), fmaf (-factor, t.y, a.y));
  a = make_float2 (fmaf (factor, t.x, a.x), fmaf (factor, t.y, a.y));
}

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

      butterfly<INVERSE> (sorted[a], sorted[a + half], k << (4 - stage));
    }
  }
#pragma unroll
  for (int i = 0; i < 32; i++)
    v[i] = sorted[i];
}

} // namespace nd
