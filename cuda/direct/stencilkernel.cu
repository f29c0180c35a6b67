/* The kernel of method `direct`. It is compiled once for each width ND_WIDTH of
 * a filter. Filters of other widths use the kernel of width 8 several times.
 *
 * A multiprocessor does 128 multiply-adds per clock but reads only 32 words of
 * shared memory. A thread therefore computes four outputs side by side, which
 * share one load of 128 bits, in several rows and for several filters, so that
 * each loaded word is used many times. Coefficients are read as broadcasts,
 * four at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/stencilkernel.cuh"

#include "cuda/direct/pipeline.cuh"
#include "cuda/launch.cuh"

namespace nd
{

/* Adds row @i of samples, which begins at @tile, to the sums of ROWS rows of
 * outputs. Output row r multiplies it by row i - r of the coefficients @w.
 * CHECK: some of these rows may be outside the @ny rows of coefficients. */
template <int KX, int LEAD, int ROWS, int FILTERS, bool SKIP, bool CHECK>
__device__ __forceinline__ void
add_row (float (&sum)[FILTERS][ROWS][4], const float *tile, const float *w,
    int ny, int i)
{
  constexpr int SPAN = round_up (LEAD + KX + 3, 4), PITCH = round_up (KX, 4);
  float v[SPAN];

#pragma unroll
  for (int x = 0; x < SPAN; x += 4) {
    const float4 four = *(const float4 *) (tile + x);

    v[x] = four.x;
    v[x + 1] = four.y;
    v[x + 2] = four.z;
    v[x + 3] = four.w;
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int k = i - r;

    if (CHECK && (k < 0 || k >= ny))
      continue;
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
      const float *wk = w + (f * ny + k) * PITCH;
      float c[PITCH];

#pragma unroll
      for (int x = 0; x < PITCH; x += 4) {
        const float4 four = *(const float4 *) (wk + x);

        c[x] = four.x;
        c[x + 1] = four.y;
        c[x + 2] = four.z;
        c[x + 3] = four.w;
      }
#pragma unroll
      for (int x = 0; x < KX; x++) {
        if (SKIP && c[x] == 0)
          continue;
#pragma unroll
        for (int j = 0; j < 4; j++)
          sum[f][r][j] = fmaf (c[x], v[LEAD + x + j], sum[f][r][j]);
      }
    }
  }
}

/* Adds all rows of a plane. KY: number of rows; 0 if it is known at run time
 * only. If it is known at compile time, the loop is unrolled and the compiler
 * keeps the coefficients of a plane in registers, which is faster. */
template <int KX, int LEAD, int KY, int ROWS, int FILTERS, bool SKIP>
__device__ __forceinline__ void
add_plane (float (&sum)[FILTERS][ROWS][4], const float *tile, int pitch,
    const float *w, int ny)
{
  if (KY > 0) {
#pragma unroll
    for (int i = 0; i < KY + ROWS - 1; i++)
      add_row<KX, LEAD, ROWS, FILTERS, SKIP, true> (sum, tile + i * pitch, w,
          KY, i);
    return;
  }
  const int head = min (ROWS - 1, ny + ROWS - 1);
  int i = 0;

#pragma unroll 1
  for (; i < head; i++)
    add_row<KX, LEAD, ROWS, FILTERS, SKIP, true> (sum, tile + i * pitch, w, ny,
        i);
#pragma unroll 1
  for (; i < ny; i++)
    add_row<KX, LEAD, ROWS, FILTERS, SKIP, false> (sum, tile + i * pitch, w, ny,
        i);
#pragma unroll 1
  for (; i < ny + ROWS - 1; i++)
    add_row<KX, LEAD, ROWS, FILTERS, SKIP, true> (sum, tile + i * pitch, w, ny,
        i);
}

/* The parameters of a kernel. */
template <int KX_, int KY_, int NARROW_, int ROWS_, int FILTERS_, bool SKIP_,
    int ACROSS_>
struct Shape
{
  static constexpr int KX = KX_;         /* columns of a plane */
  static constexpr int KY = KY_;         /* rows; 0: any number */
  static constexpr int NARROW = NARROW_; /* of narrow planes; < 0: none */
  static constexpr int ROWS = ROWS_;     /* of outputs of a thread */
  static constexpr int FILTERS = FILTERS_;
  static constexpr bool SKIP = SKIP_;    /* zeros are not multiplied */
  static constexpr int ACROSS = ACROSS_; /* threads side by side */
  static constexpr int LEAD = NARROW < 0 ? lead_of (KX) : 0;

  static constexpr int WIDTH = 4 * ACROSS;
  static constexpr int HEIGHT = THREADS / ACROSS * ROWS;
  static constexpr int PITCH = WIDTH + round_up (LEAD + KX - 1, 4);
  static constexpr int WEIGHTS = round_up (KX, 4);
};

/* Copies @rows rows of the tile of @a.unpadded that begins at (x0, y0, z).
 * Samples inside the volume are copied by rows, the border is copied sample by
 * sample. Returns the floats that were copied by rows. */
template <int PITCH>
__device__ __forceinline__ int
copy_unpadded (Pipeline<THREADS> &pipeline, const Arguments &a, float *tile,
    int x0, int y0, int z, int rows)
{
  const Unpadded &b = a.unpadded;
  const int zs = border_index (b.border, z, a.size[2]);
  const int begin = min (max (-x0, 0), PITCH);
  const int end = min (max (a.size[0] - x0, begin), PITCH);
  const int last = min (a.size[0] + b.after - x0, PITCH);

  if (!b.aligned) {
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * PITCH; i += THREADS) {
      const int xs = border_index (b.border, x0 + i % PITCH, a.size[0]);
      const int ys = border_index (b.border, y0 + i / PITCH, a.size[1]);

      if (i % PITCH < last)
        pipeline.copy_one (tile + i,
            (xs | ys | zs) < 0 ? b.outside
                               : b.in + zs * b.slice + ys * b.row + xs);
    }
    return 0;
  }
  pipeline.for_rows (rows, [&] (int y, int lane, int lanes) {
    const int ys = border_index (b.border, y0 + y, a.size[1]);
    const bool inside = zs >= 0 && ys >= 0;
    const float *const row = b.in + zs * b.slice + ys * b.row;
    float *const to = tile + y * PITCH;

    if (begin < end)
      pipeline.copy_row (to + begin, inside ? row + x0 + begin : b.outside,
          end - begin, lane, lanes);
#pragma unroll 1
    for (int i = lane; i < begin + last - end; i += lanes) {
      const int x = i < begin ? i : end + i - begin;
      const int xs = border_index (b.border, x0 + x, a.size[0]);

      pipeline.copy_one (to + x, inside && xs >= 0 ? row + xs : b.outside);
    }
  });
  return rows * (end - begin);
}

/* A thread block computes tiles of outputs, one for every gridDim.z-th
 * plane. */
template <typename S>
__global__ void __launch_bounds__ (THREADS)
direct_kernel (const __grid_constant__ Arguments a)
{
  extern __shared__ float4 shared[];
  const int rows = S::HEIGHT + a.max_ny - 1;
  const int tile_floats = rows * S::PITCH;
  const int stage_floats = tile_floats + S::FILTERS * a.max_ny * S::WEIGHTS;
  float *const tiles = (float *) shared;
  const int tx = threadIdx.x % S::ACROSS, ty = threadIdx.x / S::ACROSS;
  const int x0 = blockIdx.x * S::WIDTH, y0 = blockIdx.y * S::HEIGHT;
  Pipeline<THREADS> pipeline;

  const auto copy = [&] (int p, int z) {
    const Plane plane = a.planes[p];
    float *const tile = tiles + pipeline.producer_acquire () * stage_floats;
    const int pitch = plane.narrow ? round_up (S::NARROW, 4) : S::WEIGHTS;
    const int weights = S::FILTERS * a.max_ny * pitch;
    int floats = tile_floats;

    if (a.unpadded.in) {
      /* Planes begin at different columns, so that copy_row () may write to a
       * place that copy_one () wrote to. */
      if (S::NARROW >= 0)
        fence_view_async_shared ();
      floats = copy_unpadded<S::PITCH> (pipeline, a, tile,
          x0 + plane.x - a.unpadded.before[0],
          y0 + plane.y - a.unpadded.before[1],
          z + plane.z - a.unpadded.before[2], rows);
    } else {
      const float *const from = a.volumes
          + a.slots[plane.slot] * a.volume_floats + (z + plane.z) * a.slice
          + (size_t) (y0 + plane.y) * a.row + x0 + plane.x;

      pipeline.for_rows (rows, [&] (int y, int lane, int lanes) {
        pipeline.copy_row (tile + y * S::PITCH, from + y * a.row, S::PITCH,
            lane, lanes);
      });
    }
    pipeline.copy_row (tile + tile_floats, a.weights + plane.weights, weights,
        threadIdx.x, THREADS);
    pipeline.producer_commit (floats + weights);
  };

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  for (int z = blockIdx.z; z < a.size[2]; z += gridDim.z) {
    float sum[S::FILTERS][S::ROWS][4] = {};

#pragma unroll 1
    for (int p = -1; p < a.n_planes; p++) {
      if (p + 1 < a.n_planes)
        copy (p + 1, z);
      if (p < 0)
        continue;
      const float *const stage =
          tiles + pipeline.consumer_wait () * stage_floats;
      const float *const tile = stage + ty * S::ROWS * S::PITCH + tx * 4;
      const float *const w = stage + tile_floats;

      if (S::NARROW > 0 && a.planes[p].narrow)
        add_plane<(S::NARROW > 0 ? S::NARROW : 1), 0, 0, S::ROWS, S::FILTERS,
            S::SKIP> (sum, tile, S::PITCH, w, a.max_ny);
      else
        add_plane<S::KX, S::LEAD, S::KY, S::ROWS, S::FILTERS, S::SKIP> (sum,
            tile, S::PITCH, w, a.max_ny);
      pipeline.consumer_release ();
    }
    const int x = x0 + tx * 4;

#pragma unroll
    for (int r = 0; r < S::ROWS; r++) {
      const int y = y0 + ty * S::ROWS + r;

      if (x >= a.size[0] || y >= a.size[1])
        continue;
#pragma unroll
      for (int f = 0; f < S::FILTERS; f++)
        store_four (a.stores[f], sum[f][r], a.size[0] - x, x, y, z);
    }
  }
}

template <typename S>
static void
launch (const Arguments &a, cudaStream_t stream)
{
  const size_t bytes = 2 * sizeof (float)
      * ((S::HEIGHT + a.max_ny - 1) * S::PITCH
          + S::FILTERS * a.max_ny * S::WEIGHTS);
  const dim3 blocks ((a.size[0] + S::WIDTH - 1) / S::WIDTH,
      (a.size[1] + S::HEIGHT - 1) / S::HEIGHT,
      a.size[2] < 65535 ? a.size[2] : 65535);

  /* The limit of 48 KiB includes the barriers. */
  if (bytes > 47 << 10)
    allow_shared ((const void *) direct_kernel<S>, max_dynamic_shared ());
  launch_early (direct_kernel<S>, blocks, THREADS, bytes, stream, a);
}

/* A narrow volume would leave half of a wide thread block idle. */
template <int KX, int KY, int ROWS>
static void
launch_single (const Arguments &a, cudaStream_t stream)
{
  if (a.size[0] > 64)
    launch<Shape<KX, KY, -1, ROWS, 1, false, 32>> (a, stream);
  else
    launch<Shape<KX, KY, -1, ROWS, 1, false, 16>> (a, stream);
}

/* Kernels for a number of rows that is known at compile time are faster for
 * small numbers only, because their code grows with it. */
template <int KX, int FILTERS>
static void
launch_group (const Arguments &a, cudaStream_t stream)
{
  constexpr int KY = KX <= 7 && FILTERS <= 4 ? KX : 0;
  constexpr int ROWS = group_rows (FILTERS);

  if (a.max_ny == KY)
    launch<Shape<KX, KY, -1, ROWS, FILTERS, false, 32>> (a, stream);
  else
    launch<Shape<KX, 0, -1, ROWS, FILTERS, false, 32>> (a, stream);
}

template <int KX>
void
run_common (unsigned filters, const Arguments &a, cudaStream_t stream)
{
  switch (filters) {
    case 12:
      return launch_group<KX, 12> (a, stream);
    case 4:
      return launch_group<KX, 4> (a, stream);
    case 3:
      return launch_group<KX, 3> (a, stream);
    case 2:
      return launch_group<KX, 2> (a, stream);
  }
  if (KX <= 9 && a.max_ny == KX)
    launch_single<KX, KX <= 9 ? KX : 0, 8> (a, stream);
  else
    launch_single<KX, 0, 4> (a, stream);
}

#if ND_WIDTH != 8

template void run_common<ND_WIDTH> (unsigned filters, const Arguments &a,
    cudaStream_t stream);

#else

template <int NARROW>
static void
launch_general (bool skip, const Arguments &a, cudaStream_t stream)
{
  if (skip)
    launch<Shape<8, 0, NARROW, 4, 1, true, 32>> (a, stream);
  else
    launch<Shape<8, 0, NARROW, 4, 1, false, 32>> (a, stream);
}

void
run_general (int narrow, bool skip, const Arguments &a, cudaStream_t stream)
{
  switch (narrow) {
    case 0:
      return launch_general<0> (skip, a, stream);
    case 1:
      return launch_general<1> (skip, a, stream);
    case 2:
      return launch_general<2> (skip, a, stream);
    case 3:
      return launch_general<3> (skip, a, stream);
    case 4:
      return launch_general<4> (skip, a, stream);
    case 5:
      return launch_general<5> (skip, a, stream);
    case 6:
      return launch_general<6> (skip, a, stream);
    case 7:
      return launch_general<7> (skip, a, stream);
  }
  throw no_stencil_kernel ();
}

#endif

} // namespace nd
