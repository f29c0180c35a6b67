/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndtensorpad.cuh"

#include <cmath>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

namespace nd
{

/* In a map instead of a sample, as -1 for the border value: zero. */
constexpr int BEHIND = -2;

/* Samples are scaled to below 2^HALF_RANGE: a pair of fp16 keeps 22 bits of
 * each that is not 2^13 times smaller. */
constexpr int HALF_RANGE = 13;

struct TensorPadArguments
{
  const unsigned char *in;      /* of this component; nullptr: border volume */
  size_t sample, in_row, in_slice;
  const int *maps;
  int size[3];
  int before, width;            /* in x */
  float border_value;
  int offset;
  int pieces;
  unsigned char *out;
  size_t row, piece;
  const unsigned *range;
  float *scale;
};

/* Largest |sample| that is finite, as bits of a float32. */
__global__ void
range_kernel (const float *in, NdSamples strides, int nx, int ny, int nz,
    float border_value, unsigned *range)
{
  const size_t step = (size_t) gridDim.x * blockDim.x;
  const unsigned rows = ny * nz, quads = (nx + 3) / 4;
  unsigned largest = __float_as_uint (fabsf (border_value));

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
      in && i < (size_t) rows * quads; i += step) {
    const unsigned line = i / quads;
    const int x = 4 * (i - (size_t) line * quads);
    const unsigned char *p = (const unsigned char *) in + line % ny
        * strides.row + line / ny * strides.slice + x * strides.sample;

#pragma unroll
    for (int j = 0; j < 4; j++) {
      if (x + j < nx) {
        const unsigned bits = __float_as_uint (*(const float *) (p
                + j * strides.sample)) & 0x7fffffff;

        if (bits < 0x7f800000)
          largest = max (largest, bits);
      }
    }
  }
  largest = __reduce_max_sync (0xffffffff, largest);
  if (threadIdx.x % 32 == 0)
    atomicMax (range, largest);
}

/* The power of two that @range is multiplied by. */
__device__ static int
scale_exponent (unsigned range)
{
  int exponent;

  if (range == 0)
    return 0;
  frexpf (__uint_as_float (range), &exponent);
  return min (HALF_RANGE - exponent, 126);
}

/* N samples of a row; those in the middle of a volume without a look at the
 * maps. */
template <typename T, int N> __device__ static void
load_samples (const TensorPadArguments &a, int x, int y, int z, T (&v)[N],
    bool (&border)[N])
{
  const int sx = x - a.before;
  const int sy = a.maps[a.size[0] + y], sz = a.maps[a.size[0] + a.size[1] + z];
  const unsigned char *row = a.in + sy * a.in_row + sz * a.in_slice;

  if (a.in && sy >= 0 && sz >= 0 && sx >= 0 && sx + N + 3 < a.width) {
    const unsigned char *p = row + sx * a.sample;

#pragma unroll
    for (int i = 0; i < N; i++)
      border[i] = false;
    if (sizeof (T) == 1 && a.sample == 1) {
      const unsigned *words = (const unsigned *) ((size_t) p & ~(size_t) 3);
      const unsigned shift = 8 * ((size_t) p & 3);
      unsigned low = words[0];

#pragma unroll
      for (int i = 0; i < N; i += 4) {
        const unsigned high = words[i / 4 + 1];
        const unsigned four = __funnelshift_r (low, high, shift);

#pragma unroll
        for (int j = 0; j < 4; j++)
          v[i + j] = four >> 8 * j;
        low = high;
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
      v[i] = *(const T *) (p + i * a.sample);
    return;
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int from = a.maps[x + i];

    v[i] = 0;
    border[i] = from != BEHIND && sy != BEHIND && sz != BEHIND
        && (!a.in || from < 0 || sy < 0 || sz < 0);
    if (a.in && from >= 0 && sy >= 0 && sz >= 0)
      v[i] = *(const T *) (row + from * a.sample);
  }
}

template <typename T, TensorForm FORM, int N> __device__ static void
pad_samples (const TensorPadArguments &a, int x, int y, int z)
{
  unsigned char *out = a.out + (y + (size_t) z * a.size[1]) * a.row;
  T v[N];
  bool border[N];

  load_samples<T, N> (a, x, y, z, v, border);
  if constexpr (FORM == TENSOR_HALVES) {
    const float scale = ldexpf (1, scale_exponent (*a.range));
    __half high[N], low[N];

#pragma unroll
    for (int i = 0; i < N; i++) {
      const float value = (border[i] ? a.border_value : (float) v[i]) * scale;

      high[i] = __float2half_rn (value);
      low[i] = __float2half_rn (isfinite (value) ? value
          - __half2float (high[i]) : 0);
    }
#pragma unroll
    for (int i = 0; i < N; i += 8) {
      *(uint4 *) (out + 2 * (x + i)) = *(const uint4 *) (high + i);
      if (a.pieces > 1)
        *(uint4 *) (out + a.piece + 2 * (x + i)) = *(const uint4 *) (low + i);
    }
  } else {
    unsigned low[N / 4], high[N / 4];

#pragma unroll
    for (int i = 0; i < N / 4; i++) {
      low[i] = high[i] = 0;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const unsigned value = (border[4 * i + j] ? (int) a.border_value
            : (int) v[4 * i + j]) + a.offset;

        low[i] |= (value & 255) << 8 * j;
        high[i] |= (value >> 8 & 255) << 8 * j;
      }
    }
#pragma unroll
    for (int i = 0; i < N / 4; i += 4) {
      const uint4 l = make_uint4 (low[i], low[i + 1], low[i + 2], low[i + 3]);
      const uint4 h = make_uint4 (high[i], high[i + 1], high[i + 2],
          high[i + 3]);

      *(uint4 *) (out + x + 4 * i) = FORM == TENSOR_BYTES ? l : h;
      if (FORM == TENSOR_WORDS)
        *(uint4 *) (out + a.piece + x + 4 * i) = l;
    }
  }
}

template <typename T, TensorForm FORM> __global__ void
tensor_pad_kernel (const __grid_constant__ TensorPadArguments a)
{
  constexpr int N = FORM == TENSOR_HALVES ? 8 : 16;
  const unsigned per_row = a.size[0] / N;
  const size_t all = (size_t) per_row * a.size[1] * a.size[2];
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < all;
      i += step) {
    const unsigned line = i / per_row;

    pad_samples<T, FORM, N> (a, N * (i - (size_t) line * per_row),
        line % a.size[1], line / a.size[1]);
  }
  if (FORM == TENSOR_HALVES && blockIdx.x == 0 && threadIdx.x == 0)
    *a.scale = ldexpf (1, -scale_exponent (*a.range));
}

TensorPad::TensorPad (const NdJob &job, const NdReach &reach, TensorForm form,
    int pieces, int offset, size_t row, size_t piece)
  : job (job), form (form), pieces (pieces), offset (offset), row (row),
    piece (piece), before (-reach.low[0])
{
  std::vector<int> made;

  for (int axis = 0; axis < 3; axis++) {
    const int n = job.shape.size[axis];
    const int padded = n + reach.high[axis] - reach.low[axis];

    size[axis] = axis == 0 ? row / (form == TENSOR_HALVES ? 2 : 1) : padded;
    for (int i = 0; i < size[axis]; i++)
      made.push_back (i >= padded ? BEHIND
          : (int) nd_border_index (job.border, i + reach.low[axis], n));
  }
  maps = Memory<int> (made.size ());
  maps.upload (made.data (), made.size ());
  if (form == TENSOR_HALVES) {
    const float largest = fmaxf (65536, fabs (job.border_value));
    unsigned bits;

    memcpy (&bits, &largest, sizeof (bits));
    range = Memory<unsigned> (1);
    range.upload (&bits, 1);
  }
}

static unsigned
grid_for (size_t threads)
{
  return threads / 256 < 65535 ? threads / 256 + 1 : 65535;
}

template <typename T> void
TensorPad::fill_from (const NdSamples *volume, size_t component,
    unsigned char *out, float *scale, cudaStream_t stream)
{
  TensorPadArguments a = {};
  const size_t samples = (size_t) size[0] * size[1] * size[2];

  if (volume) {
    a.in = volume->data + component * sizeof (T);
    a.sample = volume->sample;
    a.in_row = volume->row;
    a.in_slice = volume->slice;
  }
  a.maps = maps.get ();
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = size[axis];
  a.before = before;
  a.width = job.shape.size[0];
  a.border_value = job.border_value;
  a.offset = offset;
  a.pieces = pieces;
  a.out = out;
  a.row = row;
  a.piece = piece;
  a.range = range.get ();
  a.scale = scale;
  switch (form) {
    case TENSOR_BYTES:
      tensor_pad_kernel<T, TENSOR_BYTES><<<grid_for (samples / 16), 256, 0,
          stream>>> (a);
      break;
    case TENSOR_WORDS:
      tensor_pad_kernel<T, TENSOR_WORDS><<<grid_for (samples / 16), 256, 0,
          stream>>> (a);
      break;
    case TENSOR_HALVES:
      tensor_pad_kernel<T, TENSOR_HALVES><<<grid_for (samples / 8), 256, 0,
          stream>>> (a);
      break;
  }
  ND_CUDA_LAUNCHED (tensor_pad_kernel);
}

void
TensorPad::fill (const NdSamples *volume, size_t component,
    unsigned char *out, float *scale, cudaStream_t stream)
{
  if (form == TENSOR_HALVES && job.in_type == ND_FLOAT32) {
    const int nx = job.shape.size[0], ny = job.shape.size[1];
    const int nz = job.shape.size[2];

    ND_CUDA (cudaMemsetAsync (range.get (), 0, sizeof (unsigned), stream));
    range_kernel<<<1024, 256, 0, stream>>> (volume ? (const float *)
        (volume->data + component * sizeof (float)) : nullptr,
        volume ? *volume : NdSamples {}, nx, ny, nz, job.border_value,
        range.get ());
    ND_CUDA_LAUNCHED (range_kernel);
  }
  switch (job.in_type) {
    case ND_UINT8:
      fill_from<unsigned char> (volume, component, out, scale, stream);
      break;
    case ND_INT16:
      fill_from<short> (volume, component, out, scale, stream);
      break;
    case ND_UINT16:
      fill_from<unsigned short> (volume, component, out, scale, stream);
      break;
    default:
      fill_from<float> (volume, component, out, scale, stream);
      break;
  }
}

} // namespace nd
