/* Sums for kernels that have code for each number of taps, so that weights are
 * operands of multiply-adds and there is no loop over taps. A lane sums four
 * columns side by side in shared memory, for DOWN outputs each.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/direct/columns.cuh"

namespace nd
{

constexpr int DOWN = 8;   /* rows of outputs of a lane */
constexpr int GROUPS = 4; /* of DOWN rows that a warp computes together */
constexpr int WARP_ROWS = GROUPS * DOWN;

/* Calls @visit with a number of taps that is known to the compiler. */
template <typename F>
__device__ __forceinline__ void
visit_taps (int taps, F visit)
{
  switch (taps / 4) {
#define CASE(I)                                        \
  case I:                                              \
    visit (std::integral_constant<int, 4 * I + 1> ()); \
    break
    CASE (0);
    CASE (1);
    CASE (2);
    CASE (3);
    CASE (4);
    CASE (5);
    CASE (6);
    CASE (7);
    CASE (8);
    CASE (9);
    CASE (10);
#undef CASE
    default:
      break;
  }
}
static_assert (MAX_FEW_TAPS == 41, "visit_taps() lacks a number");

/* sum[o][c] = the sum over k < N of weights[k] * rows[(o + k) * PITCH + c]. */
template <int N, int PITCH>
__device__ __forceinline__ void
sum_columns (const FewTaps &taps, float (&sum)[DOWN][4], const float *rows)
{
#pragma unroll
  for (int o = 0; o < DOWN; o++)
    sum[o][0] = sum[o][1] = sum[o][2] = sum[o][3] = 0;
#pragma unroll
  for (int i = 0; i < DOWN + N - 1; i++) {
    const float4 v = *(const float4 *) (rows + i * PITCH);

#pragma unroll
    for (int o = 0; o < DOWN; o++) {
      if (i < o || i >= o + N)
        continue;
      const float w = taps.weights[i - o];

      sum[o][0] = fmaf (w, v.x, sum[o][0]);
      sum[o][1] = fmaf (w, v.y, sum[o][1]);
      sum[o][2] = fmaf (w, v.z, sum[o][2]);
      sum[o][3] = fmaf (w, v.w, sum[o][3]);
    }
  }
}

/* The same for one output of each column, without the weights that are 0. */
template <int PITCH>
__device__ __forceinline__ void
sum_four (const FewTaps &taps, float (&sum)[4], const float *rows)
{
#pragma unroll
  for (int c = 0; c < 4; c++)
    sum[c] = 0;
#pragma unroll 1
  for (int k = 0; k < taps.n; k++) {
    const float w = taps.weights[k];
    const float4 v = *(const float4 *) (rows + k * PITCH);

    if (w == 0)
      continue;
    sum[0] = fmaf (w, v.x, sum[0]);
    sum[1] = fmaf (w, v.y, sum[1]);
    sum[2] = fmaf (w, v.z, sum[2]);
    sum[3] = fmaf (w, v.w, sum[3]);
  }
}

/* Whether store_rows () can store. */
inline bool
stores_quads (const Store &s)
{
  const size_t sample = nd_sample_size ((NdSampleType) s.type);

  return !s.scaled && s.sample == sample
      && (s.type == ND_FLOAT32 || s.type == ND_UINT8)
      && ((size_t) s.out | s.row | s.slice) % (4 * sample) == 0;
}

/* Stores four columns of responses, of which the first four are at @p. Rows are
 * @step bytes apart. */
__device__ __forceinline__ void
store_rows (const Store &s, const float (&v)[DOWN][4], unsigned char *p,
    size_t step)
{
  if (s.type == ND_FLOAT32) {
#pragma unroll
    for (int o = 0; o < DOWN; o++, p += step)
      *(float4 *) p = make_float4 (v[o][0], v[o][1], v[o][2], v[o][3]);
  } else {
#pragma unroll
    for (int o = 0; o < DOWN; o++, p += step)
      *(uchar4 *) p =
          make_uchar4 (saturate (v[o][0], 255), saturate (v[o][1], 255),
              saturate (v[o][2], 255), saturate (v[o][3], 255));
  }
}

/* Sums four columns of @sums, @n outputs each, and stores the responses from
 * sample @x of a row on, of which @across are inside the volume. Those along
 * the columns are @step bytes apart in memory, the first at @out. store (o,
 * sum) stores four of output @o in any way. Each lane has the outputs from
 * @first on, and the next after @together outputs. */
template <int PITCH, typename F>
__device__ __forceinline__ void
compute_columns (const FewTaps &taps, const Store &s, const float *sums,
    int first, int together, int n, int across, unsigned char *out, size_t step,
    F store)
{
  bool again = false;

  visit_taps (taps.n, [&] (auto number) {
#pragma unroll 1
    for (int r = first; r < n; r += together) {
      bool is_plain = r + DOWN <= n && across >= 4;
      float sum[DOWN][4];

      sum_columns<decltype (number)::value, PITCH> (taps, sum,
          sums + r * PITCH);
      if (taps.check) {
#pragma unroll
        for (int o = 0; o < DOWN; o++)
          is_plain &= all_finite (sum[o]);
      }
      if (is_plain)
        store_rows (s, sum, out + r * step, step);
      again |= !is_plain;
    }
  });
  /* To keep these sums would need registers. */
  if (!again || across <= 0)
    return;
#pragma unroll 1
  for (int r = first; r < n; r += together) {
#pragma unroll 1
    for (int o = r; o < min (r + DOWN, n); o++) {
      float sum[4];

      sum_four<PITCH> (taps, sum, sums + o * PITCH);
      store (o, sum);
    }
  }
}

} // namespace nd
