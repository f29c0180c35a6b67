/* The kernel of method `tensor`. Eight warps compute a tile of 64 x 64 outputs
 * of one plane, another eight that of the next plane in kernels for pairs: the
 * samples of the planes that they read go through a ring in shared memory,
 * copied while the matrix units work.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndlaunch.cuh"
#include "ndmma.cuh"
#include "ndtensorring.cuh"

namespace nd
{

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* Product K of row J of a piece of samples. The first one puts its sums in the
 * place of others unless @keep. */
template <typename S, int J, int K, int SIZE, typename B>
__device__ __forceinline__ void
wgmma_row (typename S::Sum (&sum)[SIZE],
    Matrices<TENSOR_ROWS * S::PITCH> tile, B weights, bool keep)
{
  Wgmma<typename S::Sum, 2 * SIZE>::add (sum, tile, J * S::PITCH + K * 32,
      weights, J * S::ROW_BYTES + K * 2 * S::matrix_bytes (S::KY),
      keep || J > 0 || K > 0);
}

template <typename S, int STRIDE, int SIZE, int... I>
__device__ __forceinline__ void
wgmma_piece (typename S::Sum (&sum)[SIZE], uint32_t tile, uint32_t weights,
    bool keep, std::integer_sequence<int, I...>)
{
  const Matrices<TENSOR_ROWS * S::PITCH> a (tile, S::LEADING);
  const Matrices<STRIDE> b (weights, S::weight_leading (S::KY));

  (wgmma_row<S, I / S::PRODUCTS * S::STEP, I % S::PRODUCTS> (sum, a, b, keep),
      ...);
}

/* All products of a plane are begun. */
template <typename S> __device__ __forceinline__ void
wgmma_plane (typename S::Sums &sum, uint32_t tile, uint32_t weights, bool keep)
{
  constexpr auto ALL = std::make_integer_sequence<int, S::PRODUCTS
      * ((TENSOR_ROWS + S::KY - 1) / S::STEP)> ();

  wgmma_begin ();
#pragma unroll
  for (int set = 0; set < S::SETS; set++)
    wgmma_piece<S, 128> (sum.all, tile + set * S::tile_bytes (S::KY),
        weights + set * S::set_bytes (S::KY), keep || set > 0, ALL);
  if constexpr (S::LOW)
    wgmma_piece<S, S::ROW_BYTES> (sum.low, tile + S::tile_bytes (S::KY),
        weights, keep, ALL);
  wgmma_commit ();
}

#endif

#if __CUDA_ARCH__ >= 800

/* The same by mma, for a piece of samples, columns @stride bytes apart. */
template <typename S, int SIZE> __device__ __forceinline__ void
mma_piece (typename S::Sum (&sum)[SIZE], uint32_t tile, uint32_t weights,
    int stride, int ky, bool keep)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t a = tile + TENSOR_ROWS * (2 * (warp % 4) + (lane / 8 & 1))
      * S::PITCH + lane / 16 * S::LEADING + lane % 8 * 16;
  const uint32_t b = weights + lane / 16 * stride
      + (lane / 8 & 1) * S::weight_leading (ky) + lane % 8 * 16;

  if (!keep) {
#pragma unroll
    for (int i = 0; i < SIZE; i++)
      sum[i] = 0;
  }
#pragma unroll 1
  for (int j = 0; j < TENSOR_ROWS + ky - 1; j += S::STEP) {
#pragma unroll
    for (int k = 0; k < S::PRODUCTS; k++) {
      uint32_t samples[4];

      load_matrices (samples, a + j * S::PITCH + k * 32);
#pragma unroll
      for (int c = 0; c < SIZE; c += 8) {
        uint32_t w[4];

        load_matrices (w, b + j * S::ROW_BYTES + c / 4 * stride
            + k * 2 * S::matrix_bytes (ky));
        multiply_add (sum + c, samples, w[0], w[1]);
        multiply_add (sum + c + 4, samples, w[2], w[3]);
      }
    }
  }
}

template <typename S> __device__ __forceinline__ void
mma_plane (typename S::Sums &sum, uint32_t tile, uint32_t weights, int ky,
    bool keep)
{
#pragma unroll
  for (int set = 0; set < S::SETS; set++)
    mma_piece<S> (sum.all, tile + set * S::tile_bytes (ky), weights
        + set * S::set_bytes (ky), 128, ky, keep || set > 0);
  if constexpr (S::LOW)
    mma_piece<S> (sum.low, tile + S::tile_bytes (ky), weights, S::ROW_BYTES,
        ky, keep);
}

#endif

/* Response from sums: of integers, pieces of 8 bits from high to low, summed
 * exactly and rounded once. */
template <typename S> __device__ __forceinline__ float
tensor_response (const TensorArguments &a, const typename S::Sum *sum)
{
  if constexpr (S::FLOAT) {
    return 0;
  } else {
    int piece[S::COLUMNS];

#pragma unroll
    for (int p = 0; p < S::COLUMNS; p++)
      piece[p] = sum[4 * p] + (S::PIECES > 1 ? a.start[p] : 0);
    if (S::COLUMNS == 1)
      return piece[0] * a.scale;
    /* Carries go up; up to two bytes that remain become a float32 without the
     * conversion, which is slow: as the last bits of 2^23. */
    constexpr int N = S::COLUMNS;
    constexpr unsigned TWO_23 = 0x4b000000;
    unsigned low;
    float rest;

#pragma unroll
    for (int p = N - 1; p > 0; p--)
      piece[p - 1] += piece[p] >> 8;
    if constexpr (N == 2) {
      low = __byte_perm (piece[1], TWO_23, 0x7660);
    } else {
      low = __byte_perm (piece[N - 1], piece[N - 2], 0x0040);
      low = __byte_perm (low, N == 4 ? piece[1] : TWO_23, N == 4 ? 0x0410
          : 0x7610);
    }
    if (N == 4)
      rest = (float) (low & 0xffffff);
    else
      rest = __uint_as_float (low) - __uint_as_float (TWO_23);
    return fmaf ((float) piece[0], a.scale * (1 << 8 * (N - 1)),
        rest * a.scale);
  }
}

/* The matrix units do not round what they sum but cut it off, to one side: each
 * plane's sums are taken from them, as is each volume's scale. */
template <typename S> __device__ __forceinline__ void
add_plane (const typename S::Sums &sum, float scale,
    float (&response)[2][TENSOR_ROWS][2])
{
#pragma unroll
  for (int i = 0; i < 4 * TENSOR_ROWS; i++) {
    const int half = i / 2 / TENSOR_ROWS, r = i / 2 % TENSOR_ROWS;
    const int n = TENSOR_ROWS - 1 - r, at = 2 * half + i % 2;
    float plane = 0;

    if (S::LOW)
      plane = sum.low[4 * n + at] + sum.all[8 * n + 4 + at];
    plane += sum.all[4 * S::COLUMNS * n + at];
    response[half][r][i % 2] = fmaf (plane, scale, response[half][r][i % 2]);
  }
}

/* One response again, tap by tap: NaN or Inf among the samples spoils all that
 * is in one product with it, coefficients of zero that fill the bands as well.
 * Those of the filter itself count for nothing. */
template <int PIECES> __device__ __noinline__ float
response_by_taps (const TensorArguments &a, int x, int y, int z)
{
  const float *w = a.coefficients;
  float sum = 0;

  for (int p = 0; p < a.n_planes; p++) {
    const TensorPlane plane = a.planes[p];
    const float scale = a.slot_scales[a.slots[plane.slot] * a.scale_step];
    const unsigned char *row = a.volumes + a.slots[plane.slot] * a.volume
        + (size_t) (z + plane.z) * a.slice + (size_t) (y + a.y) * a.row
        + 2 * (size_t) (x + a.x);

    for (int j = 0; j < a.ky; j++, row += a.row) {
      for (int i = 0; i < a.coefficient_row; i++, w++) {
        const __half *sample = (const __half *) (row + 2 * i);
        float value = __half2float (*sample);

        if (*w == 0)
          continue;
        if (PIECES == 2 && isfinite (value))
          value += __half2float (*(const __half *) ((const unsigned char *)
                  sample + a.piece));
        sum = fmaf (*w * scale, value, sum);
      }
    }
  }
  return sum;
}

/* To the nearest, half to even; NaN to 0. */
__device__ __forceinline__ int
rounded (float value, int low, int high)
{
  return min (max (__float2int_rn (value), low), high);
}

/* The same for 0 to 255, with neighbour, in two bytes. */
__device__ __forceinline__ unsigned short
rounded_bytes (const float (&value)[2])
{
  constexpr float TWO_23 = 8388608;
  const float first = fminf (fmaxf (value[0], 0), 255) + TWO_23;
  const float second = fminf (fmaxf (value[1], 0), 255) + TWO_23;

  return __byte_perm (__float_as_uint (first), __float_as_uint (second), 0x40);
}

/* Where a thread stores: two outputs side by side in two groups of rows. */
struct TensorPlace
{
  int x, y, z;                  /* of the group's first row */
};

__device__ __forceinline__ void
clear (float (&response)[2][TENSOR_ROWS][2])
{
#pragma unroll
  for (int i = 0; i < 4 * TENSOR_ROWS; i++)
    response[i / 2 / TENSOR_ROWS][i / 2 % TENSOR_ROWS][i % 2] = 0;
}

template <typename T, typename F> __device__ __forceinline__ void
store_pairs (const TensorArguments &a,
    const float (&response)[2][TENSOR_ROWS][2], const TensorPlace &at, F pack)
{
  const Store &s = a.store;
  unsigned char *p = s.out + at.x * s.sample + at.y * s.row + at.z * s.slice;

#pragma unroll
  for (int r = 0; r < 2 * TENSOR_ROWS; r++, p += s.row)
    *(T *) p = pack (response[r / TENSOR_ROWS][r % TENSOR_ROWS]);
}

/* One by one: at the last rows, and where outputs are scaled or lie apart. */
__device__ __forceinline__ void
store_singles (const TensorArguments &a,
    const float (&response)[2][TENSOR_ROWS][2], const TensorPlace &at)
{
  float values[4 * TENSOR_ROWS];        /* those of an index at run time */

#pragma unroll
  for (int i = 0; i < 4 * TENSOR_ROWS; i++)
    values[i] = response[i / 2 / TENSOR_ROWS][i / 2 % TENSOR_ROWS][i % 2];
#pragma unroll 1
  for (int i = 0; i < 4 * TENSOR_ROWS; i++) {
    if (at.x + i % 2 < a.size[0] && at.y + i / 2 < a.size[1])
      store_sample (a.store, values[i], at.x + i % 2, at.y + i / 2, at.z);
  }
}

__device__ __forceinline__ void
store_responses (const TensorArguments &a,
    const float (&response)[2][TENSOR_ROWS][2], const TensorPlace &at)
{
  if (at.x >= a.size[0] || at.y >= a.size[1])
    return;
  if (!a.paired || at.y + 2 * TENSOR_ROWS > a.size[1]) {
    store_singles (a, response, at);
    return;
  }
  switch (a.store.type) {
    case ND_UINT8:
      store_pairs<unsigned short> (a, response, at,
          [] (const float (&v)[2]) { return rounded_bytes (v); });
      break;
    case ND_INT16:
      store_pairs<short2> (a, response, at, [] (const float (&v)[2]) {
        return make_short2 (rounded (v[0], -32768, 32767),
            rounded (v[1], -32768, 32767));
      });
      break;
    case ND_UINT16:
      store_pairs<ushort2> (a, response, at, [] (const float (&v)[2]) {
        return make_ushort2 (rounded (v[0], 0, 65535),
            rounded (v[1], 0, 65535));
      });
      break;
    default:
      store_pairs<float2> (a, response, at, [] (const float (&v)[2]) {
        return make_float2 (v[0], v[1]);
      });
      break;
  }
}

#if __CUDA_ARCH__ >= 800

/* The responses that a thread's sums of integers are. */
template <typename S> __device__ __forceinline__ void
integer_responses (const TensorArguments &a, const typename S::Sums &sum,
    float (&response)[2][TENSOR_ROWS][2])
{
#pragma unroll
  for (int i = 0; i < 4 * TENSOR_ROWS; i++) {
    const int half = i / 2 / TENSOR_ROWS, r = i / 2 % TENSOR_ROWS;
    const int n = TENSOR_ROWS - 1 - r;

    response[half][r][i % 2] = tensor_response<S> (a, sum.all
        + n * S::COLUMNS * 4 + 2 * half + i % 2);
  }
}

template <typename S> __device__ __forceinline__ void
float_responses (const TensorArguments &a, const TensorPlace &at,
    float (&response)[2][TENSOR_ROWS][2])
{
#pragma unroll
  for (int i = 0; i < 4 * TENSOR_ROWS; i++) {
    float &value = response[i / 2 / TENSOR_ROWS][i / 2 % TENSOR_ROWS][i % 2];

    value *= a.scale;
    if (!isfinite (value) && at.x + i % 2 < a.size[0]
        && at.y + i / 2 < a.size[1])
      value = response_by_taps<S::PIECES> (a, at.x + i % 2, at.y + i / 2,
          at.z);
  }
}

#endif

#if __CUDA_ARCH__ >= 800

/* Until the planes that were copied are there for all threads: @march: but for
 * the last one. */
template <bool WGMMA> __device__ __forceinline__ void
next_planes (bool march)
{
  if (march)
    copies_wait<1> ();
  else
    copies_wait<0> ();
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (WGMMA) {
    if (!march)
      wgmma_wait<0> ();
    show_to_wgmma ();
  }
#endif
  __syncthreads ();
}

#endif

template <typename S, bool WGMMA, bool PAIRS> __global__ void
__launch_bounds__ (PAIRS ? 2 * TENSOR_THREADS : TENSOR_THREADS, PAIRS ? 1 : 2)
tensor_kernel (const __grid_constant__ TensorArguments a)
{
#if __CUDA_ARCH__ >= 800
  constexpr int OUTPUTS = PAIRS ? 2 : 1;        /* planes at once */
  extern __shared__ __align__ (128) unsigned char shared[];
  const int ky = WGMMA ? S::KY : a.ky;
  /* The compiler is to know that a warp's threads have the same. */
  const int all_warps = __shfl_sync (~0u, threadIdx.x / 32, 0);
  const int output = all_warps / (TENSOR_THREADS / 32);
  const int warp = all_warps % (TENSOR_THREADS / 32);
  const int lane = threadIdx.x % 32;
  const uint32_t kept_weights = shared_address (shared);
  const uint32_t group = warp / 4 * (TENSOR_HEIGHT / 2 * S::PITCH);
  std::conditional_t<PAIRS, TensorPairRing<S>, TensorRing<S>> ring (a,
      kept_weights + a.kept_bytes, ky);
  uint32_t first = kept_weights + a.kept_bytes; /* plane of the next output */
  int ahead = a.march ? a.n_planes + 1 : a.copied;      /* planes to copy */
  int until = 0;                /* planes, until one is new */
  TensorItem item;
  typename S::Sums sum = {};
  float response[2][TENSOR_ROWS][2] = {};
  TensorPlace at = { -1, 0, 0 };        /* of what is not stored yet */

  for (int i = threadIdx.x * 16; i < a.kept_bytes; i += blockDim.x * 16)
    copy_async<16> (kept_weights + i, a.weights + i);
  wait_for_kernels ();
  for (item.number = blockIdx.x; item.decode (a); item.number += gridDim.x) {
    if (ahead > 0)
      __syncthreads ();
    for (; ahead > 0; ahead--)
      ring.copy_next ();
    /* Of planes that stay the last one is new. One half of the warps waits
     * before it, the other before the first: one computes while the other
     * makes its sums responses. */
    if (a.march) {
      until = warp < TENSOR_THREADS / 64 ? a.n_planes - 1 : 0;
      if (a.n_planes > 1)
        next_planes<WGMMA> (true);
    }
#pragma unroll 1
    for (int o = 0; o < item.length; o += OUTPUTS) {
      uint32_t tile = first, weights = kept_weights;
      int z = -output;          /* of pairs: plane of the filter */

#pragma unroll 1
      for (int left = a.n_planes; left > 0; left--) {
        const bool is_new = until == 0;

        if (is_new) {
          next_planes<WGMMA> (a.march);
          until = a.march ? a.n_planes : a.copied;
        }
        until--;
        const uint32_t used = a.kept_bytes ? weights
            : tile + S::PIECES * S::tile_bytes (ky);
        const bool keep = weights != kept_weights && !S::FLOAT;
        const bool reads = !PAIRS || (unsigned) z < (unsigned) a.depth;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        if constexpr (WGMMA) {
          if (reads)
            wgmma_plane<S> (sum, tile + group, used, keep);
        }
#endif
        /* Beside the products. */
        if (is_new || !a.march)
          ring.copy_next ();
        if (!S::FLOAT && left == a.n_planes && at.x >= 0)
          store_responses (a, response, at);
        if (!WGMMA)
          mma_plane<S> (sum, tile + group, used, ky, keep);
        if constexpr (S::FLOAT) {
          const TensorPlane plane = a.planes[a.n_planes - left];

          if (left == a.n_planes)
            clear (response);
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
          if (WGMMA)
            wgmma_wait<0> ();
#endif
          add_plane<S> (sum, a.slot_scales[a.slots[plane.slot]
                  * a.scale_step], response);
        }
        tile = ring.after (tile);
        if (reads)
          weights += a.weight_bytes;
        if (PAIRS && ++z > a.depth - output)
          z = -output;
      }
      at = TensorPlace { item.x0 + lane / 4 * 8 + lane % 4 * 2,
        item.y0 + TENSOR_ROWS * 2 * warp, item.z0 + o + output };
      if (PAIRS && o + output >= item.length)
        at.x = -1;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
      if (WGMMA)
        wgmma_wait<0> ();
#endif
      if constexpr (S::FLOAT) {
        float_responses<S> (a, at, response);
        store_responses (a, response, at);
      } else {
        integer_responses<S> (a, sum, response);
      }
      first = a.march ? ring.after (first) : tile;
    }
    if (a.march) {
      ahead = a.n_planes - 1;
      for (int i = 0; i < ahead; i++)
        first = ring.after (first);
    }
  }
  if (!S::FLOAT && at.x >= 0)
    store_responses (a, response, at);
#endif
}

} // namespace nd
