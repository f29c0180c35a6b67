/* Numbers of spectra, their product, and the order of the numbers in the
 * spectrum of a block of 32 x 32 x 32 samples (cuda/fft/volumekernels.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

namespace nd
{

/* A number of a spectrum. */
template <typename R>
struct NumberOf
{
  using Type = float2;
};
template <>
struct NumberOf<double>
{
  using Type = double2;
};
template <typename R>
using Number = typename NumberOf<R>::Type;

/* A block is real, so that half of the columns along z contain its whole
 * spectrum. Number k of a column is at k * COLUMNS + column. Four columns,
 * those with kx and ky of 0 or 16, are real before the transform along z. Their
 * spectra share two columns: numbers 0 and 16 of these are pairs of real
 * numbers instead of complex numbers. */
struct BlockSpectrum
{
  static constexpr int COLUMNS = 512;

  __host__ __device__ static constexpr bool is_two_columns (int column)
  {
    return column == COLUMNS - 32 || column == COLUMNS - 16;
  }
  __host__ __device__ static constexpr bool is_two_real (size_t i)
  {
    return i / COLUMNS % 16 == 0 && is_two_columns (i % COLUMNS);
  }
};

/* sum + a * b of complex numbers. If @two_real, each number is a pair of real
 * numbers instead. */
__device__ __forceinline__ float2
multiply_number (float2 sum, float2 a, float2 b, bool two_real)
{
  if (two_real)
    return make_float2 (fmaf (a.x, b.x, sum.x), fmaf (a.y, b.y, sum.y));
  return make_float2 (fmaf (-a.y, b.y, fmaf (a.x, b.x, sum.x)),
      fmaf (a.y, b.x, fmaf (a.x, b.y, sum.y)));
}

} // namespace nd
