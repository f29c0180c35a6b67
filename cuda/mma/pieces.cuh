/* The coefficients of a filter, rounded to numbers that the matrix units
 * multiply.
 *
 * For integer samples, coefficients become integers of up to 23 bits and sign,
 * times a power of two, in one to three signed bytes: as few as are exact, or
 * three. With accuracy `fast`, as few as reach that accuracy. For float32
 * samples, coefficients become a high and a low fp16, or with accuracy `fast`
 * one fp16. Some coefficients are rounded such that the sum of the filter does
 * not change. The error then does not grow with the mean of the samples.
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

/* The coefficients of a filter as numbers that products can multiply. */
struct Pieces
{
  double unit;  /* coefficient = value * unit */
  int bytes;    /* 0: halves */
  double error; /* relative: the larger of that of the values (L2) and that of
                 * their sum, which counts more if samples are rounded too */
  std::vector<double> values; /* in the order of NdFilter; integers, or not */
};

Pieces make_pieces (const NdFilter *f, TensorForm form, NdAccuracy accuracy);

/* The largest Pieces::error that is accepted. It is about the relative error of
 * responses to noise. */
double most_error (NdAccuracy accuracy);

/* The exponent of the smallest power of two that all coefficients are below. */
int filter_exponent (const NdFilter *f);

/* @w as one fp16. */
inline double
round_half (double w)
{
  return __half2float (__float2half_rn ((float) w));
}

} // namespace nd
