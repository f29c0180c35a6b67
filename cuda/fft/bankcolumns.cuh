/* Loads and stores of the kernels of banks. A bank stores more samples than it
 * loads, so that stores of integers matter more than in the kernels of single
 * filters, which are slower with this code.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/blockkernels.cuh"

namespace nd
{

/* The responses that a thread block of BankKernels::filter computes: those of
 * filters @first to @end - 1 in a unit. */
struct BankPart
{
  int unit, first, end;
};

__device__ __forceinline__ BankPart
part_of_bank (const BankArguments &bank)
{
  const int part = blockIdx.x - bank.whole;
  const int first = part % bank.parts * bank.filters_of_part;

  if (part < 0)
    return BankPart{ (int) blockIdx.x, 0, bank.n_filters };
  return BankPart{ bank.whole + part / bank.parts, first,
    min (first + bank.filters_of_part, bank.n_filters) };
}

/* The response that a thread block of BankKernels::respond computes. */
struct BankResponse
{
  int unit, filter;
};

__device__ __forceinline__ BankResponse
response_of_bank (const BankArguments &bank)
{
  const int begin = blockIdx.x / (bank.wave * bank.n_filters) * bank.wave;
  const int wave = min (bank.wave, bank.n_units - begin);
  const int i = blockIdx.x - begin * bank.n_filters;

  return BankResponse{ begin + i % wave, i / wave };
}

/* @base + @row * @y, in memory of the device. The compiler would add 64 bit
 * numbers, which takes two instructions. */
template <typename P>
__device__ __forceinline__ P *
row_at (P *base, unsigned row, int y)
{
  P *at;

  asm ("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(row), "r"(y), "l"(base));
  __builtin_assume (__isGlobal (at));
  return at;
}

/* A sample as float32. Integers become the last digits of 2^23 + sample, which
 * takes fewer clocks than the instruction that converts them. */
template <typename T>
__device__ __forceinline__ float
load_sample (const unsigned char *p)
{
  if constexpr (!is_integer<T>) {
    return *(const T *) p;
  } else {
    /* Signed samples are made positive. */
    const unsigned sample = (unsigned) (*(const T *) p - lowest<T>);

    return __uint_as_float (0x4b000000u | sample)
        - (8388608.0f - (float) lowest<T>);
  }
}

/* Rounds to the nearest integer of type OUT, of two equally near ones to the
 * even one: the last digits of 1.5 * 2^23 + response. */
template <typename OUT>
__device__ __forceinline__ OUT
round_response (float r)
{
  if constexpr (!is_integer<OUT>)
    return r;
  else
    return (OUT) __float_as_int (fminf (fmaxf (r, lowest<OUT>), highest<OUT>)
        + 12582912.0f);
}

template <typename T>
__device__ __forceinline__ void
load_bank_inside (const BlockArguments &a, const Columns &c, float2 (&v)[BLOCK])
{
  const unsigned char *p[2];

#pragma unroll
  for (int i = 0; i < 2; i++)
    p[i] = a.in.in
        + (c.at[i].x + a.blocks.low[0] + threadIdx.x % 32) * a.in.sample
        + (c.at[i].y + a.blocks.low[1]) * a.in.row
        + (c.at[i].z + a.blocks.low[2] + c.plane[i]) * a.in.slice;
#pragma unroll
  for (int y = 0; y < BLOCK; y++) {
    v[y].x = load_sample<T> (row_at (p[0], a.in.row, y));
    v[y].y = load_sample<T> (row_at (p[1], a.in.row, y));
  }
}

template <typename T, bool SAME>
__device__ __forceinline__ void
load_bank_at_border (const BlockArguments &a, const Columns &c,
    float2 (&v)[BLOCK])
{
  const Blocks &b = a.blocks;
  const BlockInput &in = a.in;
  const int lane = threadIdx.x % 32;
  const int x0 = padded_index (b, 0, c.at[0].x + lane);
  const int x1 = SAME ? x0 : padded_index (b, 0, c.at[1].x + lane);
  const int y0 = padded_index (b, 1, c.at[0].y + lane);
  const int y1 = SAME ? y0 : padded_index (b, 1, c.at[1].y + lane);
  const int z0 = padded_index (b, 2, c.at[0].z + c.plane[0]);
  const int z1 = padded_index (b, 2, c.at[1].z + c.plane[1]);
  const bool inside0 = x0 >= 0 && z0 >= 0;
  const bool inside1 = x1 >= 0 && z1 >= 0;
  const unsigned char *const p0 = in.in + x0 * in.sample + z0 * in.slice;
  const unsigned char *const p1 = in.in + x1 * in.sample + z1 * in.slice;

#pragma unroll
  for (int y = 0; y < BLOCK; y++) {
    const int yi0 = __shfl_sync (~0u, y0, y);
    const int yi1 = SAME ? yi0 : __shfl_sync (~0u, y1, y);

    v[y] = make_float2 (beyond (b, x0, yi0, z0, 0), beyond (b, x1, yi1, z1, 0));
    if (inside0 && yi0 >= 0)
      v[y].x = load_sample<T> (p0 + yi0 * in.row);
    if (inside1 && yi1 >= 0)
      v[y].y = load_sample<T> (p1 + yi1 * in.row);
  }
}

/* The same for two columns of one block. In place of samples beyond the border,
 * others are loaded first. In kernels with few free registers, loads with a
 * condition wait for each other. */
template <typename T>
__device__ __forceinline__ void
load_bank_before_border (const BlockArguments &a, const Columns &c,
    float2 (&v)[BLOCK])
{
  const Blocks &b = a.blocks;
  const BlockInput &in = a.in;
  const int lane = threadIdx.x % 32;
  const int x = padded_index (b, 0, c.at[0].x + lane);
  const int y = padded_index (b, 1, c.at[0].y + lane);
  const int z0 = padded_index (b, 2, c.at[0].z + c.plane[0]);
  const int z1 = padded_index (b, 2, c.at[1].z + c.plane[1]);
  const unsigned char *const column = in.in + max (x, 0) * in.sample;
  const unsigned char *const p0 = column + max (z0, 0) * in.slice;
  const unsigned char *const p1 = column + max (z1, 0) * in.slice;
  const size_t row = max (y, 0) * in.row;

#pragma unroll
  for (int i = 0; i < BLOCK; i++) {
    const size_t at = __shfl_sync (~0u, row, i);

    v[i] = make_float2 (load_sample<T> (p0 + at), load_sample<T> (p1 + at));
  }
#pragma unroll
  for (int i = 0; i < BLOCK; i++) {
    const int yi = __shfl_sync (~0u, y, i);

    if (x < 0 || yi < 0 || z0 < 0)
      v[i].x = beyond (b, x, yi, z0, 0);
    if (x < 0 || yi < 0 || z1 < 0)
      v[i].y = beyond (b, x, yi, z1, 0);
  }
}

/* The same as transform_columns (), of a volume and without levels. @lists:
 * whether samples that are not finite are listed. EAGER: by
 * load_bank_before_border (). */
template <typename T, bool SAME, bool EAGER = false>
__device__ __forceinline__ void
transform_bank_columns (const BlockArguments &a, const Columns &c, bool lists,
    float2 (&v)[BLOCK])
{
  const bool inside = a.in.row <= ~0u && is_inside (a.blocks, c);
  bool again = false;

#pragma unroll 1
  do {
    if (inside)
      load_bank_inside<T> (a, c, v);
    else if constexpr (EAGER)
      load_bank_before_border<T> (a, c, v);
    else
      load_bank_at_border<T, SAME> (a, c, v);
    if (again && a.bank.again)
      *a.bank.again = 1;
    if (again && lists)
      take_out_non_finite<true> (a, c, v);
    else if (again)
      take_out_non_finite<false> (a, c, v);
    transform32<false> (v);
    again = sizeof (T) == 4 && !again
        && __any_sync (~0u, !isfinite (v[0].x + v[0].y));
  } while (again);
}

/* Stores the first @n[i] of 32 responses along y of column i at @out[i]. LEVEL:
 * adds @level. */
template <typename OUT, bool LEVEL>
__device__ __forceinline__ void
put_bank_columns (unsigned char *const (&out)[2], unsigned row,
    const int (&n)[2], float2 level, const float2 (&v)[BLOCK])
{
#pragma unroll
  for (int y = 0; y < BLOCK; y++) {
    if (y < n[0])
      *(OUT *) row_at (out[0], row, y) =
          round_response<OUT> (LEVEL ? v[y].x + level.x : v[y].x);
    if (y < n[1])
      *(OUT *) row_at (out[1], row, y) =
          round_response<OUT> (LEVEL ? v[y].y + level.y : v[y].y);
  }
}

/* The same for any store and one column: @column is the thread's own part of
 * shared memory. This code is small, because it is seldom used. */
template <int COLUMN_PITCH = PITCH>
__device__ __noinline__ void
put_bank_scaled (const Store &s, unsigned char *out, int n, float level,
    const float *column)
{
  visit_sample_type (s.type, [&] (auto sample) {
    using OUT = typename decltype (sample)::Type;

#pragma unroll 4
    for (int y = 0; y < n; y++, out += s.row) {
      const float r = column[2 * y * COLUMN_PITCH] + level;
      const double value = s.scaled ? s.gain * r + s.offset : r;

      if constexpr (is_integer<OUT>)
        *(OUT *) out = saturate (value, lowest<OUT>, highest<OUT>);
      else
        *(OUT *) out = (OUT) value;
    }
  });
}

/* Stores the valid responses of the columns; @response: of the first
 * output.
 * LEVEL: adds @level. @plane: shared memory of the warp, which has been
 * read. */
template <bool LEVEL>
__device__ __forceinline__ void
store_bank_columns (const BlockArguments &a, unsigned char *response,
    const Columns &c, float2 level, float2 *plane, const float2 (&v)[BLOCK])
{
  const Blocks &b = a.blocks;
  const Store &s = a.store;
  const int lane = threadIdx.x % 32;
  unsigned char *out[2];
  int n[2];

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const Corner &at = c.at[i];

    n[i] = lane < min (b.valid[0], b.outputs[0] - at.x)
            && c.plane[i] < min (b.valid[2], b.outputs[2] - at.z)
        ? min (b.valid[1], b.outputs[1] - at.y)
        : 0;
    out[i] = response + (at.x + lane) * s.sample + at.y * s.row
        + (at.z + c.plane[i]) * s.slice;
  }
  if (!s.scaled && s.row <= ~0u) {
    visit_sample_type (s.type, [&] (auto sample) {
      put_bank_columns<typename decltype (sample)::Type, LEVEL> (out, s.row, n,
          level, v);
    });
    return;
  }
  __syncwarp ();
#pragma unroll
  for (int y = 0; y < BLOCK; y++)
    plane[y * PITCH + lane] = v[y];
  put_bank_scaled (s, out[0], n[0], LEVEL ? level.x : 0, &plane[lane].x);
  put_bank_scaled (s, out[1], n[1], LEVEL ? level.y : 0, &plane[lane].y);
}

} // namespace nd
