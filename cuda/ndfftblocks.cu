/* Method `fft` by blocks: a ring of the spectra of overlapping blocks, or for
 * windows of one volume no ring at all.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <cstring>
#include <vector>

#include "ndblocks.cuh"

namespace nd
{

namespace
{

/* Volumes of a window from which sums begun ahead save more than they
 * cost. */
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
      + kernels.group - 1) / kernels.group;
}

void
launch (const void *kernel, const BlockKernels &k, const BlockArguments &a,
    cudaStream_t stream)
{
  const size_t groups = count_groups (a.blocks, k);
  const int warps = k.threads / 32;
  /* A warp has a group of planes, a thread block one of blocks. */
  const size_t count = a.blocks.is_flat () ? (groups + warps - 1) / warps
      : groups;
  void *arguments[] = { (void *) &a };

  if (Count::current)
    throw Count::Counted ();
  ND_CUDA (cudaFuncSetAttribute (kernel,
          cudaFuncAttributeMaxDynamicSharedMemorySize, k.shared));
  ND_CUDA (cudaLaunchKernel (kernel, dim3 (count), dim3 (k.threads),
          arguments, k.shared, stream));
}

/* Whether no ring is needed: the last volume is read in place. */
bool
reads_whole (const NdJob &job)
{
  return nd_job_reach (&job).slots == 1 && job.bank->n_filters == 1
      && !job.border_volumes;
}

class FftBlocks : public Method
{
public:
  FftBlocks (const NdJob &job, const ComputeStreams &streams);
  size_t bytes () const override;
  bool pushes_ahead () const override { return !whole; }
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  BlockArguments arguments_for (const NdSamples *volume, size_t component,
      unsigned slot);
  void add_filters ();

  const NdJob job;
  const NdReach reach;
  const ComputeStreams streams;
  const Blocks blocks;
  const BlockKernels kernels;
  const size_t n_groups;
  const bool whole;             /* no ring */
  NdSamples last;
  Memory<float2> ring;          /* [slot][component][block] */
  Memory<float> levels;
  Memory<float2> filters;       /* [filter][t] */
  Memory<double> filter_sums;
  WildSamples wild;
  std::unique_ptr<WindowSums> sums;     /* where windows are long */
};

FftBlocks::FftBlocks (const NdJob &job, const ComputeStreams &streams)
  : job (job), reach (nd_job_reach (&job)), streams (reads_whole (job)
        ? ComputeStreams { streams.respond, streams.respond } : streams),
    blocks (make_blocks (job, reach)),
    kernels (kernels_for (job.in_type, blocks)),
    n_groups (count_groups (blocks, kernels)),
    whole (reads_whole (job)), wild (job, reach, this->streams)
{
  const size_t volumes = multiply (ahead_slots (job), job.shape.components);
  const size_t n_filters = multiply (job.bank->n_filters, reach.slots);

  if (!whole) {
    ring = Memory<float2> (multiply (volumes, multiply (n_groups,
                kernels.numbers)));
    levels = Memory<float> (multiply (volumes, n_groups * kernels.group));
    if (reach.slots >= WORTH_SUMS)
      sums = std::make_unique<WindowSums> (job, reach,
          multiply (n_groups, kernels.numbers), streams.respond);
  }
  filters = Memory<float2> (multiply (n_filters, kernels.numbers));
  filter_sums = Memory<double> (n_filters);
  add_filters ();
}

/* Coefficients as one block to transform: the one that reads offset d stands
 * at low - d, circularly, so that output i comes out at i. */
void
FftBlocks::add_filters ()
{
  const int depth = blocks.is_flat () ? 1 : BLOCK;
  const size_t n = BLOCK * BLOCK * depth;
  /* A column of the kernels for volumes is twice what it should be. */
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
      a.blocks.shape[axis] = a.blocks.padded[axis] = a.blocks.valid[axis]
          = axis < 2 ? BLOCK : depth;
      a.blocks.count[axis] = 1;
    }
    a.in = BlockInput { (const unsigned char *) samples.get (), 4, 4 * BLOCK,
      4 * BLOCK * BLOCK };
    a.spectra = filters.get () + i * kernels.numbers;
    launch (push.push, push, a, streams.push);
    ND_CUDA (cudaStreamSynchronize (streams.push));
  }
  filter_sums.upload (sums.data (), sums.size ());
}

size_t
FftBlocks::bytes () const
{
  return ring.bytes () + levels.bytes () + filters.bytes ()
      + filter_sums.bytes () + wild.bytes () + (sums ? sums->bytes () : 0);
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
  a.levels = levels.get () + component * n_groups * kernels.group;
  if (volume)
    a.in = BlockInput { volume->data + component
        * nd_sample_size (job.in_type), volume->sample, volume->row,
      volume->slice, wild.list (slot, component) };
  return a;
}

void
FftBlocks::push (unsigned slot, const NdSamples *volume)
{
  if (whole) {
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
      BlockArguments a = arguments_for (whole ? &last : nullptr, c, 0);

      a.filter = filters.get () + k * reach.slots * kernels.numbers;
      a.filter_sums = filter_sums.get () + k * reach.slots;
      a.n_slots = reach.slots;
      memcpy (a.slots, slots, reach.slots * sizeof (int));
      a.store = make_store (out, job.out_type, scale, c, k);
      if (sums) {
        const WindowSums::Start start = sums->start (slots,
            k * job.shape.components + c, WindowSpectra { a.spectra,
            a.spectra_stride, a.filter, kernels.numbers,
            !blocks.is_flat (), false });

        a.sum = start.sum;
        a.first = start.first;
      }
      launch (whole ? kernels.filter : kernels.respond, kernels, a,
          streams.respond);
      wild.add (slots, k, c, a.store.out, a.store.sample, a.store.row,
          a.store.slice, scale.gain);
    }
  }
}

} // namespace

Blocks
make_blocks (const NdJob &job, const NdReach &reach)
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

/* Blocks of volumes take 132 KiB of shared memory, which GPUs for workstations
 * do not have. */
static bool
has_shared_memory (const NdJob &job, const NdReach &reach)
{
  const BlockKernels kernels = kernels_for (job.in_type,
      make_blocks (job, reach));
  int device, bytes;

  return cudaGetDevice (&device) == cudaSuccess
      && cudaDeviceGetAttribute (&bytes,
      cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess
      && kernels.shared <= (size_t) bytes;
}

bool
blocks_possible (const NdJob &job)
{
  const NdReach reach = nd_job_reach (&job);

  for (int a = 0; a < 3; a++) {
    if (reach.high[a] - reach.low[a] > BLOCK / 2)
      return false;
  }
  /* NaN and Inf are added to what is stored. */
  return has_shared_memory (job, reach)
      && (job.in_type != ND_FLOAT32 || job.out_type == ND_FLOAT32);
}

std::unique_ptr<Method>
make_fft_blocks (const NdJob &job, const ComputeStreams &streams)
{
  return std::make_unique<FftBlocks> (job, streams);
}

} // namespace nd
