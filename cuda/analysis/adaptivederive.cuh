/* The derivatives of B at one sample.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/adaptivekernels.cuh"
#include "cuda/samples.cuh"

namespace nd
{

/* nd_tensor_index(). */
template <int AXES>
constexpr __host__ __device__ int
tensor_index (int i, int j)
{
  const int row = i < j ? i : j, column = i < j ? j : i;

  return row * AXES - row * (row + 1) / 2 + column;
}

constexpr __host__ __device__ int
component_count (int axes)
{
  return axes * (axes + 1) / 2;
}

/* border_index(), but the nearest sample in place of the border value. */
__device__ __forceinline__ int
nearest_index (int border, int i, int n)
{
  const int at = border_index (border, i, n);

  return at < 0 ? min (max (i, 0), n - 1) : at;
}

/* The gradient @b, and @h: minus the second derivatives. @value (order,
 * offsets) is B, or a derivative over time, at a neighbour. */
template <int SPACE, bool TIME, typename F>
__device__ __forceinline__ void
differentiate_values (const F &value, float *b, float *h)
{
  constexpr int AXES = SPACE + TIME;
  const int here[3] = { 0, 0, 0 };
  const float center = value (0, here);

#pragma unroll
  for (int i = 0; i < SPACE; i++) {
    const int before[3] = { i == 0 ? -1 : 0, i == 1 ? -1 : 0, i == 2 ? -1 : 0 };
    const int after[3] = { -before[0], -before[1], -before[2] };
    const float low = value (0, before), high = value (0, after);

    b[i] = .5f * (high - low);
    h[tensor_index<AXES> (i, i)] = (center - low) + (center - high);
    if (TIME)
      h[tensor_index<AXES> (i, SPACE)] =
          .5f * (value (1, before) - value (1, after));
#pragma unroll
    for (int j = i + 1; j < SPACE; j++) {
      float sum = 0;

#pragma unroll
      for (int k = 0; k < 4; k++) {
        int d[3] = {};

        d[i] = k & 1 ? 1 : -1;
        d[j] = k & 2 ? 1 : -1;
        sum += d[i] * d[j] * value (0, d);
      }
      h[tensor_index<AXES> (i, j)] = -.25f * sum;
    }
  }
  if (TIME) {
    b[SPACE] = value (1, here);
    h[tensor_index<AXES> (SPACE, SPACE)] = -value (2, here);
  }
}

/* The derivatives at a sample of the volume. */
template <int SPACE, bool TIME>
__device__ __forceinline__ void
differentiate (const AdaptiveBand &a, int x, int y, int z, float *b, float *h)
{
  const int *size = a.volume.size, border = a.volume.border;
  int xs[3] = { x - 1, x, x + 1 }, ys[3] = { y - 1, y, y + 1 };
  int zs[3] = { z - 1, z, z + 1 };

#pragma unroll
  for (int i = 0; i < 3; i += 2) {
    xs[i] = border_index (border, xs[i], size[0]);
    ys[i] = border_index (border, ys[i], size[1]);
    zs[i] = SPACE == 3 ? border_index (border, zs[i], size[2]) : 0;
  }
  const auto find = [&] (int order, const int *d) {
    return a.base[order]
        + ((size_t) zs[1 + d[2]] * size[1] + ys[1 + d[1]]) * size[0]
        + xs[1 + d[0]];
  };

  if (border == ND_BORDER_CONSTANT)
    differentiate_values<SPACE, TIME> (
        [&] (int order, const int *d) {
          const bool inside =
              xs[1 + d[0]] >= 0 && ys[1 + d[1]] >= 0 && zs[1 + d[2]] >= 0;

          /* Derivatives over time of a constant are 0. */
          return inside ? *find (order, d) : order == 0 ? a.edge : 0;
        },
        b, h);
  else
    differentiate_values<SPACE,
        TIME> ([&] (int order, const int *d) { return *find (order, d); }, b,
        h);
}

} // namespace nd
