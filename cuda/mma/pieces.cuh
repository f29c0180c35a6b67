/* The coefficients of a filter, rounded to numbers that the matrix units can
 * multiply.
 *
 * For integer samples, coefficients become integers of one to three signed
 * bytes, times a power of two: of as few bytes as represent them exactly, or of
 * three. With accuracy `fast`, of as few bytes as reach that accuracy. For
 * float32 samples, coefficients become a high and a low fp16, or one fp16 with
 * accuracy `fast`. Some coefficients are not rounded to the nearest number, so
 * that the sum of the filter does not change and the error does not grow with
 * the mean of the samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/mma/pad.cuh"

#include <cuda_fp16.h>
#include <vector>

namespace nd
{

/* The rounded coefficients. */
struct Pieces
{
  double unit;  /* coefficient = value * unit */
  int bytes;    /* of an integer; 0: halves */
  double error; /* relative: the larger one of the error of the values (L2) and
                 * the error of their sum, which has a larger weight if samples
                 * are rounded too */
  std::vector<double> values; /* in the order of NdFilter: integers, or for
                               * halves any numbers */
};

Pieces make_pieces (const NdFilter *f, TensorForm form, NdAccuracy accuracy);

/* The largest Pieces::error that method `tensor` accepts. It is approximately
 * the relative error of responses to noise. */
double most_error (NdAccuracy accuracy);

/* The exponent of the least power of two that is larger than all coefficients;
 * 0 if they are all 0. */
int filter_exponent (const NdFilter *f);

/* @w as one fp16. */
inline double
round_half (double w)
{
  return __half2float (__float2half_rn ((float) w));
}

} // namespace nd
