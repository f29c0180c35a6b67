/* Method `fft` by blocks: a ring of the spectra of overlapping blocks. A job
 * with one filter and windows of one volume needs no ring: its volumes are read
 * in place.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/device.h"
#include "cuda/fft/blockkernels.cuh"
#include "cuda/fft/coefficients.h"
#include "cuda/fft/fft.cuh"

#include <cstring>
#include <vector>

namespace nd
{

namespace
{

/* Windows of at least so many volumes gain from sums that are begun ahead. */
constexpr unsigned WORTH_SUMS = 5;

BlockKernels
kernels_for (NdSampleType type, const Blocks &blocks)
{
  return blocks.is_flat () ? plane_kernels (type) : block_kernels (type);
}

size_t
count_groups (const Blocks &b, const BlockKernels &kernels)
{
  return (multiply (multiply (b.count[0], b.count[1]), b.count[2])
             + kernels.group - 1)
      / kernels.group;
}

void
launch (const void *kernel, const BlockKernels &k, const BlockArguments &a,
    cudaStream_t stream)
{
  const size_t groups = count_groups (a.blocks, k);
  const int warps = k.threads / 32;
  /* A warp computes a group of flat blocks, a thread block a group of other
   * blocks. */
  const size_t count =
      a.blocks.is_flat () ? (groups + warps - 1) / warps : groups;
  void *arguments[] = { (void *) &a };

  ND_CUDA (cudaFuncSetAttribute (kernel,
      cudaFuncAttributeMaxDynamicSharedMemorySize, k.shared));
  ND_CUDA (cudaLaunchKernel (kernel, dim3 (count), dim3 (k.threads), arguments,
      k.shared, stream));
}

/* Whether the last volume is read in place, without a ring. */
bool
reads_in_place (const RingJob &job)
{
  return nd_job_reach (&job).slots == 1 && job.bank->n_filters == 1
      && !job.border_volumes;
}

class FftBlocks : public Method
{
public:
  FftBlocks (const RingJob &job, const ComputeStreams &streams);
  size_t bytes_needed () const override;
  void allocate () override;
  bool pushes_ahead () const override { return !in_place; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  BlockArguments arguments_for (const NdSamples *volume, size_t component,
      unsigned slot);
  void add_filters ();

  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  const Blocks blocks;
  const BlockKernels kernels;
  const size_t n_groups;
  const bool in_place; /* the last volume is read, there is no ring */
  NdSamples last;
  Memory<float2> ring; /* [slot][component][block] */
  Memory<float> levels;
  Memory<float2> filters; /* [filter][t] */
  Memory<double> filter_sums;
  NonFiniteSamples non_finite;
  std::unique_ptr<WindowSums> sums; /* of long windows */
};

FftBlocks::FftBlocks (const RingJob &job, const ComputeStreams &streams)
    : job (job), reach (nd_job_reach (&job)),
      streams (reads_in_place (job)
              ? ComputeStreams{ streams.respond, streams.respond }
              : streams),
      blocks (make_blocks (job, reach)),
      kernels (kernels_for (job.in_type, blocks)),
      n_groups (count_groups (blocks, kernels)),
      in_place (reads_in_place (job)), non_finite (job, reach, this->streams)
{
  const size_t volumes = multiply (ahead_slots (job), job.shape.components);
  const size_t n_filters = multiply (job.bank->n_filters, reach.slots);

  if (!in_place) {
    ring.plan (multiply (volumes, multiply (n_groups, kernels.numbers)));
    levels.plan (multiply (volumes, n_groups * kernels.group));
    if (reach.slots >= WORTH_SUMS)
      sums = std::make_unique<WindowSums> (job, reach,
          multiply (n_groups, kernels.numbers), streams.respond);
  }
  filters.plan (multiply (n_filters, kernels.numbers));
  filter_sums.plan (n_filters);
}

/* Transforms the coefficients as one block. The coefficient that reads offset d
 * is stored at index low - d, modulo the size. Output i of a block is then
 * number i of the inverse transform. */
void
FftBlocks::add_filters ()
{
  const int depth = blocks.is_flat () ? 1 : BLOCK;
  const size_t n = BLOCK * BLOCK * depth;
  /* The kernels for volumes double the spectra of both the volume and the
   * filter. */
  const double scale = 1.0 / n / (blocks.is_flat () ? 1 : 4);
  const BlockKernels push = kernels_for (ND_FLOAT32, blocks);
  std::vector<float> host (n);
  std::vector<double> sums (filter_sums.count ());
  Memory<float> samples (n);

  for (size_t i = 0; i < sums.size (); i++) {
    BlockArguments a = {};

    std::fill (host.begin (), host.end (), 0.0f);
    for_each_coefficient (job.bank->filters[i / reach.slots], i % reach.slots,
        reach, [&] (int x, int y, int z, double w) {
          host[((depth - z) % depth * BLOCK + (BLOCK - y) % BLOCK) * BLOCK
              + (BLOCK - x) % BLOCK] = w * scale;
          sums[i] += w;
        });
    samples.upload (host.data (), n);
    for (int axis = 0; axis < 3; axis++) {
      a.blocks.shape[axis] = a.blocks.padded[axis] = a.blocks.valid[axis] =
          axis < 2 ? BLOCK : depth;
      a.blocks.count[axis] = 1;
    }
    a.in = BlockInput{ (const unsigned char *) samples.get (), 4, 4 * BLOCK,
      4 * BLOCK * BLOCK };
    a.spectra = filters.get () + i * kernels.numbers;
    launch (push.push, push, a, streams.push);
    ND_CUDA (cudaStreamSynchronize (streams.push));
  }
  filter_sums.upload (sums.data (), sums.size ());
}

size_t
FftBlocks::bytes_needed () const
{
  return total_bytes (ring, levels, filters, filter_sums, non_finite)
      + (sums ? sums->bytes () : 0);
}

void
FftBlocks::allocate ()
{
  ND_INFO ("%dx%dx%d %sblocks with %dx%dx%d outputs each%s", blocks.count[0],
      blocks.count[1], blocks.count[2], blocks.is_flat () ? "flat " : "",
      blocks.valid[0], blocks.valid[1], blocks.valid[2],
      sums ? ", sums begun ahead" : "");
  allocate_all (ring, levels, filters, filter_sums, non_finite);
  if (sums)
    sums->allocate ();
  add_filters ();
}

BlockArguments
FftBlocks::arguments_for (const NdSamples *volume, size_t component,
    unsigned slot)
{
  BlockArguments a = {};

  a.blocks = blocks;
  a.spectra_stride = job.shape.components * n_groups * kernels.numbers;
  a.levels_stride = job.shape.components * n_groups * kernels.group;
  a.spectra = ring.get () + component * n_groups * kernels.numbers;
  if (levels.get ())
    a.levels = levels.get () + component * n_groups * kernels.group;
  if (volume)
    a.in = BlockInput{ volume->data + component * nd_sample_size (job.in_type),
      volume->sample, volume->row, volume->slice,
      non_finite.list (slot, component) };
  return a;
}

void
FftBlocks::push (unsigned slot, const NdSamples *volume)
{
  if (in_place) {
    last = *volume;
    return;
  }
  for (size_t c = 0; c < job.shape.components; c++) {
    BlockArguments a = arguments_for (volume, c, slot);

    a.spectra += slot * a.spectra_stride;
    a.levels += slot * a.levels_stride;
    launch (kernels.push, kernels, a, streams.push);
  }
  if (sums)
    sums->pushed (slot);
}

void
FftBlocks::respond (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  for (size_t c = 0; c < job.shape.components; c++) {
    for (unsigned k = 0; k < job.bank->n_filters; k++) {
      BlockArguments a = arguments_for (in_place ? &last : nullptr, c, 0);

      a.filter = filters.get () + k * reach.slots * kernels.numbers;
      a.filter_sums = filter_sums.get () + k * reach.slots;
      a.n_slots = reach.slots;
      memcpy (a.slots, slots, reach.slots * sizeof (int));
      a.store = make_store (out, job.out_type, scale, c, k);
      if (sums) {
        const WindowSums::Start start =
            sums->start (slots, k * job.shape.components + c,
                WindowSpectra{ a.spectra, a.spectra_stride, a.filter,
                    kernels.numbers, !blocks.is_flat (), false });

        a.sum = start.sum;
        a.first = start.first;
      }
      launch (in_place ? kernels.filter : kernels.respond, kernels, a,
          streams.respond);
      non_finite.add (slots, k, c, a.store.out, a.store.sample, a.store.row,
          a.store.slice, scale.gain);
    }
  }
}

} // namespace

Blocks
make_blocks (const RingJob &job, const NdReach &reach)
{
  Blocks b = {};

  for (int a = 0; a < 3; a++) {
    const int more = reach.high[a] - reach.low[a];

    b.shape[a] = job.shape.size[a];
    b.low[a] = reach.low[a];
    b.padded[a] = b.shape[a] + more;
    b.valid[a] = a == 2 && more == 0 ? 1 : BLOCK - more;
    b.count[a] = (b.shape[a] + b.valid[a] - 1) / b.valid[a];
  }
  b.border = job.border;
  b.border_value = job.border_value;
  return b;
}

/* Whether the device has the shared memory for blocks. Blocks of volumes need
 * 132 KiB, more than GPUs for workstations have. */
static bool
has_shared_memory (const RingJob &job, const NdReach &reach)
{
  const BlockKernels kernels =
      kernels_for (job.in_type, make_blocks (job, reach));

  return kernels.shared
      <= (size_t) device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

bool
blocks_possible (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);

  for (int a = 0; a < 3; a++) {
    if (reach.high[a] - reach.low[a] > BLOCK / 2)
      return false;
  }
  /* NaN and Inf are added to stored responses, which must be float32. */
  return has_shared_memory (job, reach)
      && (job.in_type != ND_FLOAT32 || job.out_type == ND_FLOAT32);
}

std::unique_ptr<Method>
make_fft_blocks (const RingJob &job, const ComputeStreams &streams)
{
  return std::make_unique<FftBlocks> (job, streams);
}

} // namespace nd
