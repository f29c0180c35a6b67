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
#include "cuda/fft/wideloads.cuh"

#include <algorithm>
#include <cstdint>

namespace nd
{

namespace
{

/* The pairs that a thread block computes at a time. The registers of a
 * multiprocessor suffice for so many. */
constexpr int PAIRS = 6;

/* Shared memory of a pair: numbers, or samples; and of all pairs of a thread
 * block. */
constexpr size_t PAIR_BYTES = sizeof (float2) * WIDE * WIDE;
constexpr size_t COMMON_BYTES =
    (sizeof (float2) * WIDE_NUMBERS
        + (sizeof (uint64_t) + 2 * sizeof (WidePair)) * PAIRS + 127)
    / 128 * 128;

static_assert (TILE_BYTES<float> <= PAIR_BYTES
    && TILE_BYTES<short> <= PAIR_BYTES
    && TILE_BYTES<unsigned char> <= PAIR_BYTES);

/* Numbers x and x + 1 of row y of a plane are a couple, and couple x / 2 is in
 * the place of couple x / 2 ^ y % 8: the threads of a warp access rows, or
 * columns, without bank conflicts. */
constexpr int COUPLES = 8;

/* Exchanges columns for rows, or rows for columns: number i of thread t for
 * number t of thread i. The same code for both, because instruction caches are
 * small. */
__device__ __forceinline__ void
exchange (float2 *plane, float2 (&v)[WIDE])
{
  const int t = threadIdx.x % WIDE;

#pragma unroll
  for (int i = 0; i < COUPLES; i++) {
    float4 *const to = (float4 *) (plane + t * WIDE) + (t % COUPLES ^ i);

#pragma unroll
    for (int k = 2 * i; k < WIDE; k += 2 * COUPLES)
      to[k / 2 - i] = make_float4 (v[k].x, v[k].y, v[k + 1].x, v[k + 1].y);
  }
  wait_for_group<WIDE> ();
#pragma unroll
  for (int i = 0; i < COUPLES; i++) {
    const float2 *const from = plane + (t ^ 2 * i);

#pragma unroll
    for (int k = i; k < WIDE; k += COUPLES)
      v[k] = from[k * WIDE];
  }
}

/* Multiplies a row of the spectrum. Real and imaginary parts are exchanged, so
 * that the transform of the products is their inverse transform, with real and
 * imaginary parts exchanged. */
__device__ __forceinline__ void
multiply_row (const float2 *filter, float2 (&v)[WIDE])
{
  const float4 *const row = (const float4 *) filter + threadIdx.x % WIDE;

#pragma unroll
  for (int k = 0; k < WIDE; k += 2) {
    const float4 f = row[k / 2 * WIDE];

    v[k] = make_float2 (fmaf (v[k].x, f.y, v[k].y * f.x),
        fmaf (v[k].x, f.x, -v[k].y * f.y));
    v[k + 1] = make_float2 (fmaf (v[k + 1].x, f.w, v[k + 1].y * f.z),
        fmaf (v[k + 1].x, f.z, -v[k + 1].y * f.w));
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

/* @plane: shared memory, in which the threads of a warp have their own columns
 * if they do not exchange them. */
template <typename T>
__device__ __forceinline__ void
store_pair (const WideArguments &a, const WidePair &pair, float2 *plane,
    float2 (&v)[WIDE])
{
  const Blocks &b = a.blocks;
  const Store &s = a.store;
  const int t = threadIdx.x % WIDE;
  unsigned char *out[2];
  int n[2];

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const Corner c = pair.at (b, i);

    n[i] = t < min (b.valid[0], b.outputs[0] - c.x)
        ? min (b.valid[1], b.outputs[1] - c.y)
        : 0;
    out[i] = s.out + (c.x + t) * s.sample + c.y * s.row + c.z * s.slice;
  }
  if (!a.is_plain) {
    float2 *const column = plane + t;

#pragma unroll
    for (int y = 0; y < WIDE; y++)
      column[y * WIDE] = v[y];
    put_bank_scaled<WIDE> (s, out[0], n[0], 0, &column->y);
    put_bank_scaled<WIDE> (s, out[1], n[1], 0, &column->x);
  } else if (is_integer<T> && s.type != ND_FLOAT32) {
    put_columns<T> (out, s.row, n, v);
  } else {
    put_columns<float> (out, s.row, n, v);
  }
}

/* COPIES: the copy engine can read the volume. */
template <typename T, bool COPIES>
__global__ void __launch_bounds__ (WIDE *PAIRS, 1)
fft_wide_filter_kernel (const __grid_constant__ WideArguments a)
{
  extern __shared__ __align__ (128) unsigned char shared[];
  const int t = threadIdx.x % WIDE, place = threadIdx.x / WIDE;
  const int step = gridDim.x * (blockDim.x / WIDE);
  unsigned char *const pair_shared = shared + COMMON_BYTES + place * PAIR_BYTES;
  float2 *const plane = (float2 *) pair_shared;
  float2 *const filter = (float2 *) shared;
  uint64_t *const barriers = (uint64_t *) (filter + WIDE_NUMBERS);
  /* This pair and the next one. */
  WidePair *const pairs = (WidePair *) (barriers + PAIRS) + 2 * place;
  const CopyBarrier arrived = { shared_address (barriers + place) };
  uint32_t parity = 0; /* of the next wait for copies */
  /* Neighbours in a thread block are far from one another, so that a few pairs
   * use all multiprocessors. */
  int pair = place * gridDim.x + blockIdx.x;
  float2 v[WIDE];

  if (t == 0) {
    arrived.init ();
    fence_view_async_shared ();
    pairs[0] = pair_of (a, pair);
  }
#pragma unroll 6
  for (int i = threadIdx.x; i < (int) WIDE_NUMBERS; i += blockDim.x)
    filter[(i / (2 * WIDE) * WIDE + i % WIDE) * 2 + i / WIDE % 2] = a.filter[i];
  __syncthreads ();
  /* The next kernel may begin early, and needs all that this one waits for. */
  if (a.begin == BEGIN_AFTER_ALL)
    wait_on_dependent_grids ();
  launch_dependent_grids ();
  if (COPIES && pair < a.n_pairs)
    copy_pair<T> (a, pairs[0], arrived, pair_shared);
#pragma unroll 1
  for (int turn = 0; pair < a.n_pairs; pair += step, turn ^= 1) {
    bool again = false;
    int pass = 0;

#pragma unroll 1
    do {
      if (pass == 0) {
        const WidePair now = pairs[turn];

        if (!again && COPIES && now.is_copied) {
          arrived.wait (parity);
          parity ^= 1;
          load_copied<T> (a, now, pair_shared, v);
        } else if (!again && !COPIES && a.in.row <= ~0u
            && is_inside (a.blocks, now.at (a.blocks, 0))
            && is_inside (a.blocks, now.at (a.blocks, 1))) {
          load_inside<T> (a, now, v);
        } else {
          const Corner first = now.at (a.blocks, 0);
          const Corner second = now.at (a.blocks, 1);

          if (again && sizeof (T) == 4) {
            wait_on_dependent_grids (); /* earlier kernels use the list */
            load_any<T, true> (a, first, &plane[t].x);
            load_any<T, true> (a, second, &plane[t].y);
          } else {
            load_any<T, false> (a, first, &plane[t].x);
            load_any<T, false> (a, second, &plane[t].y);
          }
#pragma unroll
          for (int y = 0; y < WIDE; y++)
            v[y] = plane[y * WIDE + t];
        }
      } else if (pass == 2) {
        /* All threads have stored the pair before this one. */
        if (t == 0)
          pairs[turn ^ 1] = next_pair (a, pairs[turn]);
        multiply_row (filter, v);
      } else {
        exchange (plane, v);
        if (pass == 3)
          fence_view_async_shared ();
        wait_for_group<WIDE> ();
        if (COPIES && pass == 3 && a.is_plain && pair + step < a.n_pairs)
          copy_pair<T> (a, pairs[turn ^ 1], arrived, pair_shared);
      }
      transform64<false> (v);
      /* The threads have read the samples in shared memory. */
      if (pass == 0
          && any_of_group<WIDE> (sizeof (T) == 4 && !again
              && !isfinite (v[0].x + v[0].y)))
        again = true;
      else
        pass++;
    } while (pass < 4);
    wait_on_dependent_grids ();
    store_pair<T> (a, pairs[turn], plane, v);
    /* Some threads store fewer responses, and barriers need whole warps. */
    __syncwarp ();
    if (COPIES && !a.is_plain && pair + step < a.n_pairs)
      copy_next<T> (a, pairs[turn ^ 1], arrived, pair_shared);
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

    return WideKernel{ copies ? fft_wide_filter_kernel<T, true>
                              : fft_wide_filter_kernel<T, false>,
      (int) pairs * WIDE, COMMON_BYTES + pairs * PAIR_BYTES };
  });
}

} // namespace nd
