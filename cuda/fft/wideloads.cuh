/* How the samples of wide blocks come to the registers of threads. The copy
 * engine brings pairs of blocks to shared memory. Threads load the blocks that
 * it cannot read, and those at a border whose samples are not near the edge of
 * the volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/copybarrier.cuh"
#include "cuda/fft/wide.cuh"
#include "cuda/sync.cuh"

namespace nd
{

/* The distance of rows of numbers in shared memory: threads that access rows
 * with 16 bytes each have no bank conflicts. */
constexpr int WIDE_PITCH = WIDE + 2;

/* Samples of a block as the copy engine brings them. */
template <typename T>
constexpr int ROW_BYTES = copied_samples (sizeof (T)) * sizeof (T);
template <typename T>
constexpr int TILE_BYTES = WIDE * ROW_BYTES<T>;

/* The block after that at @at. */
__device__ __forceinline__ Corner
next_corner (const Blocks &b, Corner at)
{
  at.x += b.valid[0];
  if (at.x >= b.outputs[0]) {
    at.x = 0;
    at.y += b.valid[1];
  }
  if (at.y >= b.outputs[1]) {
    at.y = 0;
    at.z++;
  }
  return at;
}

__device__ __forceinline__ bool
is_within (const Blocks &b, const Corner &at, int axis)
{
  const int first = (axis == 0 ? at.x : at.y) + b.low[axis];

  return first >= 0 && first + WIDE <= b.shape[axis];
}

__device__ __forceinline__ bool
is_inside (const Blocks &b, const Corner &at)
{
  return is_within (b, at, 0) && is_within (b, at, 1);
}

/* Whether each sample along an axis that a filter reads in the block, or the
 * one that the border repeats in its place, is in the block. */
__device__ __forceinline__ bool
repeats_own (const Blocks &b, const Corner &at, int axis)
{
  const int begin = axis == 0 ? at.x : at.y, n = b.shape[axis];
  const int first = begin + b.low[axis];
  const int last = min (begin + WIDE, b.padded[axis]) - 1 + b.low[axis];

  return n >= WIDE && first < n
      && (first >= 0 || border_index (b.border, first, n) < first + WIDE)
      && (last < n || border_index (b.border, last, n) >= first);
}

/* Whether the copy engine brings the block: its rows and columns are in the
 * volume, or samples near them that are copied too. */
__device__ __forceinline__ bool
is_copied (const Blocks &b, const Corner &at)
{
  return is_inside (b, at)
      || (b.border != ND_BORDER_WRAP && b.border != ND_BORDER_CONSTANT
          && (is_within (b, at, 1) || repeats_own (b, at, 1)));
}

/* The two blocks of a pair, in shared memory, because each thread would need
 * registers for them. If the second one does not exist, it is the first one
 * again, and nothing of it is stored. */
struct Pair
{
  Corner at[2];
  bool has_second, is_copied;
};

__device__ __forceinline__ Pair
pair_of (const Blocks &b, int i)
{
  const Corner first = corner_of (b, 2 * i);
  const Corner second = next_corner (b, first);
  const bool has_second = second.z < b.outputs[2];

  return Pair{ { first, has_second ? second : first }, has_second,
    is_copied (b, first) && (!has_second || is_copied (b, second)) };
}

/* The first sample of a row that is copied: those that the block contains, or
 * the last ones near them. */
template <typename T>
__device__ __forceinline__ int
first_copied (const Blocks &b, const Corner &at)
{
  const int first = min (max (at.x + b.low[0], 0), b.shape[0] - WIDE);

  return first & ~(int) (16 / sizeof (T) - 1);
}

template <typename T>
__device__ __forceinline__ void
copy_pair (const WideArguments &a, const Pair &pair, CopyBarrier arrived,
    unsigned char *to)
{
  const Blocks &b = a.blocks;

  if (threadIdx.x % WIDE > 0 || !pair.is_copied)
    return;
  arrived.arrive_and_expect (2 * TILE_BYTES<T>);
#pragma unroll
  for (int i = 0; i < 2; i++)
    copy_box (shared_address (to + i * TILE_BYTES<T>), a.map,
        first_copied<T> (b, pair.at[i]), pair.at[i].y + b.low[1],
        pair.at[i].z + b.low[2], arrived);
}

/* copy_pair () when all threads have read the shared memory of the pair. */
template <typename T>
__device__ __forceinline__ void
copy_next (const WideArguments &a, const Pair &pair, CopyBarrier arrived,
    unsigned char *to)
{
  fence_view_async_shared ();
  wait_for_group<WIDE> ();
  copy_pair<T> (a, pair, arrived, to);
}

/* The thread's column in a copied block. A column that no filter reads may
 * contain any samples. */
template <typename T>
__device__ __forceinline__ unsigned char *
copied_column (const Blocks &b, const Corner &at, unsigned char *tile)
{
  const int x = padded_index (b, 0, at.x + threadIdx.x % WIDE);

  return tile + (x >= 0 ? x - first_copied<T> (b, at) : 0) * sizeof (T);
}

/* Replaces the rows beyond an edge in the thread's column of a copied block.
 * Other threads may have the same column. They write the same samples. */
template <typename T>
__device__ __noinline__ void
repeat_rows (const Blocks &b, const Corner &at, unsigned char *column)
{
  const int first = at.y + b.low[1];

#pragma unroll 1
  for (int y = 0; y < min (WIDE, b.padded[1] - at.y); y++) {
    if (first + y < 0 || first + y >= b.shape[1])
      *(T *) (column + y * ROW_BYTES<T>) = *(const T *) (column
          + (border_index (b.border, first + y, b.shape[1]) - first)
              * ROW_BYTES<T>);
  }
}

template <typename T>
__device__ __forceinline__ void
load_copied (const WideArguments &a, const Pair &pair, unsigned char *from,
    float2 (&v)[WIDE])
{
  const Blocks &b = a.blocks;
  unsigned char *const p0 = copied_column<T> (b, pair.at[0], from);
  unsigned char *const p1 =
      copied_column<T> (b, pair.at[1], from + TILE_BYTES<T>);

  if (!is_within (b, pair.at[0], 1))
    repeat_rows<T> (b, pair.at[0], p0);
  if (!is_within (b, pair.at[1], 1))
    repeat_rows<T> (b, pair.at[1], p1);
#pragma unroll
  for (int y = 0; y < WIDE; y++)
    v[y] = make_float2 (load_sample<T> (p0 + y * ROW_BYTES<T>),
        load_sample<T> (p1 + y * ROW_BYTES<T>));
}

template <typename T>
__device__ __forceinline__ const unsigned char *
first_sample (const WideArguments &a, const Corner &at)
{
  return a.in.in + (at.x + a.blocks.low[0] + threadIdx.x % WIDE) * a.in.sample
      + (at.y + a.blocks.low[1]) * a.in.row
      + (at.z + a.blocks.low[2]) * a.in.slice;
}

/* Blocks whose samples are all in the volume, and that the copy engine cannot
 * read. */
template <typename T>
__device__ __forceinline__ void
load_inside (const WideArguments &a, const Pair &pair, float2 (&v)[WIDE])
{
  const unsigned char *const p0 = first_sample<T> (a, pair.at[0]);
  const unsigned char *const p1 = first_sample<T> (a, pair.at[1]);

#pragma unroll
  for (int y = 0; y < WIDE; y++)
    v[y] = make_float2 (load_sample<T> (row_at (p0, a.in.row, y)),
        load_sample<T> (row_at (p1, a.in.row, y)));
}

/* Lists a sample that is not finite. Only the last block that contains it
 * does. */
__device__ __noinline__ static void
list_non_finite (const WideArguments &a, const Corner &at, int row, float value)
{
  const Blocks &b = a.blocks;
  const int column = threadIdx.x % WIDE;

  if (a.in.non_finite.count
      && (column < b.valid[0] || at.x + b.valid[0] >= b.outputs[0])
      && (row < b.valid[1] || at.y + b.valid[1] >= b.outputs[1]))
    add_non_finite (a.in.non_finite, b.first[0] + at.x + column,
        b.first[1] + at.y + row, b.first[2] + at.z, value);
}

/* Loads a column of any block, the real or the imaginary part of @column, which
 * is the thread's own part of shared memory. FINITE: lists samples that are not
 * finite and takes 0 for them. The code is apart, because it is seldom used and
 * instruction caches are small. */
template <typename T, bool FINITE>
__device__ __noinline__ void
load_any (const WideArguments &a, const Corner &at, float *column)
{
  constexpr int GROUP = 16; /* loads at a time */
  const Blocks b = a.blocks;
  const size_t row_bytes = a.in.row;
  const int x = padded_index (b, 0, at.x + threadIdx.x % WIDE);
  const unsigned char *const p =
      a.in.in + max (x, 0) * a.in.sample + (at.z + b.low[2]) * a.in.slice;

#pragma unroll 1
  for (int row = 0; row < WIDE; row += GROUP) {
    const int mine = padded_index (b, 1, at.y + row + threadIdx.x % GROUP);
    float values[GROUP];

#pragma unroll
    for (int i = 0; i < GROUP; i++) {
      const int y = __shfl_sync (~0u, mine, i);

      values[i] = load_sample<T> (p + max (y, 0) * row_bytes);
      if (x < 0 || y < 0)
        values[i] = beyond (b, x, y, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
      if (FINITE && !isfinite (values[i])) {
        list_non_finite (a, at, row + i, values[i]);
        values[i] = 0;
      }
      column[2 * (row + i) * WIDE_PITCH] = values[i];
    }
  }
}

} // namespace nd
