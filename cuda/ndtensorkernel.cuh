/* The kernel of method `tensor`. A block of four warps computes tiles of
 * 64 x 64 outputs of one plane: the samples of the planes that it reads go
 * through a ring in shared memory, copied while the matrix units work.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <type_traits>

#include "ndmma.cuh"
#include "ndtensor.cuh"

namespace nd
{

/* T: of the sums, int or float. KY: rows of a plane, 0 where the kernel learns
 * them at run time (mma). WINDOW: samples along a product's sum. */
template <typename T, int KY_, int WINDOW_, int COLUMNS_, int PIECES_>
struct TensorShape
{
  using Sum = T;
  static constexpr bool FLOAT = std::is_same<T, float>::value;
  static constexpr int KY = KY_;
  static constexpr int WINDOW = WINDOW_;
  static constexpr int COLUMNS = COLUMNS_;
  static constexpr int PIECES = PIECES_;
  static constexpr int UNIT = FLOAT ? 2 : 1;

  /* What is multiplied: pieces of samples by sets of coefficients. Of high and
   * low fp16 all but low by low. */
  static constexpr int N_FACTORS = FLOAT && PIECES == 2 ? 3 : PIECES;
  __device__ static constexpr int
  piece (int factor)
  {
    return factor % PIECES;
  }
  __device__ static constexpr int
  set (int factor)
  {
    return FLOAT ? factor / 2 : factor;
  }

  /* Matrices of 16 bytes along a window. A product takes two: of fp16, two
   * side by side; of bytes, both of a wide window, or those of two rows. */
  static constexpr int MATRICES = WINDOW * UNIT / 16;
  static constexpr int STEP = MATRICES == 1 ? 2 : 1;    /* rows at once */
  static constexpr int PRODUCTS = MATRICES == 1 ? 1 : MATRICES / 2;

  /* A row of the tile: the blocks' windows, every 8 samples. Windows of fp16
   * share what they overlap; bytes are there twice, as a matrix must begin at
   * a multiple of 16 bytes. */
  static constexpr int SPAN = FLOAT ? MATRICES - 1 : MATRICES == 2 ? 2 : 0;
  static constexpr int PITCH = 16 * (TENSOR_WIDTH / 8 + SPAN);
  static constexpr int LEADING = MATRICES == 1 ? PITCH : FLOAT ? 16 : 32;

  /* Columns of a product: column row n of each stands for output row
   * TENSOR_ROWS - 1 - n of a group, which takes row j of the group's input by
   * the filter's row j - (TENSOR_ROWS - 1) + n. Two of them go together. */
  static constexpr int PAIRS = TENSOR_ROWS / 2;
  static constexpr int PAIR_SUMS = 2 * COLUMNS * 4;

  __host__ __device__ static constexpr int
  tile_bytes (int ky)
  {
    return (TENSOR_HEIGHT + ky - 1) * PITCH;
  }
  /* Rows of coefficients begin one before the first and end one behind the
   * last: zeros. */
  __host__ __device__ static constexpr int
  matrix_bytes (int ky)
  {
    return (ky + 2) * COLUMNS * 128;
  }
  __host__ __device__ static constexpr int
  set_bytes (int ky)
  {
    return MATRICES * matrix_bytes (ky);
  }
  __host__ __device__ static constexpr int
  weight_leading (int ky)
  {
    return MATRICES == 1 ? COLUMNS * 128 : matrix_bytes (ky);
  }
};

/* The samples of rows J and following of a tile, as a warp of the four holds
 * them for a product: its two groups. */
template <typename S> __device__ __forceinline__ uint32_t
tensor_lane (uint32_t tile)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  return tile + TENSOR_ROWS * (2 * warp + (lane / 8 & 1)) * S::PITCH
      + lane / 16 * S::LEADING + lane % 8 * 16;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* One product along the sum for row J of each group: by the coefficients of
 * those pairs of output rows that take it. */
template <typename S, int J> __device__ __forceinline__ void
wgmma_row (typename S::Sum (&sum)[S::PAIRS][S::PAIR_SUMS],
    const uint32_t (&samples)[4], uint64_t weights)
{
#pragma unroll
  for (int i = 0; i < S::PAIRS; i++) {
    const int d = J - (TENSOR_ROWS - 1) + 2 * i;

    if (d >= -1 && d < S::KY)
      Wgmma<typename S::Sum, 16 * S::COLUMNS>::add (sum[i], samples, weights
          + (d + 1) * S::COLUMNS * 128 / 16);
  }
}

template <typename S, int FIRST, int N, int... I>
__device__ __forceinline__ void
wgmma_rows (typename S::Sum (&sum)[S::PAIRS][S::PAIR_SUMS],
    const uint32_t (&samples)[N][S::PRODUCTS][4], uint64_t weights,
    std::integer_sequence<int, I...>)
{
#pragma unroll
  for (int k = 0; k < S::PRODUCTS; k++)
    (wgmma_row<S, (FIRST + I) * S::STEP> (sum, samples[I][k], weights
        + k * 2 * S::matrix_bytes (S::KY) / 16), ...);
}

/* Rows are taken a few at a time: their samples stay in registers until the
 * products are done. */
template <typename S, int FIRST> __device__ __forceinline__ void
wgmma_plane (typename S::Sum (&sum)[S::PAIRS][S::PAIR_SUMS], uint32_t tile,
    uint64_t weights)
{
  constexpr int LEFT = (TENSOR_ROWS + S::KY - 1) / S::STEP - FIRST;
  constexpr int N = LEFT < 9 ? LEFT : 8;

  if constexpr (N > 0) {
    uint32_t samples[N][S::PRODUCTS][4];

#pragma unroll
    for (int i = 0; i < N; i++) {
#pragma unroll
      for (int k = 0; k < S::PRODUCTS; k++)
        load_matrices (samples[i][k], tile + (FIRST + i) * S::STEP * S::PITCH
            + k * 32);
    }
    wgmma_begin ();
    wgmma_rows<S, FIRST> (sum, samples, weights,
        std::make_integer_sequence<int, N> ());
    wgmma_commit ();
    wgmma_wait<0> ();
    wgmma_plane<S, FIRST + N> (sum, tile, weights);
  }
}

#endif

#if __CUDA_ARCH__ >= 800

template <typename S> __device__ __forceinline__ void
mma_plane (typename S::Sum (&sum)[S::PAIRS][S::PAIR_SUMS], uint32_t tile,
    uint32_t weights, int ky)
{
  const int lane = threadIdx.x % 32;
  const int rows = TENSOR_ROWS + ky - 1;
  const uint32_t b = weights + lane / 16 * 128
      + (lane / 8 & 1) * S::weight_leading (ky) + lane % 8 * 16;

#pragma unroll 1
  for (int j = 0; j < rows; j += S::STEP) {
#pragma unroll
    for (int k = 0; k < S::PRODUCTS; k++) {
      uint32_t samples[4];

      load_matrices (samples, tile + j * S::PITCH + k * 32);
#pragma unroll
      for (int i = 0; i < S::PAIRS; i++) {
        const int d = j - (TENSOR_ROWS - 1) + 2 * i;

        if (d < -1 || d >= ky)
          continue;
#pragma unroll
        for (int c = 0; c < S::COLUMNS; c++) {
          uint32_t w[4];

          load_matrices (w, b + ((d + 1) * S::COLUMNS + 2 * c) * 128
              + k * 2 * S::matrix_bytes (ky));
          multiply_add (sum[i] + 8 * c, samples, w[0], w[1]);
          multiply_add (sum[i] + 8 * c + 4, samples, w[2], w[3]);
        }
      }
    }
  }
}

#endif

/* What a block computes, and what it copies ahead of that: items of work are
 * tiles with a run of planes in z. */
struct TensorItem
{
  int number;
  int x0, y0, z0, length;

  __device__ bool
  decode (const TensorArguments &a)
  {
    const int across = (a.size[0] + TENSOR_WIDTH - 1) / TENSOR_WIDTH;
    const int down = (a.size[1] + TENSOR_HEIGHT - 1) / TENSOR_HEIGHT;
    const int runs = (a.size[2] + a.length - 1) / a.length;
    const int tile = number / runs;

    x0 = tile % across * TENSOR_WIDTH;
    y0 = tile / across * TENSOR_HEIGHT;
    z0 = number % runs * a.length;
    length = min (a.length, a.size[2] - z0);
    return number < across * down * runs;
  }
};

/* Response from sums: of integers, pieces of 8 bits from high to low, summed
 * exactly and rounded once. */
template <typename S> __device__ __forceinline__ float
tensor_response (const typename S::Sum *sum, int e, float scale)
{
  if (S::FLOAT)
    return sum[e] * scale;
  int low = 0, carry = 0;

#pragma unroll
  for (int p = S::COLUMNS - 1; p > 0; p--) {
    const int piece = (int) sum[p * 4 + e] + carry;

    low |= (piece & 255) << 8 * (S::COLUMNS - 1 - p);
    carry = piece >> 8;
  }
  return fmaf ((float) ((int) sum[e] + carry),
      (float) (1 << 8 * (S::COLUMNS - 1)), (float) low) * scale;
}

/* The matrix units do not round what they sum but cut it off, to one side: each
 * plane's sums are taken from them, as is each volume's scale. */
template <typename S> __device__ __forceinline__ void
add_plane (typename S::Sum (&total)[S::PAIRS][S::PAIR_SUMS],
    typename S::Sum (&sum)[S::PAIRS][S::PAIR_SUMS], float scale)
{
#pragma unroll
  for (int i = 0; i < S::PAIRS; i++) {
#pragma unroll
    for (int k = 0; k < S::PAIR_SUMS; k++) {
      total[i][k] += sum[i][k] * scale;
      sum[i][k] = 0;
    }
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

template <typename T> __device__ __forceinline__ T
rounded (float value, int low, int high)
{
  return (T) min (max (__float2int_rn (value), low), high);
}

/* Two responses side by side. */
__device__ __forceinline__ void
store_two (const TensorArguments &a, float first, float second, int x, int y,
    int z)
{
  const Store &s = a.store;
  unsigned char *p = s.out + x * s.sample + y * s.row + z * s.slice;

  if (s.scaled || !a.paired || x + 1 >= a.size[0]) {
    store_sample (s, first, x, y, z);
    if (x + 1 < a.size[0])
      store_sample (s, second, x + 1, y, z);
    return;
  }
  switch (s.type) {
    case ND_UINT8:
      *(uchar2 *) p = make_uchar2 (rounded<unsigned char> (first, 0, 255),
          rounded<unsigned char> (second, 0, 255));
      break;
    case ND_INT16:
      *(short2 *) p = make_short2 (rounded<short> (first, -32768, 32767),
          rounded<short> (second, -32768, 32767));
      break;
    case ND_UINT16:
      *(ushort2 *) p = make_ushort2 (rounded<unsigned short> (first, 0, 65535),
          rounded<unsigned short> (second, 0, 65535));
      break;
    default:
      *(float2 *) p = make_float2 (first, second);
      break;
  }
}

#if __CUDA_ARCH__ >= 800

/* A tile of one plane, all pieces of it. */
template <typename S> __device__ __forceinline__ void
copy_tile (const TensorArguments &a, uint32_t to, const unsigned char *from,
    int ky)
{
  constexpr int BYTES = S::FLOAT ? 16 : 8, PER_ROW = S::PITCH / BYTES;
  const int all = (TENSOR_HEIGHT + ky - 1) * PER_ROW;

#pragma unroll
  for (int piece = 0; piece < S::PIECES; piece++) {
#pragma unroll 4
    for (int i = threadIdx.x; i < all; i += TENSOR_THREADS) {
      const int y = i / PER_ROW, at = i % PER_ROW;

      copy_async<BYTES> (to + i * BYTES, from + y * a.row
          + 8 * (S::FLOAT ? 2 * at : at / 2 + at % 2));
    }
    to += S::tile_bytes (ky);
    from += a.piece;
  }
}

/* The planes of shared memory: which is copied next. */
template <typename S> class TensorRing
{
public:
  __device__
  TensorRing (const TensorArguments &a, uint32_t slots, int ky)
    : a (a), slots (slots), ky (ky),
      bytes (S::PIECES * S::tile_bytes (ky) + (a.march ? 0 : a.weight_bytes)),
      window (a.march ? a.n_planes : 1), n (window + 2)
  {
    item.number = blockIdx.x;
    more = item.decode (a);
  }

  /* Copies until @count planes are under way or there. */
  __device__ __forceinline__ void
  copy_until (int count)
  {
    for (; made < count; made++) {
      if (more)
        copy_next ();
      copies_commit ();
      slot = slot + 1 == n ? 0 : slot + 1;
    }
  }
  __device__ uint32_t
  address (int at) const
  {
    return slots + (at >= n ? at - n : at) * bytes;
  }

  const TensorArguments &a;
  const uint32_t slots;
  const int ky, bytes, window, n;
  int made = 0;

private:
  __device__ __forceinline__ void
  copy_next ()
  {
    const uint32_t to = slots + slot * bytes;
    const TensorPlane p = a.planes[plane];

    copy_tile<S> (a, to, a.volumes + a.slots[p.slot] * a.volume
        + (size_t) (item.z0 + out + p.z) * a.slice
        + (size_t) (item.y0 + a.y) * a.row + (item.x0 + a.x) * S::UNIT, ky);
    if (!a.march) {
      const uint32_t weights = to + S::PIECES * S::tile_bytes (ky);

      for (int i = threadIdx.x * 16; i < a.weight_bytes;
          i += TENSOR_THREADS * 16)
        copy_async<16> (weights + i, a.weights
            + (size_t) plane * a.weight_bytes + i);
      if (++plane < a.n_planes)
        return;
      plane = 0;
    }
    if (++out < item.length + window - 1)
      return;
    out = 0;
    item.number += gridDim.x;
    more = item.decode (a);
  }

  TensorItem item;
  bool more;
  int out = 0, plane = 0, slot = 0;
};

#endif

template <typename S, bool WGMMA> __device__ __forceinline__ void
tensor_multiply (typename S::Sum (&sum)[S::PAIRS][S::PAIR_SUMS],
    uint32_t tile, uint32_t weights, int ky)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (WGMMA) {
    wgmma_plane<S, 0> (sum, tensor_lane<S> (tile), matrix_descriptor (weights,
            S::weight_leading (S::KY), 128));
    return;
  }
#endif
#if __CUDA_ARCH__ >= 800
  if constexpr (!WGMMA)
    mma_plane<S> (sum, tensor_lane<S> (tile), weights, ky);
#endif
}

template <typename S, bool WGMMA> __global__ void
__launch_bounds__ (TENSOR_THREADS)
tensor_kernel (const __grid_constant__ TensorArguments a)
{
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__ (128) unsigned char shared[];
  using T = typename S::Sum;
  const int ky = WGMMA ? S::KY : a.ky;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int kept = a.march ? a.n_planes * a.weight_bytes : 0;
  const uint32_t kept_weights = shared_address (shared);
  TensorRing<S> ring (a, kept_weights + kept, ky);
  int base = 0, slot = 0;       /* of the first plane that is read next */
  TensorItem item;

  for (int i = threadIdx.x * 16; i < kept; i += TENSOR_THREADS * 16)
    copy_async<16> (kept_weights + i, a.weights + i);
  for (item.number = blockIdx.x; item.decode (a); item.number += gridDim.x) {
    if (ring.made < base + ring.window + 1) {
      __syncthreads ();
      ring.copy_until (base + ring.window + 1);
    }
#pragma unroll 1
    for (int o = 0; o < item.length; o++) {
      T sum[S::PAIRS][S::PAIR_SUMS];
      T total[S::PAIRS][S::PAIR_SUMS] = {};

#pragma unroll
      for (int i = 0; i < S::PAIRS; i++) {
#pragma unroll
        for (int k = 0; k < S::PAIR_SUMS; k++)
          sum[i][k] = S::FLOAT ? 0 : a.start[k / 4 % S::COLUMNS];
      }
#pragma unroll 1
      for (int p = 0; p < a.n_planes; p++) {
        const bool fresh = p == 0 || !a.march;

        if (fresh) {
          copies_wait<1> ();
          show_to_wgmma ();
          __syncthreads ();
          ring.copy_until (base + ring.window + 2);
        }
        const uint32_t tile = ring.address (slot + (a.march ? p : 0));
        const uint32_t weights = a.march ? kept_weights + p * a.weight_bytes
            : tile + S::PIECES * S::tile_bytes (ky);

#pragma unroll
        for (int i = 0; i < S::N_FACTORS; i++)
          tensor_multiply<S, WGMMA> (sum, tile + S::piece (i)
              * S::tile_bytes (ky), weights + S::set (i) * S::set_bytes (ky),
              ky);
        if (S::FLOAT)
          add_plane<S> (total, sum, a.slot_scales[a.slots[a.planes[p].slot]
                  * a.scale_step]);
        if (!a.march) {
          base++;
          slot = slot + 1 == ring.n ? 0 : slot + 1;
        }
      }
#pragma unroll
      for (int n = 0; n < TENSOR_ROWS; n++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const T *const s = (S::FLOAT ? total : sum)[n / 2] + n % 2 * S::COLUMNS * 4 + 2 * half;

          const int x = item.x0 + lane / 4 * 8 + lane % 4 * 2;
          const int y = item.y0 + TENSOR_ROWS * (2 * warp + half)
              + TENSOR_ROWS - 1 - n;
          float response[2];

          if (x >= a.size[0] || y >= a.size[1])
            continue;
#pragma unroll
          for (int i = 0; i < 2; i++) {
            response[i] = tensor_response<S> (s, i, a.scale);
            if (S::FLOAT && !isfinite (response[i]) && x + i < a.size[0])
              response[i] = response_by_taps<S::PIECES> (a, x + i, y,
                  item.z0 + o);
          }
          store_two (a, response[0], response[1], x, y, item.z0 + o);
        }
      }
      if (a.march) {
        base++;
        slot = slot + 1 == ring.n ? 0 : slot + 1;
      }
    }
    if (a.march) {
      base += ring.window - 1;
      slot = (slot + ring.window - 1) % ring.n;
    }
  }
#endif
}

} // namespace nd
