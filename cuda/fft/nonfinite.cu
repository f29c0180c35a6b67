/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/nonfinite.cuh"

#include "cuda/fft/coefficients.h"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

namespace nd
{

namespace
{

/* The size of a grid, for any device. Grids for small volumes leave room for
 * other kernels. */
constexpr int BLOCKS = 128, THREADS = 1024;
constexpr size_t BLOCK_SAMPLES = 1 << 12;
constexpr size_t QUAD = 4 * MARKS_PER_WORD; /* marks of a uint4 */

struct EmptyArguments
{
  unsigned *count, *marks;
  size_t n_marks; /* words */
};

__global__ void
fft_empty_non_finite_kernel (const __grid_constant__ EmptyArguments a)
{
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  empty_list (a.count, a.marks, a.n_marks);
}

/* The arguments of fft_add_non_finite_kernel (). */
struct Arguments
{
  unsigned *counts; /* slot 0; @stride from slot to slot */
  const NonFinite *lists;
  unsigned *marks; /* @n_marks words of each list */
  size_t n_marks;
  int stride;
  NonFiniteResponses responses; /* of filter 0 and the first slot */
  int n_filters;
  size_t response; /* bytes from filter to filter */
  unsigned *done;  /* thread blocks that have read the lists; nullptr: lists
                    * are not emptied */
  int n_slots;
  int slots[MAX_SLOTS];
};

/* Empties the lists in the last thread block that has read them. */
__device__ void
empty_lists (const Arguments &a)
{
  __shared__ bool is_last;

  __syncthreads ();
  if (threadIdx.x == 0) {
    is_last = atomicAdd (a.done, 1u) == gridDim.x - 1;
    if (is_last)
      *a.done = 0;
  }
  __syncthreads ();
  for (int t = 0; is_last && t < a.n_slots; t++) {
    const size_t slot = (size_t) a.slots[t] * a.stride;

    empty_list (a.counts + slot, a.marks + slot * a.n_marks, a.n_marks);
  }
}

template <typename R>
__global__ void __launch_bounds__ (THREADS)
fft_add_non_finite_kernel (const __grid_constant__ Arguments a)
{
  const int (&size)[3] = a.responses.taps;
  const size_t taps = (size_t) size[0] * size[1] * size[2];
  const size_t first = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  const size_t step = (size_t) gridDim.x * blockDim.x;

  bool any = false;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  for (int t = 0; t < a.n_slots; t++) {
    const size_t slot = (size_t) a.slots[t] * a.stride;
    const unsigned n = min (a.counts[slot], MAX_NON_FINITE);

    any = any || n > 0;
    for (int k = 0; n > 0 && k < a.n_filters; k++) {
      NonFiniteResponses r = a.responses;

      r.weights += ((size_t) k * a.n_slots + t) * taps;
      r.out += k * a.response;
      if (a.counts[slot] > MAX_NON_FINITE)
        add_marked<R> (r, a.marks + slot * a.n_marks, first, count_words (r),
            step);
      add_listed<R> (r, a.lists + slot * MAX_NON_FINITE, first, n * taps, step);
    }
  }
  if (a.done && any)
    empty_lists (a);
}

} // namespace

NonFiniteSamples::NonFiniteSamples (const RingJob &job, const NdReach &reach,
    const ComputeStreams &streams)
    : job (job), reach (reach), streams (streams)
{
  /* Only signs matter, because the samples are not finite. float32 rounds small
   * coefficients of float64 to 0. */
  const bool is_double = job.precision == ND_PRECISION_DOUBLE;
  const size_t lists = ahead_slots (job) * job.shape.components;
  size_t taps[3], all = 1, padded = 1;

  if (!nd_sample_is_float (job.in_type))
    return;
  for (int a = 0; a < 3; a++)
    all = multiply (all, taps[a] = reach.high[a] - reach.low[a] + 1);
  for (int a = 0; a < 3; a++)
    padded = multiply (padded, padded_size (a));
  /* Kernels read words beyond the last sample. */
  n_marks =
      (padded + 2 * MARKS_PER_WORD + QUAD - 1) / QUAD * (QUAD / MARKS_PER_WORD);
  counts.plan (lists + 2);
  samples.plan (multiply (lists, MAX_NON_FINITE));
  marks.plan (multiply (lists, n_marks));
  std::vector<float> flipped (multiply (job.bank->n_filters,
      multiply (reach.slots, all)));

  for (unsigned k = 0; k < job.bank->n_filters; k++)
    for (unsigned t = 0; t < reach.slots; t++)
      for_each_coefficient (job.bank->filters[k], t, reach,
          [&] (int x, int y, int z, double w) {
            flipped[((size_t) k * reach.slots + t) * all
                + (z * taps[1] + y) * taps[0] + x] =
                is_double ? (w > 0) - (w < 0) : w;
          });
  weights.plan (std::move (flipped));
}

int
NonFiniteSamples::padded_size (int axis) const
{
  return job.shape.size[axis] + reach.high[axis] - reach.low[axis];
}

NonFiniteList
NonFiniteSamples::list_in_place (size_t component)
{
  return counts.count () == 0 ? NonFiniteList{} : list_at (component);
}

NonFiniteList
NonFiniteSamples::list_at (size_t i)
{
  return NonFiniteList{ counts.get () + i, samples.get () + i * MAX_NON_FINITE,
    marks.get () + i * n_marks, { padded_size (0), padded_size (1) } };
}

NonFiniteList
NonFiniteSamples::list (unsigned slot, size_t component)
{
  if (counts.count () == 0)
    return NonFiniteList{};
  const NonFiniteList list = list_at (slot * job.shape.components + component);

  launch_early (fft_empty_non_finite_kernel, 1, THREADS, 0, streams.push,
      EmptyArguments{ list.count, list.marks, n_marks });
  return list;
}

NonFiniteResponses
NonFiniteSamples::responses_at (unsigned filter, const NdSamples &out,
    float gain) const
{
  NonFiniteResponses r = {};
  size_t taps = reach.slots;

  for (int axis = 0; axis < 3; axis++) {
    r.size[axis] = job.shape.size[axis];
    r.taps[axis] = reach.high[axis] - reach.low[axis] + 1;
    taps *= r.taps[axis];
  }
  for (int axis = 0; axis < 2; axis++)
    r.padded[axis] = padded_size (axis);
  r.weights = weights.get () + filter * taps;
  r.out = out.data;
  r.sample = out.sample;
  r.row = out.row;
  r.slice = out.slice;
  r.gain = gain;
  return r;
}

NonFiniteWork
NonFiniteSamples::work (unsigned filter, size_t component, const NdSamples &out,
    float gain)
{
  NonFiniteWork w = {};

  if (counts.count () == 0)
    return w;
  w.list = list_at (component);
  w.n_marks = n_marks;
  w.responses = responses_at (filter, out, gain);
  w.blocks = counts.get () + counts.count () - 2;
  w.parts = w.blocks + 1;
  return w;
}

void
NonFiniteSamples::add (const int *slots, unsigned first, unsigned n,
    size_t component, const NdSamples &out, float gain, bool empties)
{
  Arguments a = { counts.get () + component,
    samples.get () + component * MAX_NON_FINITE,
    marks.get () + component * n_marks, n_marks, (int) job.shape.components };

  if (counts.count () == 0)
    return;
  a.responses = responses_at (first, out, gain);
  a.n_filters = n;
  a.response = out.response;
  a.done = empties ? counts.get () + counts.count () - 2 : nullptr;
  a.n_slots = reach.slots;
  memcpy (a.slots, slots, reach.slots * sizeof (int));
  const size_t n_samples =
      job.shape.size[0] * job.shape.size[1] * job.shape.size[2];
  const unsigned blocks =
      std::clamp<size_t> (n_samples / BLOCK_SAMPLES, 1, BLOCKS);

  if (job.precision == ND_PRECISION_DOUBLE)
    launch_early (fft_add_non_finite_kernel<double>, blocks, THREADS, 0,
        streams.respond, a);
  else
    launch_early (fft_add_non_finite_kernel<float>, blocks, THREADS, 0,
        streams.respond, a);
}

} // namespace nd
