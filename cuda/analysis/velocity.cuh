/* The velocity of analysis/structureinline.h with fewer operations in double
 * precision: the eigenvalues are found in single precision, and one step in
 * double precision corrects the least one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structureinline.h"

namespace nd
{

/* Jacobi rotations until the rest is below the rounding of float. Compared with
 * nd_inline_tensor_eigen() the error is at most 1e-6 of the trace. @tensor
 * must be finite. The values are not sorted. */
template <int AXES>
__device__ __forceinline__ void
find_eigenvalues (const float *tensor, float *values)
{
  float a[AXES][AXES]; /* above the diagonal */
  float d[AXES], scale = 0;

#pragma unroll
  for (int i = 0; i < AXES; i++)
    scale += fabsf (tensor[nd_inline_tensor_index (AXES, i, i)]);
  const float unit = scale > 1e-37f ? 1 / scale : 0;

#pragma unroll
  for (int i = 0; i < AXES; i++) {
    d[i] = tensor[nd_inline_tensor_index (AXES, i, i)] * unit;
#pragma unroll
    for (int j = i + 1; j < AXES; j++)
      a[i][j] = tensor[nd_inline_tensor_index (AXES, i, j)] * unit;
  }
  for (int sweep = 0; sweep < 6; sweep++) {
    float rest = 0;

#pragma unroll
    for (int p = 0; p < AXES; p++) {
#pragma unroll
      for (int q = p + 1; q < AXES; q++) {
        const float off = a[p][q], theta = d[q] - d[p];
        /* tan of the angle: 2 off / (theta + sign (theta) sqrt (...)). */
        const float square = fmaf (theta, theta, 4 * off * off);
        const float root = square * rsqrtf (fmaxf (square, 1e-37f));
        const float t = square > 1e-37f
            ? __fdividef (2 * off, theta + copysignf (root, theta))
            : 0.f;
        const float c = rsqrtf (fmaf (t, t, 1.f)), s = t * c;

        rest = fmaf (off, off, rest);
        d[p] = fmaf (-t, off, d[p]);
        d[q] = fmaf (t, off, d[q]);
        a[p][q] = 0;
#pragma unroll
        for (int k = 0; k < AXES; k++) {
          if (k == p || k == q)
            continue;
          float &kp = k < p ? a[k][p] : a[p][k];
          float &kq = k < q ? a[k][q] : a[q][k];
          const float old = kp;

          kp = fmaf (c, old, -s * kq);
          kq = fmaf (s, old, c * kq);
        }
      }
    }
    if (rest < 1e-9f) /* the sweep squared it */
      break;
  }
#pragma unroll
  for (int i = 0; i < AXES; i++)
    values[i] = d[i] * scale;
}

__device__ __forceinline__ double
determinant (double a, double b, double c, double d, double e, double f)
{
  return a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d);
}

/* The characteristic polynomial of @tensor - @shift at 0, and minus its
 * derivative there. */
template <int AXES>
__device__ __forceinline__ void
expand_determinant (const double *t, double shift, double *value, double *slope)
{
  if (AXES == 2) {
    const double a = t[0] - shift, b = t[1], c = t[2] - shift;

    *value = a * c - b * b;
    *slope = a + c;
  } else if (AXES == 3) {
    const double a = t[0] - shift, b = t[1], c = t[2], d = t[3] - shift,
                 e = t[4], f = t[5] - shift;

    *value = determinant (a, b, c, d, e, f);
    *slope = a * d - b * b + a * f - c * c + d * f - e * e;
  } else {
    const double xx = t[0] - shift, xy = t[1], xz = t[2], xt = t[3],
                 yy = t[4] - shift, yz = t[5], yt = t[6], zz = t[7] - shift,
                 zt = t[8], tt = t[9] - shift;
    /* Minors of the first two rows and of the last two. */
    const double a = xx * yy - xy * xy, b = xx * yz - xz * xy,
                 c = xx * yt - xt * xy, d = xy * yz - xz * yy,
                 e = xy * yt - xt * yy, f = xz * yt - xt * yz;
    const double u = xz * yt - yz * xt, v = xz * zt - zz * xt,
                 w = xz * tt - zt * xt, p = yz * zt - zz * yt,
                 q = yz * tt - zt * yt, r = zz * tt - zt * zt;

    *value = a * r - b * q + c * p + d * w - e * v + f * u;
    *slope = determinant (xx, xy, xz, yy, yz, zz)
        + determinant (xx, xy, xt, yy, yt, tt)
        + determinant (xx, xz, xt, zz, zt, tt)
        + determinant (yy, yz, yt, zz, zt, tt);
  }
}

/* The two least eigenvalues in double precision alone. Not inlined, because few
 * tensors need it, and its registers would limit all threads. */
template <int AXES>
__device__ __noinline__ void
find_least_exactly (const double *tensor, double least[2])
{
  double values[AXES];

  if (!nd_inline_tensor_eigen (AXES, tensor, values, nullptr))
    values[AXES - 1] = values[AXES - 2] = NAN;
  least[0] = values[AXES - 1];
  least[1] = values[AXES - 2];
}

/* Finds the two least eigenvalues of @tensor, which is finite, the least one
 * first. Two Newton steps bring the least one from single to double precision
 * if it is separate from the next one. The next one has the precision of float,
 * 1e-6 of the trace, or, if it is below @small of the trace, that of double. */
template <int AXES>
__device__ __forceinline__ void
find_least (const double *tensor, float small, double least[2])
{
  constexpr int COMPONENTS = AXES * (AXES + 1) / 2;
  float singles[COMPONENTS], values[AXES], two[2], trace = 0;

#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    singles[c] = (float) tensor[c];
  find_eigenvalues<AXES> (singles, values);
  two[0] = fminf (values[0], values[1]);
  two[1] = fmaxf (values[0], values[1]);
#pragma unroll
  for (int i = 0; i < AXES; i++) {
    if (i > 1) {
      two[1] = fminf (two[1], fmaxf (two[0], values[i]));
      two[0] = fminf (two[0], values[i]);
    }
    trace += values[i];
  }
  least[0] = two[0];
  least[1] = two[1];
  if (trace > 0
      && (two[1] - two[0] < 2e-6f * trace || two[1] < small * trace)) {
    find_least_exactly<AXES> (tensor, least);
    return;
  }
#pragma unroll
  for (int i = 0; i < 2; i++) {
    double value, slope;

    expand_determinant<AXES> (tensor, least[0], &value, &slope);
    if (slope > 0)
      least[0] += value / slope;
  }
}

/* The certainty of nd_inline_motion_solve_constant (). The equations of the
 * velocity have a solution, so that the part of @tensor in space is positive
 * definite; @determinant is its determinant. */
template <int AXES>
__device__ __forceinline__ double
find_certainty (const double *tensor, double determinant)
{
  constexpr int DIMS = AXES - 1;

  if constexpr (DIMS == 1) {
    return isfinite (determinant);
  } else {
    double trace = 0, least[2];

#pragma unroll
    for (int k = 0; k < DIMS; k++)
      trace += tensor[nd_inline_tensor_index (AXES, k, k)];
    find_least<AXES> (tensor, 1e-4f, least);
    const double ratio = least[0] / fmax (least[1], 1e-300);
    const double mean = trace / DIMS;
    const float geometric = DIMS == 2
        ? sqrtf ((float) (determinant / (mean * mean)))
        : cbrtf ((float) (determinant / (mean * mean * mean)));

    return fmin (fmax (geometric * (1 - fmin (fmax (ratio, 0.), 1.)), 0.), 1.);
  }
}

/* nd_inline_motion_solve_constant () with fewer operations in double
 * precision. */
template <int AXES>
__device__ __forceinline__ void
solve_constant (const double *tensor, double *out)
{
  constexpr int DIMS = AXES - 1;
  double q[ND_MAX_UNKNOWNS][ND_MAX_UNKNOWNS], r[ND_MAX_UNKNOWNS];
  double x[ND_MAX_UNKNOWNS], determinant = 1;
  bool good;

#pragma unroll
  for (int u = 0; u < DIMS; u++) {
    r[u] = tensor[nd_inline_tensor_index (AXES, u, DIMS)];
#pragma unroll
    for (int w = 0; w < DIMS; w++)
      q[u][w] = tensor[nd_inline_tensor_index (AXES, u, w)];
  }
  good = nd_inline_solve (DIMS, q, r, x);
#pragma unroll
  for (int u = 0; u < DIMS; u++) {
    good = good && isfinite (x[u]);
    determinant *= q[u][u] * q[u][u];
  }
  out[DIMS] = good ? find_certainty<AXES> (tensor, determinant) : 0;
#pragma unroll
  for (int u = 0; u < DIMS; u++)
    out[u] = out[DIMS] > 0 ? x[u] : 0;
}

} // namespace nd
