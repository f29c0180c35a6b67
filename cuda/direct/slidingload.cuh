/* Planes of samples in shared memory, for the kernel of three axes
 * (cuda/direct/sliding.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/direct/passes.cuh"
#include "cuda/direct/quads.cuh"
#include "cuda/sharedaddress.cuh"

#include <cuda_pipeline.h>

namespace nd
{

constexpr int MARGIN = 4; /* samples beside a strip */
constexpr int QUADS = (STRIP + 2 * MARGIN) / 4;
/* Rows are in different banks: odd numbers of quads apart. */
constexpr int PITCH = QUADS | 1;

struct SlidingVolume
{
  const unsigned char *in; /* nullptr: border volume */
  size_t sample, row, slice;
  bool apart; /* samples of a row are not side by side */
  int border;
  float border_value;
  int size[3];
};

/* The number of samples from a multiple of the size of a quad to address @p. */
template <typename T>
__device__ __forceinline__ unsigned
phase_of (size_t p)
{
  return (unsigned) p / sizeof (T) % 4;
}

/* Copies planes of a tile to stages in shared memory, by all threads of a
 * thread block: quads in memory whose samples are all inside the volume, and
 * single samples beside them. ALIGNED: samples are side by side, and rows begin
 * at multiples of the size of a quad. Otherwise a row begins some samples
 * after such a multiple. That number is its phase; in shared memory the row is
 * further right by it. Single integers are too small for asynchronous copies:
 * they are loaded with one plane and stored with the next. */
template <typename T, int ROWS, int THREADS, bool ALIGNED>
class SlidingLoader
{
public:
  static constexpr int STAGE = ROWS * PITCH; /* quads */

  /* The tile begins at column @x0 - MARGIN and row @y0. @columns: the place of
   * each column in a row, or -1 for the border value. */
  __device__ __forceinline__ SlidingLoader (const SlidingVolume &a, int x0,
      int y0, Quad<T> *stages, const int *columns)
      : a (a), y0 (y0), columns (columns), stages (stages),
        mine (keep_shared (stages + threadIdx.x))
  {
    const int more = !ALIGNED; /* a quad has parts of two in memory */
    const int width = a.size[0] - (x0 - MARGIN);
    const int y = row_of (threadIdx.x / 4);

    begin = x0 < MARGIN ? 1 + more : 0;
    end = max (min (width / 4, QUADS + more), begin);
    if (is_apart ())
      begin = end = 0;
    tail = max (end - more, begin);
    last = min ((width + MARGIN + 3) / 4, QUADS);
    from_row = row_at (y);
    copies_row = threadIdx.x / 4 < ROWS && y >= 0;
#pragma unroll
    for (int j = 0; j < ROUNDS; j++) {
      const int k = threadIdx.x + j * THREADS, q = k % PITCH;
      const int y = row_of (k / PITCH);

      whole[j] = k < STAGE && y >= 0 && q >= begin && q < end;
      from[j] = row_at (y) + (x0 - MARGIN + 4 * q) * (int) sizeof (T);
    }
  }

  /* Copies plane @z, or border values if it is below 0, to stage @slot. The
   * plane before it went to stage @before. */
  __device__ __forceinline__ void copy (int z, int slot, int before)
  {
    store (before);
    if (!a.in || z < 0) {
      fill (slot, 1);
      return;
    }
    const size_t plane = z * a.slice;

#pragma unroll
    for (int j = 0; j < ROUNDS; j++) {
      if (whole[j])
        __pipeline_memcpy_async (mine + slot * STAGE + j * THREADS,
            from[j] + plane - behind (from[j] + plane), sizeof (Quad<T>));
    }
    if (copies_row)
      copy_singles (from_row + plane, slot);
  }

  /* Stores the samples that were loaded for stage @slot. */
  __device__ __forceinline__ void store (int slot)
  {
    if constexpr (is_integer<T>) {
      T *const row = single_row (slot);

      if (!pending)
        return;
      pending = false;
#pragma unroll
      for (int i = 0; i < MOST_SINGLES; i++) {
        if (i == singles ())
          break;
        const int place = column (i) + phase;

        if (!is_copied (place))
          row[place] = held[i];
      }
    }
  }

  /* Fills @n stages with the border value. */
  __device__ __forceinline__ void fill (int slot, int n)
  {
    const T v = (T) a.border_value;

#pragma unroll 1
    for (int k = threadIdx.x; k < n * STAGE; k += THREADS)
      stages[slot * STAGE + k] = Quad<T>{ { v, v, v, v } };
  }

  /* The phase of row @i is the sum of both, modulo 4. */
  __device__ __forceinline__ unsigned phase_of_row (int i) const
  {
    return phase_of<T> ((size_t) row_at (row_of (i)));
  }
  __device__ __forceinline__ unsigned phase_of_plane (int z) const
  {
    return phase_of<T> (max (z, 0) * a.slice);
  }

private:
  static constexpr int ROUNDS = (STAGE + THREADS - 1) / THREADS;
  /* Quads with single samples, of a row: one at its begin, and two at its end.
   * At both, another one can have some. */
  static constexpr int MOST_SINGLES = ALIGNED ? 3 : 5;

  static_assert (ROWS * 4 <= THREADS, "a thread has one row of singles");
  static_assert (PITCH > QUADS, "a row that is shifted has one quad more");

  __device__ __forceinline__ bool is_apart () const
  {
    return !ALIGNED && a.apart;
  }
  /* The bytes from the begin of a quad in memory to @p. */
  __device__ __forceinline__ size_t behind (const unsigned char *p) const
  {
    return ALIGNED ? 0 : (size_t) p % sizeof (Quad<T>);
  }

  /* The row of the volume that row @i of the tile is, or -1. */
  __device__ __forceinline__ int row_of (int i) const
  {
    return border_index (a.border, y0 + i, a.size[1]);
  }
  __device__ __forceinline__ const unsigned char *row_at (int y) const
  {
    return a.in + max (y, 0) * a.row;
  }

  /* The quads of columns with single samples: those before @begin and those
   * from @tail to @last - 1. */
  __device__ __forceinline__ int singles () const
  {
    return begin + max (last - tail, 0);
  }
  /* A column of this thread in one of them. */
  __device__ __forceinline__ int column (int i) const
  {
    return 4 * (i < begin ? i : i - begin + tail) + (int) threadIdx.x % 4;
  }
  __device__ __forceinline__ T *single_row (int slot) const
  {
    return (T *) (stages + slot * STAGE + threadIdx.x / 4 * PITCH);
  }
  /* Whether the sample at @place in a row of shared memory is in a quad that is
   * copied as a whole. */
  __device__ __forceinline__ bool is_copied (int place) const
  {
    return !ALIGNED && place >= 4 * begin && place < 4 * end;
  }

  __device__ __forceinline__ void copy_singles (const unsigned char *row,
      int slot)
  {
    phase = ALIGNED || a.apart ? 0 : phase_of<T> ((size_t) row);
    if (is_integer<T> && !is_apart ()) {
      pending = true;
#pragma unroll
      for (int i = 0; i < MOST_SINGLES; i++) {
        if (i == singles ())
          break;
        const int at = columns[column (i)];

        held[i] = at >= 0 ? *(const T *) (row + at * (int) sizeof (T))
                          : (T) a.border_value;
      }
      return;
    }
    T *const to = single_row (slot);

#pragma unroll 1
    for (int i = 0; i < singles (); i++) {
      const int at = columns[column (i)], place = column (i) + phase;

      if (is_copied (place))
        continue;
      if (at < 0)
        to[place] = (T) a.border_value;
      else if constexpr (is_integer<T>)
        to[place] = *(const T *) (row + at * a.sample);
      else
        __pipeline_memcpy_async (to + place, row + at * a.sample, sizeof (T));
    }
  }

  const SlidingVolume &a;
  const int y0;
  const int *const columns;
  Quad<T> *const stages, *const mine;
  int begin, end; /* the quads that are copied as a whole */
  int tail, last;
  int phase = 0; /* of the row with single samples */
  bool whole[ROUNDS], copies_row, pending = false;
  const unsigned char *from[ROUNDS], *from_row;
  T held[is_integer<T> ? MOST_SINGLES : 1];
};

/* Reads @n samples, the first one @phase samples after @quads. */
template <typename T, int N>
__device__ __forceinline__ void
read_shifted (const Quad<T> *quads, unsigned phase, float (&v)[N])
{
  if constexpr (sizeof (T) == 4) {
    const float2 *const from = (const float2 *) quads + phase / 2;
    float2 pair = from[0];

#pragma unroll
    for (int i = 0; i < N; i += 2) {
      const float2 next = from[i / 2 + 1];

      v[i] = phase % 2 ? pair.y : pair.x;
      v[i + 1] = phase % 2 ? next.x : pair.y;
      pair = next;
    }
  } else {
    constexpr int OF_WORD = 4 / sizeof (T);
    const unsigned *const from = (const unsigned *) quads + phase / OF_WORD;
    const unsigned bits = phase % OF_WORD * (8 * sizeof (T));
    unsigned word = from[0];

#pragma unroll
    for (int q = 0; q < N / 4; q++) {
      alignas (Quad<T>) unsigned words[4 / OF_WORD];

#pragma unroll
      for (int i = 0; i < 4 / OF_WORD; i++) {
        const unsigned next = from[q * (4 / OF_WORD) + i + 1];

        words[i] = __funnelshift_r (word, next, bits);
        word = next;
      }
      to_floats (*(const Quad<T> *) words, v + 4 * q);
    }
  }
}

} // namespace nd
