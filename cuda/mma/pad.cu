/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/pad.cuh"

#include "cuda/launch.cuh"
#include "cuda/rounding.h"

#include <cmath>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

namespace nd
{

/* The entry of TensorPad::maps for samples after the border of a row, which are
 * zero. The entry -1 stands for the border value. */
constexpr int AFTER_ROW = -2;

/* Samples are scaled to less than 2^HALF_RANGE. A pair of fp16 then keeps 22
 * bits of each sample that is at most 2^12 times smaller than the largest one.
 * A volume uses the scale of the previous volume, unless its largest sample is
 * more than MORE powers of two larger or LESS powers of two smaller. */
constexpr int HALF_RANGE = 13, MORE = 2, LESS = 6;

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

/* A run is 16 bytes of one piece. Inner runs come first: all their samples are
 * inside the volume in x. Outer runs, at the edges in x, come after them. */
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
  float border_value;
  int offset;
  int pieces;
  unsigned char *out;
  size_t row, piece;
  unsigned range; /* of integers: the largest |sample|, as bits */
  Ranges *ranges; /* of float32 */
  int turn;       /* the element of ranges for this volume */
  float *scale;
};

/* The exponent of the power of two that scales samples up to @range. */
__device__ static int
scale_exponent (unsigned range)
{
  int exponent;

  if (range == 0)
    return 0;
  frexpf (__uint_as_float (range), &exponent);
  return min (HALF_RANGE - exponent, 126);
}

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

/* Samples of a run. */
__host__ __device__ constexpr int
run_samples (TensorForm form)
{
  return form == TENSOR_HALVES ? 8 : 16;
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

/* Loads a run of @row from padded index @x on. Sets @border[i] if sample i is
 * the border value. */
template <typename T, int N>
__device__ __forceinline__ void
load_run (const TensorPadArguments &a, const unsigned char *row, bool inner,
    int x, T (&v)[N], bool (&border)[N])
{
  const unsigned char *const p = row + (x - a.before) * a.sample;

  if (row && inner && sizeof (T) == 4 && a.sample == 4
      && ((size_t) p & 15) == 0) {
#pragma unroll
    for (int i = 0; i < N; i++)
      border[i] = false;
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      const float4 four = *(const float4 *) (p + 4 * i);

      v[i] = (T) four.x;
      v[i + 1] = (T) four.y;
      v[i + 2] = (T) four.z;
      v[i + 3] = (T) four.w;
    }
  } else if (row && inner) {
#pragma unroll
    for (int i = 0; i < N; i++) {
      v[i] = *(const T *) (p + i * a.sample);
      border[i] = false;
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int from = a.maps[x + i];

      border[i] = from != AFTER_ROW && !(row && from >= 0);
      v[i] = row && from >= 0 ? *(const T *) (row + from * a.sample) : T (0);
    }
  }
}

/* Stores a run as high and low fp16 times @scale, and returns the largest
 * finite |sample| as bits. */
template <typename T, int N>
__device__ __forceinline__ unsigned
store_halves (const TensorPadArguments &a, unsigned char *out, const T (&v)[N],
    const bool (&border)[N], float scale)
{
  __half2 high[N / 2], low[N / 2];
  unsigned largest = 0;

#pragma unroll
  for (int i = 0; i < N; i += 2) {
    float value[2], rest[2];

#pragma unroll
    for (int j = 0; j < 2; j++) {
      const float sample = border[i + j] ? a.border_value : (float) v[i + j];
      const unsigned bits = __float_as_uint (sample) & 0x7fffffff;

      if (bits < 0x7f800000)
        largest = max (largest, bits);
      value[j] = sample * scale;
    }
    high[i / 2] = __floats2half2_rn (value[0], value[1]);
    rest[0] = value[0] - __low2float (high[i / 2]);
    rest[1] = value[1] - __high2float (high[i / 2]);
    /* NaN if high is Inf or NaN; kernels read only high then. */
    low[i / 2] = __floats2half2_rn (rest[0], rest[1]);
  }
  *(uint4 *) out = *(const uint4 *) high;
  if (a.pieces > 1)
    *(uint4 *) (out + a.piece) = *(const uint4 *) low;
  return largest;
}

/* Stores a run of integers: as bytes or, if WORDS, as high and low bytes. */
template <bool WORDS, typename T, int N>
__device__ __forceinline__ void
store_integers (const TensorPadArguments &a, unsigned char *out,
    const T (&v)[N], const bool (&border)[N])
{
  unsigned low[4], high[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    low[i] = high[i] = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const unsigned value =
          (border[4 * i + j] ? (int) a.border_value : (int) v[4 * i + j])
          + a.offset;

      low[i] |= (value & 255) << 8 * j;
      high[i] |= (value >> 8 & 255) << 8 * j;
    }
  }
  const uint4 l = make_uint4 (low[0], low[1], low[2], low[3]);
  const uint4 h = make_uint4 (high[0], high[1], high[2], high[3]);

  *(uint4 *) out = WORDS ? h : l;
  if (WORDS)
    *(uint4 *) (out + a.piece) = l;
}

/* Converts a run, and returns the largest finite |sample| as bits. */
template <typename T, TensorForm FORM>
__device__ static unsigned
pad_run (const TensorPadArguments &a, bool inner, int x, unsigned line,
    float scale)
{
  constexpr int N = run_samples (FORM);
  unsigned char *const out = a.out + (size_t) line * a.row;
  T v[N];
  bool border[N];

  load_run (a, source_row (a, line), inner, x, v, border);
  if constexpr (FORM == TENSOR_HALVES)
    return store_halves (a, out + 2 * x, v, border, scale);
  else
    store_integers<FORM == TENSOR_WORDS> (a, out + x, v, border);
  return 0;
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
        four[i][j] = 0x1010101u * (unsigned) a.border_value;
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

template <typename T, TensorForm FORM>
__device__ static unsigned
pad_all (const TensorPadArguments &a, float scale)
{
  constexpr int N = run_samples (FORM);
  const unsigned all = a.inner_runs + a.outer_runs;
  const unsigned step = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, largest = 0;

  if (FORM == TENSOR_BYTES && a.sample == 1) {
    for (; i < a.inner_runs; i += 4 * step)
      pad_bytes (a, i, step);
    /* Then the outer runs. */
    i = a.inner_runs + blockIdx.x * blockDim.x + threadIdx.x;
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
    largest = max (largest,
        pad_run<T, FORM> (a, i < a.inner_runs, N * run, line, scale));
  }
  return largest;
}

template <typename T, TensorForm FORM>
__global__ void __launch_bounds__ (256, 4)
tensor_pad_kernel (const __grid_constant__ TensorPadArguments a)
{
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if constexpr (FORM != TENSOR_HALVES) {
    pad_all<T, FORM> (a, 1);
  } else {
    __shared__ unsigned largest;
    const unsigned range = a.ranges ? a.ranges->used[a.turn] : a.range;
    const int exponent = scale_exponent (range);

    if (threadIdx.x == 0)
      largest = 0;
    __syncthreads ();
    const unsigned mine = pad_all<T, FORM> (a, ldexpf (1, exponent));

    if (!a.ranges) {
      if (blockIdx.x == 0 && threadIdx.x == 0)
        *a.scale = ldexpf (1, -exponent);
      return;
    }
    atomicMax (&largest, mine);
    __syncthreads ();
    if (threadIdx.x == 0 && largest > 0)
      atomicMax (&a.ranges->found[a.turn], largest);
  }
}

/* Runs after tensor_pad_kernel. If the scale of the previous volume does not
 * suit this one, converts it again with its own scale. Stores the scale. */
__global__ void __launch_bounds__ (256, 4)
tensor_settle_kernel (const __grid_constant__ TensorPadArguments a)
{
  launch_dependent_grids ();
  wait_on_dependent_grids ();

  const unsigned used = a.ranges->used[a.turn];
  const unsigned found = a.ranges->found[a.turn];
  const int more = scale_exponent (used) - scale_exponent (found);
  const bool suits = found == 0 || (used > 0 && more <= MORE && -more <= LESS);
  const unsigned range = suits ? used : found;

  if (!suits)
    pad_all<float, TENSOR_HALVES> (a, ldexpf (1, scale_exponent (range)));
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *a.scale = ldexpf (1, -scale_exponent (range));
    a.ranges->used[1 - a.turn] = range;
    a.ranges->found[1 - a.turn] = 0;
  }
}

TensorPad::TensorPad (const RingJob &job, const NdReach &reach, TensorForm form,
    int pieces, int offset, size_t row, size_t piece)
    : job (job), form (form), pieces (pieces), offset (offset), row (row),
      piece (piece), before (-reach.low[0])
{
  std::vector<int> made;

  for (int axis = 0; axis < 3; axis++) {
    const int n = job.shape.size[axis];
    const int padded = n + reach.high[axis] - reach.low[axis];

    /* The rest of a row is zero already. */
    size[axis] = axis == 0 ? round_up (padded, run_samples (form)) : padded;
    for (int i = 0; i < size[axis]; i++)
      made.push_back (i >= padded
              ? AFTER_ROW
              : (int) nd_border_index (job.border, i + reach.low[axis], n));
  }
  maps.plan (std::move (made));
  most_blocks = 4 * device_attribute (cudaDevAttrMultiProcessorCount);
  if (form == TENSOR_HALVES && job.in_type == ND_FLOAT32)
    ranges.plan (1);
}

TensorPadArguments
TensorPad::arguments_for (const NdSamples *volume, size_t component,
    unsigned char *out, float *scale) const
{
  const int n = run_samples (form), runs = size[0] / n;
  const unsigned rows = (unsigned) size[1] * size[2];
  /* Whole words are read, up to four samples after a run. */
  const int first = (before + n - 1) / n;
  const int end = (before + (int) job.shape.size[0] - 4) / n;
  const int inner = end > first ? end - first : 0;
  TensorPadArguments a = {};

  if (volume) {
    a.in = volume->data + component * nd_sample_size (job.in_type);
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
  a.border_value = job.border_value;
  a.offset = offset;
  a.pieces = pieces;
  a.out = out;
  a.row = row;
  a.piece = piece;
  a.scale = scale;
  a.ranges = ranges.get ();
  a.turn = turn;
  const float largest = fmaxf (65536, fabs (job.border_value));

  memcpy (&a.range, &largest, sizeof (a.range));
  return a;
}

template <typename T>
void
TensorPad::launch (const TensorPadArguments &a, unsigned blocks,
    cudaStream_t stream) const
{
  switch (form) {
    case TENSOR_BYTES:
      launch_early (tensor_pad_kernel<T, TENSOR_BYTES>, blocks, 256, 0, stream,
          a);
      break;
    case TENSOR_WORDS:
      launch_early (tensor_pad_kernel<T, TENSOR_WORDS>, blocks, 256, 0, stream,
          a);
      break;
    case TENSOR_HALVES:
      launch_early (tensor_pad_kernel<T, TENSOR_HALVES>, blocks, 256, 0, stream,
          a);
      break;
  }
}

void
TensorPad::fill (const NdSamples *volume, size_t component, unsigned char *out,
    float *scale, cudaStream_t stream)
{
  const TensorPadArguments a = arguments_for (volume, component, out, scale);
  const size_t all = (a.inner_runs + (size_t) a.outer_runs) / 256 + 1;
  const unsigned blocks = all < most_blocks ? all : most_blocks;

  visit_sample_type (job.in_type, [&] (auto sample) {
    launch<typename decltype (sample)::Type> (a, blocks, stream);
  });
  if (!a.ranges)
    return;
  launch_early (tensor_settle_kernel, blocks, 256, 0, stream, a);
  turn = 1 - turn;
}

} // namespace nd
