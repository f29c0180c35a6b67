/* Stage 1 and stage 2 for all volumes of the blocks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/blockkernels.cuh"
#include "cuda/analysis/blockstages.cuh"
#include "cuda/device.h"

namespace nd
{

namespace
{

/* Tiles of HEIGHT positions along y, blocks of TIME volumes. */
template <int HEIGHT, int AHEAD, int TIME>
struct AllShared
{
  static constexpr int ROWS = HEIGHT + BLOCK_REACH;
  /* The least tiles of 8 volumes fit into 64 KiB only without padding. */
  static constexpr int STRIDE =
      TIME * TILE_WIDTH + (HEIGHT == 1 ? 0 : ROW_PADDING);
  static constexpr int ROW = 4 * STRIDE;
  static constexpr int LINE = 15 * TIME;

  float data[2 * AHEAD][2][ROWS][ROW]; /* of the volumes and of the pilots */
  float along_y[2 * AHEAD][4][ROWS][ROW];
  float along_x[2 * AHEAD][ROWS][4][LINE]; /* [y][x coefficient][x + 3][t] */
};

template <int TIME>
__device__ __forceinline__ float2
gather_x2 (SharedAddress c)
{
  float2 sum = make_float2 (0, 0);

#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float2 v = load_shared2 (c + 60 * TIME * k - 4 * TIME * i);

      sum.x = fmaf (inverse4_factor (k, i), v.x, sum.x);
      sum.y = fmaf (inverse4_factor (k, i), v.y, sum.y);
    }
  }
  return sum;
}

/* Transforms the planes of @ring along z and multiplies the coefficients by the
 * factor of the stage; @pilots are those of stage 2. @shrunk: [along y * 4 +
 * along z]. Returns the sum of the squares of the factors. */
template <bool WIENER>
__device__ __forceinline__ float
shrink_block (const float (*ring)[4], const float (*pilots)[4], int s,
    const float *level, bool is_mean, float *shrunk)
{
  float power[2] = { 0, 0 };

#pragma unroll
  for (int yc = 0; yc < 4; yc++) {
    float c[4], p[4];

    forward4 (ring[(s + 1) & 3][yc], ring[(s + 2) & 3][yc],
        ring[(s + 3) & 3][yc], ring[s][yc], c[0], c[1], c[2], c[3]);
    if (WIENER)
      forward4 (pilots[(s + 1) & 3][yc], pilots[(s + 2) & 3][yc],
          pilots[(s + 3) & 3][yc], pilots[s][yc], p[0], p[1], p[2], p[3]);
#pragma unroll
    for (int zc = 0; zc < 4; zc++) {
      const float l = level[(yc & 1) + (zc & 1)];
      float gain;

      if (WIENER)
        gain = fmaf (-l, approximate_reciprocal (fmaf (p[zc], p[zc], l)), 1.f);
      else
        gain = fabsf (c[zc]) <= l ? 0.f : 1.f;
      if (yc == 0 && zc == 0 && is_mean)
        gain = 1.f;
      power[zc & 1] = fmaf (gain, gain, power[zc & 1]);
      shrunk[yc * 4 + zc] = WIENER || gain != 0.f ? c[zc] * gain : 0.f;
    }
  }
  return power[0] + power[1];
}

/* A thread computes one position, one coefficient along x and one over time. */
template <int HEIGHT, int AHEAD, int TIME, bool WIENER>
__global__ void __launch_bounds__ (HEIGHT * 32 * TIME, 1)
denoise_all_blocks_kernel (const __grid_constant__ DenoiseArguments a)
{
  using Shared = AllShared<HEIGHT, AHEAD, TIME>;
  extern __shared__ float4 memory[];
  Shared &shared = *(Shared *) memory;
  const BlockGrid &grid = a.grid;
  const int depth = a.tiles.depth;
  constexpr int THREADS = HEIGHT * 32 * TIME, ROWS = Shared::ROWS;
  constexpr int ROW = Shared::ROW, STRIDE = Shared::STRIDE;
  constexpr int LINE = Shared::LINE, INPUT = TILE_WIDTH * TIME;
  constexpr int BUFFERS = 2 * AHEAD, SETS = WIENER ? 2 : 1;
  constexpr int SET = ROWS * ROW * 4, DATA = 2 * SET; /* bytes */
  constexpr int ALONG_Y = ROWS * ROW * 4, ALONG_X = ROWS * LINE * 16;
  /* The positions of a warp along x. */
  constexpr int NEAR = 8 / TIME;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int t = lane & (TIME - 1), xc = lane >> 3, y = warp / TIME;
  const int x = warp % TIME * NEAR + (lane & 7) / TIME;
  const int x0 = blockIdx.x * TILE_WIDTH, y0 = blockIdx.y * HEIGHT;
  const int z0 = blockIdx.z * depth;
  const int n_z = min (depth, grid.positions[2] - z0);

  if (n_z <= 0) {
    wait_on_dependent_grids ();
    return;
  }
  for (int i = tid;
       i < int ((sizeof (shared.along_y) + sizeof (shared.along_x)) / 4);
       i += THREADS)
    (&shared.along_y[0][0][0][0])[i] = 0;

  /* The transform of 8 volumes is orthonormal. */
  const int odd_xt = (xc & 1) + (TIME == 4 ? t & 1 : 0);
  const bool is_mean = xc == 0 && t == 0;
  const float level[3] = { a.level[odd_xt], a.level[odd_xt + 1],
    a.level[odd_xt + 2] };

  /* Loading: rows of INPUT floats of each set. */
  constexpr int ITEMS = ROWS * INPUT,
                LOADS = (SETS * ITEMS + THREADS - 1) / THREADS;
  const size_t plane = (size_t) grid.height * grid.width * TIME;
  const size_t corner = z0 * plane + ((size_t) y0 * grid.width + x0) * TIME;
  const float *from[LOADS];
  SharedAddress to[LOADS];
  bool is_loaded[LOADS];

#pragma unroll
  for (int l = 0; l < LOADS; l++) {
    int item = tid + l * THREADS;

    is_loaded[l] = item < SETS * ITEMS;
    if (!is_loaded[l])
      item = 0;
    const int set = item >= ITEMS ? 1 : 0;

    item -= set * ITEMS;
    from[l] = (set ? a.pilot : a.data) + corner
        + (size_t) (item / INPUT) * grid.width * TIME + item % INPUT;
    to[l] = shared_address (&shared.data[0][set][item / INPUT][item % INPUT]);
  }
  const auto put = [&] (int l, int buffer, const float *g) {
    float o[4];

    forward4 (g[0], g[1], g[2], g[3], o[0], o[1], o[2], o[3]);
#pragma unroll
    for (int k = 0; k < 4; k++)
      store_shared (to[l] + buffer * DATA + k * STRIDE * 4, o[k]);
  };

  wait_on_dependent_grids ();
#pragma unroll
  for (int l = 0; l < LOADS; l++) {
    for (int buffer = 0; buffer < AHEAD && is_loaded[l]; buffer++) {
      if (buffer > 0)
        from[l] += plane;
      const float g[4] = { from[l][0], from[l][TIME], from[l][2 * TIME],
        from[l][3 * TIME] };

      put (l, buffer, g);
    }
  }

  float ring[4][4], pilots[4][4], sums[4][4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int k = 0; k < 4; k++)
      ring[i][k] = pilots[i][k] = sums[i][k] = 0;
  }

  /* Adding along y: 4 values a thread. */
  const bool adds_y = tid < ROWS * INPUT;
  const int add = adds_y ? tid : 0;
  const int add_row = add / INPUT, add_k = add / (INPUT / 4) & 3;
  const int add_at = add % (INPUT / 4) * 4;
  const SharedAddress add_from =
      shared_address (&shared.along_y[0][0][add_row][add_k * STRIDE + add_at]);
  const SharedAddress add_to =
      shared_address (&shared.along_x[0][add_row][add_k][3 * TIME + add_at]);
  /* Writing: 2 values a thread, of other threads if there are enough. */
  constexpr int OUTPUT = 11 * TIME / 2;
  constexpr int FIRST_WRITER =
      THREADS >= ROWS * (INPUT + OUTPUT) ? ROWS * INPUT : 0;
  const int writer = tid - FIRST_WRITER;
  const bool writes = writer >= 0 && writer < ROWS * OUTPUT;
  const int write = writes ? writer : 0;
  const SharedAddress write_from = shared_address (&shared.along_x[0][write
      / OUTPUT][0][3 * TIME + write % OUTPUT * 2]);
  float2 *out =
      (float2 *) (a.sums
          + ((size_t) (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x
                + blockIdx.x)
              * (depth + BLOCK_REACH) * ROWS * 2 * OUTPUT)
      + write;
  const int at = y * ROW + xc * STRIDE + x * TIME + t;
  const SharedAddress data_at = shared_address (&shared.data[0][0][0][0] + at);
  const SharedAddress sum_at =
      shared_address (&shared.along_y[0][0][0][0] + at);
  float *weight = a.weights
      + ((size_t) z0 * grid.weight_height + y0 + y) * grid.weight_width + x0
      + x;
  const size_t weight_plane = (size_t) grid.weight_height * grid.weight_width;

  __syncthreads ();
  for (int first = 0; first < n_z + 6 + 2 * AHEAD; first += 4) {
#pragma unroll
    for (int s = 0; s < 4; s++) {
      const int k = first + s;
      const int now = s & (BUFFERS - 1), then = (s + AHEAD) & (BUFFERS - 1);
      const bool loads = k + AHEAD <= n_z + 2;
      float g[LOADS][4];

      if (loads) {
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
          if (!is_loaded[l])
            continue;
          from[l] += plane;
#pragma unroll
          for (int i = 0; i < 4; i++)
            g[l][i] = from[l][TIME * i];
        }
      }
      if (writes && k >= 3 + 2 * AHEAD && k < n_z + 6 + 2 * AHEAD) {
        *out = gather_x2<TIME> (write_from + then * ALONG_X);
        out += ROWS * OUTPUT;
      }
      if (adds_y && k >= 3 + AHEAD && k < n_z + 6 + AHEAD)
        store_shared4 (add_to + now * ALONG_X,
            add_rows (add_from + then * 4 * ALONG_Y, ALONG_Y));
      if (k <= n_z + 2) {
        SharedAddress d = data_at + now * DATA;

        forward4 (load_shared (d), load_shared (d + ROW * 4),
            load_shared (d + ROW * 8), load_shared (d + ROW * 12), ring[s][0],
            ring[s][1], ring[s][2], ring[s][3]);
        if (WIENER) {
          d += SET;
          forward4 (load_shared (d), load_shared (d + ROW * 4),
              load_shared (d + ROW * 8), load_shared (d + ROW * 12),
              pilots[s][0], pilots[s][1], pilots[s][2], pilots[s][3]);
        }
      }
      if (k >= 3 && k <= n_z + 2) {
        float shrunk[16];
        float n =
            shrink_block<WIENER> (ring, pilots, s, level, is_mean, shrunk);

        n += __shfl_xor_sync (ALL_LANES, n, 1);
        n += __shfl_xor_sync (ALL_LANES, n, 2);
        if (TIME == 8)
          n += __shfl_xor_sync (ALL_LANES, n, 4);
        n += __shfl_xor_sync (ALL_LANES, n, 8);
        n += __shfl_xor_sync (ALL_LANES, n, 16);

        const float w = approximate_reciprocal (n);

        if (is_mean)
          *weight = w;
        weight += weight_plane;
        add_along_z (shrunk, w, s, sums);
      }
      if (k >= 3 && k < n_z + 6)
        store_along_y (sums[(s + 1) & 3], sum_at + now * 4 * ALONG_Y,
            ALONG_Y + ROW * 4);
      if (loads) {
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
          if (is_loaded[l])
            put (l, then, g[l]);
        }
      }
      if ((s + 1) % AHEAD == 0)
        __syncthreads ();
    }
  }
}

/* Large tiles if shared memory holds them. */
constexpr int LARGE_HEIGHT = 4, LARGE_AHEAD = 2;
constexpr int SMALL_HEIGHT = 2, SMALL_AHEAD = 1;
/* The same for blocks of 8 volumes. */
constexpr int LARGE_HEIGHT8 = 2, LARGE_AHEAD8 = 2;
constexpr int SMALL_HEIGHT8 = 1, SMALL_AHEAD8 = 1;

template <int HEIGHT, int AHEAD, int TIME>
void
run_all (const DenoiseArguments &a, cudaStream_t stream)
{
  const auto kernel = a.pilot
      ? denoise_all_blocks_kernel<HEIGHT, AHEAD, TIME, true>
      : denoise_all_blocks_kernel<HEIGHT, AHEAD, TIME, false>;

  launch_blocks (kernel, a, HEIGHT * 32 * TIME,
      sizeof (AllShared<HEIGHT, AHEAD, TIME>), stream);
}

} // namespace

AllTiles
choose_all_tiles (int n_time)
{
  const size_t shared = n_time == 4
      ? sizeof (AllShared<LARGE_HEIGHT, LARGE_AHEAD, 4>)
      : sizeof (AllShared<LARGE_HEIGHT8, LARGE_AHEAD8, 8>);
  const bool large = (size_t) max_dynamic_shared () >= shared;

  if (n_time == 8)
    return { large ? LARGE_HEIGHT8 : SMALL_HEIGHT8, 1 };
  return large ? AllTiles{ LARGE_HEIGHT, 1 } : AllTiles{ SMALL_HEIGHT, 2 };
}

void
compute_all_blocks (const DenoiseArguments &a, cudaStream_t stream)
{
  if (a.tiles.n_time == 8 && a.tiles.height == LARGE_HEIGHT8)
    run_all<LARGE_HEIGHT8, LARGE_AHEAD8, 8> (a, stream);
  else if (a.tiles.n_time == 8)
    run_all<SMALL_HEIGHT8, SMALL_AHEAD8, 8> (a, stream);
  else if (a.tiles.height == LARGE_HEIGHT)
    run_all<LARGE_HEIGHT, LARGE_AHEAD, 4> (a, stream);
  else
    run_all<SMALL_HEIGHT, SMALL_AHEAD, 4> (a, stream);
}

} // namespace nd
