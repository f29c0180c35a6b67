/* Sums along x and y of volumes that a thread block computes for its tile: sums
 * over time, and tensors. Sums along z of the first.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/adaptivederive.cuh"
#include "cuda/analysis/adaptivekernels.cuh"
#include "cuda/launch.cuh"
#include "cuda/rounding.h"

namespace nd
{

namespace
{

constexpr int WIDTH = 32, HEIGHT = 16; /* outputs of a thread block */
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int ACROSS = 4, DOWN = 4; /* of a thread along x, y or z */
constexpr int LANES = WIDTH / ACROSS;

/* N planes of a tile with the samples around it. */
template <int N, int RADIUS>
struct Tile
{
  static constexpr int WIDE = WIDTH + 2 * RADIUS, ROWS = HEIGHT + 2 * RADIUS;
  static constexpr int PITCH = round_up (WIDE, 4);
  static constexpr int PLANE = ROWS * PITCH;
  static constexpr size_t BYTES = N * PLANE * sizeof (float);
};

struct Place
{
  int x, y, z; /* of the first output */
};

__device__ __forceinline__ Place
find_place (const int size[3])
{
  const unsigned across = (size[0] + WIDTH - 1) / WIDTH;
  const unsigned down = (size[1] + HEIGHT - 1) / HEIGHT;
  const unsigned i = blockIdx.x;

  return { (int) (i % across) * WIDTH, (int) (i / across % down) * HEIGHT,
    (int) (i / across / down) };
}

dim3
count_tiles (const int size[3])
{
  return dim3 (divide_up (size[0], WIDTH) * divide_up (size[1], HEIGHT)
      * size[2]);
}

/* The sum over the window of RADIUS around v[RADIUS]. */
template <int RADIUS>
__device__ __forceinline__ float
sum_window (const float *v, const float *half)
{
  float sum = half[0] * v[RADIUS];

#pragma unroll
  for (int u = 1; u <= RADIUS; u++)
    sum = fmaf (half[u], v[RADIUS - u] + v[RADIUS + u], sum);
  return sum;
}

/* Sums @tile along x in its place, and then along y to @out, N volumes.
 * @find_weights gives the weights of the distances for a plane. */
template <int N, int RADIUS, typename F>
__device__ __forceinline__ void
sum_tile (float *tile, const AdaptiveVolume &volume, const Place &place,
    const F &find_weights, float *out)
{
  using T = Tile<N, RADIUS>;
  constexpr int ROWS = N * T::ROWS;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int rows = min (volume.size[1] - place.y, HEIGHT);

  __syncthreads ();
  /* LANES threads of one warp have a row, so that they can overwrite it. */
  for (int first = 0; first < ROWS; first += THREADS / LANES) {
    const int r = first + threadIdx.x / LANES, x = lane % LANES * ACROSS;
    float4 *const row = (float4 *) (tile + r * T::PITCH + x);
    float half[RADIUS + 1], v[round_up (ACROSS + 2 * RADIUS, 4)];
    float sums[ACROSS];

    if (r < ROWS) {
      find_weights (r / T::ROWS, half);
#pragma unroll
      for (int i = 0; i < (int) (sizeof (v) / sizeof (float)); i += 4) {
        const float4 four = row[i / 4];

        v[i] = four.x;
        v[i + 1] = four.y;
        v[i + 2] = four.z;
        v[i + 3] = four.w;
      }
#pragma unroll
      for (int o = 0; o < ACROSS; o++)
        sums[o] = sum_window<RADIUS> (v + o, half);
    }
    __syncwarp ();
    if (r < ROWS)
      row[0] = make_float4 (sums[0], sums[1], sums[2], sums[3]);
  }
  __syncthreads ();
  if (place.x + lane >= volume.size[0])
    return;
  for (int i = warp; i < N * (HEIGHT / DOWN); i += WARPS) {
    const int k = i / (HEIGHT / DOWN), y = i % (HEIGHT / DOWN) * DOWN;
    float half[RADIUS + 1], v[DOWN + 2 * RADIUS];
    float *to = out + k * volume.samples
        + ((size_t) place.z * volume.size[1] + place.y + y) * volume.size[0]
        + place.x + lane;

    find_weights (k, half);
#pragma unroll
    for (int j = 0; j < DOWN + 2 * RADIUS; j++)
      v[j] = tile[(k * T::ROWS + y + j) * T::PITCH + lane];
#pragma unroll
    for (int o = 0; o < DOWN; o++, to += volume.size[0]) {
      if (y + o < rows)
        *to = sum_window<RADIUS> (v + o, half);
    }
  }
}

/* Runs @compute (x, y, to) for the samples that the outputs of the tile read.
 * They may lie outside of the volume. */
template <int N, int RADIUS, typename F>
__device__ __forceinline__ void
fill_tile (float *tile, const AdaptiveVolume &volume, const Place &place,
    const F &compute)
{
  using T = Tile<N, RADIUS>;

  for (int i = threadIdx.x; i < T::ROWS * T::WIDE; i += THREADS) {
    const int column = i % T::WIDE, row = i / T::WIDE;
    const int x = place.x + column - RADIUS, y = place.y + row - RADIUS;

    if (x < volume.size[0] + RADIUS && y < volume.size[1] + RADIUS)
      compute (x, y, tile + row * T::PITCH + column);
  }
}

/* Sums over time, x and y */

__device__ __forceinline__ float
read (const AdaptiveSmooth &a, int t, bool inside, size_t at)
{
  return inside && a.in[t] ? a.in[t][at] : a.border_value;
}

/* With time, sum i belongs to node i / 3. */
template <bool TIME>
__device__ __forceinline__ int
gaussian_of (int sum)
{
  return TIME ? sum / 3 : sum;
}

template <bool TIME, int RADIUS>
__global__ void __launch_bounds__ (THREADS)
adaptive_smooth_xy_kernel (const __grid_constant__ AdaptiveSmooth a)
{
  constexpr int N = TIME ? ADAPTIVE_SUMS : ADAPTIVE_GAUSSIANS;
  constexpr int REACH = ND_ADAPTIVE_TIME_REACH;
  extern __shared__ float4 shared[];
  float *const tile = (float *) shared;
  const int *size = a.volume.size;
  const Place place = find_place (size);

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  fill_tile<N, RADIUS> (tile, a.volume, place, [&] (int x, int y, float *to) {
    const int xs = border_index (a.volume.border, x, size[0]);
    const int ys = border_index (a.volume.border, y, size[1]);
    const bool inside = xs >= 0 && ys >= 0;
    const size_t at = ((size_t) place.z * size[1] + ys) * size[0] + xs;
    const float now = read (a, TIME ? REACH : 0, inside, at);

    if constexpr (!TIME) {
#pragma unroll
      for (int i = 0; i < N; i++)
        to[i * Tile<N, RADIUS>::PLANE] = a.time[i][0] * now;
      return;
    }
    float even[REACH + 1] = { now }, odd[REACH + 1] = {};

#pragma unroll
    for (int u = 1; u <= REACH; u++) {
      const float before = read (a, REACH - u, inside, at);
      const float after = read (a, REACH + u, inside, at);

      even[u] = after + before;
      odd[u] = after - before;
    }
    /* Only derivatives read the most distant volumes. */
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int order = i == N - 1 ? 0 : i % 3;
      float sum = order == 1 ? 0 : a.time[i][0] * now;

#pragma unroll
      for (int u = 1; u <= (order ? REACH : ND_ADAPTIVE_TIME_RADIUS); u++)
        sum = fmaf (a.time[i][u], order == 1 ? odd[u] : even[u], sum);
      to[i * Tile<N, RADIUS>::PLANE] = sum;
    }
  });
  sum_tile<N, RADIUS> (
      tile, a.volume, place,
      [&] (int sum, float *half) {
        const float *from = a.space[gaussian_of<TIME> (sum)];

#pragma unroll
        for (int u = 0; u <= RADIUS; u++)
          half[u] = from[u];
      },
      a.sums);
}

/* Sums over z of volumes of sums, which are added. */
struct Columns
{
  const float *in;
  size_t step; /* from one of the volumes to the next */
  const float (*space)[ND_ADAPTIVE_MAX_RADIUS + 1]; /* of each volume */
  const float *edges;
  int edge_step;
  float *out;
};

/* The samples @z0 to @z0 + DOWN - 1 of column @i. @read (n, k) is sample
 * @z0 - RADIUS + k of volume n. */
template <int N, int RADIUS, typename F>
__device__ __forceinline__ void
sum_column (const Columns &c, size_t plane, size_t i, int z0, int depth,
    const F &read)
{
  float sums[DOWN] = {};

#pragma unroll
  for (int n = 0; n < N; n++) {
    float v[DOWN + 2 * RADIUS];

#pragma unroll
    for (int k = 0; k < DOWN + 2 * RADIUS; k++)
      v[k] = read (n, k);
#pragma unroll
    for (int o = 0; o < DOWN; o++)
      sums[o] += RADIUS == 0 ? v[o] : sum_window<RADIUS> (v + o, c.space[n]);
  }
#pragma unroll
  for (int o = 0; o < DOWN; o++) {
    if (z0 + o < depth)
      c.out[(z0 + o) * plane + i] = sums[o];
  }
}

template <int N, int RADIUS>
__device__ __forceinline__ void
sum_columns (const Columns &c, const AdaptiveVolume &volume, size_t i, int z0)
{
  const size_t plane = (size_t) volume.size[0] * volume.size[1];
  const int depth = volume.size[2], from = z0 - RADIUS;

  if (from >= 0 && z0 + DOWN + RADIUS <= depth) {
    const float *const in = c.in + from * plane + i;

    sum_column<N, RADIUS> (c, plane, i, z0, depth,
        [&] (int n, int k) { return in[n * c.step + k * plane]; });
  } else {
    sum_column<N, RADIUS> (c, plane, i, z0, depth, [&] (int n, int k) {
      const int z = border_index (volume.border, from + k, depth);

      return z < 0 ? c.edges[n * c.edge_step]
                   : c.in[n * c.step + z * plane + i];
    });
  }
}

/* Thread blocks beside each other have the same columns: one sums the low-pass
 * filter, and one each derivative over time. RADIUS 0: a single plane, whose
 * axis z does not count. */
template <bool TIME, int RADIUS>
__global__ void __launch_bounds__ (THREADS)
adaptive_smooth_z_kernel (const __grid_constant__ AdaptiveSmooth a)
{
  constexpr int ORDERS = TIME ? 3 : 1, LOW = ORDERS * ND_ADAPTIVE_NODES;
  const size_t plane = (size_t) a.volume.size[0] * a.volume.size[1];
  const unsigned n_columns = (plane + THREADS - 1) / THREADS;
  const int order = blockIdx.x % (ORDERS + 1);
  const unsigned block = blockIdx.x / (ORDERS + 1);
  const size_t i = (size_t) (block % n_columns) * THREADS + threadIdx.x;
  const int z0 = block / n_columns * DOWN;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (i >= plane)
    return;
  if (order < ORDERS)
    sum_columns<ND_ADAPTIVE_NODES, RADIUS> ({ a.sums + order * a.volume.samples,
                                                ORDERS * a.volume.samples,
                                                a.space, a.edges + order,
                                                ORDERS, a.base[order] },
        a.volume, i, z0);
  else
    sum_columns<1, RADIUS> ({ a.sums + LOW * a.volume.samples, 0,
                                a.space + ND_ADAPTIVE_NODES, a.edges + LOW, 0,
                                a.low },
        a.volume, i, z0);
}

/* Tensors */

template <int SPACE, bool TIME, int RADIUS>
__global__ void __launch_bounds__ (THREADS)
adaptive_tensor_kernel (const __grid_constant__ AdaptiveBand a)
{
  constexpr int AXES = SPACE + TIME, N = component_count (AXES);
  extern __shared__ float4 shared[];
  float *const tile = (float *) shared;
  const int *size = a.volume.size;
  const Place place = find_place (size);

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  fill_tile<N, RADIUS> (tile, a.volume, place, [&] (int x, int y, float *to) {
    float b[AXES], h[N];

    /* The window has the tensors of the border's samples. */
    differentiate<SPACE, TIME> (a, nearest_index (a.volume.border, x, size[0]),
        nearest_index (a.volume.border, y, size[1]), place.z, b, h);
#pragma unroll
    for (int i = 0; i < N; i++)
      h[i] *= a.scale;
#pragma unroll
    for (int i = 0; i < AXES; i++)
      b[i] *= a.scale;
#pragma unroll
    for (int i = 0; i < AXES; i++) {
#pragma unroll
      for (int j = i; j < AXES; j++) {
        float sum = a.gradient * b[i] * b[j];

#pragma unroll
        for (int k = 0; k < AXES; k++)
          sum = fmaf (h[tensor_index<AXES> (i, k)],
              h[tensor_index<AXES> (j, k)], sum);
        to[tensor_index<AXES> (i, j) * Tile<N, RADIUS>::PLANE] = sum;
      }
    }
  });
  sum_tile<N, RADIUS> (
      tile, a.volume, place,
      [&] (int component, float *half) {
#pragma unroll
        for (int u = 0; u <= RADIUS; u++)
          half[u] = a.window[u];
      },
      a.tensor);
}

/* Launches */

template <int N, int RADIUS, typename A>
void
launch_tiles (void (*kernel) (A), const A &a, cudaStream_t stream)
{
  constexpr size_t bytes = Tile<N, RADIUS>::BYTES;

  ND_CUDA (cudaFuncSetAttribute ((const void *) kernel,
      cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes));
  launch_early (kernel, count_tiles (a.volume.size), dim3 (THREADS), bytes,
      stream, a);
}

template <bool TIME>
void
launch_smooth_planes (const AdaptiveSmooth &a, cudaStream_t stream)
{
  constexpr int N = TIME ? ADAPTIVE_SUMS : ADAPTIVE_GAUSSIANS;

  if (a.radius <= 3)
    launch_tiles<N, 3> (adaptive_smooth_xy_kernel<TIME, 3>, a, stream);
  else if (a.radius <= 4)
    launch_tiles<N, 4> (adaptive_smooth_xy_kernel<TIME, 4>, a, stream);
  else
    launch_tiles<N, 6> (adaptive_smooth_xy_kernel<TIME, 6>, a, stream);
}

template <bool TIME>
auto
find_depth_kernel (const AdaptiveSmooth &a)
{
  return !a.volume.is_deep ? adaptive_smooth_z_kernel<TIME, 0>
      : a.radius <= 3      ? adaptive_smooth_z_kernel<TIME, 3>
      : a.radius <= 4      ? adaptive_smooth_z_kernel<TIME, 4>
                           : adaptive_smooth_z_kernel<TIME, 6>;
}

template <int SPACE, bool TIME>
void
launch_tensors (const AdaptiveBand &a, cudaStream_t stream)
{
  constexpr int AXES = SPACE + TIME, N = component_count (AXES);

  if (a.radius <= 3)
    launch_tiles<N, 3> (adaptive_tensor_kernel<SPACE, TIME, 3>, a, stream);
  else if (a.radius <= 4)
    launch_tiles<N, 4> (adaptive_tensor_kernel<SPACE, TIME, 4>, a, stream);
  else
    launch_tiles<N, 5> (adaptive_tensor_kernel<SPACE, TIME, 5>, a, stream);
}

} // namespace

void
smooth_adaptive_planes (const AdaptiveSmooth &a, cudaStream_t stream)
{
  if (a.volume.has_time)
    launch_smooth_planes<true> (a, stream);
  else
    launch_smooth_planes<false> (a, stream);
}

void
smooth_adaptive_depth (const AdaptiveSmooth &a, cudaStream_t stream)
{
  const size_t plane = (size_t) a.volume.size[0] * a.volume.size[1];
  const size_t sums = (a.volume.has_time ? 3 : 1) + 1; /* and the low-pass */
  const size_t blocks =
      sums * divide_up (plane, THREADS) * divide_up (a.volume.size[2], DOWN);

  launch_early (a.volume.has_time ? find_depth_kernel<true> (a)
                                  : find_depth_kernel<false> (a),
      dim3 (blocks), dim3 (THREADS), 0, stream, a);
}

void
make_adaptive_tensors (const AdaptiveBand &a, cudaStream_t stream)
{
  if (a.volume.is_deep && a.volume.has_time)
    launch_tensors<3, true> (a, stream);
  else if (a.volume.is_deep)
    launch_tensors<3, false> (a, stream);
  else if (a.volume.has_time)
    launch_tensors<2, true> (a, stream);
  else
    launch_tensors<2, false> (a, stream);
}

} // namespace nd
