/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/window.cuh"

#include "cuda/analysis/neighbours.cuh"
#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int THREADS = 128;
constexpr int WARPS = THREADS / 32;
/* A warp sums eight rows of a strip along x, four lanes a row. */
constexpr int STRIP = 32;
constexpr int ROWS = 8;
constexpr int LANES = 4;
constexpr int ACROSS = STRIP / LANES; /* outputs of a lane */
constexpr int TILE = 128;             /* rows of outputs of a thread block */
constexpr int PITCH = STRIP + 4;      /* of sums: rows are in different banks */

__host__ __device__ constexpr int
round_up (int n, int step)
{
  return (n + step - 1) / step * step;
}

/* The outputs of a lane along y. */
template <int RADIUS>
constexpr int down = RADIUS < 0 ? 8 : 16;

/* sum[o] = the sum over k <= 2 @radius of weights[k] * row[o - radius + k].
 * All of the row is loaded before the first sum. A sample outside the window of
 * a sum is not multiplied by 0, because it may be NaN. */
template <int RADIUS>
__device__ __forceinline__ void
sum_across (const float *row, const float *weights, int radius, float *sum)
{
#pragma unroll
  for (int o = 0; o < ACROSS; o++)
    sum[o] = 0;
  if constexpr (RADIUS >= 0) {
    constexpr int MARGIN = round_up (RADIUS, 4), N = ACROSS + 2 * MARGIN;
    float v[N];

#pragma unroll
    for (int i = 0; i < N; i += 4) {
      const float4 four = __ldg ((const float4 *) (row - MARGIN + i));

      v[i] = four.x;
      v[i + 1] = four.y;
      v[i + 2] = four.z;
      v[i + 3] = four.w;
    }
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++) {
#pragma unroll
      for (int o = 0; o < ACROSS; o++)
        sum[o] = fmaf (weights[k], v[MARGIN - RADIUS + k + o], sum[o]);
    }
  } else {
    const int margin = round_up (radius, 4), taps = 2 * radius + 1;
    const float4 *from = (const float4 *) (row - margin);
    float v[ACROSS + 4];
    const auto load = [&] (int i) {
      const float4 four = __ldg (from++);

      v[i] = four.x;
      v[i + 1] = four.y;
      v[i + 2] = four.z;
      v[i + 3] = four.w;
    };

#pragma unroll
    for (int i = 0; i < ACROSS; i += 4)
      load (i);
    for (int first = radius - margin; first < taps; first += 4) {
      load (ACROSS);
#pragma unroll
      for (int k = 0; k < 4; k++) {
        if (first + k >= 0 && first + k < taps) {
          const float weight = weights[first + k];

#pragma unroll
          for (int o = 0; o < ACROSS; o++)
            sum[o] = fmaf (weight, v[k + o], sum[o]);
        }
      }
#pragma unroll
      for (int i = 0; i < ACROSS; i++)
        v[i] = v[i + 4];
    }
  }
}

/* sum[o] = the sum over k <= 2 @radius of weights[k] * column[o + k], whose
 * samples are PITCH apart. */
template <int RADIUS>
__device__ __forceinline__ void
sum_down (const float *column, const float *weights, int radius, float *sum)
{
  constexpr int N = down<RADIUS>;

#pragma unroll
  for (int o = 0; o < N; o++)
    sum[o] = 0;
  if constexpr (RADIUS >= 0) {
#pragma unroll
    for (int i = 0; i < N + 2 * RADIUS; i++) {
      const float v = column[i * PITCH];

#pragma unroll
      for (int o = 0; o < N; o++) {
        if (i - o >= 0 && i - o <= 2 * RADIUS)
          sum[o] = fmaf (weights[i - o], v, sum[o]);
      }
    }
  } else {
    const int taps = 2 * radius + 1;
    float v[2 * N - 1];

#pragma unroll
    for (int o = 0; o < N - 1; o++)
      v[o] = column[o * PITCH];
    const auto next = [&] {
      column += N * PITCH;
      return column - PITCH;
    };

    sum_neighbours<N, PITCH, 1> (v, weights, taps, next, sum);
  }
}

/* A thread block sums a strip of one plane of one channel. RADIUS < 0: any
 * radius. */
template <int RADIUS>
__global__ void __launch_bounds__ (THREADS)
plane_kernel (const __grid_constant__ PlaneSum a)
{
  extern __shared__ float4 shared[];
  constexpr int N = down<RADIUS>;
  float *const across = (float *) shared;
  const int radius = RADIUS < 0 ? a.radius : RADIUS;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned i = blockIdx.x;
  const int x0 = i % a.strips * STRIP;
  const int y0 = (i /= a.strips) % a.tiles * TILE;
  const int c = (i /= a.tiles) % a.n_channels;
  /* The planes that were written last, and may be in the cache, are first. */
  const int z = a.size[2] - 1 - i / a.n_channels;
  const float *const in = a.in + a.layout.margin
      + a.channels[c].from * a.layout.volume + z * a.layout.slice;
  const int n = min (TILE, a.size[1] - y0);
  const int rows = (n + N - 1) / N * N + 2 * radius;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  for (int r = warp * ROWS + lane / LANES; r < rows; r += WARPS * ROWS) {
    const int y = y0 - radius + r, x = lane % LANES * ACROSS;
    float sum[ACROSS] = {};

    if (y >= 0 && y < a.size[1] && x0 + x < a.size[0])
      sum_across<RADIUS> (in + y * a.layout.row + x0 + x, a.along_x, radius,
          sum);
    float4 *const to = (float4 *) (across + r * PITCH + x);

    to[0] = make_float4 (sum[0], sum[1], sum[2], sum[3]);
    to[1] = make_float4 (sum[4], sum[5], sum[6], sum[7]);
  }
  __syncthreads ();
  if (x0 + lane >= a.size[0])
    return;
  const float scale = a.scale[0][x0 + lane];

  for (int r = warp * N; r < n; r += WARPS * N) {
    const size_t line =
        ((size_t) a.channels[c].to * a.size[2] + z) * a.size[1] + y0 + r;
    float *out = a.out + line * a.size[0] + x0 + lane;
    float sum[N];

    sum_down<RADIUS> (across + r * PITCH + lane, a.along_y, radius, sum);
#pragma unroll
    for (int o = 0; o < N; o++, out += a.size[0]) {
      if (r + o < n)
        *out = sum[o] * (scale * a.scale[1][y0 + r + o]);
    }
  }
}

template <int RADIUS = 8>
void (*find_plane_kernel (int radius)) (PlaneSum)
{
  if constexpr (RADIUS < 0)
    return plane_kernel<-1>;
  else
    return radius == RADIUS ? plane_kernel<RADIUS>
                            : find_plane_kernel<RADIUS - 1> (radius);
}

} // namespace

DeepLayout
make_deep_layout (const size_t size[3], int radius)
{
  DeepLayout layout;

  /* The margin after a row is the one before the next row. */
  layout.margin = round_up (radius, 4);
  layout.row = (size[0] + ACROSS - 1) / ACROSS * ACROSS + layout.margin;
  layout.slice = multiply (layout.row, size[1]);
  layout.volume = multiply (layout.slice, size[2]);
  return layout;
}

void
sum_planes (PlaneSum a, cudaStream_t stream)
{
  a.strips = (a.size[0] + STRIP - 1) / STRIP;
  a.tiles = (a.size[1] + TILE - 1) / TILE;
  const size_t shared =
      (std::min (round_up (a.size[1], 16), TILE) + 2 * a.radius) * PITCH
      * sizeof (float);

  launch_early (find_plane_kernel (a.radius),
      dim3 ((size_t) a.strips * a.tiles * a.size[2] * a.n_channels),
      dim3 (THREADS), shared, stream, a);
}

SpaceSums::SpaceSums (const NdStructureSettings &settings,
    const NdMotionPlan &plan, const NdShape &shape)
    : axes (nd_tensor_axes (shape.components)), n_channels (plan.n_moments)
{
  NdStructureWindow window;
  PlaneSum plane = {};

  nd_structure_window_init (&window, settings.sigma, shape.size);
  const int radius = window.radius, taps = 2 * radius + 1;

  deep.has_velocity = nd_structure_has_velocity (&settings);
  deep.has_isotropic = deep.has_velocity && settings.n_structures > 1;
  deep.layout = plane.layout = make_deep_layout (shape.size, radius);
  deep.radius = plane.radius = radius;
  for (int a = 0; a < 3; a++) {
    deep.size[a] = plane.size[a] = (int) shape.size[a];
    std::copy_n (window.weights + a * taps, taps, deep.weights[a]);
    scales[a].plan (std::vector<float> (window.scale[a],
        window.scale[a] + shape.size[a]));
  }
  nd_structure_window_clear (&window);
  for (unsigned y = 0; y < 3; y++) {
    for (unsigned x = 0; x < 3; x++) {
      plane.n_channels = 0;
      std::copy_n (deep.weights[x], taps, plane.along_x);
      std::copy_n (deep.weights[y], taps, plane.along_y);
      for (unsigned i = 0; i < plan.n_moments; i++) {
        const NdMoment &m = plan.moments[i];

        if (m.p[0] != x || m.p[1] != y)
          continue;
        auto &channel = plane.channels[plane.n_channels++];

        channel.from = find_deep (m.component, m.p[2]);
        channel.to = i;
      }
      if (deep.has_isotropic && x == 0 && y == 0) {
        auto &channel = plane.channels[plane.n_channels++];

        channel.from = find_deep (shape.components, 0);
        channel.to = n_channels++;
      }
      if (plane.n_channels > 0)
        planes.push_back (plane);
    }
  }
  between.plan (deep.layout.margin
      + multiply (deep.layout.volume, deep.n_channels));
}

/* The volume of sums along z of @component, which is added if it is not there
 * yet. */
size_t
SpaceSums::find_deep (unsigned component, unsigned power)
{
  int i = 0;

  while (i < deep.n_channels
      && (deep.channels[i].component != component
          || deep.channels[i].power != power))
    i++;
  if (i == deep.n_channels) {
    deep.channels[i].component = component;
    deep.channels[i].power = power;
    deep.n_channels++;
  }
  return i;
}

void
SpaceSums::begin (const NdSamples &volume, cudaStream_t stream) const
{
  DeepSum a = deep;

  a.data = volume.data;
  a.sample = volume.sample;
  a.row = volume.row;
  a.slice = volume.slice;
  a.scale = scales[2].get ();
  a.out = between.get ();
  sum_deep (a, axes, stream);
}

void
SpaceSums::end (float *out, cudaStream_t stream) const
{
  for (PlaneSum a : planes) {
    a.in = between.get ();
    a.scale[0] = scales[0].get ();
    a.scale[1] = scales[1].get ();
    a.out = out;
    sum_planes (a, stream);
  }
}

} // namespace nd
