/* The kernel of method `tensor`. A block of eight warps computes tiles of
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

  /* Low fp16 samples are multiplied by high coefficients only, and have sums of
   * their own; other pieces have sets of coefficients and share the sums. */
  static constexpr bool LOW = FLOAT && PIECES == 2;
  static constexpr int SETS = FLOAT ? 1 : PIECES;

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

  /* Columns of a product: the outputs of a few rows of a group. Column row n of
   * all stands for row TENSOR_ROWS - 1 - n, and takes row j of the group's input
   * by the filter's row j - (TENSOR_ROWS - 1) + n. */
  static constexpr int TOGETHER = tensor_rows_together (UNIT);
  static constexpr int PARTS = TENSOR_ROWS / TOGETHER;
  static constexpr int PART_SUMS = TOGETHER * COLUMNS * 4;
  struct Sums
  {
    Sum part[PARTS][PART_SUMS];
    Sum low[PARTS][LOW ? TOGETHER * 4 : 1];
  };

  /* Whether part @i takes row @j, or of two rows one. */
  __host__ __device__ static constexpr bool
  takes (int i, int j, int ky)
  {
    return first_row (i, j) + TOGETHER - 1 + STEP - 1 >= 0
        && first_row (i, j) < ky;
  }
  /* Row of the filter by which the first of part @i takes row @j. */
  __host__ __device__ static constexpr int
  first_row (int i, int j)
  {
    return j - (TENSOR_ROWS - 1) + TOGETHER * i;
  }
  /* Bytes to the coefficients of @row. */
  __host__ __device__ static constexpr int
  row_bytes (int row)
  {
    return (row + TOGETHER - 1) * COLUMNS * 128;
  }

  __host__ __device__ static constexpr int
  tile_bytes (int ky)
  {
    return (TENSOR_HEIGHT + ky - 1) * PITCH;
  }
  __host__ __device__ static constexpr int
  matrix_bytes (int ky)
  {
    return row_bytes (ky + TOGETHER - 1);
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

/* Where in a tile a thread's address for load_matrices() is, for a product of
 * the first row: its warp's two groups. */
template <typename S> __device__ __forceinline__ uint32_t
tensor_lane ()
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  return TENSOR_ROWS * (2 * warp + (lane / 8 & 1)) * S::PITCH
      + lane / 16 * S::LEADING + lane % 8 * 16;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* Product K of row J, by all parts that take it. The first one of all puts its
 * sums in the place of others unless @keep. @samples: the descriptor or the
 * registers of the product. */
template <typename S, int J, int K, int SIZE, typename A>
__device__ __forceinline__ void
wgmma_row (typename S::Sum (&sum)[S::PARTS][SIZE], const A &samples,
    uint64_t weights, bool keep)
{
#pragma unroll
  for (int i = 0; i < S::PARTS; i++) {
    const bool first = K == 0 && (J < S::STEP
        || !S::takes (i, J - S::STEP, S::KY));

    if (S::takes (i, J, S::KY))
      Wgmma<typename S::Sum, 2 * SIZE>::add (sum[i], samples, weights
          + (K * 2 * S::matrix_bytes (S::KY)
              + S::row_bytes (S::first_row (i, J))) / 16, keep || !first);
  }
}

template <typename S, int SIZE, int... I> __device__ __forceinline__ void
wgmma_rows (typename S::Sum (&sum)[S::PARTS][SIZE], uint64_t tile,
    uint64_t weights, bool keep, std::integer_sequence<int, I...>)
{
  (wgmma_row<S, I / S::PRODUCTS * S::STEP, I % S::PRODUCTS> (sum, tile
          + (I / S::PRODUCTS * S::STEP * S::PITCH + I % S::PRODUCTS * 32) / 16,
          weights, keep), ...);
}

/* All products of a plane of fp16. */
template <typename S> __device__ __forceinline__ void
wgmma_plane (typename S::Sums &sum, uint32_t tile, uint32_t weights)
{
  constexpr auto ROWS = std::make_integer_sequence<int, S::PRODUCTS
      * ((TENSOR_ROWS + S::KY - 1) / S::STEP)> ();
  const uint64_t a = matrix_descriptor (tile + threadIdx.x / 128
      * (TENSOR_HEIGHT / 2 * S::PITCH), S::LEADING, TENSOR_ROWS * S::PITCH);

  wgmma_begin ();
  wgmma_rows<S> (sum.part, a, matrix_descriptor (weights,
          S::weight_leading (S::KY), 128), false, ROWS);
  if constexpr (S::LOW)
    wgmma_rows<S> (sum.low, a + S::tile_bytes (S::KY) / 16,
        matrix_descriptor (weights, S::weight_leading (S::KY),
            S::COLUMNS * 128), false, ROWS);
  wgmma_commit ();
}

/* Bytes are multiplied from registers, a few rows at a time: shared memory could
 * not keep up with reading them for every pair of output rows. While one batch
 * is multiplied the next is loaded. */
template <typename S> struct Batches
{
  static constexpr int SIZE = S::COLUMNS == 4 ? 3 : 5;  /* by registers */
  static constexpr int STEPS = (TENSOR_ROWS + S::KY - 1) / S::STEP;
  static constexpr int OF_PIECE = (STEPS + SIZE - 1) / SIZE;
  static constexpr int N = S::PIECES * OF_PIECE;        /* of a plane */

  /* Rows of batch @b, and how many. */
  __host__ __device__ static constexpr int
  first (int b)
  {
    return b % OF_PIECE * SIZE;
  }
  __host__ __device__ static constexpr int
  count (int b)
  {
    return STEPS - first (b) < SIZE ? STEPS - first (b) : SIZE;
  }
};

using Batch = uint32_t[5][4];

template <typename S, int B> __device__ __forceinline__ void
load_batch (Batch &batch, uint32_t tile)
{
#pragma unroll
  for (int i = 0; i < Batches<S>::count (B); i++)
    load_matrices (batch[i], tile + B / Batches<S>::OF_PIECE
        * S::tile_bytes (S::KY) + (Batches<S>::first (B) + i) * S::STEP
        * S::PITCH);
}

template <typename S, int FIRST, int... I> __device__ __forceinline__ void
multiply_rows (typename S::Sums &sum, const Batch &batch, uint64_t weights,
    bool keep, std::integer_sequence<int, I...>)
{
  (wgmma_row<S, (FIRST + I) * S::STEP, 0> (sum.part, batch[I], weights, keep),
      ...);
}

template <typename S, int B> __device__ __forceinline__ void
multiply_batch (typename S::Sums &sum, const Batch &batch, uint32_t weights,
    bool keep)
{
  using All = Batches<S>;

  wgmma_begin ();
  multiply_rows<S, All::first (B)> (sum, batch, matrix_descriptor (weights
          + B / All::OF_PIECE * S::set_bytes (S::KY),
          S::weight_leading (S::KY), 128), keep || B >= All::OF_PIECE,
      std::make_integer_sequence<int, All::count (B)> ());
  wgmma_commit ();
}

/* A plane whose first batch is in @now, or on its way there. After the first
 * @aside () is called; @next () gives the tile of the next plane, 0 where there
 * is none, whose first batch is loaded. */
template <typename S, int B = 0, typename F, typename G>
__device__ __forceinline__ void
multiply_plane (typename S::Sums &sum, Batch &now, Batch &then, uint32_t tile,
    uint32_t weights, bool keep, F aside, G next)
{
  multiply_batch<S, B> (sum, now, weights, keep);
  if (B == 0)
    aside ();
  wgmma_wait<1> ();
  if constexpr (B + 1 < Batches<S>::N) {
    load_batch<S, B + 1> (then, tile);
    multiply_plane<S, B + 1> (sum, then, now, tile, weights, keep, aside,
        next);
  } else {
    const uint32_t other = next ();

    if (other)
      load_batch<S, 0> (then, other);
  }
}

#endif

#if __CUDA_ARCH__ >= 800

/* The same by mma, for a piece of samples: of a thread's sums SIZE of each
 * part, columns @stride bytes apart. */
template <typename S, int SIZE> __device__ __forceinline__ void
mma_piece (typename S::Sum (&sum)[S::PARTS][SIZE], uint32_t tile,
    uint32_t weights, int stride, int ky, bool keep)
{
  const int lane = threadIdx.x % 32;
  const int rows = TENSOR_ROWS + ky - 1;
  const uint32_t a = tile + tensor_lane<S> ();
  const uint32_t b = weights + lane / 16 * stride
      + (lane / 8 & 1) * S::weight_leading (ky) + lane % 8 * 16;

  if (!keep) {
#pragma unroll
    for (int i = 0; i < S::PARTS; i++) {
#pragma unroll
      for (int k = 0; k < SIZE; k++)
        sum[i][k] = 0;
    }
  }
#pragma unroll 1
  for (int j = 0; j < rows; j += S::STEP) {
#pragma unroll
    for (int k = 0; k < S::PRODUCTS; k++) {
      uint32_t samples[4];

      load_matrices (samples, a + j * S::PITCH + k * 32);
#pragma unroll
      for (int i = 0; i < S::PARTS; i++) {
        if (!S::takes (i, j, ky))
          continue;
#pragma unroll
        for (int c = 0; c < SIZE; c += 8) {
          uint32_t w[4];

          load_matrices (w, b + S::row_bytes (S::first_row (i, j))
              + c / 4 * stride + k * 2 * S::matrix_bytes (ky));
          multiply_add (sum[i] + c, samples, w[0], w[1]);
          multiply_add (sum[i] + c + 4, samples, w[2], w[3]);
        }
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
    mma_piece<S> (sum.part, tile + set * S::tile_bytes (ky), weights
        + set * S::set_bytes (ky), 128, ky, keep || set > 0);
  if constexpr (S::LOW)
    mma_piece<S> (sum.low, tile + S::tile_bytes (ky), weights,
        S::COLUMNS * 128, ky, keep);
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
      plane = sum.low[0][4 * n + at] + sum.part[0][8 * n + 4 + at];
    plane += sum.part[0][4 * S::COLUMNS * n + at];
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

/* The planes of shared memory: which is copied next. */
template <typename S> class TensorRing
{
public:
  __device__
  TensorRing (const TensorArguments &a, uint32_t slots, int ky)
    : a (a), slots (slots), ky (ky),
      bytes (S::PIECES * S::tile_bytes (ky)
          + (a.keep_weights ? 0 : a.weight_bytes)),
      window (a.march ? a.n_planes : 1), n (window + (a.march ? 2 : 3))
  {
    const int y = threadIdx.x / PER_ROW, at = threadIdx.x % PER_ROW;

    item.number = blockIdx.x;
    more = item.decode (a);
    rows_left = y < ROWS ? TENSOR_HEIGHT + ky - 1 - y : 0;
    from = y * a.row + 8 * (S::FLOAT ? 2 * at : at / 2 + at % 2);
    next = a.planes[0];
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
  /* What a thread copies at once, and all of them. */
  static constexpr int BYTES = S::FLOAT ? 16 : 8;
  static constexpr int PER_ROW = S::PITCH / BYTES;
  static constexpr int ROWS = TENSOR_THREADS / PER_ROW;

  __device__ __forceinline__ void
  copy_tile (uint32_t to, const unsigned char *tile) const
  {
    to += threadIdx.x * BYTES;
    tile += from;
#pragma unroll
    for (int y = 0; y < TENSOR_HEIGHT + (S::KY ? S::KY - 1 : 16); y += ROWS) {
      if (y < rows_left)
        copy_async<BYTES> (to + y * S::PITCH, tile);
      tile += ROWS * a.row;
    }
  }
  __device__ __forceinline__ void
  copy_next ()
  {
    const uint32_t to = slots + slot * bytes;
    const unsigned char *const tile = a.volumes + a.slots[next.slot] * a.volume
        + (size_t) (item.z0 + out + next.z) * a.slice
        + (size_t) (item.y0 + a.y) * a.row + (item.x0 + a.x) * S::UNIT;

#pragma unroll
    for (int piece = 0; piece < S::PIECES; piece++)
      copy_tile (to + piece * S::tile_bytes (ky), tile + piece * a.piece);
    if (!a.keep_weights) {
      const uint32_t weights = to + S::PIECES * S::tile_bytes (ky);

#pragma unroll 1
      for (int i = threadIdx.x * 16; i < a.weight_bytes;
          i += TENSOR_THREADS * 16)
        copy_async<16> (weights + i, a.weights
            + (size_t) plane * a.weight_bytes + i);
    }
    if (!a.march) {
      plane = plane + 1 == a.n_planes ? 0 : plane + 1;
      next = a.planes[plane];   /* is there when it is needed */
      if (plane > 0)
        return;
    }
    if (++out < item.length + window - 1)
      return;
    out = 0;
    item.number += gridDim.x;
    more = item.decode (a);
  }

  TensorItem item;
  bool more;
  int rows_left;                /* from this thread's first one */
  size_t from;
  TensorPlane next;
  int out = 0, plane = 0, slot = 0;
};

#endif

/* The responses that a thread's sums of integers are. */
template <typename S> __device__ __forceinline__ void
integer_responses (const TensorArguments &a, const typename S::Sums &sum,
    float (&response)[2][TENSOR_ROWS][2])
{
#pragma unroll
  for (int i = 0; i < 4 * TENSOR_ROWS; i++) {
    const int half = i / 2 / TENSOR_ROWS, r = i / 2 % TENSOR_ROWS;
    const int n = TENSOR_ROWS - 1 - r;

    response[half][r][i % 2] = tensor_response<S> (a,
        sum.part[n / S::TOGETHER] + n % S::TOGETHER * S::COLUMNS * 4
            + 2 * half + i % 2);
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

#if __CUDA_ARCH__ >= 800

/* What a block does with the matrix units. */
template <typename S, bool WGMMA> class TensorBlock
{
public:
  __device__
  TensorBlock (const TensorArguments &a, uint32_t shared)
    : a (a), ky (WGMMA ? S::KY : a.ky), kept_weights (shared),
      ring (a, shared + kept_bytes (), ky)
  {
    for (int i = threadIdx.x * 16; i < kept_bytes (); i += TENSOR_THREADS * 16)
      copy_async<16> (kept_weights + i, a.weights + i);
  }
  __device__ __forceinline__ void run ();

private:
  __device__ int
  kept_bytes () const
  {
    return a.keep_weights ? a.n_planes * a.weight_bytes : 0;
  }
  /* While a block marches one plane is new, the last one. */
  __device__ bool
  is_new (int p) const
  {
    return !a.march || p == a.n_planes - 1;
  }
  __device__ uint32_t
  tile (int p) const
  {
    return ring.address (slot + (a.march ? p : 0));
  }
  __device__ uint32_t
  weights (int p) const
  {
    return a.keep_weights ? kept_weights + p * a.weight_bytes
        : ring.address (slot) + S::PIECES * S::tile_bytes (ky);
  }
  /* A plane that was copied is there, and those before are not needed. */
  __device__ __forceinline__ void
  acquire ()
  {
    copies_wait<1> ();
    /* wgmma itself reads coefficients, and fp16 samples. */
    if (WGMMA && (S::FLOAT || base == 0 || !a.keep_weights))
      show_to_wgmma ();
    __syncthreads ();
  }
  __device__ __forceinline__ void
  advance (int n)
  {
    base += n;
    slot += n;
    if (slot >= ring.n)
      slot -= ring.n;
  }
  __device__ __forceinline__ void sum_integers (bool first_of_item);
  __device__ __forceinline__ void sum_floats (bool first_of_item);

  const TensorArguments &a;
  const int ky;
  const uint32_t kept_weights;
  TensorRing<S> ring;
  int base = 0, slot = 0;       /* of the first plane that is read next */
  typename S::Sums sum = {};
  float response[2][TENSOR_ROWS][2];
};

/* Sums of one output plane. */
template <typename S, bool WGMMA> __device__ __forceinline__ void
TensorBlock<S, WGMMA>::sum_integers (bool first)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (WGMMA && !S::FLOAT) {
    const uint32_t lane = tensor_lane<S> ();
    Batch now, then;
    const auto plane = [&] (int p, Batch &mine, Batch &other) {
      multiply_plane<S> (sum, mine, other, tile (p) + lane, weights (p), p > 0,
          [&] {
            if (is_new (p))
              ring.copy_until (base + ring.window + 2);
          }, [&] () -> uint32_t {
            if (!a.march)
              advance (1);
            if (p + 1 == a.n_planes)
              return 0;
            if (is_new (p + 1))
              acquire ();
            return tile (p + 1) + lane;
          });
    };

    /* Batches take turns; of an odd number, planes as well. */
    constexpr bool TURNS = Batches<S>::N % 2 == 1;

    if (first || is_new (0))
      acquire ();
    load_batch<S, 0> (now, tile (0) + lane);
#pragma unroll 1
    for (int p = 0; p < a.n_planes; p += TURNS ? 2 : 1) {
      plane (p, now, then);
      if (TURNS && p + 1 < a.n_planes)
        plane (p + 1, then, now);
    }
    wgmma_wait<0> ();
  }
#endif
  if constexpr (!WGMMA) {
#pragma unroll 1
    for (int p = 0; p < a.n_planes; p++) {
      if (is_new (p) || (first && p == 0))
        acquire ();
      if (is_new (p))
        ring.copy_until (base + ring.window + 2);
      mma_plane<S> (sum, tile (p), weights (p), ky, p > 0);
      if (!a.march)
        advance (1);
    }
  }
}

template <typename S, bool WGMMA> __device__ __forceinline__ void
TensorBlock<S, WGMMA>::sum_floats (bool first)
{
  clear (response);
#pragma unroll 1
  for (int p = 0; p < a.n_planes; p++) {
    if (is_new (p) || (first && p == 0))
      acquire ();
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if constexpr (WGMMA)
      wgmma_plane<S> (sum, tile (p), weights (p));
#endif
    if (is_new (p))
      ring.copy_until (base + ring.window + 2);
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if (WGMMA)
      wgmma_wait<0> ();
#endif
    if (!WGMMA)
      mma_plane<S> (sum, tile (p), weights (p), ky, false);
    add_plane<S> (sum, a.slot_scales[a.slots[a.planes[p].slot] * a.scale_step],
        response);
    if (!a.march)
      advance (1);
  }
}

template <typename S, bool WGMMA> __device__ __forceinline__ void
TensorBlock<S, WGMMA>::run ()
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  TensorItem item;

  for (item.number = blockIdx.x; item.decode (a); item.number += gridDim.x) {
    if (ring.made < base + ring.window + 1) {
      __syncthreads ();
      ring.copy_until (base + ring.window + 1);
    }
#pragma unroll 1
    for (int o = 0; o < item.length; o++) {
      const TensorPlace at = { item.x0 + lane / 4 * 8 + lane % 4 * 2,
        item.y0 + TENSOR_ROWS * 2 * warp, item.z0 + o };

      if constexpr (S::FLOAT) {
        sum_floats (o == 0);
        float_responses<S> (a, at, response);
      } else {
        sum_integers (o == 0);
        integer_responses<S> (a, sum, response);
      }
      store_responses (a, response, at);
      if (a.march)
        advance (1);
    }
    if (a.march)
      advance (ring.window - 1);
  }
}

#endif

template <typename S, bool WGMMA> __global__ void
__launch_bounds__ (TENSOR_THREADS, 2)
tensor_kernel (const __grid_constant__ TensorArguments a)
{
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__ (128) unsigned char shared[];

  TensorBlock<S, WGMMA> (a, shared_address (shared)).run ();
#endif
}

} // namespace nd
