/* The levels of the volumes of a ring. A level is a value near the mean of a
 * volume. Transforms of whole volumes subtract it from the samples, because
 * their errors grow with the samples, and add its response to the outputs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

/* R: float or double. */
template <typename R>
class Levels
{
public:
  /* @n_slots: of the ring, including that of the border volume. */
  Levels (const RingJob &job, const NdReach &reach, size_t n_slots,
      cudaStream_t stream);
  size_t bytes () const { return total_bytes (levels, sums); }
  void allocate () { allocate_all (levels, sums); }

  /* Finds the level of a component of @volume, and writes the padded volume
   * without it to @to. If @volume is nullptr, that is the border volume. */
  void push (Pad pad, unsigned slot, const NdSamples *volume, size_t component,
      R *to, const NonFiniteList &non_finite);

  /* Stores the responses of filter @k with its response to the levels added.
   * @row, @slice: numbers of @responses from row to row and from slice to
   * slice. */
  void store (const int *slots, unsigned k, size_t component,
      const R *responses, size_t row, size_t slice, const NdScale &scale,
      const NdSamples &out) const;

private:
  const RingJob job;
  const NdReach reach;
  const cudaStream_t stream;
  Memory<double> levels; /* [slot][component] */
  Memory<double> sums;   /* of the coefficients: [filter][t] */
};

} // namespace nd
