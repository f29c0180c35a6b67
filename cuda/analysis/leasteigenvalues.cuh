/* The two least eigenvalues of a tensor, with fewer operations than all
 * eigenvalues need: they are zeros of the characteristic polynomial.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structureinline.h"
#include "cuda/analysis/leastzero.cuh"

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
    c[1] = yz * (b + q) - xz * d - zz * a + yt * (c1 - p) - xt * (e + v)
        - tt * a - r * (xx + yy) + xz * w;
  }
}

/* Arguments of functions that are not inlined, because few tensors need them,
 * and their registers would limit all threads. They are copies, because all
 * threads would keep an array in memory whose address is passed. */
template <typename T, int N>
struct Copy
{
  T v[N];

  __device__ __forceinline__ explicit Copy (const T *from)
  {
#pragma unroll
    for (int i = 0; i < N; i++)
      v[i] = from[i];
  }
};

/* The two least eigenvalues in double precision alone. */
template <int AXES>
__device__ __noinline__ double2
find_least_exactly (const Copy<float, AXES *(AXES + 1) / 2> tensor)
{
  double exact[AXES * (AXES + 1) / 2], values[AXES];

#pragma unroll
  for (int c = 0; c < AXES * (AXES + 1) / 2; c++)
    exact[c] = tensor.v[c];
  if (!nd_inline_tensor_eigen (AXES, exact, values, nullptr))
    values[AXES - 1] = values[AXES - 2] = NAN;
  return make_double2 (values[AXES - 1], values[AXES - 2]);
}

/* A tensor without its mean eigenvalue, times a power of 2, so that squares and
 * products do not overflow or vanish, and the coefficients of det (x - t). */
template <int AXES>
struct Deviation
{
  double t[AXES * (AXES + 1) / 2], c[AXES];
  double mean, square; /* square: of all elements of t, from 1 to 4 */
  double back;         /* an eigenvalue is x * back + mean */

  /* FALSE if all eigenvalues are equal, and if @tensor is not finite: @square
   * is not finite then. */
  __device__ __forceinline__ bool set (const float *tensor)
  {
    mean = square = 0;
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
    if (!(square > 1e-280 && square < INFINITY))
      return false;
    const int exponent = ((__double2hiint (square) >> 20) - 1023) / 2;
    const double unit = __hiloint2double ((1023 - exponent) << 20, 0);

    back = __hiloint2double ((1023 + exponent) << 20, 0);
#pragma unroll
    for (int k = 0; k < AXES * (AXES + 1) / 2; k++)
      t[k] *= unit;
    square *= unit * unit;
    expand_determinant<AXES> (t, square, c);
    return true;
  }

  /* Not above the least eigenvalue of t. */
  __device__ __forceinline__ double bound () const
  {
    return -1.00001 * approximate_root ((1 - 1. / AXES) * square);
  }
};

/* Finds the two least eigenvalues of @tensor, which is finite, the least one
 * first, from the characteristic polynomial. If the least eigenvalue is part of
 * a narrow cluster, the polynomial does not determine it. */
template <int AXES>
__device__ __forceinline__ void
find_least (const float *tensor, double least[2])
{
  Deviation<AXES> d;
  const bool differ = d.set (tensor);

  least[0] = least[1] = d.mean;
  if (!differ)
    return;
  double x = approach_roughly<AXES> (d.c, d.bound ());

  if (!find_least_zero<AXES> (d.c, &x)) {
    const double2 exact =
        find_least_exactly<AXES> (Copy<float, AXES *(AXES + 1) / 2> (tensor));

    least[0] = exact.x;
    least[1] = exact.y;
    return;
  }
  least[0] = fma (x, d.back, d.mean);
  if constexpr (AXES == 2) {
    least[1] = fma (-x, d.back, d.mean);
  } else {
    double rest[AXES - 1]; /* the polynomial divided by its least factor */

    rest[AXES - 2] = x;
#pragma unroll
    for (int k = AXES - 3; k >= 0; k--)
      rest[k] = fma (rest[k + 1], x, d.c[k + 1]);
    x = approach_roughly<AXES - 1> (rest, x);
    find_least_zero<AXES - 1> (rest, &x);
    least[1] = fma (x, d.back, d.mean);
  }
}

/* The isotropic part of a tensor is its least eigenvalue, within 1e-6 of the
 * trace. Tensors without noise have clusters of eigenvalues: three near 0 if
 * only one direction has energy, two if a plane has. */

/* The three least eigenvalues of @t, whose trace is 0, differ by less than
 * about 1 % of the largest one. Its eigenvector comes from products with the
 * tensor, and a reflection moves it to the last axis. The least eigenvalue of
 * the other three axes is then exact to a fraction of their differences. */
__device__ __forceinline__ double
find_least_of_three (const double *t, double square)
{
  const double a = sqrt (square * (1. / 12)); /* the three are near -a */
  double p[4][4], q[4], r[4], y[4], b[6], c[3];
  double length = 0, k = 0, mean, rest = 0, x;

#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++)
      p[i][j] = t[nd_inline_tensor_index (4, i, j)] + (i == j ? a : 0);
  }
  /* The column with the largest diagonal. */
  double largest = p[0][0];

#pragma unroll
  for (int i = 0; i < 4; i++)
    q[i] = p[i][0];
#pragma unroll
  for (int j = 1; j < 4; j++) {
    const bool larger = p[j][j] > largest;

    largest = larger ? p[j][j] : largest;
#pragma unroll
    for (int i = 0; i < 4; i++)
      q[i] = larger ? p[i][j] : q[i];
  }
#pragma unroll
  for (int n = 0; n < 3; n++) {
#pragma unroll
    for (int i = 0; i < 4; i++)
      r[i] = p[i][0] * q[0] + p[i][1] * q[1] + p[i][2] * q[2] + p[i][3] * q[3];
#pragma unroll
    for (int i = 0; i < 4; i++)
      q[i] = r[i];
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    length = fma (q[i], q[i], length);
  q[3] += copysign (sqrt (length), q[3]);
  length = 0;
#pragma unroll
  for (int i = 0; i < 4; i++)
    length = fma (q[i], q[i], length);
  const double twice = 2 / length;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    y[i] = twice
        * (p[i][0] * q[0] + p[i][1] * q[1] + p[i][2] * q[2] + p[i][3] * q[3]);
    k = fma (.5 * twice * q[i], y[i], k);
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    y[i] = fma (-k, q[i], y[i]);
#pragma unroll
  for (int i = 0; i < 3; i++) {
#pragma unroll
    for (int j = i; j < 3; j++)
      b[nd_inline_tensor_index (3, i, j)] = p[i][j] - q[i] * y[j] - y[i] * q[j];
  }
  mean = (b[0] + b[3] + b[5]) * (1. / 3);
#pragma unroll
  for (int i = 0; i < 3; i++) {
#pragma unroll
    for (int j = i; j < 3; j++) {
      double &v = b[nd_inline_tensor_index (3, i, j)];

      v -= i == j ? mean : 0;
      rest = fma (i == j ? v : 2 * v, v, rest);
    }
  }
  if (rest > 1e-24) {
    const double size = sqrt (rest);

#pragma unroll
    for (int i = 0; i < 6; i++)
      b[i] *= 1 / size;
    expand_determinant<3> (b, 1, c);
    x = approach_roughly<3> (c, -.8165);
    find_least_zero<3> (c, &x);
    mean = fma (x, size, mean);
  }
  return mean - a;
}

/* The least zero of det (x - t) if it and the next one are so near that
 * Laguerre's method is slow: it is half of their distance below a zero of the
 * derivative. FALSE if they are not as near. */
template <int AXES>
__device__ __forceinline__ bool
find_least_of_two (const double *c, double *x)
{
  double slope[AXES - 1], zero = *x, value = 1, bend = 0, rest = 0;

#pragma unroll
  for (int k = 0; k < AXES - 1; k++)
    slope[k] = (k + 1) * c[k + 1] * (1. / AXES);
  if (!find_least_zero<AXES - 1> (slope, &zero))
    return false;
#pragma unroll
  for (int k = AXES - 1; k >= 0; k--) {
    bend = fma (bend, zero, rest);
    rest = fma (rest, zero, value);
    value = fma (value, zero, c[k]);
  }
  const double half = sqrt (fmax (-value / bend, 0.));

  if (!(half < 3e-5))
    return false;
  *x = zero - half;
  return true;
}

/* Whether the three least eigenvalues are nearly equal: the sum of the cubes of
 * the eigenvalues is almost the largest one possible. */
__device__ __forceinline__ bool
has_three_equal (const Deviation<4> &d)
{
  const double cube = d.square * d.square * d.square * (64. / 1728);

  return d.c[1] < 0 && d.c[1] * d.c[1] > cube * (1 - 1e-4);
}

/* The isotropic part of a tensor with a cluster of eigenvalues, whose elements
 * are @pitch apart. Not inlined, because few tensors need it, and its registers
 * would limit all threads. @x: for approach_least_zero (), which failed. */
template <int AXES>
__device__ __noinline__ float
find_isotropic_slowly (const float *from, int pitch, double x)
{
  float tensor[AXES * (AXES + 1) / 2];
  Deviation<AXES> d;

#pragma unroll
  for (int c = 0; c < AXES * (AXES + 1) / 2; c++)
    tensor[c] = from[c * pitch];
  d.set (tensor);
  if constexpr (AXES == 4) {
    if (has_three_equal (d))
      return (float) fma (find_least_of_three (d.t, d.square), d.back, d.mean);
  }
  if (find_least_of_two<AXES> (d.c, &x) || find_least_zero<AXES> (d.c, &x))
    return (float) fma (x, d.back, d.mean);
  return (float)
      find_least_exactly<AXES> (Copy<float, AXES *(AXES + 1) / 2> (tensor))
          .x;
}

/* @from: the elements of @tensor in memory, @pitch apart. */
template <int AXES>
__device__ __forceinline__ float
find_isotropic (const float *tensor, const float *from, int pitch)
{
  Deviation<AXES> d;

  if (!d.set (tensor))
    return isfinite (d.square) ? (float) d.mean : NAN;
  double x = d.bound ();

  if constexpr (AXES == 2) {
    x = -sqrt (.5 * d.square);
  } else {
    bool found = true;

    if constexpr (AXES == 4)
      found = !has_three_equal (d);
    if (found) {
      x = approach_roughly<AXES> (d.c, x);
      found = approach_least_zero<AXES> (d.c, &x, 3);
    }
    if (!found)
      return find_isotropic_slowly<AXES> (from, pitch, x);
  }
  return (float) fma (x, d.back, d.mean);
}

} // namespace nd
