/* The kernel of method `tensor`. A block of eight warps computes tiles of
 * 64 x 64 outputs of one plane: the samples of the planes that it reads go
 * through a ring in shared memory, copied while the matrix units work.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <type_traits>

#include "ndlaunch.cuh"
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

  /* Whether samples may be read from a volume that is not padded. */
  static constexpr bool BARE = !FLOAT && PIECES == 1;

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

  /* Columns of a product: for each output row of a group, the last one first,
   * each piece of the coefficients, 8 outputs. Row n of them takes row j of the
   * group's input by the filter's row j + n - (TENSOR_ROWS - 1), so that the
   * columns for row j begin at row j of the coefficients, which have zeros
   * before and behind. */
  static constexpr int N = TENSOR_ROWS * COLUMNS * 8;
  struct Sums
  {
    Sum all[N / 2];
    Sum low[LOW ? TENSOR_ROWS * 4 : 1];
  };

  __host__ __device__ static constexpr int
  tile_bytes (int ky)
  {
    return (TENSOR_HEIGHT + ky - 1) * PITCH;
  }
  static constexpr int ROW_BYTES = COLUMNS * 128;
  __host__ __device__ static constexpr int
  matrix_bytes (int ky)
  {
    return (ky + 2 * (TENSOR_ROWS - 1)) * ROW_BYTES;
  }
  __host__ __device__ static constexpr int
  set_bytes (int ky)
  {
    return MATRICES * matrix_bytes (ky);
  }
  __host__ __device__ static constexpr int
  weight_leading (int ky)
  {
    return MATRICES == 1 ? ROW_BYTES : matrix_bytes (ky);
  }
};

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

/* The planes of shared memory, and which is copied next. */
template <typename S> class TensorRing
{
public:
  __device__
  TensorRing (const TensorArguments &a, uint32_t begin, int ky)
    : a (a), bytes (S::PIECES * S::tile_bytes (ky)
          + (a.march ? 0 : a.weight_bytes)), begin (begin),
      end (begin + a.ring_planes * bytes), ky (ky), to (begin)
  {
    const int y = threadIdx.x / PER_ROW, at = threadIdx.x % PER_ROW;

    first_row = y;
    column = 8 * (S::FLOAT ? at : at / 2 + at % 2);
    rows_left = y < ROWS ? TENSOR_HEIGHT + ky - 1 - y : 0;
    item.number = blockIdx.x;
    begin_item ();
  }
  __device__ __forceinline__ uint32_t
  after (uint32_t slot) const
  {
    return slot + bytes == end ? begin : slot + bytes;
  }

  /* One plane is on its way, or none where there are no more. */
  __device__ __forceinline__ void
  copy_next ()
  {
    if (left > 0) {
      copy_plane ();
      to = after (to);
      if (--left == 0) {
        item.number += gridDim.x;
        begin_item ();
      }
    }
    copies_commit ();
  }

private:
  /* What a thread copies at once, and all of them. */
  static constexpr int BYTES = S::FLOAT ? 16 : 8;
  static constexpr int PER_ROW = S::PITCH / BYTES;
  static constexpr int ROWS = TENSOR_THREADS / PER_ROW;
  static constexpr int RUNS = (TENSOR_HEIGHT + (S::KY ? S::KY - 1 : 16)
      + ROWS - 1) / ROWS;

  __device__ __forceinline__ void
  begin_item ()
  {
    if (!item.decode (a))
      return;
    left = a.march ? item.length + a.n_planes - 1 : item.length * a.n_planes;
    next = a.planes[0];
    z = a.march ? item.z0 + next.z : item.z0;
    if constexpr (S::BARE) {
#pragma unroll
      for (int i = 0; i < RUNS; i++)
        ys[i] = border_index (a.bare.border, item.y0 + a.y + first_row
            + i * ROWS, a.size[1]);
    }
  }

  /* Plane @at of a padded volume. */
  __device__ __forceinline__ void
  copy_padded (int at)
  {
    const unsigned char *const tile = a.volumes + a.slots[next.slot] * a.volume
        + (size_t) at * a.slice + (size_t) (item.y0 + a.y + first_row) * a.row
        + (item.x0 + a.x + column) * S::UNIT;

#pragma unroll
    for (int piece = 0; piece < S::PIECES; piece++) {
      const uint32_t there = to + piece * S::tile_bytes (ky)
          + threadIdx.x * BYTES;
      const unsigned char *row = tile + piece * a.piece;

#pragma unroll
      for (int i = 0; i < RUNS; i++) {
        if (i * ROWS < rows_left)
          copy_async<BYTES> (there + i * ROWS * S::PITCH, row);
        row += ROWS * a.row;
      }
    }
  }

  /* The same where there is no padding, of a thread's eight samples in a row
   * four from the volume, or from its edges. */
  __device__ __forceinline__ void
  copy_bare (int at)
  {
    const TensorBare &b = a.bare;
    const int x = item.x0 + a.x + column;
    const int zs = border_index (b.border, at, a.size[2]);
    const unsigned char *from[2];
    size_t step[2];
    bool here[2];

#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int xi = x + 4 * i;
      const bool inside = (unsigned) xi < (unsigned) a.size[0];

      here[i] = xi < b.end;
      from[i] = inside ? a.volumes + (size_t) zs * a.slice + xi
          : b.edges + (size_t) zs * a.size[1] * (2 * TENSOR_EDGE)
          + TENSOR_EDGE + xi - (xi < 0 ? 0 : a.size[0]);
      step[i] = inside ? a.row : 2 * TENSOR_EDGE;
    }
#pragma unroll
    for (int i = 0; i < RUNS; i++) {
      const uint32_t there = to + i * ROWS * S::PITCH + threadIdx.x * BYTES;
      const bool outside = (zs | ys[i]) < 0;

      if (i * ROWS >= rows_left)
        break;
      if (b.eight) {
        if (here[0])
          copy_async<8> (there, outside ? b.outside : from[0]
              + ys[i] * step[0]);
        continue;
      }
#pragma unroll
      for (int j = 0; j < 2; j++) {
        if (here[j])
          copy_async<4> (there + 4 * j, outside ? b.outside : from[j]
              + ys[i] * step[j]);
      }
    }
  }
  __device__ __forceinline__ void
  copy_plane ()
  {
    const int at = a.march ? z++ : z + next.z;

    if constexpr (S::BARE) {
      if (a.bare.edges)
        copy_bare (at);
      else
        copy_padded (at);
    } else {
      copy_padded (at);
    }
    if (a.march)
      return;
#pragma unroll 1
    for (int i = threadIdx.x * 16; i < a.weight_bytes;
        i += TENSOR_THREADS * 16)
      copy_async<16> (to + S::PIECES * S::tile_bytes (ky) + i, a.weights
          + (size_t) plane * a.weight_bytes + i);
    if (++plane == a.n_planes) {
      plane = 0;
      z++;
    }
    next = a.planes[plane];     /* is there when it is needed */
  }

  const TensorArguments &a;
  const int bytes;
  const uint32_t begin, end;
  const int ky;
  uint32_t to;
  int first_row, column;        /* of what this thread copies of a tile */
  int rows_left;
  int ys[S::BARE ? RUNS : 1];   /* where those lie in a volume, or < 0 */
  int z;                        /* of the next plane; less the filter's where
                                 * the block does not march */
  TensorItem item;
  TensorPlane next;
  int left = 0;                 /* planes of the item */
  int plane = 0;
};

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

template <typename S, bool WGMMA> __global__ void
__launch_bounds__ (TENSOR_THREADS, 2)
tensor_kernel (const __grid_constant__ TensorArguments a)
{
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__ (128) unsigned char shared[];
  const int ky = WGMMA ? S::KY : a.ky;
  /* The compiler is to know that a warp's threads have the same. */
  const int warp = __shfl_sync (~0u, threadIdx.x / 32, 0);
  const int lane = threadIdx.x % 32;
  const int kept = a.march ? a.n_planes * a.weight_bytes : 0;
  const uint32_t kept_weights = shared_address (shared);
  const uint32_t group = warp / 4 * (TENSOR_HEIGHT / 2 * S::PITCH);
  TensorRing<S> ring (a, kept_weights + kept, ky);
  uint32_t first = kept_weights + kept; /* plane of the next output */
  int ahead = a.march ? a.n_planes + 1 : a.copied;      /* planes to copy */
  int until = 0;                /* planes, until one is new */
  TensorItem item;
  typename S::Sums sum = {};
  float response[2][TENSOR_ROWS][2] = {};
  TensorPlace at = { -1, 0, 0 };        /* of what is not stored yet */

  for (int i = threadIdx.x * 16; i < kept; i += TENSOR_THREADS * 16)
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
    for (int o = 0; o < item.length; o++) {
      uint32_t tile = first, weights = kept_weights;

#pragma unroll 1
      for (int left = a.n_planes; left > 0; left--) {
        const bool is_new = until == 0;

        if (is_new) {
          next_planes<WGMMA> (a.march);
          until = a.march ? a.n_planes : a.copied;
        }
        until--;
        const uint32_t used = a.march ? weights
            : tile + S::PIECES * S::tile_bytes (ky);
        const bool keep = left < a.n_planes && !S::FLOAT;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        if constexpr (WGMMA)
          wgmma_plane<S> (sum, tile + group, used, keep);
#endif
        /* Beside the products. */
        if (is_new) {
#pragma unroll 1
          for (int i = 0; i < a.copied; i++)
            ring.copy_next ();
        }
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
        weights += a.weight_bytes;
      }
      at = TensorPlace { item.x0 + lane / 4 * 8 + lane % 4 * 2,
        item.y0 + TENSOR_ROWS * 2 * warp, item.z0 + o };
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
