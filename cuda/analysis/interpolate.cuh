/* Linear interpolation of the coarse scale, whose samples are cells of two
 * samples along each axis: the nearer cell counts 3/4, the other one 1/4.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/eachsample.cuh"

namespace nd
{

/* The cells around sample @at, along each axis. */
__device__ __forceinline__ void
locate_cells (const int at[3], const int n[3], int near[3], int far[3])
{
#pragma unroll
  for (int a = 0; a < 3; a++) {
    near[a] = at[a] / 2;
    far[a] = at[a] % 2 ? min (near[a] + 1, n[a] - 1) : max (near[a] - 1, 0);
  }
}

/* The value of @cells at one sample. */
__device__ __forceinline__ float
interpolate_sample (const float *cells, const int n[3], const int near[3],
    const int far[3])
{
  float sums[2];

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int x = i ? far[0] : near[0];
    const float a = cells[sample_index (n, x, near[1], near[2])];
    const float b = cells[sample_index (n, x, far[1], near[2])];
    const float c = cells[sample_index (n, x, near[1], far[2])];
    const float d = cells[sample_index (n, x, far[1], far[2])];

    sums[i] = .5625f * a + .1875f * (b + c) + .0625f * d;
  }
  return .75f * sums[0] + .25f * sums[1];
}

} // namespace nd
