/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndwild.cuh"

#include <cstring>
#include <vector>

namespace nd
{

namespace
{

struct Arguments
{
  const unsigned *counts;       /* of slot 0; @stride between slots */
  const Wild *lists;
  int stride;
  const float *weights;         /* [t][z][y][x] */
  int taps[3];
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

__global__ void
wild_kernel (const __grid_constant__ Arguments a)
{
  const int taps = a.taps[0] * a.taps[1] * a.taps[2];
  const size_t first = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (int t = 0; t < a.n_slots; t++) {
    const size_t slot = (size_t) a.slots[t] * a.stride;
    const unsigned n = a.counts[slot];
    const Wild *const list = a.lists + slot * MAX_WILD;

    if (n > MAX_WILD) {
      /* More than the list holds: all of the response is undefined. */
      const size_t all = (size_t) a.size[0] * a.size[1] * a.size[2];

      for (size_t i = first; i < all; i += step)
        *response_at (a, i % a.size[0], i / a.size[0] % a.size[1],
            i / a.size[0] / a.size[1]) = NAN;
      continue;
    }
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
  size_t taps[3], all = 1;

  if (job.in_type != ND_FLOAT32)
    return;
  for (int a = 0; a < 3; a++)
    all = multiply (all, taps[a] = reach.high[a] - reach.low[a] + 1);
  counts = Memory<unsigned> (lists);
  samples = Memory<Wild> (multiply (lists, MAX_WILD));
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
  return counts.bytes () + samples.bytes () + weights.bytes ();
}

WildList
WildSamples::list (unsigned slot, size_t component)
{
  const size_t i = slot * job.shape.components + component;
  WildList list = { counts.get () + i, samples.get () + i * MAX_WILD };

  if (counts.count () == 0)
    return WildList {};
  ND_CUDA (cudaMemsetAsync (list.count, 0, sizeof (unsigned),
          streams.push));
  return list;
}

void
WildSamples::add (const int *slots, unsigned k, size_t component,
    unsigned char *out, size_t sample, size_t row, size_t slice, float gain)
{
  Arguments a = { counts.get () + component,
    samples.get () + component * MAX_WILD, (int) job.shape.components };
  size_t taps = 1;

  if (counts.count () == 0)
    return;
  for (int axis = 0; axis < 3; axis++) {
    a.size[axis] = job.shape.size[axis];
    a.taps[axis] = reach.high[axis] - reach.low[axis] + 1;
    taps *= a.taps[axis];
  }
  a.weights = weights.get () + k * reach.slots * taps;
  a.out = out;
  a.sample = sample;
  a.row = row;
  a.slice = slice;
  a.gain = gain;
  a.n_slots = reach.slots;
  memcpy (a.slots, slots, reach.slots * sizeof (int));
  wild_kernel<<<128, 256, 0, streams.respond>>> (a);
  ND_CUDA_LAUNCHED (wild_kernel);
}

} // namespace nd
