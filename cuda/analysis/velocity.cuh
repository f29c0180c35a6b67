/* The velocity of analysis/structureinline.h with fewer operations: of the
 * eigenvalues only the two least are computed, as zeros of the characteristic
 * polynomial.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structureinline.h"

namespace nd
{

__device__ __forceinline__ double
determinant (double a, double b, double c, double d, double e, double f)
{
  return a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d);
}

/* The coefficients of x^0, x^1 and so on of det (x - @t). The trace of @t is 0,
 * and @square is the sum of the squares of all its elements. */
template <int AXES>
__device__ __forceinline__ void
expand_determinant (const double *t, double square, double *c)
{
  c[AXES - 1] = 0;
  c[AXES - 2] = -.5 * square;
  if constexpr (AXES == 3) {
    c[0] = -determinant (t[0], t[1], t[2], t[3], t[4], t[5]);
  } else if constexpr (AXES == 4) {
    const double xx = t[0], xy = t[1], xz = t[2], xt = t[3], yy = t[4],
                 yz = t[5], yt = t[6], zz = t[7], zt = t[8], tt = t[9];
    /* Minors of the first two rows and of the last two. */
    const double a = xx * yy - xy * xy, b = xx * yz - xz * xy,
                 c1 = xx * yt - xt * xy, d = xy * yz - xz * yy,
                 e = xy * yt - xt * yy, f = xz * yt - xt * yz;
    const double v = xz * zt - zz * xt, w = xz * tt - zt * xt,
                 p = yz * zt - zz * yt, q = yz * tt - zt * yt,
                 r = zz * tt - zt * zt;

    c[0] = a * r - b * q + c1 * p + d * w - e * v + f * f;
    c[1] = -(determinant (xx, xy, xz, yy, yz, zz)
        + determinant (xx, xy, xt, yy, yt, tt)
        + determinant (xx, xz, xt, zz, zt, tt)
        + determinant (yy, yz, yt, zz, zt, tt));
  }
}

/* About 20 bits are right, without the steps that make all right. */
__device__ __forceinline__ double
approximate_reciprocal (double a)
{
  double r;

  asm ("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  return r;
}

__device__ __forceinline__ double
approximate_root (double a)
{
  double r;

  asm ("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  return a * r;
}

/* The coefficients have errors of about 1e-16. Divided by the slope of the
 * polynomial at a zero they are the error of the zero, and the slope divided by
 * half of the second derivative is about the distance to the next zero. The
 * error must be less than about 1e-4 of this distance. */
#define ND_LEAST_SLOPE 4e-12

/* Finds the least zero of x^N + c[N - 1] x^(N - 1) + ... + c[0], all of whose
 * zeros are real, from @x on, which is not above it, with the method of
 * Laguerre: no step passes the zero, and a step corrects the errors of the
 * approximations of the step before. FALSE if the zero has
 * too large an error. */
template <int N>
__device__ __forceinline__ bool
find_least_zero (const double *c, double *x)
{
  constexpr int SIGN = N % 2 ? 1 : -1; /* of the slope below all zeros */

  for (int i = 0; i < 14; i++) {
    double value = *x + c[N - 1], slope = 1;
    double bend = 0; /* half of the second derivative */

#pragma unroll
    for (int k = N - 2; k >= 0; k--) {
      bend = k == N - 2 ? slope : fma (bend, *x, slope);
      slope = fma (slope, *x, value);
      value = fma (value, *x, c[k]);
    }
    if (!(SIGN * slope > 0 && slope * slope > ND_LEAST_SLOPE * fabs (bend)))
      return false;
    const double square =
        (N - 1) * ((N - 1) * slope * slope - 2 * N * value * bend);
    const double step = N * value
        * approximate_reciprocal (-SIGN
                * approximate_root (fmax (square, 1e-40))
            - slope);

    *x += step;
    if (!(step > 1e-8))
      break;
  }
  return true;
}

/* The two least eigenvalues in double precision alone. Not inlined, because few
 * tensors need it, and its registers would limit all threads. */
template <int AXES>
__device__ __noinline__ void
find_least_exactly (const float *tensor, double least[2])
{
  double exact[AXES * (AXES + 1) / 2], values[AXES];

#pragma unroll
  for (int c = 0; c < AXES * (AXES + 1) / 2; c++)
    exact[c] = tensor[c];
  if (!nd_inline_tensor_eigen (AXES, exact, values, nullptr))
    values[AXES - 1] = values[AXES - 2] = NAN;
  least[0] = values[AXES - 1];
  least[1] = values[AXES - 2];
}

/* Finds the two least eigenvalues of @tensor, which is finite, the least one
 * first, from the characteristic polynomial of the tensor without its mean
 * eigenvalue. If the least eigenvalue is part of a narrow cluster, the
 * polynomial does not determine it. */
template <int AXES>
__device__ __forceinline__ void
find_least (const float *tensor, double least[2])
{
  constexpr int COMPONENTS = AXES * (AXES + 1) / 2;
  double t[COMPONENTS], c[AXES], mean = 0, square = 0;

#pragma unroll
  for (int i = 0; i < AXES; i++)
    mean += tensor[nd_inline_tensor_index (AXES, i, i)] * (1. / AXES);
#pragma unroll
  for (int i = 0; i < AXES; i++) {
#pragma unroll
    for (int j = i; j < AXES; j++) {
      const int k = nd_inline_tensor_index (AXES, i, j);

      t[k] = i == j ? tensor[k] - mean : tensor[k];
      square = fma (i == j ? t[k] : 2 * t[k], t[k], square);
    }
  }
  least[0] = least[1] = mean;
  if (!(square > 1e-280))
    return;
  /* A power of 2, so that squares and products do not overflow or vanish. */
  const int exponent = ((__double2hiint (square) >> 20) - 1023) / 2;
  const double unit = __hiloint2double ((1023 - exponent) << 20, 0);
  const double back = __hiloint2double ((1023 + exponent) << 20, 0);

#pragma unroll
  for (int k = 0; k < COMPONENTS; k++)
    t[k] *= unit;
  square *= unit * unit;
  expand_determinant<AXES> (t, square, c);
  /* No eigenvalue is below -sqrt ((1 - 1 / AXES) square). */
  double x = -1.00001 * approximate_root ((1 - 1. / AXES) * square);

  if (!find_least_zero<AXES> (c, &x)) {
    find_least_exactly<AXES> (tensor, least);
    return;
  }
  least[0] = fma (x, back, mean);
  if constexpr (AXES == 2) {
    least[1] = fma (-x, back, mean);
  } else {
    double rest[AXES - 1]; /* the polynomial divided by its least factor */

    rest[AXES - 2] = x;
#pragma unroll
    for (int k = AXES - 3; k >= 0; k--)
      rest[k] = fma (rest[k + 1], x, c[k + 1]);
    find_least_zero<AXES - 1> (rest, &x);
    least[1] = fma (x, back, mean);
  }
}

/* The certainty of nd_inline_motion_solve_constant (). The equations of the
 * velocity have a solution, so that the part of @tensor in space is positive
 * definite; @determinant is its determinant. */
template <int AXES>
__device__ __forceinline__ double
find_certainty (const float *tensor, double determinant)
{
  constexpr int DIMS = AXES - 1;

  if constexpr (DIMS == 1) {
    return isfinite (determinant);
  } else {
    double trace = 0, least[2];

#pragma unroll
    for (int k = 0; k < DIMS; k++)
      trace += tensor[nd_inline_tensor_index (AXES, k, k)];
    find_least<AXES> (tensor, least);
    const double ratio = least[0] / fmax (least[1], 1e-300);
    const double mean = trace / DIMS;
    const float geometric = DIMS == 2
        ? sqrtf ((float) (determinant / (mean * mean)))
        : cbrtf ((float) (determinant / (mean * mean * mean)));

    return fmin (fmax (geometric * (1 - fmin (fmax (ratio, 0.), 1.)), 0.), 1.);
  }
}

/* nd_inline_motion_solve_constant () with fewer operations in double precision:
 * the decomposition L D L^T has no square roots, and three reciprocals. */
template <int AXES>
__device__ __forceinline__ void
solve_constant (const float *tensor, double *out)
{
  constexpr int DIMS = AXES - 1;
  double lower[DIMS][DIMS], scaled[DIMS][DIMS]; /* L, and L D */
  double inverse[DIMS], x[DIMS], determinant = 1;
  bool good = true;

#pragma unroll
  for (int i = 0; i < DIMS; i++) {
    const double diagonal = tensor[nd_inline_tensor_index (AXES, i, i)];
    double pivot = diagonal;

    x[i] = -tensor[nd_inline_tensor_index (AXES, i, DIMS)];
#pragma unroll
    for (int j = 0; j < i; j++) {
      double sum = tensor[nd_inline_tensor_index (AXES, j, i)];

#pragma unroll
      for (int k = 0; k < j; k++)
        sum -= scaled[i][k] * lower[j][k];
      scaled[i][j] = sum;
      lower[i][j] = sum * inverse[j];
      pivot -= sum * lower[i][j];
      x[i] -= lower[i][j] * x[j];
    }
    good = good && pivot > ND_MOTION_DEGENERATE * diagonal && isfinite (pivot);
    inverse[i] = 1 / pivot;
    determinant *= pivot;
  }
#pragma unroll
  for (int i = DIMS - 1; i >= 0; i--) {
    x[i] *= inverse[i];
#pragma unroll
    for (int k = i + 1; k < DIMS; k++)
      x[i] -= lower[k][i] * x[k];
    good = good && isfinite (x[i]);
  }
  out[DIMS] = good ? find_certainty<AXES> (tensor, determinant) : 0;
#pragma unroll
  for (int i = 0; i < DIMS; i++)
    out[i] = out[DIMS] > 0 ? x[i] : 0;
}

} // namespace nd
