/* The coefficients of a filter, rounded to integers that the matrix units can
 * multiply: of one to three signed bytes, times a power of two. They have as
 * few bytes as represent them exactly, or three. Some coefficients are not
 * rounded to the nearest integer, so that the sum of the filter does not change
 * and the error does not grow with the mean of the samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/filter.h"

#include <vector>

namespace nd
{

/* The rounded coefficients. */
struct Pieces
{
  double unit;  /* coefficient = value * unit */
  int bytes;    /* of an integer */
  double error; /* relative: the larger one of the error of the values (L2) and
                 * the error of their sum */
  std::vector<double> values; /* in the order of NdFilter: integers */
};

Pieces make_pieces (const NdFilter *f);

/* The largest Pieces::error that method `tensor` accepts. It is approximately
 * the relative error of responses to noise. */
constexpr double MAX_PIECES_ERROR = 1.8e-6;

/* The exponent of the least power of two that is larger than all coefficients;
 * 0 if they are all 0. */
int filter_exponent (const NdFilter *f);

} // namespace nd
