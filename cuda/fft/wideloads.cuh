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

/* The second block of the pair. If there is none, it is the first one again,
 * and nothing of it is stored. */
__device__ __forceinline__ Corner
second_corner (const Blocks &b, const Corner &at)
{
  const Corner next = next_corner (b, at);

  return next.z < b.outputs[2] ? next : at;
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

/* Whether the copy engine brings the block: its rows are in the volume, and so
 * are its columns, or samples near them that are copied too. */
__device__ __forceinline__ bool
is_copied (const Blocks &b, const Corner &at)
{
  return is_within (b, at, 1)
      && (is_within (b, at, 0)
          || (b.border != ND_BORDER_WRAP && b.border != ND_BORDER_CONSTANT));
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
copy_pair (const WideArguments &a, const Corner &at, CopyBarrier arrived,
    unsigned char *to)
{
  const Blocks &b = a.blocks;
  const Corner second = second_corner (b, at);

  if (threadIdx.x % WIDE > 0 || !is_copied (b, at) || !is_copied (b, second))
    return;
  arrived.arrive_and_expect (2 * TILE_BYTES<T>);
  copy_box (shared_address (to), a.map, first_copied<T> (b, at),
      at.y + b.low[1], at.z + b.low[2], arrived);
  copy_box (shared_address (to + TILE_BYTES<T>), a.map,
      first_copied<T> (b, second), second.y + b.low[1], second.z + b.low[2],
      arrived);
}

/* copy_pair () when all threads have read the shared memory of the pair. */
template <typename T>
__device__ __forceinline__ void
copy_next (const WideArguments &a, const Corner &at, CopyBarrier arrived,
    unsigned char *to)
{
  fence_view_async_shared ();
  wait_for_group<WIDE> ();
  copy_pair<T> (a, at, arrived, to);
}

/* The thread's column in a copied block. A column that no filter reads may
 * contain any samples. */
template <typename T>
__device__ __forceinline__ const unsigned char *
copied_column (const Blocks &b, const Corner &at, const unsigned char *tile)
{
  const int x = padded_index (b, 0, at.x + threadIdx.x % WIDE);

  return tile + (x >= 0 ? x - first_copied<T> (b, at) : 0) * sizeof (T);
}

template <typename T>
__device__ __forceinline__ void
load_copied (const WideArguments &a, const Corner &at, const Corner &second,
    const unsigned char *from, float2 (&v)[WIDE])
{
  const unsigned char *const p0 = copied_column<T> (a.blocks, at, from);
  const unsigned char *const p1 =
      copied_column<T> (a.blocks, second, from + TILE_BYTES<T>);

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
load_inside (const WideArguments &a, const Corner &at, const Corner &second,
    float2 (&v)[WIDE])
{
  const unsigned char *const p0 = first_sample<T> (a, at);
  const unsigned char *const p1 = first_sample<T> (a, second);

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
