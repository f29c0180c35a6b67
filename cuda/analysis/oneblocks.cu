/* Stage 1 for the last volume of the blocks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/blockkernels.cuh"
#include "cuda/analysis/oneblocks.cuh"

namespace nd
{

namespace
{

/* 4 coefficients along x of 8 positions of 4 over time. */
constexpr int STRIDE = 4 * TILE_WIDTH + ROW_PADDING;
constexpr int ROW = 4 * STRIDE;

struct Shared
{
  float data[ONE_BUFFERS][ONE_ROWS][ROW];
  OneSums sums;
};

/* Transforms the planes of @ring along z, sets coefficients up to their level
 * to 0, and sums the others over time for the last volume. @kept: [along y * 4
 * + along z]. Returns the number of coefficients that are not 0. */
__device__ __forceinline__ float
threshold_block (const float (*ring)[16], int s, const float *level,
    float mean_level, float *kept)
{
  float count[2] = { 0, 0 };

#pragma unroll
  for (int yc = 0; yc < 4; yc++) {
#pragma unroll
    for (int t = 0; t < 4; t++) {
      const int q = yc * 4 + t;
      /* The factor of coefficient t in the last volume. */
      const float slice = t == 0 ? 1.f
          : t == 1               ? -DCT_RATIO
          : t == 2               ? 1.f
                                 : -DCT_RATIO * DCT_ODD;
      float c[4];

      forward4 (ring[(s + 1) & 3][q], ring[(s + 2) & 3][q],
          ring[(s + 3) & 3][q], ring[s][q], c[0], c[1], c[2], c[3]);
#pragma unroll
      for (int zc = 0; zc < 4; zc++) {
        const int odd = (t & 1) + (yc & 1) + (zc & 1);
        /* NaN is kept. */
        const bool keep =
            !(fabsf (c[zc]) <= (q == 0 && zc == 0 ? mean_level : level[odd]));
        float &sum = kept[yc * 4 + zc];

        if (t == 0)
          sum = keep ? c[zc] : 0.f;
        else if (keep)
          sum = fmaf (slice, c[zc], sum);
        if (keep)
          count[zc & 1] += 1.f;
      }
    }
  }
  return count[0] + count[1];
}

__global__ void __launch_bounds__ (ONE_THREADS, 2)
denoise_one_block_kernel (const __grid_constant__ DenoiseArguments a)
{
  extern __shared__ float4 memory[];
  Shared &shared = *(Shared *) memory;
  const BlockGrid &grid = a.grid;
  const int depth = a.tiles.depth;
  const int tid = threadIdx.x, lane = tid & 31, y = tid >> 5;
  const int x = lane & 7, xc = lane >> 3;
  const int x0 = blockIdx.x * TILE_WIDTH, y0 = blockIdx.y * ONE_HEIGHT;
  const int z0 = blockIdx.z * depth;
  const int n_z = min (depth, grid.positions[2] - z0);
  constexpr int AHEAD = ONE_AHEAD, BUFFERS = ONE_BUFFERS;
  constexpr int DATA = ONE_ROWS * ROW * 4; /* bytes */

  if (n_z <= 0) {
    wait_on_dependent_grids ();
    return;
  }

  OneTile tile (shared.sums, grid, depth, a.sums, a.weights);
  float level[4];

#pragma unroll
  for (int odd = 0; odd < 4; odd++)
    level[odd] = a.level[odd + (xc & 1)];
  /* The mean is kept as it is. */
  const float mean_level = xc == 0 ? -1.f : level[0];

  /* Loading: rows of 32 floats, of 8 positions x 4 over time. */
  const int second = tid + ONE_THREADS;
  const bool loads_second = second < ONE_ROWS * 32;
  const size_t plane = (size_t) grid.height * grid.width * 4;
  const float *corner =
      a.data + z0 * plane + ((size_t) y0 * grid.width + x0) * 4;
  const float *from[2] = { corner + (size_t) (tid >> 5) * grid.width * 4
        + (tid & 31),
    corner + (loads_second ? (size_t) (second >> 5) * grid.width * 4 : 0)
        + (second & 31) };
  const SharedAddress to = shared_address (&shared.data[0][tid >> 5][tid & 31]);
  const auto put = [&] (int buffer, const float *g0, const float *g1) {
    float o[4];

    forward4 (g0[0], g0[1], g0[2], g0[3], o[0], o[1], o[2], o[3]);
#pragma unroll
    for (int k = 0; k < 4; k++)
      store_shared (to + buffer * DATA + k * STRIDE * 4, o[k]);
    if (!loads_second)
      return;
    forward4 (g1[0], g1[1], g1[2], g1[3], o[0], o[1], o[2], o[3]);
#pragma unroll
    for (int k = 0; k < 4; k++)
      store_shared (to + buffer * DATA + 8 * ROW * 4 + k * STRIDE * 4, o[k]);
  };

  wait_on_dependent_grids ();
  for (int buffer = 0; buffer < AHEAD; buffer++) {
    float g0[4], g1[4] = {};

    if (buffer > 0) {
      from[0] += plane;
      from[1] += plane;
    }
    for (int i = 0; i < 4; i++) {
      g0[i] = from[0][4 * i];
      if (loads_second)
        g1[i] = from[1][4 * i];
    }
    put (buffer, g0, g1);
  }

  float ring[4][16], sums[4][4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int k = 0; k < 16; k++)
      ring[i][k] = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
      sums[i][k] = 0;
  }

  const SharedAddress data_at =
      shared_address (&shared.data[0][y][xc * STRIDE + x * 4]);

  __syncthreads ();
  for (int first = 0; first < n_z + 6 + 2 * AHEAD; first += 4) {
#pragma unroll
    for (int s = 0; s < 4; s++) {
      const int k = first + s;
      const int now = s & (BUFFERS - 1), then = (s + AHEAD) & (BUFFERS - 1);
      const bool loads = k + AHEAD <= n_z + 2;
      float g0[4], g1[4];

      if (loads) {
        from[0] += plane;
        from[1] += plane;
#pragma unroll
        for (int i = 0; i < 4; i++) {
          g0[i] = from[0][4 * i];
          if (loads_second)
            g1[i] = from[1][4 * i];
        }
      }
      tile.write (k, n_z, then);
      tile.add (k, n_z, now, then);
      if (k <= n_z + 2) {
        const SharedAddress d = data_at + now * DATA;
        const float4 p = load_shared4 (d), q = load_shared4 (d + ROW * 4);
        const float4 r = load_shared4 (d + ROW * 8);
        const float4 u = load_shared4 (d + ROW * 12);
        float *c = ring[s]; /* [coefficient along y * 4 + over time] */

        forward4 (p.x, q.x, r.x, u.x, c[0], c[4], c[8], c[12]);
        forward4 (p.y, q.y, r.y, u.y, c[1], c[5], c[9], c[13]);
        forward4 (p.z, q.z, r.z, u.z, c[2], c[6], c[10], c[14]);
        forward4 (p.w, q.w, r.w, u.w, c[3], c[7], c[11], c[15]);
      }
      if (k >= 3 && k <= n_z + 2) {
        float kept[16];
        const float w =
            tile.weigh (threshold_block (ring, s, level, mean_level, kept));

        add_along_z (kept, w, s, sums);
      }
      tile.store (k, n_z, sums[(s + 1) & 3], now);
      if (loads)
        put (then, g0, g1);
      if ((s + 1) % AHEAD == 0)
        __syncthreads ();
    }
  }
}

} // namespace

void
compute_one_blocks (const DenoiseArguments &a, cudaStream_t stream)
{
  launch_blocks (denoise_one_block_kernel, a, ONE_THREADS, sizeof (Shared),
      stream);
}

} // namespace nd
