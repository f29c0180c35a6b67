/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/window.cuh"

#include "cuda/launch.cuh"

#include <algorithm>
#include <cuda_pipeline.h>

namespace nd
{

namespace
{

constexpr int THREADS = 256;
/* A thread computes so many neighbouring sums, and reads each sample once for
 * all of them. */
constexpr int RUN = 8;
constexpr int TILE_WIDTH = 64;

/* Sums of RUN neighbours along an axis: sum o is that of samples o to
 * o + 2 radius. @read (u) returns sample u. A sample outside the window of a
 * sum is not multiplied by 0, because it may be NaN. */
template <typename F>
__device__ __forceinline__ void
sum_run (const float *weights, int radius, F read, float *sums)
{
  const int taps = 2 * radius + 1;
  float v[2 * RUN - 1];

#pragma unroll
  for (int o = 0; o < RUN; o++)
    sums[o] = 0;
#pragma unroll
  for (int o = 0; o < RUN - 1; o++)
    v[o] = read (o);
  for (int first = 0; first < taps; first += RUN) {
#pragma unroll
    for (int k = 0; k < RUN; k++) {
      if (first + k < taps)
        v[RUN - 1 + k] = read (first + RUN - 1 + k);
    }
#pragma unroll
    for (int k = 0; k < RUN; k++) {
      if (first + k < taps) {
        const float weight = weights[first + k];

#pragma unroll
        for (int o = 0; o < RUN; o++)
          sums[o] = fmaf (weight, v[o + k], sums[o]);
      }
    }
#pragma unroll
    for (int o = 0; o < RUN - 1; o++)
      v[o] = v[o + RUN];
  }
}

struct Plane
{
  WindowSum window;
  int tile_height, tiles_x, tiles_y;
};

/* The pitch of samples in shared memory. Threads of a warp read different rows
 * of one column, so that the pitch is odd. */
__host__ __device__ int
pitch_of (int radius)
{
  return (TILE_WIDTH + 2 * radius) | 1;
}

/* A block sums a tile of one plane of one channel along x and y. */
__global__ void __launch_bounds__ (THREADS)
plane_kernel (const __grid_constant__ Plane a)
{
  extern __shared__ float samples[];
  constexpr int SUMS_PITCH = TILE_WIDTH + 1;
  const WindowSum &w = a.window;
  const int radius = w.radius, pitch = pitch_of (radius);
  const int width = TILE_WIDTH + 2 * radius;
  const int height = a.tile_height + 2 * radius;
  float *const along_x = samples + height * pitch;
  unsigned i = blockIdx.x;
  const int x0 = i % a.tiles_x * TILE_WIDTH;
  const int y0 = (i /= a.tiles_x) % a.tiles_y * a.tile_height;
  const int c = (i /= a.tiles_y) % w.n_channels;
  /* The planes that were written last, and may be in the cache, are first. */
  const int z = w.size[2] - 1 - i / w.n_channels;
  const size_t slice = (size_t) w.size[0] * w.size[1];
  const size_t volume = slice * w.size[2];
  const float *const in = w.in + w.channels[c].component * volume + z * slice;
  float *const out = w.between + c * volume + z * slice;

  for (int row = threadIdx.x / 32; row < height; row += THREADS / 32) {
    const int y = y0 - radius + row;

    for (int column = threadIdx.x % 32; column < width; column += 32) {
      const int x = x0 - radius + column;

      const bool inside = x >= 0 && x < w.size[0] && y >= 0 && y < w.size[1];

      /* Asynchronous, so that the next copy does not wait for this one. */
      __pipeline_memcpy_async (samples + row * pitch + column,
          inside ? in + (size_t) y * w.size[0] + x : in, sizeof (float),
          inside ? 0 : sizeof (float));
    }
  }
  __pipeline_commit ();
  __pipeline_wait_prior (0);
  __syncthreads ();
  for (int k = threadIdx.x; k < height * (TILE_WIDTH / RUN); k += THREADS) {
    const int row = k % height, x = k / height * RUN;
    const float *const from = samples + row * pitch + x;
    float sums[RUN];

    sum_run (
        w.weights[w.channels[c].p[0]], radius, [&] (int u) { return from[u]; },
        sums);
#pragma unroll
    for (int o = 0; o < RUN; o++)
      along_x[row * SUMS_PITCH + x + o] = sums[o];
  }
  __syncthreads ();
  for (int k = threadIdx.x; k < a.tile_height / RUN * TILE_WIDTH;
       k += THREADS) {
    const int column = k % TILE_WIDTH, y = k / TILE_WIDTH * RUN;
    const float *const from = along_x + y * SUMS_PITCH + column;
    float sums[RUN];

    if (x0 + column >= w.size[0] || y0 + y >= w.size[1])
      continue;
    sum_run (
        w.weights[w.channels[c].p[1]], radius,
        [&] (int u) { return from[u * SUMS_PITCH]; }, sums);
    const float scale = w.scale[0][x0 + column];

#pragma unroll
    for (int o = 0; o < RUN; o++) {
      if (y0 + y + o < w.size[1])
        out[(size_t) (y0 + y + o) * w.size[0] + x0 + column] =
            sums[o] * (scale * w.scale[1][y0 + y + o]);
    }
  }
}

/* A thread sums RUN planes at one place of one channel along z. */
__global__ void __launch_bounds__ (THREADS)
depth_kernel (const __grid_constant__ WindowSum w)
{
  const size_t slice = (size_t) w.size[0] * w.size[1];
  const size_t volume = slice * w.size[2];
  const size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x;
  const int c = blockIdx.y;

  if (i >= slice)
    return;
  for (int z0 = blockIdx.z * RUN; z0 < w.size[2]; z0 += gridDim.z * RUN) {
    const float *const from = w.between + c * volume + i;
    float *const to = w.out + c * volume + i;
    float sums[RUN];

    sum_run (
        w.weights[w.channels[c].p[2]], w.radius,
        [&] (int u) {
          const int z = z0 - w.radius + u;

          return z >= 0 && z < w.size[2] ? from[z * slice] : 0.f;
        },
        sums);
#pragma unroll
    for (int o = 0; o < RUN; o++) {
      if (z0 + o < w.size[2])
        to[(z0 + o) * slice] = sums[o] * w.scale[2][z0 + o];
    }
  }
}

} // namespace

void
sum_window (const WindowSum &w, cudaStream_t stream)
{
  Plane a = { w, w.radius > 16 ? 16 : w.radius > 8 ? 32 : 64 };
  const size_t slice = (size_t) w.size[0] * w.size[1];
  const int height = a.tile_height + 2 * w.radius;
  const size_t shared =
      height * (pitch_of (w.radius) + TILE_WIDTH + 1) * sizeof (float);

  a.tiles_x = (w.size[0] + TILE_WIDTH - 1) / TILE_WIDTH;
  a.tiles_y = (w.size[1] + a.tile_height - 1) / a.tile_height;
  ND_CUDA (cudaFuncSetAttribute (plane_kernel,
      cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  launch (plane_kernel,
      dim3 ((size_t) a.tiles_x * a.tiles_y * w.size[2] * w.n_channels),
      dim3 (THREADS), shared, stream, a);
  launch (depth_kernel,
      dim3 ((slice + THREADS - 1) / THREADS, w.n_channels,
          std::min ((w.size[2] + RUN - 1) / RUN, 65535)),
      dim3 (THREADS), 0, stream, w);
}

} // namespace nd
