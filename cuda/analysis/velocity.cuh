/* The velocity of analysis/structureinline.h with fewer operations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/leasteigenvalues.cuh"
#include "cuda/analysis/tridiagonal.cuh"

namespace nd
{

/* The certainty of nd_inline_motion_solve () for a constant velocity, whose
 * moments are the tensor. The equations have a solution, so that the part of
 * @tensor in space is positive definite; @determinant is its determinant.
 * @apart is 1 minus the quotient of the two least eigenvalues, and 0 if they
 * are equal. */
template <int AXES>
__device__ __forceinline__ double
find_certainty (const float *tensor, double determinant, float apart)
{
  constexpr int DIMS = AXES - 1;

  if constexpr (DIMS == 1) {
    return isfinite (determinant);
  } else {
    double trace = 0;

#pragma unroll
    for (int k = 0; k < DIMS; k++)
      trace += tensor[nd_inline_tensor_index (AXES, k, k)];
    const double mean = trace * (1. / DIMS);
    const double power = DIMS == 2 ? mean * mean : mean * mean * mean;
    const float even = (float) (determinant * approximate_reciprocal (power));
    const float geometric = DIMS == 2 ? approximate_root (even)
                                      : exp2f (__log2f (even) * (1.f / DIMS));

    /* NaN becomes 0. */
    return __saturatef (geometric * __saturatef (apart));
  }
}

/* Solves the equations of a constant velocity with fewer operations in double
 * precision: the decomposition L D L^T has no square roots, and three
 * reciprocals. FALSE if they are degenerate. */
template <int AXES>
__device__ __forceinline__ bool
solve_equations (const float *tensor, double *x, double *determinant)
{
  constexpr int DIMS = AXES - 1;
  double lower[DIMS][DIMS], scaled[DIMS][DIMS]; /* L, and L D */
  double inverse[DIMS];
  bool good = true;

  *determinant = 1;
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
    *determinant *= pivot;
  }
#pragma unroll
  for (int i = DIMS - 1; i >= 0; i--) {
    x[i] *= inverse[i];
#pragma unroll
    for (int k = i + 1; k < DIMS; k++)
      x[i] -= lower[k][i] * x[k];
    good = good && isfinite (x[i]);
  }
  return good;
}

template <int AXES>
__device__ __forceinline__ void
set_velocity (const double *x, double certainty, double *out)
{
#pragma unroll
  for (int i = 0; i < AXES - 1; i++)
    out[i] = certainty > 0 ? x[i] : 0;
  out[AXES - 1] = certainty;
}

/* nd_inline_motion_solve () for a constant velocity. */
template <int AXES>
__device__ __forceinline__ void
solve_constant (const float *tensor, double *out)
{
  double x[AXES - 1], determinant, certainty = 0, least[2];

  if (solve_equations<AXES> (tensor, x, &determinant)) {
    find_least<AXES> (tensor, least);
    certainty = find_certainty<AXES> (tensor, determinant,
        (float) ((least[1] - least[0])
            * approximate_reciprocal (fmax (least[1], 1e-300))));
  }
  set_velocity<AXES> (x, certainty, out);
}

/* The same with eigenvalues in single precision. FALSE if they are not known
 * well enough. */
template <int AXES>
__device__ __forceinline__ bool
solve_quickly (const float *tensor, double *out)
{
  double x[AXES - 1], determinant;
  float apart;

  if constexpr (AXES != 4) {
    solve_constant<AXES> (tensor, out);
    return true;
  } else {
    /* First, because it needs many registers. */
    const bool known = compare_least_roughly (tensor, &apart);

    if (!solve_equations<AXES> (tensor, x, &determinant))
      apart = 0;
    else if (!known)
      return false;
    set_velocity<AXES> (x,
        apart > 0 ? find_certainty<AXES> (tensor, determinant, apart) : 0, out);
    return true;
  }
}

} // namespace nd
