/* The levels of responses to windows of several volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/blockkernels.cuh"

namespace nd
{

/* The levels that a response has in N blocks side by side: the sums of those of
 * the window's volumes, each times the sum of a filter's coefficients. Each
 * lane begins to load those of one volume, and waits for them when the response
 * is complete: the loads of spectra then do not wait, too. */
template <int N>
class WindowLevels
{
public:
  /* All lanes of the warp call each function. @filter_sums: of the filter. */
  __device__ __forceinline__ WindowLevels (const BlockArguments &a,
      const double *filter_sums, size_t block)
  {
    load (a, filter_sums, block, threadIdx.x % 32);
  }

  __device__ __forceinline__ void sum (const BlockArguments &a,
      const double *filter_sums, size_t block, float (&sums)[N])
  {
    double all[N] = {};

    for (int t = threadIdx.x % 32;;) {
#pragma unroll
      for (int i = 0; i < N; i++)
        all[i] += filter_sum * levels[i];
      t += 32;
      if (t >= a.n_slots)
        break;
      load (a, filter_sums, block, t);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
      for (int step = 16; step > 0; step /= 2)
        all[i] += __shfl_xor_sync (~0u, all[i], step);
      sums[i] = all[i];
    }
  }

private:
  __device__ __forceinline__ void load (const BlockArguments &a,
      const double *filter_sums, size_t block, int t)
  {
    const bool is_volume = t < a.n_slots;
    const float *const from =
        a.levels + block + (is_volume ? a.slots[t] * a.levels_stride : 0);

    filter_sum = is_volume ? filter_sums[t] : 0;
#pragma unroll
    for (int i = 0; i < N; i++)
      levels[i] = is_volume ? from[i] : 0;
  }

  double filter_sum;
  float levels[N];
};

} // namespace nd
