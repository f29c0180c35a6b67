/* How the samples of wide blocks come to the registers of threads. The copy
 * engine brings pairs of blocks to shared memory. Threads load the pairs that
 * it cannot read, and those at a border whose samples are not near the edge of
 * the volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/copybarrier.cuh"
#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/wide.cuh"
#include "cuda/sync.cuh"

namespace nd
{

/* Samples of a pair as the copy engine brings them. */
template <typename T>
constexpr int ROW = copied_samples (sizeof (T));
template <typename T>
constexpr int ROW_BYTES = ROW<T> * sizeof (T);
template <typename T>
constexpr int TILE_BYTES = WIDE * ROW_BYTES<T>;

/* wait_for_group () that tells all threads of the group whether @one of them
 * is true. */
template <int THREADS>
__device__ __forceinline__ bool
any_of_group (bool one)
{
  unsigned any;

  asm volatile ("{\n.reg .pred one, any;\n"
                "setp.ne.u32 one, %3, 0;\n"
                "bar.red.or.pred any, %1, %2, one;\n"
                "selp.u32 %0, 1, 0, any;\n}"
                : "=r"(any)
                : "r"((int) threadIdx.x / THREADS + 1), "n"(THREADS),
                "r"((unsigned) one)
                : "memory");
  return any;
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

/* The two blocks of a pair, in shared memory, because each thread would need
 * registers for them. If the second one does not exist, nothing of it is
 * stored. */
struct WidePair
{
  int x, y, z; /* the first output of the first block */
  bool is_copied;

  __device__ __forceinline__ Corner at (const Blocks &b, int i) const
  {
    return Corner{ x + i * b.valid[0], y, z };
  }
};

__device__ __forceinline__ bool
contains (const WideRange &range, int i)
{
  return i >= range.begin && i < range.end;
}

__device__ __forceinline__ WidePair
pair_at (const WideArguments &a, int x, int y, int z)
{
  return WidePair{ x, y, z,
    contains (a.copied[0], x) && contains (a.copied[1], y) };
}

__device__ __forceinline__ WidePair
pair_of (const WideArguments &a, int i)
{
  const Blocks &b = a.blocks;

  return pair_at (a, i % a.row_pairs * 2 * b.valid[0],
      i / a.row_pairs % b.count[1] * b.valid[1], i / a.row_pairs / b.count[1]);
}

/* The next pair of the same threads. */
__device__ __forceinline__ WidePair
next_pair (const WideArguments &a, const WidePair &pair)
{
  const int width = a.row_pairs * 2 * a.blocks.valid[0];
  const int height = a.blocks.count[1] * a.blocks.valid[1];
  int x = pair.x + a.step[0], y = pair.y + a.step[1], z = pair.z + a.step[2];

  if (x >= width) {
    x -= width;
    y += a.blocks.valid[1];
  }
  if (y >= height) {
    y -= height;
    z++;
  }
  return pair_at (a, x, y, z);
}

template <typename T>
__device__ __forceinline__ void
copy_pair (const WideArguments &a, const WidePair &pair, CopyBarrier arrived,
    unsigned char *to)
{
  const Blocks &b = a.blocks;

  if (threadIdx.x % WIDE > 0 || !pair.is_copied)
    return;
  arrived.arrive_and_expect (TILE_BYTES<T>);
  copy_box (shared_address (to), a.map, first_copied<sizeof (T)> (b, pair.x),
      pair.y + b.low[1], pair.z + b.low[2], arrived);
}

/* copy_pair () when all threads have read the shared memory of the pair. */
template <typename T>
__device__ __forceinline__ void
copy_next (const WideArguments &a, const WidePair &pair, CopyBarrier arrived,
    unsigned char *to)
{
  fence_view_async_shared ();
  wait_for_group<WIDE> ();
  copy_pair<T> (a, pair, arrived, to);
}

/* The thread's column of block @i in a copied pair. A column that no filter
 * reads may contain any samples. */
template <typename T>
__device__ __forceinline__ const unsigned char *
copied_column (const Blocks &b, const WidePair &pair, int i,
    const unsigned char *tile)
{
  const int x = pair.x + i * b.valid[0] + b.low[0] + threadIdx.x % WIDE;
  const int column = copied_index (b.border, x, b.shape[0])
      - first_copied<sizeof (T)> (b, pair.x);

  return tile + min (max (column, 0), ROW<T> - 1) * sizeof (T);
}

/* Replaces the rows beyond an edge in a copied pair. */
template <typename T>
__device__ __noinline__ void
repeat_rows (const Blocks &b, int y, unsigned char *tile)
{
  const int first = y + b.low[1], n = min (WIDE, b.padded[1] - y);
  T *const samples = (T *) tile;

#pragma unroll 1
  for (int row = 0; row < n; row++) {
    if (first + row < 0 || first + row >= b.shape[1]) {
      const int from = copied_index (b.border, first + row, b.shape[1]) - first;

      for (int x = threadIdx.x % WIDE; x < ROW<T>; x += WIDE)
        samples[row * ROW<T> + x] = samples[from * ROW<T> + x];
    }
  }
  wait_for_group<WIDE> ();
}

template <typename T>
__device__ __forceinline__ void
load_copied (const WideArguments &a, const WidePair &pair, unsigned char *from,
    float2 (&v)[WIDE])
{
  const Blocks &b = a.blocks;
  const unsigned char *const p0 = copied_column<T> (b, pair, 0, from);
  const unsigned char *const p1 = copied_column<T> (b, pair, 1, from);

  if (!is_within (b, pair.at (b, 0), 1))
    repeat_rows<T> (b, pair.y, from);
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

/* Pairs whose samples are all in the volume, and that the copy engine cannot
 * read. */
template <typename T>
__device__ __forceinline__ void
load_inside (const WideArguments &a, const WidePair &pair, float2 (&v)[WIDE])
{
  const unsigned char *const p0 = first_sample<T> (a, pair.at (a.blocks, 0));
  const unsigned char *const p1 = first_sample<T> (a, pair.at (a.blocks, 1));

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
      column[2 * (row + i) * WIDE] = values[i];
    }
  }
}

} // namespace nd
