/* Method `fft` by wide blocks (cuda/fft/wide.cuh): volumes are read in place,
 * and each filter is a launch. The copy engine needs a description of the
 * volume (CUtensorMap), which is made here.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/device.h"
#include "cuda/fft/fft.cuh"
#include "cuda/fft/planespectra.h"
#include "cuda/fft/wide.cuh"
#include "cuda/launch.cuh"
#include "engine/border.h"

#include <algorithm>
#include <vector>

namespace nd
{

namespace
{

class FftWide : public Method
{
public:
  FftWide (const RingJob &job, cudaStream_t stream);
  size_t bytes_needed () const override
  {
    return total_bytes (filters, non_finite);
  }
  void allocate () override;
  void push (unsigned slot, const NdSamples *volume) override
  {
    last = *volume;
  }
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  const RingJob job;
  const NdReach reach;
  const cudaStream_t stream;
  const Blocks blocks;
  const WideRange copied[2]; /* WideArguments::copied */
  const WideKernel copying, loading;
  NdSamples last;
  Overlaps overlaps;
  Memory<float2> filters; /* [filter][WIDE_NUMBERS] */
  NonFiniteSamples non_finite;
};

/* Whether each sample that a filter reads in the blocks whose first output
 * along an axis is @at, or the one that the border repeats in its place, is
 * among those that are copied. */
bool
is_copied (const Blocks &b, size_t size, int axis, int at)
{
  const int n = b.shape[axis], first = at + b.low[axis];
  const int span = axis == 0 ? b.valid[0] + WIDE : WIDE;
  const int begin = axis == 1 ? first
      : size == 4             ? first_copied<4> (b, at)
      : size == 2             ? first_copied<2> (b, at)
                              : first_copied<1> (b, at);
  const int end = begin + (axis == 1 ? WIDE : copied_samples (size));

  for (int i = first; i < std::min (first + span, b.padded[axis] + b.low[axis]);
       i++) {
    const int from = copied_index (b.border, i, n);

    if (from != nd_border_index ((NdBorder) b.border, i, n) || from < begin
        || from >= end)
      return false;
  }
  return true;
}

/* The part of an axis whose blocks, along x pairs of them, are copied. */
WideRange
find_copied (const RingJob &job, const Blocks &b, int axis)
{
  const size_t size = nd_sample_size (job.in_type);
  const int step = b.valid[axis] * (axis == 0 ? 2 : 1);
  WideRange range = { 0, 0 };

  if (b.shape[0] < copied_samples (size))
    return range;
  while (range.begin < b.outputs[axis]
      && !is_copied (b, size, axis, range.begin))
    range.begin += step;
  range.end = range.begin;
  while (range.end < b.outputs[axis] && is_copied (b, size, axis, range.end))
    range.end += step;
  return range;
}

FftWide::FftWide (const RingJob &job, cudaStream_t stream)
    : job (job), reach (nd_job_reach (&job)), stream (stream),
      blocks (make_wide_blocks (job, reach)),
      copied{ find_copied (job, blocks, 0), find_copied (job, blocks, 1) },
      copying (wide_kernel (job.in_type, true)),
      loading (wide_kernel (job.in_type, false)),
      non_finite (job, reach, ComputeStreams{ stream, stream })
{
  std::vector<float2> numbers;

  for (unsigned k = 0; k < job.bank->n_filters; k++)
    add_plane_spectra (numbers, job.bank->filters[k], reach, 1, WIDE, WIDE);
  filters.plan (std::move (numbers));
}

void
FftWide::allocate ()
{
  ND_INFO ("%dx%dx%d wide blocks with %dx%d outputs each", blocks.count[0],
      blocks.count[1], blocks.count[2], blocks.valid[0], blocks.valid[1]);
  allocate_all (filters, non_finite);
}

/* Whether the copy engine can read rows of @in (cuda/fft/widekernels.cu): they
 * consist of whole groups of 16 bytes, and have as many samples as it brings at
 * a time. */
bool
can_copy (const NdSamples &in, NdSampleType type, const Blocks &b)
{
  const size_t size = nd_sample_size (type), row = b.shape[0] * size;

  return in.sample == size && row % 16 == 0 && (size_t) in.data % 16 == 0
      && in.row % 16 == 0 && in.slice % 16 == 0
      && b.shape[0] >= copied_samples (size);
}

using EncodeMap = CUresult (CUtensorMap *, CUtensorMapDataType, cuuint32_t,
    void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
    const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* The driver's function, or nullptr. */
EncodeMap *
find_encode_map ()
{
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion ("cuTensorMapEncodeTiled", &found, 12000,
          cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint ("cuTensorMapEncodeTiled",
      &found, cudaEnableDefault, &result);
#endif

  return error == cudaSuccess && result == cudaDriverEntryPointSuccess
      ? (EncodeMap *) found
      : nullptr;
}

/* Describes a volume to the copy engine. Returns false if it cannot read it. */
bool
make_map (CUtensorMap *map, const NdSamples &in, NdSampleType type,
    const Blocks &b)
{
  static EncodeMap *const encode = find_encode_map ();
  const cuuint32_t samples = copied_samples (nd_sample_size (type));
  const cuuint64_t sizes[] = { (cuuint64_t) b.shape[0], (cuuint64_t) b.shape[1],
    (cuuint64_t) b.shape[2] };
  const cuuint64_t strides[] = { in.row, in.slice };
  const cuuint32_t box[] = { samples, WIDE, 1 }, steps[] = { 1, 1, 1 };
  const CUtensorMapDataType numbers = type == ND_FLOAT32
      ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
      : nd_sample_size (type) == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : CU_TENSOR_MAP_DATA_TYPE_UINT16;

  return encode && can_copy (in, type, b)
      && encode (map, numbers, 3, in.data, sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
      == CUDA_SUCCESS;
}

void
FftWide::respond (const int *, const NdScale &scale, const NdSamples &out)
{
  const int row_pairs = (blocks.count[0] + 1) / 2;
  const size_t count =
      multiply (multiply (row_pairs, blocks.count[1]), blocks.count[2]);
  const unsigned n_filters = job.bank->n_filters;
  WideArguments a = {};
  const int multiprocessors = device_attribute (cudaDevAttrMultiProcessorCount);

  a.blocks = blocks;
  a.n_pairs = count;
  a.row_pairs = row_pairs;
  std::copy_n (copied, 2, a.copied);
  for (size_t c = 0; c < job.shape.components; c++) {
    a.in = BlockInput{ last.data + c * nd_sample_size (job.in_type),
      last.sample, last.row, last.slice, non_finite.list_in_place (c) };
    const bool copies = runs_as_sm90 ((const void *) copying.function)
        && make_map (&a.map, last, job.in_type, blocks);
    const WideKernel &kernel = copies ? copying : loading;
    const int thread_blocks = std::min (a.n_pairs, multiprocessors);
    const int step = thread_blocks * (kernel.threads / WIDE);

    a.step[0] = step % row_pairs * 2 * blocks.valid[0];
    a.step[1] = step / row_pairs % blocks.count[1] * blocks.valid[1];
    a.step[2] = step / row_pairs / blocks.count[1];

    allow_shared ((const void *) kernel.function, kernel.shared);
    for (unsigned k = 0; k < n_filters; k++) {
      a.store = make_store (out, job.out_type, scale, c, k);
      a.is_plain = !a.store.scaled && a.store.row <= ~0u
          && (a.store.type == ND_FLOAT32 || a.store.type == job.in_type);
      a.filter = filters.get () + k * WIDE_NUMBERS;
      NdSamples responses = out;

      responses.data = a.store.out;
      a.work = non_finite.work (k, c, responses, scale.gain);
      a.begin = overlaps.begin (range_of (last, job.shape, job.in_type),
          range_of (responses, job.shape, job.out_type));
      a.store.out += blocks.first[0] * out.sample + blocks.first[1] * out.row
          + blocks.first[2] * out.slice;
      launch_early (kernel.function, thread_blocks, kernel.threads,
          kernel.shared, stream, a);
    }
  }
}

} // namespace

Blocks
make_wide_blocks (const RingJob &job, const NdReach &reach)
{
  Blocks b = make_blocks (job, reach, WIDE);

  b.valid[0] = std::min (b.valid[0], WIDE_OUTPUTS);
  b.valid[1] -= b.valid[1] % WIDE_ROWS;
  for (int a = 0; a < 2; a++)
    b.count[a] = (b.outputs[a] + b.valid[a] - 1) / b.valid[a];
  return b;
}

bool
wide_possible (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);

  if (job.precision == ND_PRECISION_DOUBLE || reach.slots > 1
      || job.border_volumes || reach.low[2] != 0 || reach.high[2] != 0
      || wide_kernel (job.in_type, false).threads == 0)
    return false;
  for (int a = 0; a < 2; a++) {
    if (reach.high[a] - reach.low[a] > WIDE / 2)
      return false;
  }
  /* NaN and Inf are added to stored responses, which must be float32. */
  return job.in_type != ND_FLOAT32 || job.out_type == ND_FLOAT32;
}

std::unique_ptr<Method>
make_fft_wide (const RingJob &job, const ComputeStreams &streams)
{
  return std::make_unique<FftWide> (job, streams.respond);
}

} // namespace nd
