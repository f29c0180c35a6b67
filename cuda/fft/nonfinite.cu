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
constexpr unsigned ALL_PLUS = 0x55555555;   /* NON_FINITE_PLUS in each mark */

struct EmptyArguments
{
  unsigned *count;
  uint4 *marks;
  size_t n; /* of marks */
};

/* Empties a list and, if it overflowed, its marks. Called by one thread
 * block. */
__device__ void
empty_list (const EmptyArguments &a)
{
  const bool is_marked = *a.count > MAX_NON_FINITE;

  __syncthreads ();
  for (size_t i = threadIdx.x; is_marked && i < a.n; i += THREADS)
    a.marks[i] = uint4{};
  if (threadIdx.x == 0)
    *a.count = 0;
}

__global__ void
empty_kernel (const __grid_constant__ EmptyArguments a)
{
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  empty_list (a);
}

/* The arguments of non_finite_kernel (). */
struct Arguments
{
  unsigned *counts; /* slot 0; @stride from slot to slot */
  const NonFinite *lists;
  unsigned *marks; /* @n_marks words of each list */
  size_t n_marks;
  int stride;
  const float *weights; /* [filter][t][z][y][x] */
  int n_filters;
  int taps[3];
  int padded[2]; /* x and y of the marked volume */
  int size[3];   /* of the responses */
  unsigned char *out;
  size_t sample, row, slice, response; /* bytes */
  float gain;
  unsigned *done; /* thread blocks that are; nullptr: lists are not emptied */
  int n_slots;
  int slots[MAX_SLOTS];
};

template <typename R>
__device__ R *
response_at (const Arguments &a, int filter, int x, int y, int z)
{
  return (R *) (a.out + filter * a.response + x * a.sample + y * a.row
      + z * a.slice);
}

/* The marks of MARKS_PER_WORD samples from @sample on. */
__device__ unsigned
marks_from (const unsigned *marks, size_t sample)
{
  const unsigned *const two = marks + sample / MARKS_PER_WORD;

  return __funnelshift_r (two[0], two[1], sample % MARKS_PER_WORD * 2);
}

/* The marks of MARKS_PER_WORD responses side by side. The sum of +Inf and -Inf
 * is NaN, which has the bits of both, so that OR adds marks. A negative weight
 * exchanges +Inf and -Inf. */
__device__ unsigned
marks_under (const Arguments &a, const unsigned *marks, const float *weights,
    int x, int y, int z)
{
  unsigned sum = 0;

  for (int tz = 0; tz < a.taps[2]; tz++) {
    for (int ty = 0; ty < a.taps[1]; ty++, weights += a.taps[0]) {
      const size_t row =
          ((size_t) (z + tz) * a.padded[1] + y + ty) * a.padded[0] + x;
      const size_t last =
          (row + a.taps[0] + MARKS_PER_WORD - 2) / MARKS_PER_WORD;
      unsigned any = 0;

      for (size_t i = row / MARKS_PER_WORD; i <= last; i++)
        any |= marks[i];
      for (int tx = 0; any && tx < a.taps[0]; tx++) {
        const unsigned under = marks_from (marks, row + tx);

        if (weights[tx] > 0)
          sum |= under;
        else if (weights[tx] < 0)
          sum |= (under & ALL_PLUS) << 1 | (under >> 1 & ALL_PLUS);
      }
      if (sum == ~0u)
        return sum;
    }
  }
  return sum;
}

__device__ float
value_of (unsigned mark)
{
  if (mark == NON_FINITE_PLUS)
    return INFINITY;
  return mark == NON_FINITE_MINUS ? -INFINITY : NAN;
}

template <typename R>
__device__ __noinline__ void
add_marked (const Arguments &a, int filter, const unsigned *marks,
    const float *weights, size_t first, size_t step)
{
  const size_t line = (a.size[0] + MARKS_PER_WORD - 1) / MARKS_PER_WORD;
  const size_t all = line * a.size[1] * a.size[2];

  for (size_t i = first; i < all; i += step) {
    const int x = i % line * MARKS_PER_WORD, y = i / line % a.size[1];
    const int z = i / line / a.size[1];
    unsigned sum = marks_under (a, marks, weights, x, y, z);

    for (int k = 0; sum && x + k < a.size[0]; k++, sum >>= 2) {
      const unsigned mark = sum & NON_FINITE_NAN;

      if (mark)
        atomicAdd (response_at<R> (a, filter, x + k, y, z),
            (R) (a.gain * value_of (mark)));
    }
  }
}

/* Adds the responses of filter @filter to the @n samples in @list, which have
 * the coefficients @weights. */
template <typename R>
__device__ __forceinline__ void
add_listed (const Arguments &a, int filter, const NonFinite *list, unsigned n,
    const float *weights, size_t first, size_t step)
{
  const int taps = a.taps[0] * a.taps[1] * a.taps[2];

  for (size_t i = first; i < (size_t) n * taps; i += step) {
    const NonFinite non_finite = list[i / taps];
    const int tap = i % taps;
    const int x = non_finite.x - tap % a.taps[0];
    const int y = non_finite.y - tap / a.taps[0] % a.taps[1];
    const int z = non_finite.z - tap / a.taps[0] / a.taps[1];
    const float weight = weights[tap];

    if (weight != 0 && x >= 0 && x < a.size[0] && y >= 0 && y < a.size[1]
        && z >= 0 && z < a.size[2])
      atomicAdd (response_at<R> (a, filter, x, y, z),
          (R) (a.gain * (weight * non_finite.value)));
  }
}

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

    empty_list (EmptyArguments{ a.counts + slot,
        (uint4 *) (a.marks + slot * a.n_marks), a.n_marks / 4 });
  }
}

template <typename R>
__global__ void __launch_bounds__ (THREADS)
non_finite_kernel (const __grid_constant__ Arguments a)
{
  const size_t taps = (size_t) a.taps[0] * a.taps[1] * a.taps[2];
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
      const float *const weights =
          a.weights + ((size_t) k * a.n_slots + t) * taps;

      if (a.counts[slot] > MAX_NON_FINITE)
        add_marked<R> (a, k, a.marks + slot * a.n_marks, weights, first, step);
      add_listed<R> (a, k, a.lists + slot * MAX_NON_FINITE, n, weights, first,
          step);
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
  counts.plan (lists + 1);
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

  launch_early (empty_kernel, 1, THREADS, 0, streams.push,
      EmptyArguments{ list.count, (uint4 *) list.marks, n_marks / 4 });
  return list;
}

void
NonFiniteSamples::add (const int *slots, unsigned first, unsigned n,
    size_t component, const NdSamples &out, float gain, bool empties)
{
  Arguments a = { counts.get () + component,
    samples.get () + component * MAX_NON_FINITE,
    marks.get () + component * n_marks, n_marks, (int) job.shape.components };
  size_t taps = 1;

  if (counts.count () == 0)
    return;
  for (int axis = 0; axis < 3; axis++) {
    a.size[axis] = job.shape.size[axis];
    a.taps[axis] = reach.high[axis] - reach.low[axis] + 1;
    taps *= a.taps[axis];
  }
  for (int axis = 0; axis < 2; axis++)
    a.padded[axis] = padded_size (axis);
  a.weights = weights.get () + (size_t) first * reach.slots * taps;
  a.n_filters = n;
  a.out = out.data;
  a.sample = out.sample;
  a.row = out.row;
  a.slice = out.slice;
  a.response = out.response;
  a.gain = gain;
  a.done = empties ? counts.get () + counts.count () - 1 : nullptr;
  a.n_slots = reach.slots;
  memcpy (a.slots, slots, reach.slots * sizeof (int));
  const size_t n_samples =
      job.shape.size[0] * job.shape.size[1] * job.shape.size[2];
  const unsigned blocks =
      std::clamp<size_t> (n_samples / BLOCK_SAMPLES, 1, BLOCKS);

  if (job.precision == ND_PRECISION_DOUBLE)
    launch_early (non_finite_kernel<double>, blocks, THREADS, 0,
        streams.respond, a);
  else
    launch_early (non_finite_kernel<float>, blocks, THREADS, 0, streams.respond,
        a);
}

} // namespace nd
