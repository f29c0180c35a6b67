/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/edges.cuh"

#include "cuda/launch.cuh"

namespace nd
{

struct EdgeArguments
{
  const unsigned char *in;
  size_t row, slice;
  int height, depth;
  int from[2 * TENSOR_EDGE]; /* the sample of the row that each one copies;
                              * < 0: border value */
  int first_word, left_words, right_word; /* words that filters read */
  unsigned border_value;
  unsigned char *edges;
};

/* Writes the samples to the left and to the right of each row. Each thread
 * writes four. */
__global__ void
tensor_edges_kernel (const __grid_constant__ EdgeArguments a)
{
  const int i = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
  const int at = 4
      * (i < a.left_words ? a.first_word + i : a.right_word + i - a.left_words);

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (y >= a.height)
    return;
  for (int z = blockIdx.y; z < a.depth; z += gridDim.y) {
    const unsigned char *const row = a.in + z * a.slice + y * a.row;
    unsigned four = 0;

#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int from = a.from[at + j];

      four |= (from < 0 ? a.border_value : row[from]) << 8 * j;
    }
    *(unsigned *) (a.edges + ((size_t) z * a.height + y) * (2 * TENSOR_EDGE)
        + at) = four;
  }
}

/* Copies samples of any strides to a dense volume. */
__global__ void
tensor_pack_kernel (const unsigned char *in, size_t sample, size_t row,
    size_t slice, size_t width, size_t height, size_t depth, unsigned char *out)
{
  const size_t x = (size_t) blockIdx.x * blockDim.x + threadIdx.x;

  if (x >= width)
    return;
  for (size_t line = blockIdx.y; line < height * depth; line += gridDim.y)
    out[line * width + x] =
        in[x * sample + line % height * row + line / height * slice];
}

TensorEdges::TensorEdges (const RingJob &job, size_t slots)
    : job (job), reach (nd_job_reach (&job)), volumes (slots)
{
  const size_t rows =
      multiply (slots, multiply (job.shape.size[1], job.shape.size[2]));

  edges.plan (multiply (rows, 2 * TENSOR_EDGE));
  packed.plan (multiply (rows, job.shape.size[0]));
  outside.plan (std::vector<unsigned char> (8,
      (unsigned char) job.border_value));
}

/* Returns @volume, or a copy if its samples are not side by side at multiples
 * of four bytes. */
NdSamples
TensorEdges::pack (unsigned slot, const NdSamples &volume, cudaStream_t stream)
{
  const size_t *const size = job.shape.size;
  const size_t lines = size[1] * size[2];
  const dim3 blocks ((size[0] + 255) / 256, lines < 65535 ? lines : 65535);
  const NdSamples dense =
      nd_samples_dense (packed.get () + slot * lines * size[0], &job.shape,
          ND_UINT8);

  if (volume.sample == 1
      && ((size_t) volume.data | volume.row | volume.slice) % 4 == 0)
    return volume;
  tensor_pack_kernel<<<blocks, 256, 0, stream>>> (volume.data, volume.sample,
      volume.row, volume.slice, size[0], size[1], size[2], dense.data);
  ND_CUDA_LAUNCHED (tensor_pack_kernel);
  return dense;
}

void
TensorEdges::fill (unsigned slot, const NdSamples &volume, cudaStream_t stream)
{
  const size_t *const size = job.shape.size;
  const NdSamples in = pack (slot, volume, stream);
  EdgeArguments a = { in.data, in.row, in.slice, (int) size[1], (int) size[2] };

  volumes[slot] = in;
  for (int i = 0; i < 2 * TENSOR_EDGE; i++)
    a.from[i] = nd_border_index (job.border,
        i - TENSOR_EDGE + (i < TENSOR_EDGE ? 0 : (int) size[0]), size[0]);
  a.left_words = reach.low[0] < 0 ? (3 - reach.low[0]) / 4 : 0;
  a.first_word = TENSOR_EDGE / 4 - a.left_words;
  a.right_word = TENSOR_EDGE / 4;
  a.border_value = (unsigned) job.border_value;
  a.edges = edges_of (slot);

  const unsigned words =
      a.left_words + (reach.high[0] > 0 ? (reach.high[0] + 3) / 4 : 0);

  if (words == 0)
    return;
  const unsigned rows = 256 / words;
  const dim3 blocks ((size[1] + rows - 1) / rows,
      size[2] < 65535 ? size[2] : 65535);

  launch_early (tensor_edges_kernel, blocks, dim3 (words, rows), 0, stream, a);
}

void
TensorEdges::set (unsigned slot, TensorArguments &a) const
{
  const NdSamples &in = volumes[slot];

  a.volumes = in.data;
  a.row = in.row;
  a.slice = in.slice;
  a.unpadded.edges = edges_of (slot);
  a.unpadded.outside = outside.get ();
  a.unpadded.border = job.border;
  a.unpadded.eight = job.shape.size[0] % 8 == 0
      && ((size_t) in.data | in.row | in.slice) % 8 == 0;
}

} // namespace nd
