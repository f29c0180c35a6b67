/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/blocks.cuh"

#include "cuda/analysis/blockstages.cuh"
#include "cuda/device.h"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cmath>

namespace nd
{

namespace
{

/* Floats of a row of coefficients in shared memory: 4 along x of 8 positions of
 * 4 over time, 8 floats apart, which avoids bank conflicts. */
constexpr int PADDING = 8;
constexpr int X_STRIDE = 4 * TILE_WIDTH + PADDING;
constexpr int ROW = 4 * X_STRIDE;

/* Stage 1 for the last volume of the blocks */

constexpr int ONE_HEIGHT = 8;
constexpr int ONE_ROWS = ONE_HEIGHT + BLOCK_REACH;
constexpr int ONE_THREADS = 32 * ONE_HEIGHT;
constexpr int ONE_AHEAD = 2;

struct OneShared
{
  float data[2 * ONE_AHEAD][ONE_ROWS][ROW];
  /* Contributions to row y + j of position y: [j][y + j][x coefficient][x]. */
  float along_y[2 * ONE_AHEAD][4][ONE_ROWS][32];
  /* [y][x coefficient][x + 3] */
  float along_x[2 * ONE_AHEAD][ONE_ROWS][4][16];
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

/* A thread computes one position and one coefficient along x. */
__global__ void __launch_bounds__ (ONE_THREADS, 2)
one_kernel (const __grid_constant__ BlockArguments a)
{
  extern __shared__ float4 memory[];
  OneShared &shared = *(OneShared *) memory;
  const BlockGrid &grid = a.grid;
  const int depth = a.tiles.depth;
  const int tid = threadIdx.x, lane = tid & 31, y = tid >> 5;
  const int x = lane & 7, xc = lane >> 3;
  const int x0 = blockIdx.x * TILE_WIDTH, y0 = blockIdx.y * ONE_HEIGHT;
  const int z0 = blockIdx.z * depth;
  const int n_z = min (depth, grid.positions[2] - z0);
  constexpr int AHEAD = ONE_AHEAD, BUFFERS = 2 * AHEAD;
  constexpr int DATA = ONE_ROWS * ROW * 4, ALONG_Y = ONE_ROWS * 32 * 4;
  constexpr int ALONG_X = ONE_ROWS * 64 * 4; /* bytes */

  if (n_z <= 0)
    return;
  for (int i = tid;
       i < int ((sizeof (shared.along_y) + sizeof (shared.along_x)) / 4);
       i += ONE_THREADS)
    (&shared.along_y[0][0][0][0])[i] = 0;

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
      store_shared (to + buffer * DATA + k * X_STRIDE * 4, o[k]);
    if (!loads_second)
      return;
    forward4 (g1[0], g1[1], g1[2], g1[3], o[0], o[1], o[2], o[3]);
#pragma unroll
    for (int k = 0; k < 4; k++)
      store_shared (to + buffer * DATA + 8 * ROW * 4 + k * X_STRIDE * 4, o[k]);
  };

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

  /* Adding along y: 4 values of 88 threads. */
  const bool adds_y = tid < ONE_ROWS * 8;
  const int add = adds_y ? tid : 0;
  const SharedAddress add_from =
      shared_address ((const float4 *) &shared.along_y[0][0][0][0] + add);
  const SharedAddress add_to = shared_address (&shared.along_x[0][add
      >> 3][(add & 7) >> 1][(add & 1) * 4 + 3]);
  /* Writing: 121 of the upper 128 threads. */
  const int writer = tid - 128;
  const bool writes = writer >= 0 && writer < ONE_ROWS * 11;
  const int write = writes ? writer : 0;
  const SharedAddress write_from =
      shared_address (&shared.along_x[0][write / 11][0][write % 11 + 3]);
  float *out = a.sums
      + ((size_t) (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x
            + blockIdx.x)
          * (depth + BLOCK_REACH) * ONE_ROWS * 12
      + write / 11 * 12 + write % 11;
  const SharedAddress data_at =
      shared_address (&shared.data[0][y][xc * X_STRIDE + x * 4]);
  const SharedAddress sum_at = shared_address (&shared.along_y[0][0][y][lane]);
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
      if (writes && k >= 3 + 2 * AHEAD && k < n_z + 6 + 2 * AHEAD) {
        *out = gather_x (write_from + then * ALONG_X);
        out += ONE_ROWS * 12;
      }
      if (adds_y && k >= 3 + AHEAD && k < n_z + 6 + AHEAD) {
        const SharedAddress c = add_to + now * ALONG_X;
        const float4 sum = add_rows (add_from + then * 4 * ALONG_Y, ALONG_Y);

        store_shared (c, sum.x);
        store_shared (c + 4, sum.y);
        store_shared (c + 8, sum.z);
        store_shared (c + 12, sum.w);
      }
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
        float n = threshold_block (ring, s, level, mean_level, kept);

        n += __shfl_xor_sync (ALL_LANES, n, 8);
        n += __shfl_xor_sync (ALL_LANES, n, 16);

        const float w = reciprocal (n);

        if (xc == 0)
          *weight = w;
        weight += weight_plane;
        add_along_z (kept, w, s, sums);
      }
      if (k >= 3 && k < n_z + 6)
        store_along_y (sums[(s + 1) & 3], sum_at + now * 4 * ALONG_Y,
            ALONG_Y + 32 * 4);
      if (loads)
        put (then, g0, g1);
      if ((s + 1) % AHEAD == 0)
        __syncthreads ();
    }
  }
}

/* All coefficients over time */

/* Tiles of HEIGHT positions along y, blocks of TIME volumes. */
template <int HEIGHT, int AHEAD, int TIME>
struct AllShared
{
  static constexpr int ROWS = HEIGHT + BLOCK_REACH;
  /* The least tiles of 8 volumes fit into 64 KiB only without padding. */
  static constexpr int STRIDE = TIME * TILE_WIDTH + (HEIGHT == 1 ? 0 : PADDING);
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
        gain = fmaf (-l, reciprocal (fmaf (p[zc], p[zc], l)), 1.f);
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
all_kernel (const __grid_constant__ BlockArguments a)
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

  if (n_z <= 0)
    return;
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

        const float w = reciprocal (n);

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

bool
has_room_for_large_tiles (int n_time)
{
  return (size_t) max_dynamic_shared () >= (n_time == 4
                 ? sizeof (AllShared<LARGE_HEIGHT, LARGE_AHEAD, 4>)
                 : sizeof (AllShared<LARGE_HEIGHT8, LARGE_AHEAD8, 8>));
}

int
tile_height (int n_time, bool large)
{
  if (n_time == 8)
    return large ? LARGE_HEIGHT8 : SMALL_HEIGHT8;
  return large ? LARGE_HEIGHT : SMALL_HEIGHT;
}

void
run (void (*kernel) (BlockArguments), const BlockArguments &a, int threads,
    size_t shared, cudaStream_t stream)
{
  const dim3 blocks (a.grid.tiles_x, a.tiles.tiles_y, a.tiles.tiles_z);

  ND_CUDA (cudaFuncSetAttribute ((const void *) kernel,
      cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared));
  launch (kernel, blocks, dim3 (threads), shared, stream, a);
}

template <int HEIGHT, int AHEAD, int TIME>
void
run_all (const BlockArguments &a, cudaStream_t stream)
{
  const auto kernel = a.pilot ? all_kernel<HEIGHT, AHEAD, TIME, true>
                              : all_kernel<HEIGHT, AHEAD, TIME, false>;

  run (kernel, a, HEIGHT * 32 * TIME, sizeof (AllShared<HEIGHT, AHEAD, TIME>),
      stream);
}

/* The least height of the arrays with the border: tiles read whole rows. */
int
padded_height (int size)
{
  const int positions = size + BLOCK_REACH;

  return (positions + ONE_HEIGHT - 1) / ONE_HEIGHT * ONE_HEIGHT + BLOCK_REACH;
}

} // namespace

BlockGrid
make_block_grid (const int size[3])
{
  BlockGrid grid = {};

  for (int a = 0; a < 3; a++) {
    grid.size[a] = size[a];
    grid.positions[a] = size[a] + BLOCK_REACH;
  }
  grid.tiles_x = (grid.positions[0] + TILE_WIDTH - 1) / TILE_WIDTH;
  /* One more, so that rows are aligned. */
  grid.width = grid.tiles_x * TILE_WIDTH + BLOCK_REACH + 1;
  grid.height = padded_height (size[1]);
  grid.depth = grid.positions[2] + BLOCK_REACH;
  grid.weight_width = grid.tiles_x * TILE_WIDTH;
  grid.weight_height = grid.height;
  return grid;
}

/* Slabs that fill the multiprocessors: each costs 2 more steps than it has
 * positions along z, besides those of its neighbours. */
BlockTiles
choose_block_tiles (const BlockGrid &grid, int n_time, bool one)
{
  const bool large = has_room_for_large_tiles (n_time);
  const int at_once = device_attribute (cudaDevAttrMultiProcessorCount)
      * (one || (!large && n_time == 4) ? 2 : 1);
  const int n = grid.positions[2];
  BlockTiles tiles = {};
  double least = INFINITY;

  tiles.n_time = n_time;
  tiles.is_one = one;
  tiles.height = one ? ONE_HEIGHT : tile_height (n_time, large);
  tiles.tiles_y = (grid.positions[1] + tiles.height - 1) / tiles.height;
  tiles.depth = n;
  for (int slabs = 1; slabs <= std::max (1, n / 4); slabs++) {
    const int depth = (n + slabs - 1) / slabs;
    const double blocks =
        (double) grid.tiles_x * tiles.tiles_y * ((n + depth - 1) / depth);
    const double cost = std::ceil (blocks / at_once) * (depth + 2);

    if (cost < .999 * least) {
      least = cost;
      tiles.depth = depth;
    }
  }
  tiles.tiles_z = (n + tiles.depth - 1) / tiles.depth;
  return tiles;
}

void
compute_blocks (const BlockArguments &a, cudaStream_t stream)
{
  if (a.tiles.is_one)
    run (one_kernel, a, ONE_THREADS, sizeof (OneShared), stream);
  else if (a.tiles.n_time == 8 && a.tiles.height == LARGE_HEIGHT8)
    run_all<LARGE_HEIGHT8, LARGE_AHEAD8, 8> (a, stream);
  else if (a.tiles.n_time == 8)
    run_all<SMALL_HEIGHT8, SMALL_AHEAD8, 8> (a, stream);
  else if (a.tiles.height == LARGE_HEIGHT)
    run_all<LARGE_HEIGHT, LARGE_AHEAD, 4> (a, stream);
  else
    run_all<SMALL_HEIGHT, SMALL_AHEAD, 4> (a, stream);
}

} // namespace nd
