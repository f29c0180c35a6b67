/* The velocity of analysis/structureinline.h with fewer operations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/leasteigenvalues.cuh"

namespace nd
{

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
    /* 1 - the quotient of the two, and 0 if they are equal. */
    const float apart = (float) ((least[1] - least[0])
        * approximate_reciprocal (fmax (least[1], 1e-300)));
    const double mean = trace * (1. / DIMS);
    const double power = DIMS == 2 ? mean * mean : mean * mean * mean;
    const float even = (float) (determinant * approximate_reciprocal (power));
    const float geometric = DIMS == 2 ? approximate_root (even)
                                      : exp2f (__log2f (even) * (1.f / DIMS));

    /* NaN becomes 0. */
    return __saturatef (geometric * __saturatef (apart));
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
    inverse[i] = find_reciprocal (pivot);
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
