/* A level near the mean of a volume. Transforms of whole volumes subtract it
 * from the samples, because their errors grow with the samples, and add its
 * response to the outputs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

/* Writes the mean of some samples of a component of @volume to @level, both on
 * the device. R is float or double. */
template <typename R>
void find_level (const Pad &pad, const NdSamples &volume, NdSampleType type,
    size_t component, double *level, cudaStream_t stream);

/* The levels that were subtracted from the volumes of a window, and the sum of
 * the filter's coefficients for each volume. The sum of the products of both is
 * added to the responses. */
struct Levels
{
  const double *levels; /* slot 0; @stride from slot to slot */
  int stride;
  const double *sums; /* [t] */
  int n_slots;
  int slots[MAX_SLOTS];
};

/* Stores shape[0] x shape[1] x shape[2] responses, with the response to the
 * levels added. @row, @slice: numbers from row to row and from slice to slice.
 */
template <typename R>
void store_responses (const R *responses, size_t row, size_t slice,
    const int shape[3], const Store &store, const Levels &levels,
    cudaStream_t stream);

} // namespace nd
