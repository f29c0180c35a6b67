/* Weighted sums over neighbours along an axis, for ndstructure.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

namespace nd
{

/* sum[o] = the sum over k < @taps of weights[k] * sample (o + k), for o < N.
 * Samples come in groups of N, and next () returns the address of the next
 * group, whose samples are PITCH apart; the first group ends with sample 0 of
 * the last sum, and @v has the N - 1 samples before it. A sample outside the
 * window of a sum is not multiplied by 0, because it may be NaN. UNROLL: groups
 * of the unrolled loop. */
template <int N, int PITCH, int UNROLL, typename F>
__device__ __forceinline__ void
sum_neighbours (float (&v)[2 * N - 1], const float *weights, int taps, F next,
    float *sum)
{
#pragma unroll(UNROLL)
  for (int first = 0; first < taps; first += N) {
    const float *const group = next ();

#pragma unroll
    for (int k = 0; k < N; k++) {
      if (first + k < taps)
        v[N - 1 + k] = group[k * PITCH];
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
      if (first + k < taps) {
        const float weight = weights[first + k];

#pragma unroll
        for (int o = 0; o < N; o++)
          sum[o] = fmaf (weight, v[o + k], sum[o]);
      }
    }
#pragma unroll
    for (int o = 0; o < N - 1; o++)
      v[o] = v[o + N];
  }
}

} // namespace nd
