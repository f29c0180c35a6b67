/* The values that a thread combines from the responses of a bank, and how they
 * are stored (cuda/fft/combinekernels.cu, cuda/fft/combineplanes.cu,
 * cuda/fft/tensorplanes.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/combinebank.cuh"
#include "cuda/sync.cuh"

#include <cfloat>
#include <climits>

namespace nd
{

constexpr int ROWS = COMBINED_ROWS;

/* Filters of at least 9 taps along y have no more outputs. */
constexpr int FEW_ROWS = 24;

/* The values combined so far, a column of a plane for each thread: sums of
 * magnitudes, or the largest ranks. */
struct Combined
{
  float values[ROWS] = {};
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

/* The rank of a response: its magnitude, or of complex responses the square.
 * For ND_RESPONSE_ARGMAX the last bits are the number of the response, counted
 * from the last one, so that of equal ranks that of the first response is the
 * largest. This is one instruction, and another one finds the largest rank,
 * because magnitudes are not negative: as integers, their bits have the same
 * order. For n responses, the last ceil (log2 (n)) bits of the magnitude are
 * lost. Two responses whose magnitudes differ by less than 2^-19 of them (for
 * up to 16 responses; 2^-15 for 256) may therefore change places. */
struct Rank
{
  unsigned mask; /* of the bits that remain; 0: there is no such response */
  unsigned number;
};

__device__ __forceinline__ Rank
rank_of (const CombineArguments &a, int k)
{
  const bool exists = k < a.responses;

  return Rank{ exists ? a.mask : 0,
    exists ? (unsigned) (a.responses - 1 - k) & ~a.mask : 0 };
}

__device__ __forceinline__ int
rank (float magnitude, const Rank &r)
{
  return (__float_as_uint (magnitude) & r.mask & INT_MAX) | r.number;
}

/* Combines the complex response @k, whose squares are the real parts of @v. */
template <bool SUM, bool TINY>
__device__ __forceinline__ void
combine_squares (const CombineArguments &a, int k, bool is_few,
    const float2 (&v)[BLOCK], Combined &c)
{
  const Rank r = rank_of (a, k);

#pragma unroll
  for (int y = 0; y < ROWS; y++) {
    float &value = c.values[y];

    if (y == FEW_ROWS && is_few)
      break;
    if (SUM)
      value += square_root<TINY> (v[y].x);
    else
      value = __int_as_float (max (__float_as_int (value), rank (v[y].x, r)));
  }
}

/* Combines the real responses 2 * @k and 2 * @k + 1, which are the real and the
 * imaginary parts of @v. */
template <bool SUM>
__device__ __forceinline__ void
combine_parts (const CombineArguments &a, int k, const float2 (&v)[BLOCK],
    Combined &c)
{
  if constexpr (SUM) {
    const bool is_last = 2 * k + 1 == a.responses;

#pragma unroll
    for (int y = 0; y < ROWS; y++)
      c.values[y] += fabsf (v[y].x);
    if (is_last)
      return;
#pragma unroll
    for (int y = 0; y < ROWS; y++)
      c.values[y] += fabsf (v[y].y);
  } else {
    const Rank r = rank_of (a, 2 * k), next = rank_of (a, 2 * k + 1);

#pragma unroll
    for (int y = 0; y < ROWS; y++)
      c.values[y] = __int_as_float (__vimax3_s32 (__float_as_int (c.values[y]),
          rank (v[y].x, r), rank (v[y].y, next)));
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
  const bool is_few = a.blocks.valid[1] <= FEW_ROWS;
  bool is_tiny = !SEEKS;

  restore_plane (plane, v);
  if (!a.is_complex) {
    combine_parts<SUM> (a, k, v, c);
    return;
  }
#pragma unroll
  for (int y = 0; y < ROWS; y++) {
    if (y == FEW_ROWS && is_few)
      break;
    v[y].x = fmaf (v[y].x, v[y].x, v[y].y * v[y].y);
    is_tiny = is_tiny || (SUM && v[y].x < FLT_MIN);
  }
  if (is_tiny)
    combine_squares<SUM, true> (a, k, is_few, v, c);
  else
    combine_squares<SUM, false> (a, k, is_few, v, c);
}

/* Makes outputs of the combined values. Returns a bit for each of them that is
 * the label below the threshold. A response that is NaN has the largest rank,
 * but must not be the largest one: the fallback then combines them again. */
template <bool SUM>
__device__ __forceinline__ unsigned
finish (const CombineArguments &a, Combined &c)
{
  unsigned none = 0;
  bool is_nan = false;

#pragma unroll
  for (int y = 0; !SUM && y < ROWS; y++) {
    const unsigned bits = __float_as_uint (c.values[y]);
    float value = __uint_as_float (bits & a.mask);

    is_nan = is_nan || isnan (value);
    if (a.response == ND_RESPONSE_ARGMAX) {
      const bool is_none = value < a.threshold;

      none |= (unsigned) is_none << y;
      value = is_none ? a.none : a.responses - 1 - (int) (bits & ~a.mask);
    } else if (a.is_complex) {
      value = square_root<true> (value);
    }
    c.values[y] = value;
  }
  if (is_nan && a.bank.again)
    *a.bank.again = 1;
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
