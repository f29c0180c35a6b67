/* Responses of method `tensor`: computes them from the sums of products, and
 * stores them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/mma/planes.cuh"

namespace nd
{

/* The response from sums of products, one for each byte of the coefficients.
 * The weight of each sum is 2^8 times that of the next one. They are added
 * exactly, and the result is rounded once. */
template <typename S>
__device__ __forceinline__ float
tensor_response (const TensorArguments &a, const int *sum)
{
  /* The part of each sum above 8 bits is added to the next higher one. The
   * lower sums are then bytes. Two of them are put into the last bits of 2^23,
   * which is faster than a conversion to float32. */
  constexpr int N = S::COLUMNS;
  constexpr unsigned TWO_23 = 0x4b000000;

  if constexpr (N == 1) {
    return sum[0] * a.scale;
  } else {
    int part[N];
    unsigned low;

#pragma unroll
    for (int p = 0; p < N; p++)
      part[p] = sum[4 * p];
#pragma unroll
    for (int p = N - 1; p > 0; p--)
      part[p - 1] += part[p] >> 8;
    if constexpr (N == 2) {
      low = __byte_perm (part[1], TWO_23, 0x7660);
    } else {
      low = __byte_perm (part[2], part[1], 0x0040);
      low = __byte_perm (low, TWO_23, 0x7610);
    }
    const float rest = __uint_as_float (low) - __uint_as_float (TWO_23);

    return fmaf ((float) part[0], a.scale * (1 << 8 * (N - 1)), rest * a.scale);
  }
}

/* Rounds half to even, and limits to @low and @high. NaN becomes 0. */
__device__ __forceinline__ int
rounded (float value, int low, int high)
{
  return min (max (__float2int_rn (value), low), high);
}

/* Two responses side by side as samples of type T. */
template <typename T>
struct PairOf;

template <>
struct PairOf<unsigned char>
{
  using Type = unsigned short;
  static __device__ __forceinline__ Type pack (const float (&value)[2])
  {
    constexpr float TWO_23 = 8388608;
    const float first = fminf (fmaxf (value[0], 0), 255) + TWO_23;
    const float second = fminf (fmaxf (value[1], 0), 255) + TWO_23;

    return __byte_perm (__float_as_uint (first), __float_as_uint (second),
        0x40);
  }
};

template <>
struct PairOf<short>
{
  using Type = short2;
  static __device__ __forceinline__ Type pack (const float (&value)[2])
  {
    return make_short2 (rounded (value[0], -32768, 32767),
        rounded (value[1], -32768, 32767));
  }
};

template <>
struct PairOf<unsigned short>
{
  using Type = ushort2;
  static __device__ __forceinline__ Type pack (const float (&value)[2])
  {
    return make_ushort2 (rounded (value[0], 0, 65535),
        rounded (value[1], 0, 65535));
  }
};

template <>
struct PairOf<float>
{
  using Type = float2;
  static __device__ __forceinline__ Type pack (const float (&value)[2])
  {
    return make_float2 (value[0], value[1]);
  }
};

/* The outputs of a thread: two side by side in each row of two quartets. */
struct TensorPlace
{
  int x, y, z; /* of the first output of the first quartet */
};

template <typename T>
__device__ __forceinline__ void
store_pairs (const TensorArguments &a,
    const float (&response)[2][TENSOR_ROWS][2], const TensorPlace &at)
{
  using Pair = PairOf<T>;
  const Store &s = a.store;
  unsigned char *p = s.out + at.x * s.sample + at.y * s.row + at.z * s.slice;

#pragma unroll
  for (int r = 0; r < 2 * TENSOR_ROWS; r++, p += s.row)
    *(typename Pair::Type *) p =
        Pair::pack (response[r / TENSOR_ROWS][r % TENSOR_ROWS]);
}

/* Stores responses one by one: those of the last rows, and all if outputs are
 * scaled or not side by side. */
__device__ __forceinline__ void
store_singles (const TensorArguments &a,
    const float (&response)[2][TENSOR_ROWS][2], const TensorPlace &at)
{
  /* A copy: indexing at run time would keep the original in local memory. */
  float values[4 * TENSOR_ROWS];

#pragma unroll
  for (int i = 0; i < 4 * TENSOR_ROWS; i++)
    values[i] = response[i / 2 / TENSOR_ROWS][i / 2 % TENSOR_ROWS][i % 2];
#pragma unroll 1
  for (int i = 0; i < 4 * TENSOR_ROWS; i++) {
    if (at.x + i % 2 < a.size[0] && at.y + i / 2 < a.size[1])
      store_sample (a.store, values[i], at.x + i % 2, at.y + i / 2, at.z);
  }
}

__device__ __forceinline__ void
store_responses (const TensorArguments &a,
    const float (&response)[2][TENSOR_ROWS][2], const TensorPlace &at)
{
  if (at.x >= a.size[0] || at.y >= a.size[1])
    return;
  if (!a.paired || at.y + 2 * TENSOR_ROWS > a.size[1]) {
    store_singles (a, response, at);
    return;
  }
  visit_sample_type (
      a.store.type,
      [] (auto sample, const auto &...arguments) {
        store_pairs<typename decltype (sample)::Type> (arguments...);
      },
      a, response, at);
}

#if __CUDA_ARCH__ >= 800

/* The responses of a thread from its sums. */
template <typename S>
__device__ __forceinline__ void
compute_responses (const TensorArguments &a, const typename S::Sums &sum,
    float (&response)[2][TENSOR_ROWS][2])
{
#pragma unroll
  for (int i = 0; i < 4 * TENSOR_ROWS; i++) {
    const int half = i / 2 / TENSOR_ROWS, r = i / 2 % TENSOR_ROWS;
    const int n = TENSOR_ROWS - 1 - r;

    response[half][r][i % 2] =
        tensor_response<S> (a, sum + n * S::COLUMNS * 4 + 2 * half + i % 2);
  }
}

#endif

} // namespace nd
