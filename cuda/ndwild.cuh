/* Samples that are not finite, which a spectrum must not hold: they are left
 * out of the transform, listed for each volume, and what the filter answers to
 * them is added to the responses. Volumes that are masked by NaN have millions:
 * those beyond the list are marked, and looked for under each response.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndsamples.cuh"

namespace nd
{

class WildSamples
{
public:
  WildSamples (const NdJob &job, const NdReach &reach,
      const ComputeStreams &streams);
  size_t bytes () const;

  /* The list for a volume that is pushed, emptied; of integers there is
   * none. */
  WildList list (unsigned slot, size_t component);

  /* Adds to float32 responses of filter @k, at @out with strides in bytes,
   * @gain times the answer. */
  void add (const int *slots, unsigned k, size_t component,
      unsigned char *out, size_t sample, size_t row, size_t slice, float gain);

private:
  int padded_size (int axis) const;

  const NdJob job;
  const NdReach reach;
  const ComputeStreams streams;
  Memory<unsigned> counts;      /* [slot][component] */
  Memory<Wild> samples;
  size_t n_marks = 0;           /* words of a volume's */
  Memory<unsigned> marks;       /* [slot][component] */
  Memory<float> weights;        /* [filter][t], flipped */
};

/* Calls @visit (x, y, z, w) for each coefficient of @f that reads the volume
 * at @t of the window, in the order of @reach: (0, 0, 0) reads its low. */
template <typename F> void
for_each_coefficient (const NdFilter *f, unsigned t, const NdReach &reach,
    F visit)
{
  int low[ND_AXES], high[ND_AXES];

  nd_filter_reach (f, low, high);
  const int mt = high[3] - reach.low[3] - (int) t;
  if (mt < 0 || mt >= (int) f->size[3])
    return;
  const double *w = f->coefficients + mt * f->size[2] * f->size[1]
      * f->size[0];

  for (size_t mz = 0; mz < f->size[2]; mz++)
    for (size_t my = 0; my < f->size[1]; my++)
      for (size_t mx = 0; mx < f->size[0]; mx++)
        visit (high[0] - (int) mx - reach.low[0],
            high[1] - (int) my - reach.low[1],
            high[2] - (int) mz - reach.low[2], *w++);
}

} // namespace nd
