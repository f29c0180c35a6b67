/* Filters along y or z in double precision, for method `separable`. A thread
 * computes neighbouring outputs of a line, so that it reads a sample once for
 * all of them. Memory limits the speed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/doublestencil.cuh"
#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int LINE_THREADS = 128;
constexpr int LINE_OUTPUTS = 8; /* of a thread, along the line */

struct LineArguments
{
  const double *in;
  size_t sample, across, along; /* strides in numbers */
  int border;
  const double *outside;
  int size[3];           /* of x, across the line and along it */
  const double *weights; /* in the order of samples */
  int n, low;
  Store store;
  bool is_deep; /* the line is along z */
};

__global__ void __launch_bounds__ (LINE_THREADS)
separable_double_kernel (const __grid_constant__ LineArguments a)
{
  const int x = blockIdx.x * LINE_THREADS + threadIdx.x;
  const size_t tiles = (a.size[2] + LINE_OUTPUTS - 1) / LINE_OUTPUTS;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (x >= a.size[0])
    return;
  for (size_t tile = blockIdx.y; tile < tiles * a.size[1]; tile += gridDim.y) {
    const int j = tile / tiles, first = (tile - j * tiles) * LINE_OUTPUTS;
    const double *const in = a.in + j * a.across + x * a.sample;
    double sum[LINE_OUTPUTS] = {}, w[LINE_OUTPUTS] = {};

    /* Output o multiplies sample k by weight k - o, which is w[o]. It is 0, and
     * not multiplied, outside the filter. */
#pragma unroll 4
    for (int k = 0; k < a.n + LINE_OUTPUTS - 1; k++) {
      const int i = border_index (a.border, first + a.low + k, a.size[2]);
      const double v = i < 0 ? *a.outside : in[i * a.along];

#pragma unroll
      for (int o = LINE_OUTPUTS - 1; o > 0; o--)
        w[o] = w[o - 1];
      w[0] = k < a.n ? a.weights[k] : 0;
#pragma unroll
      for (int o = 0; o < LINE_OUTPUTS; o++) {
        if (w[o] != 0)
          sum[o] = fma (w[o], v, sum[o]);
      }
    }
#pragma unroll
    for (int o = 0; o < LINE_OUTPUTS; o++) {
      const int i = first + o;

      if (i < a.size[2])
        store_sample (a.store, sum[o], x, a.is_deep ? j : i, a.is_deep ? i : j);
    }
  }
}

} // namespace

DoubleLine::DoubleLine (NdAxis axis, const double *coefficients, size_t n,
    int low)
    : axis (axis), n (n), low (low)
{
  weights.plan (std::vector<
      double> (std::reverse_iterator<const double *> (coefficients + n),
      std::reverse_iterator<const double *> (coefficients)));
}

void
DoubleLine::run (const DoubleVolumes &volume, const size_t size[3],
    const Store &store, cudaStream_t stream) const
{
  LineArguments a = {};

  a.is_deep = axis == ND_AXIS_Z;
  a.in = volume.origin;
  a.sample = volume.sample;
  a.across = a.is_deep ? volume.row : volume.slice;
  a.along = a.is_deep ? volume.slice : volume.row;
  a.border = volume.border;
  a.outside = volume.outside;
  a.size[0] = size[0];
  a.size[1] = a.is_deep ? size[1] : size[2];
  a.size[2] = a.is_deep ? size[2] : size[1];
  a.weights = weights.get ();
  a.n = n;
  a.low = low;
  a.store = store;
  const size_t tiles =
      (size_t) ((a.size[2] + LINE_OUTPUTS - 1) / LINE_OUTPUTS) * a.size[1];

  launch_early (separable_double_kernel,
      dim3 ((a.size[0] + LINE_THREADS - 1) / LINE_THREADS,
          std::min<size_t> (tiles, 65535)),
      LINE_THREADS, 0, stream, a);
}

} // namespace nd
