/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/window.cuh"

#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int THREADS = 128; /* columns of a thread block */
constexpr int ACROSS = 8;    /* outputs of a thread along x */
/* Rows whose sums along x a thread block computes at the same time. */
constexpr int ROWS = 8;

/* Samples before and after the outputs along x, quads of them. */
__host__ __device__ constexpr int
margin_of (int radius)
{
  return radius < 1 ? 4 : (radius + 3) / 4 * 4;
}

/* The outputs of a thread along y. */
template <int RADIUS>
constexpr int down = RADIUS < 0 ? 8 : 32;

/* sum[o] = the sum over k <= 2 @radius of weights[k] * column[o + k], whose
 * samples are @pitch apart. All samples are loaded before the first sum. A
 * sample outside the window of a sum is not multiplied by 0, because it may be
 * NaN. */
template <int RADIUS>
__device__ __forceinline__ void
sum_down (const float *column, unsigned pitch, const float *weights, int radius,
    float *sum)
{
  constexpr int N = down<RADIUS>;
  const auto load = [&] (int i) { return __ldg (column + (size_t) i * pitch); };

  if constexpr (RADIUS >= 0) {
    float v[N + 2 * RADIUS];

#pragma unroll
    for (int i = 0; i < N + 2 * RADIUS; i++)
      v[i] = load (i);
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++) {
#pragma unroll
      for (int o = 0; o < N; o++)
        sum[o] = fmaf (weights[k], v[o + k], sum[o]);
    }
  } else {
    const int taps = 2 * radius + 1;
    float v[2 * N - 1];

#pragma unroll
    for (int o = 0; o < N - 1; o++)
      v[o] = load (o);
    for (int first = 0; first < taps; first += N) {
#pragma unroll
      for (int k = 0; k < N; k++)
        v[N - 1 + k] = first + k < taps ? load (first + N - 1 + k) : 0;
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
}

/* sum[o] = the sum over k <= 2 @radius of weights[k] * row[o - radius + k]. */
template <int RADIUS>
__device__ __forceinline__ void
sum_across (const float *row, const float *weights, int radius, float *sum)
{
  constexpr int MARGIN = margin_of (RADIUS);
  constexpr int N = RADIUS < 0 ? ACROSS + 4 : ACROSS + 2 * MARGIN;
  const float4 *from =
      (const float4 *) (row - (RADIUS < 0 ? margin_of (radius) : MARGIN));
  float v[N];
  const auto load = [&] (int i) {
    const float4 four = *from++;

    v[i] = four.x;
    v[i + 1] = four.y;
    v[i + 2] = four.z;
    v[i + 3] = four.w;
  };

#pragma unroll
  for (int o = 0; o < ACROSS; o++)
    sum[o] = 0;
#pragma unroll
  for (int i = 0; i < N - (RADIUS < 0 ? 4 : 0); i += 4)
    load (i);
  if constexpr (RADIUS >= 0) {
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++) {
#pragma unroll
      for (int o = 0; o < ACROSS; o++)
        sum[o] = fmaf (weights[k], v[MARGIN - RADIUS + k + o], sum[o]);
    }
  } else {
    const int taps = 2 * radius + 1;

    for (int first = radius - margin_of (radius); first < taps; first += 4) {
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

/* Sums along y are in shared memory between two margins. Eight threads read
 * four octets of one row and of the next one together: these are in different
 * banks. sum_across () reads up to four samples after a margin. */
__host__ __device__ constexpr int
pitch_of_rows (int radius)
{
  return THREADS + 2 * margin_of (radius) + 4;
}

/* A thread block sums a strip of a few rows of one channel. A thread sums one
 * column along y, and then octets of outputs along x. RADIUS < 0: any
 * radius. */
template <int RADIUS>
__global__ void __launch_bounds__ (THREADS)
structure_xy_kernel (const __grid_constant__ PlaneSum a)
{
  extern __shared__ float4 shared[];
  constexpr int N = down<RADIUS>;
  float *const rows = (float *) shared;
  const int radius = RADIUS < 0 ? a.radius : RADIUS;
  const int margin = margin_of (radius), pitch = pitch_of_rows (radius);
  const size_t slice = (size_t) a.size[0] * a.size[1];
  unsigned i = blockIdx.x;
  const int x0 = i % a.strips * (THREADS - 2 * a.lead);
  const int y0 = (i /= a.strips) % a.tiles * N;
  const int c = (i /= a.tiles) % a.n_channels;
  /* The planes that were written last, and may be in the cache, are first. */
  const int z = a.size[2] - 1 - i / a.n_channels;
  const int x = x0 - a.lead + threadIdx.x, lane = threadIdx.x % 32;
  const int octet = lane % 4 + lane / 8 * 4, to = x0 + octet * ACROSS;
  float down[N] = {};

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (x >= 0 && x < a.size[0]) {
    const float *from = a.in + a.channels[c].from * a.layout.volume
        + z * a.layout.slice + (size_t) y0 * a.size[0] + x;

    /* Otherwise the compiler computes all addresses from the first one. */
    asm ("" : "+l"(from));
    sum_down<RADIUS> (from, a.size[0], a.along_y, radius, down);
  }
#pragma unroll
  for (int r = 0; r < N; r++)
    rows[r * pitch + margin + threadIdx.x] = down[r];
  for (int k = threadIdx.x; k < N * margin; k += THREADS) {
    float *const before = rows + k / margin * pitch + k % margin;

    before[0] = before[margin + THREADS] = 0;
  }
  __syncthreads ();
  if (octet * ACROSS >= THREADS - 2 * a.lead || to >= a.size[0])
    return;
  float *out = a.out + (a.channels[c].to * (size_t) a.size[2] + z) * slice + to;

#pragma unroll 1
  for (int k = 0; k < N; k += ROWS) {
    const int r = k + threadIdx.x / 32 * 2 + lane / 4 % 2, y = y0 + r;

    if (y >= a.size[1])
      break;
    const float scale = a.scale[1][y] * a.scale[2][z];
    float *const line = out + (size_t) y * a.size[0];
    float sum[ACROSS];

    sum_across<RADIUS> (rows + r * pitch + margin + a.lead + octet * ACROSS,
        a.along_x, radius, sum);
#pragma unroll
    for (int o = 0; o < ACROSS; o += 4) {
      if (to + o < a.size[0] && a.size[0] % 4 == 0) {
        const float4 along_x = __ldg ((const float4 *) (a.scale[0] + to + o));

        *(float4 *) (line + o) = make_float4 (sum[o] * (along_x.x * scale),
            sum[o + 1] * (along_x.y * scale), sum[o + 2] * (along_x.z * scale),
            sum[o + 3] * (along_x.w * scale));
      } else {
#pragma unroll
        for (int p = o; p < o + 4; p++) {
          if (to + p < a.size[0])
            line[p] = sum[p] * (a.scale[0][to + p] * scale);
        }
      }
    }
  }
}

/* Larger radii are computed by loops. */
constexpr int MAX_UNROLLED = 8;

template <int RADIUS = MAX_UNROLLED>
void (*find_plane_kernel (int radius)) (PlaneSum)
{
  if constexpr (RADIUS < 0)
    return structure_xy_kernel<-1>;
  else
    return radius == RADIUS ? structure_xy_kernel<RADIUS>
                            : find_plane_kernel<RADIUS - 1> (radius);
}

} // namespace

DeepLayout
make_deep_layout (const size_t size[3], int radius)
{
  DeepLayout layout;

  layout.margin = multiply (radius, size[0]);
  /* The rows after a plane are those before the next one. */
  layout.slice = multiply (size[1], size[0]) + layout.margin;
  layout.volume = multiply (layout.slice, size[2]);
  layout.end = multiply (radius + down<MAX_UNROLLED>, size[0]);
  return layout;
}

void
sum_planes (PlaneSum a, cudaStream_t stream)
{
  const auto kernel = find_plane_kernel (a.radius);
  const int rows = a.radius > MAX_UNROLLED ? down<-1> : down<MAX_UNROLLED>;

  /* Columns beside a strip are summed again for it. */
  a.lead = a.size[0] > THREADS ? margin_of (a.radius) : 0;
  a.strips = (a.size[0] - 1) / (THREADS - 2 * a.lead) + 1;
  a.tiles = (a.size[1] - 1) / rows + 1;
  launch_early (kernel,
      dim3 ((size_t) a.strips * a.tiles * a.size[2] * a.n_channels),
      dim3 (THREADS), rows * pitch_of_rows (a.radius) * sizeof (float), stream,
      a);
}

SpaceSums::SpaceSums (const NdStructureSettings &settings,
    const NdMotionPlan &plan, const NdShape &shape)
    : axes (nd_tensor_axes (shape.components)), n_channels (plan.n_moments)
{
  NdStructureWindow window;
  PlaneSum plane = {};

  if (!nd_structure_window_init (&window, settings.sigma, shape.size)) {
    nd_structure_window_clear (&window);
    throw Error (ND_ERROR_MEMORY,
        "Not enough memory for the window of tensors: use smaller volumes");
  }
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
  between.plan (multiply (deep.layout.volume, deep.n_channels)
      + deep.layout.margin + deep.layout.end);
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
  a.out = between.get ();
  sum_deep (a, axes, stream);
}

void
SpaceSums::end (float *out, cudaStream_t stream) const
{
  for (PlaneSum a : planes) {
    a.in = between.get ();
    for (int axis = 0; axis < 3; axis++)
      a.scale[axis] = scales[axis].get ();
    a.out = out;
    sum_planes (a, stream);
  }
}

} // namespace nd
