/* Blocks of 4 x 4 x 4 samples of one volume, with a level for each coefficient.
 * A thread computes one position and one coefficient along x.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/oneblocks.cuh"
#include "cuda/analysis/shrink.h"
#include "cuda/launch.cuh"
#include "cuda/samples.cuh"

namespace nd
{

namespace
{

/* Rows of four samples along x that threads load for each volume. */
constexpr int LOADS = ONE_ROWS * TILE_WIDTH;

/* Coefficients along x: [x coefficient * 8 + x]. */
struct ShrinkShared
{
  float data[ONE_BUFFERS][2][ONE_ROWS][32]; /* of the volume and the pilot */
  OneSums sums;
  /* Registers for them would leave fewer for loads ahead. */
  float levels[ND_SHRINK_COEFFICIENTS], powers[ND_SHRINK_COEFFICIENTS];
};

/* The samples that a thread loads from each plane. */
struct Row
{
  const float *samples; /* in plane 0 */
  int x[4];             /* -1: the border value */
};

__device__ __forceinline__ Row
find_row (const ShrinkArguments &a, const float *volume, int x, int y)
{
  const int *size = a.grid.size;
  const int from_y = border_index (a.border, y, size[1]);
  Row row;

  row.samples = volume + (size_t) max (from_y, 0) * size[0];
#pragma unroll
  for (int i = 0; i < 4; i++)
    row.x[i] = from_y < 0 ? -1 : border_index (a.border, x + i, size[0]);
  return row;
}

__device__ __forceinline__ void
load_row (const ShrinkArguments &a, const Row &row, int z, float *samples)
{
  const int *size = a.grid.size;
  /* A single plane fills blocks, and has no border. */
  const int from_z = size[2] == 1 ? 0 : border_index (a.border, z, size[2]);
  const float *plane =
      row.samples + (size_t) max (from_z, 0) * size[1] * size[0];

#pragma unroll
  for (int i = 0; i < 4; i++)
    samples[i] = from_z < 0 || row.x[i] < 0 ? a.border_value : plane[row.x[i]];
}

/* Transforms the planes of @ring along z and multiplies the coefficients by the
 * factor of the stage; @pilots are those of stage 2. @shrunk: [along y * 4 +
 * along z], as levels and powers. Returns the part of these coefficients in
 * the inverse of the weight. */
template <bool WIENER>
__device__ __forceinline__ float
shrink_block (const float (*ring)[4], const float (*pilots)[4], int s,
    SharedAddress levels, SharedAddress powers, bool is_mean, float *shrunk)
{
  float sum[2] = { 0, 0 };

#pragma unroll
  for (int yc = 0; yc < 4; yc++) {
    const float4 l = load_shared4 (levels + 16 * yc);
    const float4 w = load_shared4 (powers + 16 * yc);
    const float level[4] = { l.x, l.y, l.z, l.w };
    const float power[4] = { w.x, w.y, w.z, w.w };
    float c[4], p[4];

    forward4 (ring[(s + 1) & 3][yc], ring[(s + 2) & 3][yc],
        ring[(s + 3) & 3][yc], ring[s][yc], c[0], c[1], c[2], c[3]);
    if (WIENER)
      forward4 (pilots[(s + 1) & 3][yc], pilots[(s + 2) & 3][yc],
          pilots[(s + 3) & 3][yc], pilots[s][yc], p[0], p[1], p[2], p[3]);
#pragma unroll
    for (int zc = 0; zc < 4; zc++) {
      const int k = yc * 4 + zc;
      float gain;

      if (WIENER) {
        const float q = p[zc] * p[zc];

        /* NaN if the pilot is infinite. */
        gain = q * approximate_reciprocal (q + level[zc]);
      } else {
        gain = fabsf (c[zc]) <= level[zc] ? 0.f : 1.f;
      }
      if (k == 0 && is_mean)
        gain = 1.f;
      sum[zc & 1] = fmaf (gain * gain, power[zc], sum[zc & 1]);
      shrunk[k] = WIENER || gain != 0.f ? c[zc] * gain : 0.f;
    }
  }
  return sum[0] + sum[1];
}

template <bool WIENER>
__global__ void __launch_bounds__ (ONE_THREADS, 2)
shrink_blocks_kernel (const __grid_constant__ ShrinkArguments a)
{
  __shared__ float4 memory[sizeof (ShrinkShared) / sizeof (float4)];
  ShrinkShared &shared = *(ShrinkShared *) memory;
  const BlockGrid &grid = a.grid;
  const int depth = a.tiles.depth;
  const int tid = threadIdx.x, lane = tid & 31, y = tid >> 5;
  const int xc = lane >> 3;
  const int x0 = blockIdx.x * TILE_WIDTH, y0 = blockIdx.y * ONE_HEIGHT;
  const int z0 = blockIdx.z * depth;
  const int n_z = min (depth, grid.positions[2] - z0);
  constexpr int AHEAD = ONE_AHEAD, BUFFERS = ONE_BUFFERS;
  constexpr int SET = ONE_ROWS * 32 * 4, DATA = 2 * SET; /* bytes */

  launch_dependent_grids ();
  if (n_z <= 0) {
    wait_on_dependent_grids ();
    return;
  }

  OneTile tile (shared.sums, grid, depth, a.sums, a.weights);

  wait_on_dependent_grids ();
  if (tid < ND_SHRINK_COEFFICIENTS) {
    shared.levels[tid] =
        (WIENER ? a.levels->wiener : a.levels->thresholds)[tid];
    shared.powers[tid] = a.levels->powers[tid];
  }

  const SharedAddress levels = shared_address (&shared.levels[16 * xc]);
  const SharedAddress powers = shared_address (&shared.powers[16 * xc]);

  /* Loading: positions of the rows of the volume, then of the pilot. */
  const bool loads = tid < (WIENER ? 2 : 1) * LOADS;
  const int set = tid >= LOADS ? 1 : 0, item = loads ? tid - set * LOADS : 0;
  const Row row = find_row (a, WIENER && set ? a.pilot : a.volume,
      x0 + item % TILE_WIDTH - BLOCK_REACH,
      y0 + item / TILE_WIDTH - BLOCK_REACH);
  const SharedAddress to = shared_address (&shared.data[0][loads ? set : 0][item
      / TILE_WIDTH][item % TILE_WIDTH]);
  const auto put = [&] (int buffer, const float *g) {
    float o[4];

    forward4 (g[0], g[1], g[2], g[3], o[0], o[1], o[2], o[3]);
#pragma unroll
    for (int k = 0; k < 4; k++)
      store_shared (to + buffer * DATA + k * 32, o[k]);
  };

  for (int buffer = 0; buffer < AHEAD && loads; buffer++) {
    float g[4];

    load_row (a, row, z0 + buffer - BLOCK_REACH, g);
    put (buffer, g);
  }

  float ring[4][4], pilots[4][4], sums[4][4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int k = 0; k < 4; k++)
      ring[i][k] = pilots[i][k] = sums[i][k] = 0;
  }

  const SharedAddress data_at = shared_address (&shared.data[0][0][y][lane]);

  __syncthreads ();
  for (int first = 0; first < n_z + 6 + 2 * AHEAD; first += 4) {
#pragma unroll
    for (int s = 0; s < 4; s++) {
      const int k = first + s;
      const int now = s & (BUFFERS - 1), then = (s + AHEAD) & (BUFFERS - 1);
      const bool loads_now = loads && k + AHEAD <= n_z + 2;
      float g[4];

      if (loads_now)
        load_row (a, row, z0 + k + AHEAD - BLOCK_REACH, g);
      tile.write (k, n_z, then);
      tile.add (k, n_z, now, then);
      if (k <= n_z + 2) {
        SharedAddress d = data_at + now * DATA;

        forward4 (load_shared (d), load_shared (d + 128), load_shared (d + 256),
            load_shared (d + 384), ring[s][0], ring[s][1], ring[s][2],
            ring[s][3]);
        if (WIENER) {
          d += SET;
          forward4 (load_shared (d), load_shared (d + 128),
              load_shared (d + 256), load_shared (d + 384), pilots[s][0],
              pilots[s][1], pilots[s][2], pilots[s][3]);
        }
      }
      if (k >= 3 && k <= n_z + 2) {
        float shrunk[16];
        const float w = tile.weigh (shrink_block<WIENER> (ring, pilots, s,
            levels, powers, xc == 0, shrunk));

        /* finish_blocks () divides by the square norms of four axes. */
        add_along_z (shrunk, 4 * w, s, sums);
      }
      tile.store (k, n_z, sums[(s + 1) & 3], now);
      if (loads_now)
        put (then, g);
      if ((s + 1) % AHEAD == 0)
        __syncthreads ();
    }
  }
}

} // namespace

void
shrink_blocks (const ShrinkArguments &a, cudaStream_t stream)
{
  const dim3 blocks (a.grid.tiles_x, a.tiles.tiles_y, a.tiles.tiles_z);

  launch_early (a.pilot ? shrink_blocks_kernel<true>
                        : shrink_blocks_kernel<false>,
      blocks, dim3 (ONE_THREADS), 0, stream, a);
}

} // namespace nd
