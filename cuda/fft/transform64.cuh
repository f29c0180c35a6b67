/* The Fourier transform of 64 numbers in the registers of one thread:
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

/* Replaces a by a + w b and b by a - w b, with w = exp (-2 pi i k / 64), k = 0
 * to 31; INVERSE: with the conjugate of w. */
template <bool INVERSE>
__device__ __forceinline__ void
butterfly (float2 &a, float2 &b, int k)
{
  constexpr float COS[33] = { 1, 0.99518472667219692873f,
    0.98078528040323043058f, 0.95694033573220882438f, 0.92387953251128673848f,
    0.88192126434835504956f, 0.83146961230254523567f, 0.77301045336273699338f,
    0.70710678118654757274f, 0.63439328416364548779f, 0.55557023301960228867f,
    0.47139673682599780857f, 0.38268343236508983729f, 0.29028467725446233105f,
    0.19509032201612833135f, 0.09801714032956077016f, 0,
    -0.09801714032956064526f, -0.19509032201612819257f,
    -0.29028467725446216452f, -0.38268343236508972627f,
    -0.47139673682599769755f, -0.55557023301960195560f,
    -0.63439328416364537677f, -0.70710678118654746172f,
    -0.77301045336273699338f, -0.83146961230254534669f,
    -0.88192126434835493853f, -0.92387953251128673848f,
    -0.95694033573220882438f, -0.98078528040323043058f,
    -0.99518472667219681771f, -1 };
  /* tan (pi k / 32) for k = 0 to 8. */
  constexpr float TAN[9] = { 0, 0.09849140335716424777f,
    0.19891236737965800607f, 0.30334668360734240444f, 0.41421356237309503445f,
    0.53451113595079158269f, 0.66817863791929887896f, 0.82067879082866024287f,
    1 };
  const float sign = INVERSE ? -1 : 1;
  float2 t;
  float factor;

  if (k == 0) {
    t = b;
    factor = 1;
  } else if (k == 16) {
    t = make_float2 (sign * b.y, -sign * b.x);
    factor = 1;
  } else if (k < 8 || k > 24) {
    /* w b = cos (b + tan (-i b)) */
    const float tangent = sign * (k < 8 ? TAN[k] : -TAN[32 - k]);

    t = make_float2 (fmaf (tangent, b.y, b.x), fmaf (-tangent, b.x, b.y));
    factor = COS[k];
  } else {
    /* w b = sin (-i b + cot b) */
    const float cotangent = sign * (k < 16 ? TAN[16 - k] : -TAN[k - 16]);

    t = make_float2 (fmaf (cotangent, b.x, b.y), fmaf (cotangent, b.y, -b.x));
    factor = sign * COS[k < 16 ? 16 - k : k - 16];
  }
  b = make_float2 (fmaf (-factor, t.x, a.x), fmaf (-factor, t.y, a.y));
  a = make_float2 (fmaf (factor, t.x, a.x), fmaf (factor, t.y, a.y));
}

/* Not scaled. */
template <bool INVERSE>
__device__ __forceinline__ void
transform64 (float2 (&v)[64])
{
  float2 sorted[64];

#pragma unroll
  for (int i = 0; i < 64; i++)
    sorted[(i & 1) << 5 | (i & 2) << 3 | (i & 4) << 1 | (i & 8) >> 1
        | (i & 16) >> 3 | (i & 32) >> 5] = v[i];
#pragma unroll
  for (int stage = 0; stage < 6; stage++) {
#pragma unroll
    for (int i = 0; i < 32; i++) {
      const int half = 1 << stage, k = i % half;
      const int a = i / half * 2 * half + k;

      butterfly<INVERSE> (sorted[a], sorted[a + half], k << (5 - stage));
    }
  }
#pragma unroll
  for (int i = 0; i < 64; i++)
    v[i] = sorted[i];
}

} // namespace nd
