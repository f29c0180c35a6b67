/* Quantiles of floats on the device. They are found bit by bit from the highest
 * one on, by counts of integers, so that they are exact and the same in every
 * run. The host does not wait.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"

namespace nd
{

/* Finds the least finite one of @n samples. @least holds it in a form whose
 * order as an integer is that of floats; least_value () reads it. */
void find_least (const float *volume, size_t n, unsigned *least,
    cudaStream_t stream);

/* NaN, which nothing is above, if no sample is finite. */
__device__ __forceinline__ float
least_value (unsigned least)
{
  return __uint_as_float (least >> 31 ? least ^ 0x80000000u : ~least);
}

/* The bits of a float are found in rounds of up to this many. */
constexpr int QUANTILE_BITS = 11;
constexpr unsigned QUANTILE_BINS = 1u << QUANTILE_BITS;

/* The bits that are known, and the rank among the values with these bits. */
struct QuantileSearch
{
  unsigned bits, rank;
};

/* Zero at first. find_quantile () leaves it as it needs it the next time. */
struct QuantileState
{
  unsigned bins[QUANTILE_BINS];
  unsigned blocks_done;
  QuantileSearch search;
};

struct QuantileArguments
{
  /* Values that are not finite do not count, nor do negative ones. */
  const float *values;
  size_t n; /* less than 2^32 */

  /* Values at samples that are not above the least one do not count. */
  const float *samples;
  const unsigned *least;

  double fraction; /* below 1 */
  QuantileState *state;
  float *out; /* 0 if no value counts */
};

/* Finds the value of rank floor (fraction * count), from 0, of those that
 * count. */
void find_quantile (const QuantileArguments &a, cudaStream_t stream);

/* The same for each of @n_arrays of @n values, without samples. */
void find_quantiles (const float *values, int n_arrays, size_t n,
    double fraction, float *out, cudaStream_t stream);

} // namespace nd
