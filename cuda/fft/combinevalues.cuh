/* The values that a thread combines from the responses of a bank, and how they
 * are stored (cuda/fft/combinekernels.cu, cuda/fft/combineplanes.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/combinebank.cuh"
#include "cuda/sync.cuh"

#include <cfloat>

namespace nd
{

constexpr int ROWS = COMBINED_ROWS;
constexpr int WORDS = (ROWS + 3) / 4;

/* Filters of at least 9 taps along y have no more outputs. */
constexpr int FEW_ROWS = 24;

/* The values combined so far, a column of a plane for each thread: sums of
 * magnitudes, or the largest ones with their numbers, four in a word. For the
 * largest ones of complex responses, the squares. */
struct Combined
{
  float values[ROWS] = {};
  unsigned numbers[WORDS] = {};
};

/* All kernels begin with this. */
__device__ __forceinline__ void
begin_combining (const CombineArguments &a)
{
  wait_on_dependent_grids ();
  if (a.later && blockIdx.x == 0 && threadIdx.x == 0)
    *a.later = 0;
}

/* TINY: @x may be denormal, which takes three instructions more. */
template <bool TINY>
__device__ __forceinline__ float
square_root (float x)
{
  float root;

  if (TINY)
    asm ("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  else
    asm ("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/* @word with @value as byte @i. */
__device__ __forceinline__ unsigned
put_byte (unsigned word, unsigned value, int i)
{
  return __byte_perm (word, value,
      i == 0       ? 0x3214
          : i == 1 ? 0x3240
          : i == 2 ? 0x3410
                   : 0x4210);
}

/* Combines value @y of response number @k: its magnitude, or for the largest
 * one of complex responses the square. A magnitude that is NaN is never the
 * largest. */
template <bool SUM>
__device__ __forceinline__ void
combine_value (Combined &c, int y, float value, unsigned k)
{
  if (SUM) {
    c.values[y] += value;
  } else if (value > c.values[y]) {
    c.values[y] = value;
    c.numbers[y / 4] = put_byte (c.numbers[y / 4], k, y % 4);
  }
}

/* Combines response @k, whose squares are the real parts of @v. */
template <bool SUM, bool TINY>
__device__ __forceinline__ void
combine_squares (int k, bool is_few, const float2 (&v)[BLOCK], Combined &c)
{
#pragma unroll
  for (int y = 0; y < ROWS; y++) {
    if (y == FEW_ROWS && is_few)
      break;
    combine_value<SUM> (c, y, SUM ? square_root<TINY> (v[y].x) : v[y].x, k);
  }
}

/* Restores the plane of the responses of pair @k, which are the real and the
 * imaginary part, from the rows @v, and combines them. SEEKS: first finds out
 * whether squares are denormal. */
template <bool SUM, bool SEEKS>
__device__ __forceinline__ void
combine_pair (const CombineArguments &a, int k, float2 *plane,
    float2 (&v)[BLOCK], Combined &c)
{
  restore_plane (plane, v);
  if (a.is_complex) {
    const bool is_few = a.blocks.valid[1] <= FEW_ROWS;
    bool is_tiny = !SEEKS;

#pragma unroll
    for (int y = 0; y < ROWS; y++) {
      if (y == FEW_ROWS && is_few)
        break;
      v[y].x = fmaf (v[y].x, v[y].x, v[y].y * v[y].y);
      is_tiny = is_tiny || (SUM && v[y].x < FLT_MIN);
    }
    if (is_tiny)
      combine_squares<SUM, true> (k, is_few, v, c);
    else
      combine_squares<SUM, false> (k, is_few, v, c);
    return;
  }
#pragma unroll
  for (int y = 0; y < ROWS; y++)
    combine_value<SUM> (c, y, fabsf (v[y].x), 2 * k);
  if (2 * k + 1 == a.bank.n_filters)
    return;
#pragma unroll
  for (int y = 0; y < ROWS; y++)
    combine_value<SUM> (c, y, fabsf (v[y].y), 2 * k + 1);
}

/* Makes outputs of the combined values. Returns a bit for each of them that is
 * the label below the threshold. */
template <bool SUM>
__device__ __forceinline__ unsigned
finish (const CombineArguments &a, Combined &c)
{
  unsigned none = 0;

#pragma unroll
  for (int y = 0; !SUM && y < ROWS; y++) {
    float value = a.is_complex ? sqrtf (c.values[y]) : c.values[y];

    if (a.response == ND_RESPONSE_ARGMAX) {
      const bool is_none = value < a.threshold;

      none |= (unsigned) is_none << y;
      value = is_none ? a.none : c.numbers[y / 4] >> y % 4 * 8 & 255;
    }
    c.values[y] = value;
  }
  return none;
}

template <typename OUT>
__device__ __forceinline__ void
put_values (unsigned char *out, unsigned row, int n, const Combined &c)
{
#pragma unroll
  for (int y = 0; y < ROWS; y++) {
    if (y < n)
      *(OUT *) row_at (out, row, y) = round_response<OUT> (c.values[y]);
  }
}

/* The same for any store. @values: the column, in shared memory. Labels below
 * the threshold, which have a bit of @none, are not scaled. */
__device__ __noinline__ static void
put_any_values (const Store &s, unsigned char *out, int n, unsigned none,
    const float *values)
{
  Store store = s;

#pragma unroll 1
  for (int y = 0; y < n; y++, out += s.row) {
    store.out = out;
    store.scaled = s.scaled && !(none >> y & 1);
    store_sample (store, values[y * PITCH], 0, 0, 0);
  }
}

/* Stores the outputs of a plane whose first one is @at. @plane: shared memory
 * of the warp. */
template <bool SUM>
__device__ __forceinline__ void
store_combined (const CombineArguments &a, const Corner &at, float *plane,
    Combined &c)
{
  const Blocks &b = a.blocks;
  const Store &s = a.store;
  const int lane = threadIdx.x % 32;
  const unsigned none = finish<SUM> (a, c);
  const int n = lane < min (b.valid[0], b.outputs[0] - at.x)
      ? min (b.valid[1], b.outputs[1] - at.y)
      : 0;
  unsigned char *const out =
      s.out + (at.x + lane) * s.sample + at.y * s.row + at.z * s.slice;

  if (!s.scaled && s.row <= ~0u) {
    visit_sample_type (s.type, [&] (auto sample) {
      put_values<typename decltype (sample)::Type> (out, s.row, n, c);
    });
    return;
  }
  __syncwarp (); /* the plane has been read */
#pragma unroll
  for (int y = 0; y < ROWS; y++)
    plane[y * PITCH + lane] = c.values[y];
  put_any_values (s, out, n, none, plane + lane);
}

} // namespace nd
