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

constexpr int
round_up (int n, int step)
{
  return (n + step - 1) / step * step;
}

/* n / d for n below 2^31, without a division (Granlund and Montgomery 1994). */
struct Divider
{
  unsigned d = 1, factor = 1, shift = 0;

  Divider () = default;
  explicit Divider (unsigned d)
    : d (d)
  {
    while (((size_t) 1 << shift) < d)
      shift++;
    factor = (((size_t) 1 << 32) * (((size_t) 1 << shift) - d)) / d + 1;
  }
  __device__ unsigned
  divide (unsigned n) const
  {
    return (__umulhi (n, factor) + n) >> shift;
  }
};

/* A run of samples is 16 bytes of one piece. Those whose samples lie side by
 * side in the volume come first, then those at the edges in x. */
struct TensorPadArguments
{
  const unsigned char *in;      /* of this component; nullptr: border volume */
  size_t sample, in_row, in_slice;
  const int *maps;
  int size[3];
  int before;                   /* in x */
  int first_inner;              /* run of a row */
  unsigned inner_runs, outer_runs;      /* of all rows */
  Divider inner, outer, height; /* runs of a row; rows of a slice */
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

/* N bytes side by side, from any address. */
template <int N> __device__ static void
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

template <typename T, TensorForm FORM, int N> __device__ static void
pad_samples (const TensorPadArguments &a, bool inner, int x, int line)
{
  const int z = a.height.divide (line), y = line - z * a.size[1];
  const int sy = a.maps[a.size[0] + y], sz = a.maps[a.size[0] + a.size[1] + z];
  const bool there = a.in && sy >= 0 && sz >= 0;
  const unsigned char *const row = a.in + sy * a.in_row + sz * a.in_slice;
  unsigned char *const out = a.out + (size_t) line * a.row;
  T v[N];
  bool border[N];

  if (there && inner) {
    const unsigned char *const p = row + (x - a.before) * a.sample;

    if constexpr (FORM == TENSOR_BYTES) {
      if (a.sample == 1) {
        unsigned four[N / 4];

        load_bytes<N> (p, four);
        *(uint4 *) (out + x) = make_uint4 (four[0], four[1], four[2], four[3]);
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
      v[i] = *(const T *) (p + i * a.sample);
      border[i] = false;
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int from = a.maps[x + i];

      border[i] = from != BEHIND && !(there && from >= 0);
      v[i] = there && from >= 0 ? *(const T *) (row + from * a.sample) : T (0);
    }
  }
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

/* Samples of a run. */
__host__ __device__ constexpr int
run_samples (TensorForm form)
{
  return form == TENSOR_HALVES ? 8 : 16;
}

template <typename T, TensorForm FORM> __global__ void
tensor_pad_kernel (const __grid_constant__ TensorPadArguments a)
{
  constexpr int N = run_samples (FORM);
  const unsigned all = a.inner_runs + a.outer_runs;
  const unsigned step = gridDim.x * blockDim.x;

  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < all;
      i += step) {
    if (i < a.inner_runs) {
      const unsigned line = a.inner.divide (i);

      pad_samples<T, FORM, N> (a, true, N * (a.first_inner + i
              - line * a.inner.d), line);
    } else {
      const unsigned at = i - a.inner_runs, line = a.outer.divide (at);
      unsigned run = at - line * a.outer.d;

      if (run >= (unsigned) a.first_inner)
        run += a.inner.d * (a.inner_runs > 0);
      pad_samples<T, FORM, N> (a, false, N * run, line);
    }
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

    /* What lies behind in a row is zero from the beginning. */
    size[axis] = axis == 0 ? round_up (padded, run_samples (form)) : padded;
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
  const int n = run_samples (form), runs = size[0] / n;
  const unsigned rows = (unsigned) size[1] * size[2];
  const unsigned blocks = grid_for ((size_t) rows * runs);
  /* Words are read whole, up to three samples behind a run. */
  const int first = (before + n - 1) / n;
  const int end = (before + (int) job.shape.size[0] - 3) / n;
  const int inner = end > first ? end - first : 0;
  TensorPadArguments a = {};

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
  a.range = range.get ();
  a.scale = scale;
  switch (form) {
    case TENSOR_BYTES:
      tensor_pad_kernel<T, TENSOR_BYTES><<<blocks, 256, 0, stream>>> (a);
      break;
    case TENSOR_WORDS:
      tensor_pad_kernel<T, TENSOR_WORDS><<<blocks, 256, 0, stream>>> (a);
      break;
    case TENSOR_HALVES:
      tensor_pad_kernel<T, TENSOR_HALVES><<<blocks, 256, 0, stream>>> (a);
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
