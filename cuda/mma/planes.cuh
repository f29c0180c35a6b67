/* Planes of samples in shared memory: their layout, the order in which a thread
 * block reads them, and the rings that copy them ahead of the products.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/mma/instructions.cuh"
#include "cuda/mma/tensor.cuh"

namespace nd
{

/* The parameters of a kernel (cuda/mma/tensor.cuh explains octets and
 * quartets). KY: rows of coefficients of a plane, 0 if they are known at run
 * time only (mma). WINDOW: samples that a product sums over. COLUMNS: bytes of
 * a coefficient. */
template <int KY_, int WINDOW_, int COLUMNS_>
struct TensorShape
{
  static constexpr int KY = KY_;
  static constexpr int WINDOW = WINDOW_;
  static constexpr int COLUMNS = COLUMNS_;

  /* The units take matrices of 8 rows of 16 bytes. A window consists of
   * MATRICES rows of 16 bytes, one in each matrix. A product sums over two of
   * them: both of a wide window, or one from each of two rows of samples. */
  static constexpr int MATRICES = WINDOW / 16;
  static constexpr int STEP = MATRICES == 1 ? 2 : 1; /* rows of samples of a
                                                      * product */

  /* A row of samples of the tile: the windows of its octets, one every 8
   * samples. Windows have their own copies of samples, because each row of a
   * matrix must begin at a multiple of 16 bytes. */
  static constexpr int SPAN = MATRICES == 2 ? 2 : 0;
  static constexpr int PITCH = 16 * (TENSOR_WIDTH / 8 + SPAN);
  static constexpr int LEADING = MATRICES == 1 ? PITCH : 32;

  /* The columns of a product: for each row of outputs of a quartet, from the
   * last row to the first, the 8 outputs of an octet for each byte of the
   * coefficients. Output row n in this order multiplies row j of the samples of
   * the quartet by row j + n - (TENSOR_ROWS - 1) of the filter. The columns for
   * row j of the samples therefore begin at row j of the packed coefficients,
   * which have zeros before and after those of the filter. */
  static constexpr int N = TENSOR_ROWS * COLUMNS * 8;
  using Sums = int[N / 2];

  __host__ __device__ static constexpr int tile_bytes (int ky)
  {
    return (TENSOR_HEIGHT + ky - 1) * PITCH;
  }
  static constexpr int ROW_BYTES = COLUMNS * 128;
  __host__ __device__ static constexpr int matrix_bytes (int ky)
  {
    return (ky + 2 * (TENSOR_ROWS - 1)) * ROW_BYTES;
  }
  __host__ __device__ static constexpr int weight_leading (int ky)
  {
    return MATRICES == 1 ? ROW_BYTES : matrix_bytes (ky);
  }
};

/* An item of work of a thread block: a tile in each of @length output planes
 * that are neighbours in z. */
struct TensorItem
{
  int number;
  int x0, y0, z0, length;

  /* Sets the other fields from @number. Returns false if there is no such
   * item. */
  __device__ bool decode (const TensorArguments &a)
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

#if __CUDA_ARCH__ >= 800

/* The planes in shared memory, and the plane to copy next. */
template <typename S>
class TensorRing
{
public:
  __device__ TensorRing (const TensorArguments &a, uint32_t begin, int ky)
      : a (a), bytes (S::tile_bytes (ky) + (a.kept_bytes ? 0 : a.weight_bytes)),
        begin (begin), end (begin + a.ring_planes * bytes), ky (ky), to (begin)
  {
    const int y = threadIdx.x / PER_ROW, at = threadIdx.x % PER_ROW;

    first_row = y;
    column = 8 * (at / 2 + at % 2);
    rows_left = y < ROWS ? TENSOR_HEIGHT + ky - 1 - y : 0;
    item.number = blockIdx.x;
    begin_item ();
  }
  __device__ __forceinline__ uint32_t after (uint32_t slot) const
  {
    return slot + bytes == end ? begin : slot + bytes;
  }

  /* Starts to copy the next plane, or none if all are copied. */
  __device__ __forceinline__ void copy_next ()
  {
    if (left > 0) {
      copy_plane ();
      to = after (to);
      if (--left == 0) {
        item.number += gridDim.x;
        begin_item ();
      }
    }
    cp_async_commit ();
  }

private:
  /* The bytes that a thread copies at a time, the threads for a row of samples,
   * the rows that all threads copy at a time, and the times that they do so for
   * a tile. */
  static constexpr int BYTES = 8;
  static constexpr int PER_ROW = S::PITCH / BYTES;
  static constexpr int ROWS = TENSOR_THREADS / PER_ROW;
  static constexpr int RUNS =
      (TENSOR_HEIGHT + (S::KY ? S::KY - 1 : 16) + ROWS - 1) / ROWS;

  __device__ __forceinline__ void begin_item ()
  {
    if (!item.decode (a))
      return;
    left =
        a.z_sliding ? item.length + a.n_planes - 1 : item.length * a.n_planes;
    next = a.planes[0];
    z = a.z_sliding ? item.z0 + next.z : item.z0;
#pragma unroll
    for (int i = 0; i < RUNS; i++)
      ys[i] = border_index (a.unpadded.border,
          item.y0 + a.y + first_row + i * ROWS, a.size[1]);
  }

  /* Copies plane @at of a padded volume. */
  __device__ __forceinline__ void copy_padded (int at)
  {
    const unsigned char *const tile = a.volumes + a.slots[next.slot] * a.volume
        + (size_t) at * a.slice + (size_t) (item.y0 + a.y + first_row) * a.row
        + item.x0 + a.x + column;
    const uint32_t there = to + threadIdx.x * BYTES;
    const unsigned char *row = tile;

#pragma unroll
    for (int i = 0; i < RUNS; i++) {
      if (i * ROWS < rows_left)
        cp_async<BYTES> (there + i * ROWS * S::PITCH, row);
      row += ROWS * a.row;
    }
  }

  /* Copies plane @at of an unpadded volume. Each half of a thread's eight
   * samples is inside the volume or in its edges. */
  __device__ __forceinline__ void copy_unpadded (int at)
  {
    const TensorUnpadded &b = a.unpadded;
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
          cp_async<8> (there, outside ? b.outside : from[0] + ys[i] * step[0]);
        continue;
      }
#pragma unroll
      for (int j = 0; j < 2; j++) {
        if (here[j])
          cp_async<4> (there + 4 * j,
              outside ? b.outside : from[j] + ys[i] * step[j]);
      }
    }
  }
  __device__ __forceinline__ void copy_plane ()
  {
    const int at = a.z_sliding ? z++ : z + next.z;

    if (a.unpadded.edges)
      copy_unpadded (at);
    else
      copy_padded (at);
    if (a.z_sliding)
      return;
#pragma unroll 1
    for (int i = threadIdx.x * 16; i < a.weight_bytes; i += TENSOR_THREADS * 16)
      cp_async<16> (to + S::tile_bytes (ky) + i,
          a.weights + (size_t) plane * a.weight_bytes + i);
    if (++plane == a.n_planes) {
      plane = 0;
      z++;
    }
    next = a.planes[plane]; /* loaded before it is needed */
  }

  const TensorArguments &a;
  const int bytes;
  const uint32_t begin, end;
  const int ky;
  uint32_t to;
  int first_row, column; /* of the tile, that this thread copies */
  int rows_left;         /* of the tile, from first_row on */
  int ys[RUNS];          /* rows of the volume that this thread copies;
                                   * < 0: outside */
  int z;                 /* of the next plane to copy if z_sliding,
                                   * otherwise of the output */
  TensorItem item;
  TensorPlane next;
  int left = 0; /* planes of the item */
  int plane = 0;
};

/* The ring for pairs of output planes, from padded volumes. For each volume it
 * copies the planes that the filter reads for the first output, and one more
 * for the second. Warps spend most of their time on copies. The code for a copy
 * therefore computes as little as possible. */
template <typename S>
class TensorPairRing
{
public:
  __device__ TensorPairRing (const TensorArguments &a, uint32_t begin, int ky)
      : a (a), begin (begin), end (begin + a.ring_planes * S::tile_bytes (ky)),
        bytes (S::tile_bytes (ky)), to (begin)
  {
    const int y = threadIdx.x / PER_ROW, at = threadIdx.x % PER_ROW;

    own = a.volumes + (size_t) (a.y + y) * a.row + a.x + 8 * (at / 2 + at % 2);
    rows_left = y < ROWS ? TENSOR_HEIGHT + ky - 1 - y : 0;
    item.number = blockIdx.x;
    begin_item ();
  }
  __device__ __forceinline__ uint32_t after (uint32_t slot) const
  {
    return slot + bytes == end ? begin : slot + bytes;
  }
  __device__ __forceinline__ void copy_next ()
  {
    if (more) {
      const unsigned char *row = from;

#pragma unroll
      for (int i = 0; i < RUNS; i++, row += ROWS * a.row) {
        if (i * ROWS < rows_left)
          cp_async<8> (to + threadIdx.x * 8 + i * ROWS * S::PITCH, row);
      }
      from += a.slice;
      to = after (to);
      if (++plane > a.depth)
        begin_volume (volume + 1);
    }
    cp_async_commit ();
  }

private:
  static constexpr int PER_ROW = S::PITCH / 8;
  static constexpr int ROWS = 2 * TENSOR_THREADS / PER_ROW;
  static constexpr int RUNS = (TENSOR_HEIGHT + S::KY - 1 + ROWS - 1) / ROWS;

  __device__ __forceinline__ void begin_item ()
  {
    more = item.decode (a);
    z = item.z0;
    begin_volume (0);
  }
  __device__ __forceinline__ void begin_volume (int v)
  {
    plane = 0;
    volume = v;
    if (v == a.duration) {
      volume = 0;
      z += 2;
      if (z >= item.z0 + item.length) {
        item.number += gridDim.x;
        more = item.decode (a);
        z = item.z0;
      }
    }
    from = own + a.slots[a.first.slot + volume] * a.volume
        + (z + a.first.z) * a.slice + item.y0 * a.row + item.x0;
  }

  const TensorArguments &a;
  const uint32_t begin, end;
  const int bytes;
  uint32_t to;
  const unsigned char *own, *from;
  int rows_left;
  bool more;
  TensorItem item;
  int z, volume, plane;
};

#endif

} // namespace nd
