/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndwild.cuh"

#include <cstring>
#include <vector>

namespace nd
{

namespace
{

constexpr int BLOCKS = 128, THREADS = 1024;     /* fill large devices */
constexpr size_t QUAD = 4 * WILD_MARKS; /* marks of a uint4 */
constexpr unsigned ALL_PLUS = 0x55555555;       /* WILD_PLUS in each mark */

/* Of a volume whose list was too short there are marks. One block. */
__global__ void
empty_kernel (unsigned *count, uint4 *marks, size_t n)
{
  const bool is_marked = *count > MAX_WILD;

  __syncthreads ();
  for (size_t i = threadIdx.x; is_marked && i < n; i += THREADS)
    marks[i] = uint4 {};
  if (threadIdx.x == 0)
    *count = 0;
}

struct Arguments
{
  const unsigned *counts;       /* of slot 0; @stride between slots */
  const Wild *lists;
  const unsigned *marks;        /* @n_marks words for each */
  size_t n_marks;
  int stride;
  const float *weights;         /* [t][z][y][x] */
  int taps[3];
  int padded[2];                /* x and y of what the marks are of */
  int size[3];                  /* of the responses */
  unsigned char *out;
  size_t sample, row, slice;
  float gain;
  int n_slots;
  int slots[MAX_SLOTS];
};

__device__ float *
response_at (const Arguments &a, int x, int y, int z)
{
  return (float *) (a.out + x * a.sample + y * a.row + z * a.slice);
}

/* The marks of @WILD_MARKS samples, from one on. */
__device__ unsigned
marks_from (const unsigned *marks, size_t sample)
{
  const unsigned *const two = marks + sample / WILD_MARKS;

  return __funnelshift_r (two[0], two[1], sample % WILD_MARKS * 2);
}

/* What the marks come to under as many responses side by side: they add up by
 * themselves, +Inf and -Inf to NaN. */
__device__ unsigned
marks_under (const Arguments &a, const unsigned *marks, const float *weights,
    int x, int y, int z)
{
  unsigned sum = 0;

  for (int tz = 0; tz < a.taps[2]; tz++) {
    for (int ty = 0; ty < a.taps[1]; ty++, weights += a.taps[0]) {
      const size_t row = ((size_t) (z + tz) * a.padded[1] + y + ty)
          * a.padded[0] + x;
      const size_t last = (row + a.taps[0] + WILD_MARKS - 2) / WILD_MARKS;
      unsigned any = 0;

      for (size_t i = row / WILD_MARKS; i <= last; i++)
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

__device__ __noinline__ void
add_marked (const Arguments &a, const unsigned *marks, const float *weights,
    size_t first, size_t step)
{
  const size_t line = (a.size[0] + WILD_MARKS - 1) / WILD_MARKS;
  const size_t all = line * a.size[1] * a.size[2];

  for (size_t i = first; i < all; i += step) {
    const int x = i % line * WILD_MARKS, y = i / line % a.size[1];
    const int z = i / line / a.size[1];
    unsigned sum = marks_under (a, marks, weights, x, y, z);

    for (int k = 0; sum && x + k < a.size[0]; k++, sum >>= 2) {
      const unsigned mark = sum & WILD_NAN;

      if (mark)
        atomicAdd (response_at (a, x + k, y, z), a.gain * (mark == WILD_PLUS
                ? INFINITY : mark == WILD_MINUS ? -INFINITY : NAN));
    }
  }
}

__global__ void __launch_bounds__ (THREADS)
wild_kernel (const __grid_constant__ Arguments a)
{
  const int taps = a.taps[0] * a.taps[1] * a.taps[2];
  const size_t first = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (int t = 0; t < a.n_slots; t++) {
    const size_t slot = (size_t) a.slots[t] * a.stride;
    const unsigned n = min (a.counts[slot], MAX_WILD);
    const Wild *const list = a.lists + slot * MAX_WILD;

    if (a.counts[slot] > MAX_WILD)
      add_marked (a, a.marks + slot * a.n_marks,
          a.weights + (size_t) t * taps, first, step);
    for (size_t i = first; i < (size_t) n * taps; i += step) {
      const Wild wild = list[i / taps];
      const int tap = i % taps;
      const int x = wild.x - tap % a.taps[0];
      const int y = wild.y - tap / a.taps[0] % a.taps[1];
      const int z = wild.z - tap / a.taps[0] / a.taps[1];
      const float weight = a.weights[(size_t) t * taps + tap];

      if (weight != 0 && x >= 0 && x < a.size[0] && y >= 0 && y < a.size[1]
          && z >= 0 && z < a.size[2])
        atomicAdd (response_at (a, x, y, z), a.gain * (weight * wild.value));
    }
  }
}

} // namespace

WildSamples::WildSamples (const NdJob &job, const NdReach &reach,
    const ComputeStreams &streams)
  : job (job), reach (reach), streams (streams)
{
  const size_t lists = ahead_slots (job) * job.shape.components;
  size_t taps[3], all = 1, padded = 1;

  if (job.in_type != ND_FLOAT32)
    return;
  for (int a = 0; a < 3; a++)
    all = multiply (all, taps[a] = reach.high[a] - reach.low[a] + 1);
  for (int a = 0; a < 3; a++)
    padded = multiply (padded, padded_size (a));
  /* Words are read beyond the last sample. */
  n_marks = (padded + 2 * WILD_MARKS + QUAD - 1) / QUAD * (QUAD / WILD_MARKS);
  counts = Memory<unsigned> (lists);
  samples = Memory<Wild> (multiply (lists, MAX_WILD));
  marks = Memory<unsigned> (multiply (lists, n_marks));
  std::vector<float> flipped (multiply (job.bank->n_filters, multiply
          (reach.slots, all)));

  for (unsigned k = 0; k < job.bank->n_filters; k++)
    for (unsigned t = 0; t < reach.slots; t++)
      for_each_coefficient (job.bank->filters[k], t, reach,
          [&] (int x, int y, int z, double w) {
            flipped[(k * reach.slots + t) * all + (z * taps[1] + y) * taps[0]
                + x] = w;
          });
  weights = Memory<float> (flipped.size ());
  weights.upload (flipped.data (), flipped.size ());
}

size_t
WildSamples::bytes () const
{
  return counts.bytes () + samples.bytes () + marks.bytes ()
      + weights.bytes ();
}

int
WildSamples::padded_size (int axis) const
{
  return job.shape.size[axis] + reach.high[axis] - reach.low[axis];
}

WildList
WildSamples::list (unsigned slot, size_t component)
{
  const size_t i = slot * job.shape.components + component;
  WildList list = { counts.get () + i, samples.get () + i * MAX_WILD,
    marks.get () + i * n_marks, { padded_size (0), padded_size (1) } };

  if (counts.count () == 0)
    return WildList {};
  empty_kernel<<<1, THREADS, 0, streams.push>>> (list.count,
      (uint4 *) list.marks, n_marks / 4);
  ND_CUDA_LAUNCHED (empty_kernel);
  return list;
}

void
WildSamples::add (const int *slots, unsigned k, size_t component,
    unsigned char *out, size_t sample, size_t row, size_t slice, float gain)
{
  Arguments a = { counts.get () + component,
    samples.get () + component * MAX_WILD, marks.get () + component * n_marks,
    n_marks, (int) job.shape.components };
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
  a.weights = weights.get () + k * reach.slots * taps;
  a.out = out;
  a.sample = sample;
  a.row = row;
  a.slice = slice;
  a.gain = gain;
  a.n_slots = reach.slots;
  memcpy (a.slots, slots, reach.slots * sizeof (int));
  wild_kernel<<<BLOCKS, THREADS, 0, streams.respond>>> (a);
  ND_CUDA_LAUNCHED (wild_kernel);
}

} // namespace nd
