/* The eigenvalues of a tensor over four axes in single precision: a reflection
 * and a rotation make it tridiagonal, and implicit QL steps find the
 * eigenvalues of that (Parlett, The Symmetric Eigenvalue Problem, chapter 8).
 * Clusters of eigenvalues need no more steps than others.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/approximate.cuh"

namespace nd
{

/* Squares below it vanish beside elements of about 1. */
#define ND_TINY_SQUARE 1e-30f

/* @d: the diagonal, @e: the elements beside it. The elements of @t are about 1
 * at most. */
__device__ __forceinline__ void
make_tridiagonal (const float *t, float d[4], float e[3])
{
  const float xx = t[0], xy = t[1], xz = t[2], xt = t[3], yy = t[4], yz = t[5],
              yt = t[6], zz = t[7], zt = t[8], tt = t[9];
  /* The reflection moves (xy, xz, xt) to the second axis. */
  const float square = fmaf (xt, xt, fmaf (xz, xz, xy * xy));
  const float length = approximate_root (square);
  const float v = xy + copysignf (length, xy);
  const float half = square > ND_TINY_SQUARE
      ? approximate_reciprocal (fmaf (fabsf (xy), length, square))
      : 0;
  const float p = half * fmaf (yt, xt, fmaf (yz, xz, yy * v));
  const float q = half * fmaf (zt, xt, fmaf (zz, xz, yz * v));
  const float r = half * fmaf (tt, xt, fmaf (zt, xz, yt * v));
  const float k = .5f * half * fmaf (xt, r, fmaf (xz, q, v * p));
  const float a = fmaf (-k, v, p), b = fmaf (-k, xz, q), c = fmaf (-k, xt, r);
  const float yz2 = fmaf (-v, b, fmaf (-a, xz, yz));
  const float yt2 = fmaf (-v, c, fmaf (-a, xt, yt));
  const float zz2 = fmaf (-2 * xz, b, zz), tt2 = fmaf (-2 * xt, c, tt);
  const float zt2 = fmaf (-xz, c, fmaf (-b, xt, zt));
  /* The rotation moves (yz2, yt2) to the third axis. */
  const float square2 = fmaf (yt2, yt2, yz2 * yz2);
  const bool turns = square2 > ND_TINY_SQUARE;
  const float inverse = turns ? approximate_inverse_root (square2) : 0;
  const float cosine = turns ? yz2 * inverse : 1;
  const float sine = yt2 * inverse;
  const float cc = cosine * cosine, ss = sine * sine, cs = cosine * sine;
  const float twice = 2 * cs * zt2;
  const float last = fmaf (cs, tt2 - zz2, (cc - ss) * zt2);

  d[0] = xx;
  d[1] = fmaf (-2 * v, a, yy);
  d[2] = fmaf (cc, zz2, fmaf (ss, tt2, twice));
  d[3] = fmaf (ss, zz2, fmaf (cc, tt2, -twice));
  e[0] = length;
  e[1] = square2 * inverse;
  e[2] = last;
}

/* Steps of the rows from FIRST on, until d[FIRST] is an eigenvalue. FALSE if
 * they do not suffice. */
template <int FIRST>
__device__ __forceinline__ bool
find_eigenvalue (float d[4], float e[3])
{
#pragma unroll 1
  for (int step = 0; step < 10; step++) {
    if (!(fabsf (e[FIRST]) > 3e-7f))
      return true;
    const float half = .5f * (d[FIRST + 1] - d[FIRST]);
    const float square = e[FIRST] * e[FIRST];
    /* The shift is an eigenvalue of the first two rows. */
    const float root = approximate_root (fmaf (half, half, square));
    const float shift = d[FIRST]
        - square * approximate_reciprocal (half + copysignf (root, half));
    float c = 1, s = 1, p = 0, g = d[3] - shift;

#pragma unroll
    for (int i = 2; i >= FIRST; i--) {
      const float f = s * e[i], b = c * e[i], sum = fmaf (f, f, g * g);
      const float inverse = approximate_inverse_root (sum);

      if (i < 2)
        e[i + 1] = sum * inverse;
      s = f * inverse;
      c = g * inverse;
      g = d[i + 1] - p;

      const float r = fmaf (d[i] - g, s, 2 * c * b);

      p = s * r;
      d[i + 1] = g + p;
      g = fmaf (c, r, -b);
    }
    d[FIRST] -= p;
    e[FIRST] = g;
  }
  return false;
}

/* @apart: 1 minus the quotient of the two least eigenvalues, and 0 if they are
 * equal. Their errors are 2e-6 of the trace at most. FALSE if these matter,
 * because the second one is small, or if a number is not finite. */
__device__ __forceinline__ bool
compare_least_roughly (const float *tensor, float *apart)
{
  float t[10], d[4], e[3], sum = 0;

#pragma unroll
  for (int k = 0; k < 10; k++)
    sum += fabsf (tensor[k]);
  /* A power of 2. */
  const float unit =
      __int_as_float ((254 << 23) - (__float_as_int (sum) & 0x7f800000));

#pragma unroll
  for (int k = 0; k < 10; k++)
    t[k] = tensor[k] * unit;
  make_tridiagonal (t, d, e);
  if (!find_eigenvalue<0> (d, e) || !find_eigenvalue<1> (d, e))
    return false;
  const float mean = .5f * (d[2] + d[3]), half = .5f * (d[2] - d[3]);
  const float root = approximate_root (fmaf (half, half, e[2] * e[2]));
  const float low = fminf (d[0], d[1]), high = fmaxf (d[0], d[1]);
  const float least = fminf (low, mean - root);
  const float next =
      fminf (fmaxf (low, mean - root), fminf (high, mean + root));

  *apart = (next - least) * approximate_reciprocal (next);
  /* A step divides by 0 if numbers beside the diagonal are 0. */
  return next > 1e-3f && isfinite (d[0] + d[1] + mean + root);
}

} // namespace nd
