/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/pad.cuh"

#include "cuda/launch.cuh"
#include "cuda/rounding.h"

#include <vector>

namespace nd
{

/* The entry of TensorPad::maps for samples after the border of a row, which are
 * zero. The entry -1 stands for the border value. */
constexpr int AFTER_ROW = -2;

/* n / d for n below 2^31, without a division (Granlund and Montgomery 1994). */
struct Divider
{
  unsigned d = 1, factor = 1, shift = 0;

  Divider () = default;
  explicit Divider (unsigned d) : d (d)
  {
    while (((size_t) 1 << shift) < d)
      shift++;
    factor = (((size_t) 1 << 32) * (((size_t) 1 << shift) - d)) / d + 1;
  }
  __device__ unsigned divide (unsigned n) const
  {
    return (__umulhi (n, factor) + n) >> shift;
  }
};

constexpr int RUN = 16; /* samples that a thread writes at a time */

/* Inner runs come first: all their samples are inside the volume in x. Outer
 * runs, at the edges in x, come after them. */
struct TensorPadArguments
{
  const unsigned char *in; /* this component; nullptr: border volume */
  size_t sample, in_row, in_slice;
  const int *maps;
  int size[3];
  int before;                      /* in x */
  int first_inner;                 /* first inner run of a row */
  unsigned inner_runs, outer_runs; /* of all rows */
  Divider inner, outer, height;    /* runs of a row; rows of a slice */
  unsigned border_value;
  unsigned char *out;
  size_t row;
};

/* Loads N bytes side by side from any address. */
template <int N>
__device__ static void
load_bytes (const unsigned char *p, unsigned (&four)[N / 4])
{
  const unsigned *words = (const unsigned *) ((size_t) p & ~(size_t) 3);
  const unsigned shift = 8 * ((size_t) p & 3);
  unsigned low = words[0];

#pragma unroll
  for (int i = 0; i < N / 4; i++) {
    const unsigned high = words[i + 1];

    four[i] = __funnelshift_r (low, high, shift);
    low = high;
  }
}

/* The row of the volume that padded row @line copies; nullptr if all its
 * samples are border values. */
__device__ static const unsigned char *
source_row (const TensorPadArguments &a, unsigned line)
{
  const int z = a.height.divide (line), y = line - z * a.size[1];
  const int sy = a.maps[a.size[0] + y], sz = a.maps[a.size[0] + a.size[1] + z];

  return a.in && sy >= 0 && sz >= 0 ? a.in + sy * a.in_row + sz * a.in_slice
                                    : nullptr;
}

/* Copies the run of @row from padded index @x on, sample by sample. */
__device__ static void
pad_run (const TensorPadArguments &a, bool inner, int x, unsigned line)
{
  const unsigned char *const row = source_row (a, line);
  const unsigned char *const p = row + (x - a.before) * a.sample;
  unsigned words[RUN / 4] = {};

#pragma unroll
  for (int i = 0; i < RUN; i++) {
    unsigned value = a.border_value;

    if (row && inner) {
      value = p[i * a.sample];
    } else {
      const int from = a.maps[x + i];

      if (row && from >= 0)
        value = row[from * a.sample];
      else if (from == AFTER_ROW)
        value = 0;
    }
    words[i / 4] |= value << 8 * (i % 4);
  }
  *(uint4 *) (a.out + (size_t) line * a.row + x) =
      make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Copies four inner runs of bytes, so that all four loads are issued before the
 * first store. */
__device__ static void
pad_bytes (const TensorPadArguments &a, unsigned first, unsigned step)
{
  constexpr int N = 4;
  unsigned four[N][4];

#pragma unroll
  for (int i = 0; i < N; i++) {
    const unsigned at = first + i * step, line = a.inner.divide (at);
    const int x = 16 * (a.first_inner + at - line * a.inner.d);

    if (at >= a.inner_runs)
      continue;
    const unsigned char *const row = source_row (a, line);

    if (row) {
      load_bytes<16> (row + x - a.before, four[i]);
    } else {
#pragma unroll
      for (int j = 0; j < 4; j++)
        four[i][j] = 0x1010101u * a.border_value;
    }
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    const unsigned at = first + i * step, line = a.inner.divide (at);
    const int x = 16 * (a.first_inner + at - line * a.inner.d);

    if (at < a.inner_runs)
      *(uint4 *) (a.out + (size_t) line * a.row + x) =
          make_uint4 (four[i][0], four[i][1], four[i][2], four[i][3]);
  }
}

__global__ void __launch_bounds__ (256, 4)
tensor_pad_kernel (const __grid_constant__ TensorPadArguments a)
{
  const unsigned all = a.inner_runs + a.outer_runs;
  const unsigned step = gridDim.x * blockDim.x;
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned i = first;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (a.sample == 1) {
    for (; i < a.inner_runs; i += 4 * step)
      pad_bytes (a, i, step);
    /* Then the outer runs. */
    i = a.inner_runs + first;
  }
  for (; i < all; i += step) {
    unsigned line, run;

    if (i < a.inner_runs) {
      line = a.inner.divide (i);
      run = a.first_inner + i - line * a.inner.d;
    } else {
      line = a.outer.divide (i - a.inner_runs);
      run = i - a.inner_runs - line * a.outer.d;
      if (a.inner_runs > 0 && run >= (unsigned) a.first_inner)
        run += a.inner.d;
    }
    pad_run (a, i < a.inner_runs, RUN * run, line);
  }
}

TensorPad::TensorPad (const RingJob &job, const NdReach &reach, size_t row)
    : job (job), row (row), before (-reach.low[0])
{
  std::vector<int> made;

  for (int axis = 0; axis < 3; axis++) {
    const int n = job.shape.size[axis];
    const int padded = n + reach.high[axis] - reach.low[axis];

    /* The rest of a row is zero already. */
    size[axis] = axis == 0 ? round_up (padded, RUN) : padded;
    for (int i = 0; i < size[axis]; i++)
      made.push_back (i >= padded
              ? AFTER_ROW
              : (int) nd_border_index (job.border, i + reach.low[axis], n));
  }
  maps.plan (std::move (made));
  most_blocks = 4 * device_attribute (cudaDevAttrMultiProcessorCount);
}

TensorPadArguments
TensorPad::arguments_for (const NdSamples *volume, size_t component,
    unsigned char *out) const
{
  const int runs = size[0] / RUN;
  const unsigned rows = (unsigned) size[1] * size[2];
  /* Whole words are read, up to four samples after a run. */
  const int first = (before + RUN - 1) / RUN;
  const int end = (before + (int) job.shape.size[0] - 4) / RUN;
  const int inner = end > first ? end - first : 0;
  TensorPadArguments a = {};

  if (volume) {
    a.in = volume->data + component;
    a.sample = volume->sample;
    a.in_row = volume->row;
    a.in_slice = volume->slice;
  }
  a.maps = maps.get ();
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = size[axis];
  a.before = before;
  a.first_inner = inner > 0 ? first : 0;
  a.inner_runs = rows * inner;
  a.outer_runs = rows * (runs - inner);
  a.inner = Divider (inner > 0 ? inner : 1);
  a.outer = Divider (runs > inner ? runs - inner : 1);
  a.height = Divider (size[1]);
  a.border_value = (unsigned) job.border_value;
  a.out = out;
  a.row = row;
  return a;
}

void
TensorPad::fill (const NdSamples *volume, size_t component, unsigned char *out,
    cudaStream_t stream)
{
  const TensorPadArguments a = arguments_for (volume, component, out);
  const size_t all = (a.inner_runs + (size_t) a.outer_runs) / 256 + 1;
  const unsigned blocks = all < most_blocks ? all : most_blocks;

  launch_early (tensor_pad_kernel, blocks, 256, 0, stream, a);
}

} // namespace nd
