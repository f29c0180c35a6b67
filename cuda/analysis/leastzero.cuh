/* The least zero of a polynomial whose zeros are all real.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/approximate.cuh"

namespace nd
{

/* The coefficients have errors of about 1e-16. Divided by the slope of the
 * polynomial at a zero they are the error of the zero, and the slope divided by
 * half of the second derivative is about the distance to the next zero. The
 * error must be less than about 1e-4 of this distance. */
#define ND_LEAST_SLOPE 4e-12

/* The first steps of approach_least_zero () in single precision, as long as
 * they are so large that the errors do not matter. Many GPUs compute doubles at
 * half of the rate or less. */
template <int N>
__device__ __forceinline__ double
approach_roughly (const double *c, double from)
{
  constexpr int SIGN = N % 2 ? 1 : -1;
  float x = (float) from, coefficients[N];

#pragma unroll
  for (int k = 0; k < N; k++)
    coefficients[k] = (float) c[k];
#pragma unroll 1
  for (int i = 0; i < 3; i++) {
    float value = x + coefficients[N - 1], slope = 1, bend = 0;

#pragma unroll
    for (int k = N - 2; k >= 0; k--) {
      bend = k == N - 2 ? slope : fmaf (bend, x, slope);
      slope = fmaf (slope, x, value);
      value = fmaf (value, x, coefficients[k]);
    }
    const float square =
        (N - 1) * ((N - 1) * slope * slope - 2 * N * value * bend);
    const float step = N * value
        * approximate_reciprocal (-SIGN
                * approximate_root (fmaxf (square, 1e-12f))
            - slope);

    if (!(step > .02f))
      break;
    x += .9999f * step;
  }
  return x;
}

/* Finds the least zero of x^N + c[N - 1] x^(N - 1) + ... + c[0], all of whose
 * zeros are real, from @x on, which is not above it, with the method of
 * Laguerre: no step passes the zero, and a step corrects the errors of the
 * approximations of the step before. FALSE if @steps do not suffice, or if the
 * zero has too large an error. */
template <int N>
__device__ __forceinline__ bool
approach_least_zero (const double *c, double *x, int steps)
{
  constexpr int SIGN = N % 2 ? 1 : -1; /* of the slope below all zeros */

  for (int i = 0; i < steps; i++) {
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
    /* The next step would be about step^3 (bend / slope)^2. */
    if (!(step * step * step * (bend * bend) > 1e-12 * (slope * slope)))
      return true;
  }
  return false;
}

template <int N>
__device__ __forceinline__ bool
find_least_zero (const double *c, double *x)
{
  return approach_least_zero<N> (c, x, 14);
}

} // namespace nd
