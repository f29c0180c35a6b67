/* Method `fft` by deep blocks (cuda/fft/deep.cuh): volumes are read in place.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/device.h"
#include "cuda/fft/deep.cuh"
#include "cuda/fft/fft.cuh"
#include "cuda/fft/planespectra.h"
#include "cuda/launch.cuh"

#include <algorithm>
#include <vector>

namespace nd
{

namespace
{

/* The bytes of the spectra of a launch, if a pair of blocks does not have more.
 * Launches whose spectra stay in the second level cache are slower, because
 * each leaves multiprocessors idle at its end. */
constexpr size_t LAUNCH_BYTES = 512 << 20;

class FftDeep : public Method
{
public:
  FftDeep (const RingJob &job, cudaStream_t stream);
  size_t bytes_needed () const override
  {
    return total_bytes (filters, spectra, non_finite);
  }
  void allocate () override;
  void push (unsigned slot, const NdSamples *volume) override
  {
    last = *volume;
  }
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void filter_pairs (DeepArguments a, int n, const NdScale &scale,
      const NdSamples &out, size_t component) const;

  const RingJob job;
  const NdReach reach;
  const cudaStream_t stream;
  const Blocks blocks;
  const DeepKernels kernels;
  const int n_pairs, n_planes;
  const int pairs; /* of a launch */
  NdSamples last;
  Memory<float2> filters; /* [filter][slice][DEEP_FILTER] */
  Memory<float2> spectra; /* of a launch */
  NonFiniteSamples non_finite;
};

int
count_pairs (const Blocks &b)
{
  return (b.count[0] * b.count[1] + 1) / 2;
}

/* The last thread block of a pair reads planes for all its slices. */
int
count_planes (const Blocks &b, const DeepKernels &k)
{
  return (b.outputs[2] + k.depth - 1) / k.depth * k.depth + k.slices - 1;
}

int
slices_of (const NdReach &reach)
{
  return reach.high[2] - reach.low[2] + 1;
}

/* Launches of nearly equal size. */
int
pairs_of_launch (int n_pairs, int n_planes)
{
  const size_t bytes = n_planes * DEEP_NUMBERS * sizeof (float2);
  const int most = std::clamp<size_t> (LAUNCH_BYTES / bytes, 1, n_pairs);
  const int launches = (n_pairs + most - 1) / most;

  return (n_pairs + launches - 1) / launches;
}

FftDeep::FftDeep (const RingJob &job, cudaStream_t stream)
    : job (job), reach (nd_job_reach (&job)), stream (stream),
      blocks (make_blocks (job, reach, DEEP)),
      kernels (deep_kernels (job.in_type, slices_of (reach))),
      n_pairs (count_pairs (blocks)), n_planes (count_planes (blocks, kernels)),
      pairs (pairs_of_launch (n_pairs, n_planes)),
      non_finite (job, reach, ComputeStreams{ stream, stream })
{
  std::vector<float2> numbers;

  for (unsigned k = 0; k < job.bank->n_filters; k++)
    add_plane_spectra (numbers, job.bank->filters[k], reach, kernels.slices,
        DEEP_HALF, DEEP);
  filters.plan (std::move (numbers));
  spectra.plan (multiply (multiply (pairs, n_planes), DEEP_NUMBERS));
}

void
FftDeep::allocate ()
{
  ND_INFO ("%dx%d deep blocks with %dx%d outputs each, %d pairs at a time",
      blocks.count[0], blocks.count[1], blocks.valid[0], blocks.valid[1],
      pairs);
  allocate_all (filters, spectra, non_finite);
}

/* Enqueues the responses of @n pairs from a.first_pair on. */
void
FftDeep::filter_pairs (DeepArguments a, int n, const NdScale &scale,
    const NdSamples &out, size_t component) const
{
  const size_t parts = (blocks.outputs[2] + kernels.depth - 1) / kernels.depth;

  allow_shared (kernels.forward, kernels.forward_shared);
  allow_shared (kernels.backward, kernels.backward_shared);
  launch_kernel (kernels.forward, dim3 ((size_t) n * blocks.padded[2]),
      dim3 (kernels.forward_threads), kernels.forward_shared, stream, &a,
      false);
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    a.store = make_store (out, job.out_type, scale, component, k);
    a.store.out += blocks.first[0] * out.sample + blocks.first[1] * out.row
        + blocks.first[2] * out.slice;
    a.filter = filters.get () + (size_t) k * kernels.slices * DEEP_FILTER;
    launch_kernel (kernels.backward, dim3 (n * parts),
        dim3 (kernels.backward_threads), kernels.backward_shared, stream, &a,
        false);
  }
}

void
FftDeep::respond (const int *slots, const NdScale &scale, const NdSamples &out)
{
  for (size_t c = 0; c < job.shape.components; c++) {
    NdSamples responses = out;
    DeepArguments a = {};

    a.blocks = blocks;
    a.n_planes = n_planes;
    a.in = BlockInput{ last.data + c * nd_sample_size (job.in_type),
      last.sample, last.row, last.slice, non_finite.list (0, c) };
    a.spectra = spectra.get ();
    for (; a.first_pair < n_pairs; a.first_pair += pairs)
      filter_pairs (a, std::min (pairs, n_pairs - a.first_pair), scale, out, c);
    responses.data = make_store (out, job.out_type, scale, c, 0).out;
    non_finite.add (slots, 0, job.bank->n_filters, c, responses, scale.gain);
  }
}

} // namespace

bool
deep_possible (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);

  if (job.precision == ND_PRECISION_DOUBLE || reach.slots > 1
      || job.border_volumes || reach.high[2] == reach.low[2])
    return false;
  for (int a = 0; a < 3; a++) {
    if (reach.high[a] - reach.low[a] > DEEP / 2)
      return false;
  }
  /* NaN and Inf are added to stored responses, which must be float32. */
  return deep_kernels (job.in_type, slices_of (reach)).backward_shared
      <= (size_t) device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin)
      && (job.in_type != ND_FLOAT32 || job.out_type == ND_FLOAT32);
}

std::unique_ptr<Method>
make_fft_deep (const RingJob &job, const ComputeStreams &streams)
{
  return std::make_unique<FftDeep> (job, streams.respond);
}

} // namespace nd
