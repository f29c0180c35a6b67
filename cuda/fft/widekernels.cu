/* The kernel for wide blocks. A thread has a column or a row of 64 numbers of a
 * pair of blocks in registers; one block is the real part and the other the
 * imaginary part of complex numbers. Filters are real and do not mix the two.
 *
 * A thread block stays on its multiprocessor and goes through many pairs. While
 * it transforms the last columns of a pair and stores them, the copy engine
 * brings the samples of the next pair into the shared memory through which rows
 * and columns are exchanged.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/device.h"
#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/transform64.cuh"
#include "cuda/fft/wide.cuh"
#include "cuda/sync.cuh"

#include <algorithm>
#include <cstdint>

namespace nd
{

namespace
{

/* The pairs that a thread block computes at a time. The registers of a
 * multiprocessor suffice for so many. */
constexpr int PAIRS = 6;

/* The distance of rows of numbers in shared memory: threads that access rows
 * with 16 bytes each have no bank conflicts. */
constexpr int WIDE_PITCH = WIDE + 2;

/* Samples of a block as the copy engine brings them. */
template <typename T>
constexpr int ROW_BYTES = copied_samples (sizeof (T)) * sizeof (T);
template <typename T>
constexpr int TILE_BYTES = WIDE * ROW_BYTES<T>;

/* Shared memory of a pair, and of all pairs of a thread block. */
constexpr size_t PAIR_BYTES =
    std::max<size_t> (sizeof (float2) * WIDE * WIDE_PITCH,
        2 * TILE_BYTES<float>);
constexpr size_t COMMON_BYTES =
    (sizeof (float2) * WIDE_NUMBERS + (sizeof (uint64_t) + 64) * PAIRS + 127)
    / 128 * 128;

/* The barrier in shared memory that counts the bytes of a pair (PTX ISA,
 * mbarrier). */
struct Arrivals
{
  uint32_t barrier; /* shared address */
  uint32_t parity = 0;

  __device__ __forceinline__ explicit Arrivals (uint64_t *in_shared)
      : barrier ((uint32_t) __cvta_generic_to_shared (in_shared))
  {
  }

  __device__ __forceinline__ void init () const
  {
#if __CUDA_ARCH__ >= 900
    asm volatile ("mbarrier.init.shared::cta.b64 [%0], 1;"
                  :
                  : "r"(barrier)
                  : "memory");
#endif
  }

  __device__ __forceinline__ void expect (int bytes) const
  {
#if __CUDA_ARCH__ >= 900
    asm volatile ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                  :
                  : "r"(barrier), "r"(bytes)
                  : "memory");
#endif
  }

  /* Copies the box of @map at (x, y, z). */
  __device__ __forceinline__ void copy_box (void *to, const CUtensorMap &map,
      int x, int y, int z) const
  {
#if __CUDA_ARCH__ >= 900
    asm volatile ("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
                  ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
                  "[%5];"
                  :
                  : "r"((uint32_t) __cvta_generic_to_shared (to)), "l"(&map),
                  "r"(x), "r"(y), "r"(z), "r"(barrier)
                  : "memory");
#endif
  }

  __device__ __forceinline__ void wait ()
  {
#if __CUDA_ARCH__ >= 900
    asm volatile ("{\n.reg .pred done;\n"
                  "again:\n"
                  "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                  "@!done bra again;\n}"
                  :
                  : "r"(barrier), "r"(parity)
                  : "memory");
    parity ^= 1;
#endif
  }
};

/* Waits for the threads of the pair. */
__device__ __forceinline__ void
wait_for_pair ()
{
  asm volatile ("bar.sync %0, %1;"
                :
                : "r"((int) threadIdx.x / WIDE + 1), "n"(WIDE)
                : "memory");
}

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

  return n >= WIDE && first >= -WIDE / 2 && first < n
      && 2 * n - 2 - last >= first;
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
copy_pair (const WideArguments &a, const Pair &pair, const Arrivals &arrivals,
    unsigned char *to)
{
  const Blocks &b = a.blocks;

  if (threadIdx.x % WIDE > 0 || !pair.is_copied)
    return;
  arrivals.expect (2 * TILE_BYTES<T>);
#pragma unroll
  for (int i = 0; i < 2; i++)
    arrivals.copy_box (to + i * TILE_BYTES<T>, a.map,
        first_copied<T> (b, pair.at[i]), pair.at[i].y + b.low[1],
        pair.at[i].z + b.low[2]);
}

/* copy_pair () when all threads have read the shared memory of the pair. */
template <typename T>
__device__ __forceinline__ void
copy_next (const WideArguments &a, const Pair &pair, const Arrivals &arrivals,
    unsigned char *to)
{
  fence_view_async_shared ();
  wait_for_pair ();
  copy_pair<T> (a, pair, arrivals, to);
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
__device__ __noinline__ void
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

/* Exchanges the columns of the threads for rows. */
__device__ __forceinline__ void
load_rows (float2 *plane, float2 (&v)[WIDE])
{
  const int t = threadIdx.x % WIDE;

#pragma unroll
  for (int y = 0; y < WIDE; y++)
    plane[y * WIDE_PITCH + t] = v[y];
  wait_for_pair ();
#pragma unroll
  for (int x = 0; x < WIDE; x += 2) {
    const float4 two = *(const float4 *) (plane + t * WIDE_PITCH + x);

    v[x] = make_float2 (two.x, two.y);
    v[x + 1] = make_float2 (two.z, two.w);
  }
}

__device__ __forceinline__ void
load_columns (float2 *plane, float2 (&v)[WIDE])
{
  const int t = threadIdx.x % WIDE;

#pragma unroll
  for (int x = 0; x < WIDE; x += 2)
    *(float4 *) (plane + t * WIDE_PITCH + x) =
        make_float4 (v[x].x, v[x].y, v[x + 1].x, v[x + 1].y);
  wait_for_pair ();
#pragma unroll
  for (int y = 0; y < WIDE; y++)
    v[y] = plane[y * WIDE_PITCH + t];
}

/* Multiplies a row of the spectrum. Real and imaginary parts are exchanged, so
 * that the transform of the products is their inverse transform, with real and
 * imaginary parts exchanged. The filter's number at (kx, ky) is the conjugate
 * of that at (-kx, -ky). */
__device__ __forceinline__ void
multiply_row (const float2 *filter, float2 (&v)[WIDE])
{
  const int t = threadIdx.x % WIDE;
  const float2 *const row = filter + min (t, WIDE - t);

  if (t < WIDE / 2) {
#pragma unroll
    for (int k = 0; k < WIDE; k++) {
      const float2 f = row[k * WIDE_HALF];

      v[k] = make_float2 (fmaf (v[k].x, f.y, v[k].y * f.x),
          fmaf (v[k].x, f.x, -v[k].y * f.y));
    }
  } else {
#pragma unroll
    for (int k = 0; k < WIDE; k++) {
      const float2 f = row[(WIDE - k) % WIDE * WIDE_HALF];

      v[k] = make_float2 (fmaf (v[k].y, f.x, -v[k].x * f.y),
          fmaf (v[k].x, f.x, v[k].y * f.y));
    }
  }
}

/* @p: an address in global memory, which the compiler would not know. */
template <typename OUT>
__device__ __forceinline__ void
put (uint64_t p, float response)
{
  const OUT r = round_response<OUT> (response);

  if constexpr (!is_integer<OUT>)
    asm volatile ("st.global.f32 [%0], %1;" : : "l"(p), "f"(r) : "memory");
  else if constexpr (sizeof (OUT) == 1)
    asm volatile ("st.global.u8 [%0], %1;" : : "l"(p), "r"((int) r) : "memory");
  else
    asm volatile ("st.global.u16 [%0], %1;"
                  :
                  : "l"(p), "h"((unsigned short) r)
                  : "memory");
}

/* @p + @row. The compiler would multiply @row for each row. */
__device__ __forceinline__ uint64_t
next_row (uint64_t p, uint64_t row)
{
  asm ("add.u64 %0, %1, %2;" : "=l"(p) : "l"(p), "l"(row));
  return p;
}

/* Stores the first @n[i] responses of column i at @out[i]. Most threads store
 * whole groups of rows of both columns. The code of the others is apart,
 * because code that is seldom run would make instruction caches read more. */
template <typename OUT>
__device__ __forceinline__ void
put_columns (unsigned char *const (&out)[2], size_t row, const int (&n)[2],
    const float2 (&v)[WIDE])
{
  uint64_t p0 = __cvta_generic_to_global (out[0]);
  uint64_t p1 = __cvta_generic_to_global (out[1]);

  if (n[0] == n[1] && n[0] % WIDE_ROWS == 0) {
#pragma unroll
    for (int y = 0; y < WIDE; y++) {
      if (y % WIDE_ROWS == 0 && y >= n[0])
        return;
      put<OUT> (p0, v[y].y);
      put<OUT> (p1, v[y].x);
      p0 = next_row (p0, row);
      p1 = next_row (p1, row);
    }
    return;
  }
#pragma unroll
  for (int y = 0; y < WIDE; y++) {
    if (y < n[0])
      put<OUT> (p0, v[y].y);
    if (y < n[1])
      put<OUT> (p1, v[y].x);
    p0 = next_row (p0, row);
    p1 = next_row (p1, row);
  }
}

/* Stores of any kind of @n numbers of a column in shared memory. */
__device__ __noinline__ void
put_any (const Store &s, unsigned char *out, int n, const float *column)
{
  visit_sample_type (s.type, [&] (auto sample) {
    using OUT = typename decltype (sample)::Type;

#pragma unroll 4
    for (int y = 0; y < n; y++, out += s.row) {
      const float r = column[2 * y * WIDE_PITCH];
      const double value = s.scaled ? s.gain * r + s.offset : r;

      if constexpr (is_integer<OUT>)
        *(OUT *) out = saturate (value, lowest<OUT>, highest<OUT>);
      else
        *(OUT *) out = (OUT) value;
    }
  });
}

template <typename T>
__device__ __forceinline__ void
store_pair (const WideArguments &a, const Pair &pair, float2 *column,
    float2 (&v)[WIDE])
{
  const Blocks &b = a.blocks;
  const Store &s = a.store;
  const int t = threadIdx.x % WIDE;
  unsigned char *out[2];
  int n[2];

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const Corner &c = pair.at[i];

    n[i] =
        t < min (b.valid[0], b.outputs[0] - c.x) && (i == 0 || pair.has_second)
        ? min (b.valid[1], b.outputs[1] - c.y)
        : 0;
    out[i] = s.out + (c.x + t) * s.sample + c.y * s.row + c.z * s.slice;
  }
  if (!a.is_plain) {
#pragma unroll
    for (int y = 0; y < WIDE; y++)
      column[y * WIDE_PITCH] = v[y];
    put_any (s, out[0], n[0], &column->y);
    put_any (s, out[1], n[1], &column->x);
  } else if (is_integer<T> && s.type != ND_FLOAT32) {
    put_columns<T> (out, s.row, n, v);
  } else {
    put_columns<float> (out, s.row, n, v);
  }
}

/* COPIES: the copy engine can read the volume. */
template <typename T, bool COPIES>
__global__ void __launch_bounds__ (WIDE *PAIRS, 1)
filter_kernel (const __grid_constant__ WideArguments a)
{
  extern __shared__ __align__ (128) unsigned char shared[];
  const int t = threadIdx.x % WIDE, place = threadIdx.x / WIDE;
  const int step = gridDim.x * (blockDim.x / WIDE);
  unsigned char *const pair_shared = shared + COMMON_BYTES + place * PAIR_BYTES;
  float2 *const plane = (float2 *) pair_shared;
  float2 *const filter = (float2 *) shared;
  uint64_t *const barriers = (uint64_t *) (filter + WIDE_NUMBERS);
  /* This pair and the next one. */
  Pair *const pairs = (Pair *) (barriers + PAIRS) + 2 * place;
  Arrivals arrivals (barriers + place);
  /* Neighbours in a thread block are far from one another, so that a few pairs
   * use all multiprocessors. */
  int pair = place * gridDim.x + blockIdx.x;
  float2 v[WIDE];

  if (t == 0) {
    arrivals.init ();
    fence_view_async_shared ();
    pairs[0] = pair_of (a.blocks, pair);
  }
#pragma unroll 6
  for (int i = threadIdx.x; i < (int) WIDE_NUMBERS; i += blockDim.x)
    filter[i] = a.filter[i];
  __syncthreads ();
  launch_dependent_grids ();
  if (a.begin == BEGIN_AFTER_ALL)
    wait_on_dependent_grids ();
  if (COPIES && pair < a.n_pairs)
    copy_pair<T> (a, pairs[0], arrivals, pair_shared);
#pragma unroll 1
  for (int turn = 0; pair < a.n_pairs; pair += step, turn ^= 1) {
    bool again = false;
    int pass = 0;

#pragma unroll 1
    do {
      if (pass == 0) {
        const Pair now = pairs[turn];

        if (!again && COPIES && now.is_copied) {
          arrivals.wait ();
          load_copied<T> (a, now, pair_shared, v);
          wait_for_pair ();
        } else if (!again && !COPIES && a.in.row <= ~0u
            && is_inside (a.blocks, now.at[0])
            && is_inside (a.blocks, now.at[1])) {
          load_inside<T> (a, now, v);
        } else {
          if (again && sizeof (T) == 4) {
            wait_on_dependent_grids (); /* they use the list */
            load_any<T, true> (a, now.at[0], &plane[t].x);
            load_any<T, true> (a, now.at[1], &plane[t].y);
          } else {
            load_any<T, false> (a, now.at[0], &plane[t].x);
            load_any<T, false> (a, now.at[1], &plane[t].y);
          }
#pragma unroll
          for (int y = 0; y < WIDE; y++)
            v[y] = plane[y * WIDE_PITCH + t];
        }
      } else if (pass == 1) {
        load_rows (plane, v);
      } else if (pass == 2) {
        /* All threads have stored the pair before this one. */
        if (t == 0)
          pairs[turn ^ 1] = pair_of (a.blocks, pair + step);
        multiply_row (filter, v);
      } else {
        load_columns (plane, v);
        if (COPIES && a.is_plain && pair + step < a.n_pairs)
          copy_next<T> (a, pairs[turn ^ 1], arrivals, pair_shared);
      }
      transform64<false> (v);
      if (sizeof (T) == 4 && pass == 0 && !again
          && __any_sync (~0u, !isfinite (v[0].x + v[0].y)))
        again = true;
      else
        pass++;
    } while (pass < 4);
    wait_on_dependent_grids ();
    store_pair<T> (a, pairs[turn], plane + t, v);
    if (COPIES && !a.is_plain && pair + step < a.n_pairs)
      copy_next<T> (a, pairs[turn ^ 1], arrivals, pair_shared);
  }
  wait_on_dependent_grids ();
  add_non_finite_responses (a.work);
}

} // namespace

WideKernel
wide_kernel (NdSampleType type, bool copies)
{
  const size_t shared =
      device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const size_t fit =
      shared < COMMON_BYTES ? 0 : (shared - COMMON_BYTES) / PAIR_BYTES;
  const size_t pairs = std::min<size_t> (fit, PAIRS);

  return visit_sample_type (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    return WideKernel{ copies ? filter_kernel<T, true>
                              : filter_kernel<T, false>,
      (int) pairs * WIDE, COMMON_BYTES + pairs * PAIR_BYTES };
  });
}

} // namespace nd
