/* Method `fft` by blocks: a ring of the spectra of overlapping blocks. A job
 * with windows of one volume needs no ring: its volumes are read in place,
 * except by a bank on a device with little shared memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/combine.cuh"
#include "cuda/device.h"
#include "cuda/fft/blockkernels.cuh"
#include "cuda/fft/coefficients.h"
#include "cuda/fft/combinebank.cuh"
#include "cuda/fft/fft.cuh"
#include "cuda/fft/overlaps.h"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cmath>
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

BankKernels
bank_kernels_for (NdSampleType type, const Blocks &blocks)
{
  return blocks.is_flat () ? plane_bank_kernels (type)
                           : block_bank_kernels (type);
}

size_t
count_groups (const Blocks &b, const BlockKernels &kernels)
{
  return (multiply (multiply (b.count[0], b.count[1]), b.count[2])
             + kernels.group - 1)
      / kernels.group;
}

/* The groups of blocks that a thread block computes: a warp computes a group of
 * flat blocks, a thread block a group of other blocks. */
size_t
count_units (const Blocks &b, const BlockKernels &k)
{
  const size_t groups = count_groups (b, k), warps = k.threads / 32;

  return b.is_flat () ? (groups + warps - 1) / warps : groups;
}

/* Divides the responses of the units that do not fill the @places for thread
 * blocks of the device, so that all are complete early. Transforming a unit
 * takes as long as a response. */
void
divide_bank (BankArguments &bank, int places)
{
  const int rest = bank.n_units % places, n = bank.n_filters;
  int best = 0;

  bank.whole = bank.n_units - rest;
  bank.parts = 1;
  bank.filters_of_part = n;
  for (int filters = n; filters > 0 && rest > 0; filters--) {
    const int parts = (n + filters - 1) / filters;
    const int time = (1 + filters) * ((rest * parts + places - 1) / places);

    if (best == 0 || time < best) {
      best = time;
      bank.parts = parts;
      bank.filters_of_part = filters;
    }
  }
}

/* Launches @count thread blocks, each with @shared bytes of shared memory. */
void
launch (const void *kernel, const BlockKernels &k, const BlockArguments &a,
    size_t count, size_t shared, cudaStream_t stream, bool early = false)
{
  allow_shared (kernel, shared);
  launch_kernel (kernel, dim3 (count), dim3 (k.threads), shared, stream, &a,
      early);
}

/* Whether a multiprocessor holds as many thread blocks as the kernel for
 * volumes of a bank is written for. Each also uses 1 KiB of its own. */
bool
holds_bank (const BankKernels &k)
{
  return k.shared
      <= (size_t) device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin)
      && k.resident * (k.shared + 1024) <= (size_t)
             device_attribute (cudaDevAttrMaxSharedMemoryPerMultiprocessor);
}

/* Whether a lean kernel with @shared bytes of shared memory can be used: it
 * copies vectors of 16 bytes, and stores responses as they are. */
bool
can_be_lean (const BlockArguments &a, size_t shared, NdSampleType type)
{
  const Blocks &b = a.blocks;
  const BlockInput &in = a.in;
  const size_t size = nd_sample_size (type), row = size * b.shape[0];

  return !b.is_flat () && in.in && in.sample == size && in.row <= UINT32_MAX
      && ((size_t) in.in | in.row | in.slice | row) % 16 == 0 && !a.store.scaled
      && a.store.row <= UINT32_MAX
      && (b.border != ND_BORDER_CONSTANT || std::isfinite (b.border_value))
      && shared
      <= (size_t) device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

int
count_multiprocessors ()
{
  return device_attribute (cudaDevAttrMultiProcessorCount);
}

class FftBlocks : public Method
{
public:
  FftBlocks (const RingJob &job, const ComputeStreams &streams);
  size_t bytes_needed () const override;
  void allocate () override;
  bool pushes_ahead () const override { return !in_place; }
  bool combines () const override { return combined.is_used (); }
  /* Responses to samples that are not finite are added to all outputs, and all
   * responses are combined. */
  bool stores_wanted_only () const override
  {
    return !job.combined && !nd_sample_is_float (job.in_type);
  }
  void push (unsigned slot, const NdSamples *volume) override;
  void begin (const int *slots) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  BlockArguments arguments_for (const NdSamples *volume, size_t component,
      unsigned slot);
  void add_filters ();
  size_t first_output (const NdSamples &out) const;
  void launch_bank (BlockArguments &a);
  void combine (BlockArguments &a, const NdScale &scale, const NdSamples &out);
  void filter_one (BlockArguments &a, size_t component,
      const NdSamples &responses, double gain);

  const RingJob job;
  const NdReach reach;
  const ComputeStreams streams;
  const Blocks blocks;
  const BlockKernels kernels;
  const LeanKernels lean;
  const BankKernels bank;
  const size_t n_groups, n_units;
  const bool in_place; /* the last volume is read, there is no ring */
  NdSamples last;
  Overlaps overlaps;
  Memory<float2> ring; /* [slot][component][block] */
  Memory<float> levels;
  Memory<float2> filters; /* [filter][t] */
  Memory<double> filter_sums;
  CombinedBank combined;
  NonFiniteSamples non_finite;
  std::unique_ptr<WindowSums<float>> sums;      /* of long windows */
  std::vector<WindowSums<float>::Start> starts; /* [component] */
};

FftBlocks::FftBlocks (const RingJob &job, const ComputeStreams &streams)
    : job (job), reach (nd_job_reach (&job)),
      streams (reads_in_place (job)
              ? ComputeStreams{ streams.respond, streams.respond }
              : streams),
      blocks (make_blocks (job, reach)),
      kernels (kernels_for (job.in_type, blocks)),
      lean (lean_kernels (job.in_type)),
      bank (bank_kernels_for (job.in_type, blocks)),
      n_groups (count_groups (blocks, kernels)),
      n_units (count_units (blocks, kernels)), in_place (reads_in_place (job)),
      combined (job, reach, blocks), non_finite (job, reach, this->streams)
{
  const size_t volumes = multiply (ahead_slots (job), job.shape.components);
  const size_t n_filters = multiply (job.bank->n_filters, reach.slots);

  if (!in_place) {
    ring.plan (multiply (volumes, multiply (n_groups, kernels.numbers)));
    levels.plan (multiply (volumes, n_groups * kernels.group));
    if (reach.slots >= WORTH_SUMS) {
      sums = std::make_unique<WindowSums<float>> (job, reach,
          multiply (n_groups, kernels.numbers), true, streams.respond);
      starts.resize (job.shape.components);
    }
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
          a.blocks.outputs[axis] = axis < 2 ? BLOCK : depth;
      a.blocks.count[axis] = 1;
    }
    a.in = BlockInput{ (const unsigned char *) samples.get (), 4, 4 * BLOCK,
      4 * BLOCK * BLOCK };
    a.spectra = filters.get () + i * kernels.numbers;
    launch (push.push, push, a, 1, push.shared, streams.push);
    ND_CUDA (cudaStreamSynchronize (streams.push));
  }
  filter_sums.upload (sums.data (), sums.size ());
}

size_t
FftBlocks::bytes_needed () const
{
  return total_bytes (ring, levels, filters, filter_sums, combined, non_finite)
      + (sums ? sums->bytes () : 0);
}

void
FftBlocks::allocate ()
{
  ND_INFO ("%dx%dx%d %sblocks with %dx%dx%d outputs each%s", blocks.count[0],
      blocks.count[1], blocks.count[2], blocks.is_flat () ? "flat " : "",
      blocks.valid[0], blocks.valid[1], blocks.valid[2],
      sums              ? ", sums begun ahead"
          : combines () ? ", responses combined"
                        : "");
  allocate_all (ring, levels, filters, filter_sums, combined, non_finite);
  if (sums)
    sums->allocate ();
  add_filters ();
}

/* The bytes from the first sample of @out to the first output. */
size_t
FftBlocks::first_output (const NdSamples &out) const
{
  return blocks.first[0] * out.sample + blocks.first[1] * out.row
      + blocks.first[2] * out.slice;
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
      in_place ? non_finite.list_in_place (component)
               : non_finite.list (slot, component) };
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
    a.bank.n_units = n_units;
    if (can_be_lean (a, lean.push_shared, job.in_type))
      launch (lean.push, kernels, a,
          std::min<size_t> (n_units, count_multiprocessors ()),
          lean.push_shared, streams.push);
    else
      launch (kernels.push, kernels, a, n_units, kernels.shared, streams.push);
  }
  if (sums)
    sums->pushed (slot);
}

/* Launches a kernel that computes the responses of all filters. */
void
FftBlocks::launch_bank (BlockArguments &a)
{
  const int multiprocessors = count_multiprocessors ();

  if (in_place) {
    divide_bank (a.bank, multiprocessors * bank.resident);
    launch (bank.filter, kernels, a,
        a.bank.whole + (n_units - a.bank.whole) * a.bank.parts, bank.shared,
        streams.respond, a.bank.only_if);
    return;
  }
  /* The spectra of a window stay in the cache for all filters, or else the
   * spectrum of a filter for many blocks. */
  a.bank.wave = reach.slots > 1 ? 1 : multiprocessors * bank.resident;
  launch (bank.respond, kernels, a, n_units * a.bank.n_filters, kernels.shared,
      streams.respond);
}

/* Launches a kernel that combines the responses. If the volume has samples that
 * are not finite, the responses are computed and combined again, because
 * responses to such samples are corrected in memory. */
void
FftBlocks::combine (BlockArguments &a, const NdScale &scale,
    const NdSamples &out)
{
  const int slots[] = { 0 };

  combined.respond (a, streams.respond);
  if (!combined.memory ())
    return;
  const NdSamples responses =
      nd_samples_dense (combined.memory (), &job.shape, ND_FLOAT32);

  a.bank.only_if = combined.is_needed ();
  a.bank.response_stride = responses.response;
  a.store = make_store (responses, ND_FLOAT32, NdScale{ 1, 0 }, 0, 0);
  a.store.out += first_output (responses);
  launch_bank (a);
  non_finite.add (slots, 0, job.bank->n_filters, 0, responses, 1, true);
  combine_responses (*job.combined, combined.recipe (), combined.memory (),
      scale, out, streams.respond, a.bank.only_if);
}

/* Launches a kernel for a single filter. */
void
FftBlocks::filter_one (BlockArguments &a, size_t component,
    const NdSamples &responses, double gain)
{
  const int slots[] = { 0 };
  const Range out = range_of (responses, job.shape, job.out_type);
  const Range in = range_of (last, job.shape, job.in_type);
  const size_t n = std::min<size_t> (n_units, count_multiprocessors ());

  if (can_be_lean (a, lean.filter_shared, job.in_type)) {
    a.begin = overlaps.begin (in, out);
    a.work = non_finite.work (0, component, responses, gain);
    launch (lean.filter, kernels, a, n, lean.filter_shared, streams.respond,
        a.begin != BEGIN_AFTER_ALL);
    return;
  }
  launch (kernels.filter, kernels, a, n_units, kernels.shared, streams.respond);
  overlaps.restart (in, out);
  non_finite.add (slots, 0, 1, component, responses, gain, true);
}

void
FftBlocks::begin (const int *slots)
{
  for (size_t c = 0; c < starts.size (); c++) {
    const BlockArguments a = arguments_for (nullptr, c, 0);

    starts[c] = sums->start_bank (slots, c,
        WindowSpectra<float>{ a.spectra, a.spectra_stride, filters.get (),
            kernels.numbers, !blocks.is_flat (), false });
  }
}

void
FftBlocks::respond (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  const unsigned n_filters = job.bank->n_filters;

  for (size_t c = 0; c < job.shape.components; c++) {
    BlockArguments a = arguments_for (in_place ? &last : nullptr, c, 0);
    NdSamples responses = out;

    a.filter = filters.get ();
    a.filter_sums = filter_sums.get ();
    a.n_slots = reach.slots;
    memcpy (a.slots, slots, reach.slots * sizeof (int));
    a.store = make_store (out,
        combines () ? job.combined->out_type : job.out_type, scale, c, 0);
    a.bank.n_filters = n_filters;
    a.bank.n_units = n_units;
    a.bank.filter_stride = reach.slots * kernels.numbers;
    a.bank.response_stride = out.response;
    responses.data = a.store.out;
    a.store.out += first_output (out);
    if (sums) {
      a.sum = starts[c].sum;
      a.first = starts[c].first;
      a.bank.sum_stride = sums->stride ();
    }
    if (combines ()) {
      combine (a, scale, out);
      continue;
    }
    if (in_place && n_filters == 1) {
      filter_one (a, c, responses, scale.gain);
      continue;
    }
    if (n_filters > 1)
      launch_bank (a);
    else
      launch (kernels.respond, kernels, a, n_units, kernels.shared,
          streams.respond);
    non_finite.add (slots, 0, n_filters, c, responses, scale.gain, in_place);
  }
}

} // namespace

bool
reads_in_place (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);

  if (reach.slots > 1 || job.border_volumes)
    return false;
  return job.bank->n_filters == 1
      || holds_bank (bank_kernels_for (job.in_type, make_blocks (job, reach)));
}

Blocks
make_blocks (const RingJob &job, const NdReach &reach, int size)
{
  Blocks b = {};

  for (int a = 0; a < 3; a++) {
    const int more = reach.high[a] - reach.low[a];

    b.shape[a] = job.shape.size[a];
    b.first[a] = job.wanted[a].first;
    b.outputs[a] = job.wanted[a].n > 0 ? job.wanted[a].n : b.shape[a];
    b.low[a] = b.first[a] + reach.low[a];
    b.padded[a] = b.outputs[a] + more;
    b.valid[a] = a == 2 && more == 0 ? 1 : size - more;
    b.count[a] = (b.outputs[a] + b.valid[a] - 1) / b.valid[a];
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

  if (job.precision == ND_PRECISION_DOUBLE)
    return false;
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
