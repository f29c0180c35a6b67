/* Rows of samples that the warps of a thread block copy to shared memory before
 * a block of 32 x 32 x 32 samples is computed (cuda/fft/volumelean.cu).
 * Instead of samples beyond the edge, the samples are copied that the border
 * repeats.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/volumecolumns.cuh"

#include <cuda_pipeline.h>

namespace nd
{

constexpr int VECTOR = 16; /* bytes that a thread copies at once */

/* Writes the samples of two planes of any block to rows of @pitch bytes in
 * shared memory of the warp; beyond a border of a constant, any samples. Not
 * inlined, because it is seldom called. */
template <typename T>
__device__ __noinline__ void
gather_rows (const BlockArguments &a, const Corner &at, int plane,
    unsigned char *to, int pitch)
{
  const Blocks &b = a.blocks;
  const int lane = threadIdx.x % 32;
  const int x = max (padded_index (b, 0, at.x + lane), 0);
  const int y = max (padded_index (b, 1, at.y + lane), 0);

  to += lane * sizeof (T);
  for (int i = 0; i < 2; i++, plane++) {
    const int z = max (padded_index (b, 2, at.z + plane), 0);
    const unsigned char *const p = a.in.in + x * a.in.sample + z * a.in.slice;

#pragma unroll 8
    for (int j = 0; j < BLOCK; j++, to += pitch)
      *(T *) to = *(const T *) (p + __shfl_sync (~0u, y, j) * a.in.row);
  }
}

/* The rows of the two planes of a warp. */
template <typename T>
class Rows
{
public:
  /* Whole vectors hold a row, which begins anywhere in the first one. */
  static constexpr int MULTIPLE = VECTOR / (int) sizeof (T);
  static constexpr int VECTORS = BLOCK / MULTIPLE + 1;
  static constexpr int ROW = VECTORS * VECTOR; /* bytes in shared memory */
  static constexpr int BYTES = 2 * BLOCK * ROW;

  /* All warps call each function. @to: the number of shared_planes () with
   * which the BYTES of the warp begin. */
  __device__ __forceinline__ explicit Rows (int to) : to (to) {}

  /* Begins to copy the rows of a block. */
  __device__ __forceinline__ void copy (const BlockArguments &a,
      const Columns &c)
  {
    const Blocks &b = a.blocks;
    const int lane = threadIdx.x % 32;
    const int x = near_index (b, 0, c.at[0].x + lane);
    const int y = near_index (b, 1, c.at[0].y + lane);
    const int z[2] = { near_index (b, 2, c.at[0].z + c.plane[0]),
      near_index (b, 2, c.at[0].z + c.plane[1]) };
    const int x0 = c.at[0].x + b.low[0];
    const int first = max (x0, 0) / MULTIPLE * MULTIPLE;
    const int end =
        min ((x0 + BLOCK + MULTIPLE - 1) / MULTIPLE * MULTIPLE, b.shape[0]);

    column = x - first;
    __syncwarp (); /* the warp does not need the memory any more */
    if (__all_sync (~0u,
            x >= first && x < end && y >= 0 && z[0] >= 0 && z[1] >= 0)) {
      copy_vectors (a.in, first, end - first, y, z);
    } else {
      column = lane;
      gather_rows<T> (a, c.at[0], c.plane[0], memory (), ROW);
    }
    __pipeline_commit ();
  }

  /* Replaces samples that are not finite by 0, and lists them. Only the last
   * block that contains a sample lists it. Lanes may read the same sample, but
   * only in one row at a time. */
  __device__ __forceinline__ void take_out_non_finite (const BlockArguments &a,
      const Columns &c) const
  {
    const Blocks &b = a.blocks;
    const Corner &at = c.at[0];
    const int lane = threadIdx.x % 32;
    unsigned char *p = memory () + column * sizeof (T);

#pragma unroll 1
    for (int i = 0; i < 2 * BLOCK; i++, p += ROW) {
      const int y = i % BLOCK, z = c.plane[0] + i / BLOCK;
      const float value = load_sample<T> (p);

      __syncwarp ();
      if (isfinite (value))
        continue;
      *(T *) p = 0;
      if (is_listed (b, 0, at.x, lane) && is_listed (b, 1, at.y, y)
          && is_listed (b, 2, at.z, z) && a.in.non_finite.count)
        add_non_finite (a.in.non_finite, b.first[0] + at.x + lane,
            b.first[1] + at.y + y, b.first[2] + at.z + z, value);
    }
    __syncwarp ();
  }

  /* Waits for the rows, and loads the columns of the block from them. */
  __device__ __forceinline__ void load (const BlockArguments &a,
      const Columns &c, float2 (&v)[BLOCK]) const
  {
    const unsigned char *const from = memory () + column * sizeof (T);

    __pipeline_wait_prior (0);
    __syncwarp ();
#pragma unroll
    for (int y = 0; y < BLOCK; y++) {
      v[y].x = load_sample<T> (from + y * ROW);
      v[y].y = load_sample<T> (from + (BLOCK + y) * ROW);
    }
    if (a.blocks.border == ND_BORDER_CONSTANT && !is_inside (a.blocks, c))
      set_border (a.blocks, c, v);
    __syncwarp ();
  }

private:
  /* The index in the volume of the sample at index @i of the padded volume, or
   * one beside it if the border is a constant, or if no filter reads there. -1
   * if it is too far beyond the edge. */
  __device__ __forceinline__ static int near_index (const Blocks &b, int axis,
      int i)
  {
    const int n = b.shape[axis];
    const int k = min (i, b.padded[axis] - 1) + b.low[axis];
    const int j =
        k >= 0 && k < n ? k : nd_border_near_int ((NdBorder) b.border, k, n);

    return j < n ? j : -1;
  }

  /* Copies @n samples from @first on of each row. @y: of the lane's row. A
   * thread copies the same vector of several rows, and then the last vector of
   * one row. */
  __device__ __forceinline__ void copy_vectors (const BlockInput &in, int first,
      int n, int y, const int (&z)[2]) const
  {
    constexpr int SIDE = VECTORS - 1; /* vectors side by side */
    constexpr int ROWS = 32 / SIDE;
    const int lane = threadIdx.x % 32;
    const int row = lane / SIDE, vector = lane % SIDE;
    const unsigned char *p[2];
    int rows[SIDE];

#pragma unroll
    for (int i = 0; i < 2; i++)
      p[i] = in.in + z[i] * in.slice + first * sizeof (T);
    if (n > SIDE * MULTIPLE) {
#pragma unroll
      for (int i = 0; i < 2; i++)
        __pipeline_memcpy_async (memory () + (i * BLOCK + lane) * ROW
                + SIDE * VECTOR,
            row_at (p[i] + SIDE * VECTOR, in.row, y), VECTOR);
    }
#pragma unroll
    for (int j = 0; j < SIDE; j++)
      rows[j] = __shfl_sync (~0u, y, j * ROWS + row);
    if (vector * MULTIPLE < n) {
#pragma unroll
      for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int j = 0; j < SIDE; j++)
          __pipeline_memcpy_async (memory ()
                  + (i * BLOCK + j * ROWS + row) * ROW + vector * VECTOR,
              row_at (p[i] + vector * VECTOR, in.row, rows[j]), VECTOR);
      }
    }
  }

  /* Whether a block that begins at @begin is the last one that contains its
   * sample at @i along an axis, and filters read that sample. */
  __device__ static bool is_listed (const Blocks &b, int axis, int begin, int i)
  {
    return (i < b.valid[axis] || begin + b.valid[axis] >= b.outputs[axis])
        && begin + i < b.padded[axis]
        && (b.border != ND_BORDER_CONSTANT
            || is_in_volume (b, axis, begin + i));
  }

  /* Replaces the samples outside of the volume by the border's value. */
  __device__ __forceinline__ static void set_border (const Blocks &b,
      const Columns &c, float2 (&v)[BLOCK])
  {
    const int lane = threadIdx.x % 32;
    const Corner &at = c.at[0];
    const unsigned rows = __ballot_sync (~0u, is_in_volume (b, 1, at.y + lane));
    const bool x = is_in_volume (b, 0, at.x + lane);
    const unsigned inside[2] = {
      x && is_in_volume (b, 2, at.z + c.plane[0]) ? rows : 0,
      x && is_in_volume (b, 2, at.z + c.plane[1]) ? rows : 0
    };

#pragma unroll
    for (int y = 0; y < BLOCK; y++) {
      v[y].x = inside[0] >> y & 1 ? v[y].x : b.border_value;
      v[y].y = inside[1] >> y & 1 ? v[y].y : b.border_value;
    }
  }

  __device__ __forceinline__ unsigned char *memory () const
  {
    return (unsigned char *) (shared_planes () + to);
  }

  const int to;
  int column = 0; /* of the lane's samples in the rows */
};

} // namespace nd
