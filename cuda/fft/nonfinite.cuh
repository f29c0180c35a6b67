/* Samples that are not finite. One of them would spoil a whole spectrum. They
 * are therefore left out of the transform and listed for each volume, and the
 * filter's response to them is added to the responses. A volume that is masked
 * by NaN has millions of them: samples that do not fit into the list are marked
 * in a bit map, and each response searches the marks that its filter reads.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/nonfiniteresponses.cuh"

namespace nd
{

class NonFiniteSamples
{
public:
  NonFiniteSamples (const RingJob &job, const NdReach &reach,
      const ComputeStreams &streams);
  size_t bytes () const
  {
    return total_bytes (counts, samples, marks, weights);
  }
  void allocate () { allocate_all (counts, samples, marks, weights); }

  /* Empties the list of a slot and returns it for the volume that is pushed.
   * Jobs with integer samples have no lists. */
  NonFiniteList list (unsigned slot, size_t component);

  /* The list of slot 0 for a method that lists samples while it responds, and
   * whose calls of add (), or kernels with work (), empty it. */
  NonFiniteList list_in_place (size_t component);

  /* Adds @gain times the responses of @n filters from @first on to the listed
   * samples to their responses at @out, which are float32 or, in double
   * precision, float64. @empties: then empties the lists. */
  void add (const int *slots, unsigned first, unsigned n, size_t component,
      const NdSamples &out, float gain, bool empties = false);

  /* The work of add () for a single filter, at the end of the kernel that lists
   * the samples. */
  NonFiniteWork work (unsigned filter, size_t component, const NdSamples &out,
      float gain);

private:
  int padded_size (int axis) const;
  NonFiniteList list_at (size_t i);
  NonFiniteResponses responses_at (unsigned filter, const NdSamples &out,
      float gain) const;

  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  Memory<unsigned> counts;   /* [slot][component]; then of thread blocks and
                              * of parts of the work */
  Memory<NonFinite> samples; /* [slot][component][MAX_NON_FINITE] */
  size_t n_marks = 0;        /* words of the bit map of a volume */
  Memory<unsigned> marks;    /* [slot][component][n_marks] */
  Memory<float> weights;     /* [filter][t][z][y][x], in the order of samples */
};

} // namespace nd
