/* Sums along columns of shared memory, for the passes along y and z. A lane has
 * a column of its own and computes OUTPUTS neighbouring outputs, so that it
 * reads a sample once for all of them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/device.h"
#include "cuda/direct/passes.cuh"

#include <algorithm>

namespace nd
{

constexpr int OUTPUTS = 16; /* of a lane */
constexpr int WARPS = 8;    /* of a thread block */
constexpr int PASS_THREADS = 32 * WARPS;

/* The rows of a column that sum_column () reads for @outputs and @taps, a
 * multiple of four. */
__host__ __device__ constexpr int
column_rows (int outputs, int taps)
{
  return (outputs + OUTPUTS - 1) / OUTPUTS * OUTPUTS + taps;
}

/* The outputs along an axis of @n that a thread block computes: as many as the
 * shared memory of a multiprocessor holds of four thread blocks, and few enough
 * for all multiprocessors. Fewer thread blocks share a multiprocessor if the
 * filter is long; 0: none fits. @columns: the thread blocks side by side.
 * @bytes (outputs) is the shared memory of a thread block. */
template <typename F>
int
choose_outputs (size_t n, size_t columns, F bytes)
{
  const size_t shared =
      device_attribute (cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const size_t most = max_dynamic_shared ();
  const size_t wanted =
      2 * (size_t) device_attribute (cudaDevAttrMultiProcessorCount);
  int outputs = std::min<size_t> ((n + 127) / 128 * 128, 256);

  while (outputs > 64 && (n + outputs - 1) / outputs * columns < wanted)
    outputs /= 2;
  for (size_t blocks = 4; blocks > 0; blocks--) {
    const size_t limit = std::min (most, shared / blocks - 1024);

    for (int fitting = outputs; fitting >= 128 || fitting == outputs;
         fitting /= 2) {
      if (bytes (fitting) <= limit)
        return fitting;
    }
  }
  return bytes (OUTPUTS) <= most ? OUTPUTS : 0;
}

template <int N>
__device__ __forceinline__ bool
all_finite (const float (&sum)[N])
{
  float total = sum[0];

#pragma unroll
  for (int i = 1; i < N; i++)
    total += sum[i];
  return isfinite (total);
}

/* The sums from four weights. @samples: a ring of N samples of which the first
 * is at BEGIN. */
template <int BEGIN, int OUT, int N>
__device__ __forceinline__ void
add_four (float (&sum)[OUT], const float (&samples)[N], const float4 &four)
{
  const float w[4] = { four.x, four.y, four.z, four.w };

#pragma unroll
  for (int k = 0; k < 4; k++) {
#pragma unroll
    for (int o = 0; o < OUT; o++)
      sum[o] = fmaf (w[k], samples[(BEGIN + k + o) % N], sum[o]);
  }
}

/* Adds the four weights of chunk @chunk + U to the sums of a column. */
template <int U, int PITCH>
__device__ __forceinline__ void
add_column (float (&sum)[OUTPUTS], float (&samples)[OUTPUTS + 4],
    const float *column, const float4 *weights)
{
  constexpr int N = OUTPUTS + 4;

#pragma unroll
  for (int i = 0; i < 4; i++)
    samples[(4 * U + OUTPUTS + i) % N] = column[(4 * U + OUTPUTS + i) * PITCH];
  add_four<4 * U % N> (sum, samples, weights[U]);
}

/* sum[o] = the sum over k < @n of weights[k] * column[(o + k) * PITCH]. The
 * last samples are kept in registers. */
template <int PITCH>
__device__ __forceinline__ void
sum_column (float (&sum)[OUTPUTS], const float *column, const float *weights,
    int n, bool check)
{
  float samples[OUTPUTS + 4];
  const float *at = column;
  const float4 *four = (const float4 *) weights;
  int chunks = n / 4;

#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) {
    sum[o] = 0;
    samples[o] = column[o * PITCH];
  }
#pragma unroll 1
  while (true) {
    add_column<0, PITCH> (sum, samples, at, four);
    if (chunks == 1)
      break;
    add_column<1, PITCH> (sum, samples, at, four);
    if (chunks == 2)
      break;
    add_column<2, PITCH> (sum, samples, at, four);
    if (chunks == 3)
      break;
    add_column<3, PITCH> (sum, samples, at, four);
    if (chunks == 4)
      break;
    add_column<4, PITCH> (sum, samples, at, four);
    if (chunks == 5)
      break;
    chunks -= 5;
    four += 5;
    at += 20 * PITCH;
  }
  if (!check || all_finite (sum))
    return;
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++)
    sum[o] = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++) {
    const float w = weights[k];

    if (w == 0)
      continue;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
      sum[o] = fmaf (w, column[(k + o) * PITCH], sum[o]);
  }
}

template <typename T>
__device__ __forceinline__ T
convert_response (float value)
{
  if constexpr (!is_integer<T>)
    return value;
  else
    return min (max (__float2int_rn (value), lowest<T>), highest<T>);
}

template <typename T>
__device__ __forceinline__ T
convert_scaled (const Store &s, float response)
{
  const double value = s.gain * response + s.offset;

  if constexpr (!is_integer<T>)
    return (T) value;
  else
    return saturate (value, lowest<T>, highest<T>);
}

/* Stores the first @n of the responses, or all if there are fewer. The first is
 * at @p, its neighbours are @step bytes apart. */
template <int N>
__device__ __forceinline__ void
store_column (const Store &s, const float (&response)[N], int n,
    unsigned char *p, size_t step)
{
  visit_sample_type (s.type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    if (s.scaled) {
#pragma unroll
      for (int o = 0; o < N; o++, p += step) {
        if (o < n)
          *(T *) p = convert_scaled<T> (s, response[o]);
      }
    } else if (n >= N) {
#pragma unroll
      for (int o = 0; o < N; o++, p += step)
        *(T *) p = convert_response<T> (response[o]);
    } else {
#pragma unroll
      for (int o = 0; o < N; o++, p += step) {
        if (o < n)
          *(T *) p = convert_response<T> (response[o]);
      }
    }
  });
}

} // namespace nd
