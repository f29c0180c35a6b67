/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/blockvolumes.cuh"

#include "cuda/analysis/eachsample.cuh"
#include "cuda/analysis/transform8.cuh"
#include "cuda/samples.cuh"

namespace nd
{

namespace
{

/* Time */

template <int TIME>
__global__ void
denoise_time_kernel (const __grid_constant__ TimeTransform a)
{
  const int sizes[3] = { a.grid.width, a.grid.height, a.grid.depth };
  const int *size = a.grid.size;

  FOR_EACH_SAMPLE (sizes, x, y, z)
  {
    const int from[3] = { border_index (a.border, x - BLOCK_REACH, size[0]),
      border_index (a.border, y - BLOCK_REACH, size[1]),
      /* A single plane fills blocks, and has no border. */
      size[2] == 1 ? 0 : border_index (a.border, z - BLOCK_REACH, size[2]) };
    const bool inside = from[0] >= 0 && from[1] >= 0 && from[2] >= 0;
    float v[TIME], o[TIME];

#pragma unroll
    for (int t = 0; t < TIME; t++)
      v[t] = inside && a.volumes[t]
          ? a.volumes[t][sample_index (size, from[0], from[1], from[2])]
          : a.border_value;
    if constexpr (TIME == 4)
      forward4 (v[0], v[1], v[2], v[3], o[0], o[1], o[2], o[3]);
    else
      forward8 (v, o);

    float4 *out = (float4 *) a.out + sample_index (sizes, x, y, z) * (TIME / 4);

#pragma unroll
    for (int t = 0; t < TIME; t += 4)
      *out++ = make_float4 (o[t], o[t + 1], o[t + 2], o[t + 3]);
  }
}

/* Sums over blocks */

struct Finish
{
  FinishBlocks blocks;
  int chunk; /* planes of a thread block */
};

/* The @N numbers of a sample. */
template <int N>
struct Sums
{
  float v[N];
};

/* Adds the tiles that have the padded sample at (x, y, z). */
template <int N>
__device__ __forceinline__ Sums<N>
add_tiles (const FinishBlocks &a, int x, int y, int z)
{
  const BlockTiles &tiles = a.tiles;
  constexpr int ROW = N == 1 ? 12 : 11 * N;
  const int bx = x / TILE_WIDTH, by = y / tiles.height, bz = z / tiles.depth;
  Sums<N> sum = {};

  for (int kz = bz; kz >= 0; kz--) {
    const int lz = z - kz * tiles.depth;

    if (lz >= tiles.depth + BLOCK_REACH)
      break;
    for (int ky = by; ky >= 0; ky--) {
      const int ly = y - ky * tiles.height;

      if (ly >= tiles.height + BLOCK_REACH)
        break;
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int lx = x - (bx - i) * TILE_WIDTH;

        if (bx < i || lx >= TILE_WIDTH + BLOCK_REACH)
          continue;
        const size_t tile =
            ((size_t) kz * tiles.tiles_y + ky) * a.grid.tiles_x + bx - i;
        const float *row = a.tile_sums
            + ((tile * (tiles.depth + BLOCK_REACH) + lz)
                      * (tiles.height + BLOCK_REACH)
                  + ly)
                * ROW;

        if constexpr (N == 1) {
          sum.v[0] += row[lx];
        } else {
#pragma unroll
          for (int t = 0; t < N; t += 4) {
            const float4 v = *(const float4 *) (row + lx * N + t);

            sum.v[t] += v.x;
            sum.v[t + 1] += v.y;
            sum.v[t + 2] += v.z;
            sum.v[t + 3] += v.w;
          }
        }
      }
    }
  }
  return sum;
}

/* From coefficients over time to the volumes of a block. */
template <int N>
__device__ __forceinline__ Sums<N>
invert_time (const Sums<N> &sums)
{
  constexpr float GAIN = N == 4 ? 1.f / 256 : 1.f / 64;
  const float *c = sums.v;
  Sums<N> out;

  if constexpr (N == 4)
    inverse4 (c[0] * GAIN, c[1] * GAIN, c[2] * GAIN, c[3] * GAIN, out.v);
  else
    inverse8 (c, GAIN, out.v);
  return out;
}

/* Adds the sums of one sample to those of the volumes of the block. */
template <int N>
__device__ __forceinline__ void
add_volumes (const FinishBlocks &a, const Sums<N> &sums, float weight,
    size_t at)
{
  const Sums<N> o = invert_time (sums);

#pragma unroll
  for (int t = 0; t < N; t++) {
    float total = o.v[t], total_weight = weight;

    if (!a.sums[t])
      continue;
    if (t < N - 1) {
      total += a.sums[t][at];
      total_weight += a.sum_weights[t][at];
    }
    if (a.out && t == a.complete) {
      a.out[at] = total / total_weight;
    } else {
      a.sums[t][at] = total;
      a.sum_weights[t][at] = total_weight;
    }
  }
}

/* Refines the means of one sample in the volumes of the block. */
template <int N>
__device__ __forceinline__ void
refine_volumes (const FinishBlocks &a, const Sums<N> &sums, float weight,
    size_t at)
{
  const Sums<N> o = invert_time (sums);

#pragma unroll
  for (int t = 0; t < N; t++) {
    float mean = o.v[t] / weight, total_weight = weight;

    if (!a.sums[t])
      continue;
    if (!a.is_new[t]) {
      const float before = a.sums[t][at];

      total_weight += a.sum_weights[t][at];
      mean = before + (mean - before) * (weight / total_weight);
    }
    a.sums[t][at] = mean;
    a.sum_weights[t][at] = total_weight;
    if (a.results[t])
      a.results[t][at] = mean;
  }
}

/* Each thread moves along z and keeps the sums of weights in registers. */
template <int N, bool REFINES>
__global__ void __launch_bounds__ (THREADS)
denoise_finish_kernel (const __grid_constant__ Finish f)
{
  const FinishBlocks &a = f.blocks;
  const BlockGrid &grid = a.grid;
  constexpr int WIDTH = THREADS_X + BLOCK_REACH;
  constexpr int HEIGHT = THREADS_Y + BLOCK_REACH;
  __shared__ float window[2][HEIGHT][WIDTH + 1];
  const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * THREADS_X + tx;
  const int x0 = blockIdx.x * THREADS_X, y0 = blockIdx.y * THREADS_Y;
  const int x = x0 + tx, y = y0 + ty;
  const int first = blockIdx.z * f.chunk;
  const int last = min (first + f.chunk, grid.size[2]);
  const bool inside = x < grid.size[0] && y < grid.size[1];
  const float factors[4] = { OUTER, INNER, INNER, OUTER };
  float later[3] = { 0, 0, 0 };

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  /* Blocks at positions z to z + 3 cover the padded sample z + 3. */
  for (int position = first; position < last + BLOCK_REACH; position++) {
    float (*const w)[WIDTH + 1] = window[position & 1];
    float sum = 0;

    for (int i = tid; i < HEIGHT * WIDTH; i += THREADS) {
      const int gx = x0 + i % WIDTH, gy = y0 + i / WIDTH;

      w[i / WIDTH][i % WIDTH] = gx < grid.positions[0] && gy < grid.positions[1]
          ? a.weights[((size_t) position * grid.weight_height + gy)
                    * grid.weight_width
                + gx]
          : 0.f;
    }
    __syncthreads ();
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const float *row = &w[ty + j][tx];

      sum = fmaf (factors[j],
          OUTER * (row[0] + row[3]) + INNER * (row[1] + row[2]), sum);
    }

    const float weight = fmaf (OUTER, sum, later[0]);
    const int z = position - BLOCK_REACH;

    later[0] = fmaf (INNER, sum, later[1]);
    later[1] = fmaf (INNER, sum, later[2]);
    later[2] = OUTER * sum;
    if (z < first || !inside)
      continue;
    const Sums<N> sums =
        add_tiles<N> (a, x + BLOCK_REACH, y + BLOCK_REACH, z + BLOCK_REACH);
    const size_t at = sample_index (grid.size, x, y, z);

    if constexpr (REFINES)
      refine_volumes (a, sums, weight, at);
    else if constexpr (N > 1)
      add_volumes (a, sums, weight, at);
    else if (a.out)
      a.out[at] = sums.v[0] * (1.f / 256) / weight;
  }
}

} // namespace

void
transform_time (const TimeTransform &a, cudaStream_t stream)
{
  const int size[3] = { a.grid.width, a.grid.height, a.grid.depth };

  launch_volume (a.n_time == 8 ? denoise_time_kernel<8>
                               : denoise_time_kernel<4>,
      size, a, stream);
}

void
finish_blocks (const FinishBlocks &a, cudaStream_t stream)
{
  const int n = a.grid.size[2];
  /* Each chunk reads the weights of 3 more planes, but small volumes need many
   * thread blocks. */
  const Finish f = { a, n > 128 ? 16 : n > 64 ? 8 : 2 };
  const dim3 blocks (divide_up (a.grid.size[0], THREADS_X),
      divide_up (a.grid.size[1], THREADS_Y), divide_up (n, f.chunk));
  const auto kernel = a.tiles.is_one ? denoise_finish_kernel<1, false>
      : !a.refines                   ? denoise_finish_kernel<4, false>
      : a.tiles.n_time == 8          ? denoise_finish_kernel<8, true>
                                     : denoise_finish_kernel<4, true>;

  launch_early (kernel, blocks, dim3 (THREADS_X, THREADS_Y), 0, stream, f);
}

} // namespace nd
