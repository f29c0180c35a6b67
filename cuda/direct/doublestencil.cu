/* The kernel of method `direct` in double precision.
 *
 * A multiprocessor of an H100 does 64 multiply-adds of float64 per clock and
 * reads 16 numbers of shared memory. A thread computes eight outputs side by
 * side in each of four rows, so that a coefficient serves eight outputs and a
 * sample up to four rows. A multiply-add keeps the instruction issue of its
 * quarter of a multiprocessor free every other clock: loops with bounds that
 * are known at run time only are as fast as unrolled ones.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/direct/doublestencil.cuh"

#include "core/log.h"
#include "cuda/device.h"
#include "cuda/direct/sharednumbers.cuh"
#include "cuda/launch.cuh"
#include "cuda/rounding.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <cuda_pipeline.h>

namespace nd
{

namespace
{

constexpr int THREADS = 128;
constexpr int WARPS = THREADS / 32;
constexpr int BLOCKS = 4; /* thread blocks of a multiprocessor */
constexpr int ROWS = 4;   /* of outputs of a thread */
constexpr int WIDE = 8;   /* outputs of a thread side by side */
constexpr int TAPS = 4;   /* coefficients of a row that are read together */
constexpr int COPIES = 5; /* samples of a row that a lane copies together */
constexpr int OUTSIDE = INT_MIN; /* an index that is not in the volume */

struct Arguments
{
  DoubleVolumes volumes;
  int slots[MAX_SLOTS];
  const DoublePlane *planes;
  int n_planes;
  const double *weights;
  int size[3];
  Store store;
  int pitch;      /* of a tile of samples */
  int max_ny;     /* rows of coefficients, of any plane */
  int first_tile; /* numbers before the tile in shared memory: weights */
};

/* Shared memory begins at a multiple of its size. */
struct alignas (64) Group
{
  double v[8];
};

/* The samples from row to row of a tile. */
int
pitch_of (int width, int nx)
{
  return round_up (width + round_up (nx, TAPS), 8);
}

/* The address of the number that @at would be the address of. Threads side by
 * side read pairs that are eight numbers apart; without this exchange of pairs
 * they would wait for the same banks. */
__device__ __forceinline__ SharedAddress
place (SharedAddress at)
{
  return at ^ (at >> 3 & 0x30);
}

/* border_index(), or OUTSIDE. */
__device__ __forceinline__ int
index_of (int border, int i, int n)
{
  const int found = border_index (border, i, n);

  return border == ND_BORDER_CONSTANT && found < 0 ? OUTSIDE : found;
}

/* The columns and rows of the volume that a tile has, which differ from plane
 * to plane only if a plane has several parts. */
struct TileIndices
{
  int *columns, *rows;
  int x, y; /* of the plane that they belong to */
};

template <int WIDTH, int HEIGHT>
__device__ __forceinline__ void
find_indices (const Arguments &a, const DoublePlane &plane, TileIndices &t,
    int x0, int y0)
{
  if (plane.x == t.x && plane.y == t.y)
    return;
  t.x = plane.x;
  t.y = plane.y;
  for (int x = threadIdx.x; x < WIDTH + plane.nx - 1; x += THREADS) {
    const int i = index_of (a.volumes.border, x0 + plane.x + x, a.size[0]);

    t.columns[x] = i == OUTSIDE ? i : i * (int) a.volumes.sample;
  }
  for (int y = threadIdx.x; y < HEIGHT + plane.ny - 1; y += THREADS)
    t.rows[y] = index_of (a.volumes.border, y0 + plane.y + y, a.size[1]);
  __syncthreads ();
}

/* Copies the samples that @plane multiplies for the outputs from (x0, y0, z) on
 * to @tile. ENDS: the border is constant. */
template <int WIDTH, int HEIGHT, bool ENDS>
__device__ __forceinline__ void
copy_tile (const Arguments &a, const DoublePlane &plane, const TileIndices &t,
    SharedAddress tile, int x0, int y0, int z)
{
  constexpr int STEP = 32 * sizeof (double);
  const DoubleVolumes &v = a.volumes;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int columns = min (WIDTH, a.size[0] - x0) + plane.nx - 1 - lane;
  const int rows = min (HEIGHT, a.size[1] - y0) + plane.ny - 1;
  const int zs = index_of (v.border, z + plane.z, a.size[2]);
  const SharedAddress all = shared_address (t.columns) + lane * sizeof (int);
  const double *const slice =
      v.origin + a.slots[plane.slot] * v.volume + zs * (ptrdiff_t) v.slice;
  SharedAddress row_at = shared_address (t.rows) + warp * sizeof (int);
  SharedAddress to =
      tile + (warp * a.pitch + lane) * (SharedAddress) sizeof (double);
  int xs[COPIES];

#pragma unroll
  for (int j = 0; j < COPIES; j++)
    xs[j] = 32 * j < columns ? load_index (all + 32 * j * sizeof (int)) : 0;
#pragma unroll 2
  for (int y = warp; y < rows; y += WARPS) {
    const int ys = load_index (row_at);
    const bool in_row = !ENDS || (zs != OUTSIDE && ys != OUTSIDE);
    const double *const row = slice + ys * (ptrdiff_t) v.row;
    /* Numbers that are 64 apart are exchanged equally. */
    const SharedAddress even = place (to), odd = place (to + STEP);
    const auto from = [&] (int x) {
      return !ENDS || (in_row && x != OUTSIDE) ? row + x : v.outside;
    };

    copy_number<0> (even, from (xs[0]), 0 < columns);
    copy_number<0> (odd, from (xs[1]), 32 < columns);
    copy_number<2 * STEP> (even, from (xs[2]), 64 < columns);
    copy_number<2 * STEP> (odd, from (xs[3]), 96 < columns);
    copy_number<4 * STEP> (even, from (xs[4]), 128 < columns);
#pragma unroll 1
    for (int x = 32 * COPIES; x < columns; x += 32)
      copy_number<0> (place (to + x * sizeof (double)),
          from (load_index (all + x * sizeof (int))), true);
    row_at += WARPS * sizeof (int);
    to += WARPS * a.pitch * sizeof (double);
  }
}

/* Adds N coefficients of a row to the sums. Output row r multiplies row @i of
 * the samples @v by row i - r of the @ny rows of coefficients @w, which are
 * @pitch bytes apart. */
template <int N, bool SKIP>
__device__ __forceinline__ void
add_taps (double (&sum)[ROWS][WIDE], const double (&v)[WIDE + TAPS],
    SharedAddress w, int pitch, int i, int ny)
{
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int k = i - r;

    if (k < 0 || k >= ny)
      continue;
    const double2 p = load_pair (w + k * pitch);
    const double2 q = N > 2 ? load_pair (w + k * pitch + 16) : double2{};
    const double c[TAPS] = { p.x, p.y, q.x, q.y };

#pragma unroll
    for (int t = 0; t < N; t++) {
      if (SKIP && c[t] == 0)
        continue;
#pragma unroll
      for (int o = 0; o < WIDE; o++)
        sum[r][o] = fma (c[t], v[t + o], sum[r][o]);
    }
  }
}

/* Adds row @i of the samples, which begins at @at, to the sums. */
template <bool SKIP>
__device__ __forceinline__ void
add_row (double (&sum)[ROWS][WIDE], SharedAddress at, SharedAddress w,
    const DoublePlane &plane, int i)
{
  const int pitch = round_up (plane.nx, TAPS) * sizeof (double);
  double v[WIDE + TAPS];
  int left = plane.nx;
  const auto load = [&] (int first) {
#pragma unroll
    for (int o = first; o < WIDE + TAPS; o += 2) {
      const double2 pair = load_pair (place (at + o * sizeof (double)));

      v[o] = pair.x;
      v[o + 1] = pair.y;
    }
  };

  load (0);
#pragma unroll 1
  while (left > TAPS) {
    add_taps<TAPS, SKIP> (sum, v, w, pitch, i, plane.ny);
    left -= TAPS;
    w += TAPS * sizeof (double);
    at += TAPS * sizeof (double);
#pragma unroll
    for (int o = 0; o < WIDE; o++)
      v[o] = v[o + TAPS];
    load (WIDE);
  }
  switch (left) {
    case 1:
      return add_taps<1, SKIP> (sum, v, w, pitch, i, plane.ny);
    case 2:
      return add_taps<2, SKIP> (sum, v, w, pitch, i, plane.ny);
    case 3:
      return add_taps<3, SKIP> (sum, v, w, pitch, i, plane.ny);
    default:
      return add_taps<4, SKIP> (sum, v, w, pitch, i, plane.ny);
  }
}

/* A thread block computes a tile of outputs of every gridDim.z-th plane. While
 * it waits for samples, other thread blocks of the multiprocessor compute.
 * ACROSS: threads side by side. */
template <int ACROSS, bool SKIP>
__global__ void __launch_bounds__ (THREADS, BLOCKS)
direct_double_kernel (const __grid_constant__ Arguments a)
{
  extern __shared__ Group shared[];
  constexpr int WIDTH = WIDE * ACROSS, HEIGHT = THREADS / ACROSS * ROWS;
  const int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
  const int x0 = blockIdx.x * WIDTH, y0 = blockIdx.y * HEIGHT;
  const int x = x0 + tx * WIDE;
  double *const numbers = (double *) shared; /* weights, then the tile */
  const SharedAddress weights = shared_address (numbers);
  const SharedAddress tile = weights + a.first_tile * sizeof (double);
  const SharedAddress first =
      tile + (ty * ROWS * a.pitch + tx * WIDE) * sizeof (double);
  TileIndices indices;

  indices.columns =
      (int *) (numbers + a.first_tile + (HEIGHT + a.max_ny - 1) * a.pitch);
  indices.rows = indices.columns + a.pitch;
  indices.x = indices.y = OUTSIDE;
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  for (int z = blockIdx.z; z < a.size[2]; z += gridDim.z) {
    double sum[ROWS][WIDE] = {};

#pragma unroll 1
    for (int p = 0; p < a.n_planes; p++) {
      const DoublePlane plane = a.planes[p];
      const int n = round_up (plane.nx, TAPS) * plane.ny;

      find_indices<WIDTH, HEIGHT> (a, plane, indices, x0, y0);
#pragma unroll 1
      for (int i = threadIdx.x; i < n; i += THREADS)
        copy_number<0> (weights + i * sizeof (double),
            a.weights + plane.weights + i, true);
      if (a.volumes.border == ND_BORDER_CONSTANT)
        copy_tile<WIDTH, HEIGHT, true> (a, plane, indices, tile, x0, y0, z);
      else
        copy_tile<WIDTH, HEIGHT, false> (a, plane, indices, tile, x0, y0, z);
      __pipeline_commit ();
      __pipeline_wait_prior (0);
      __syncthreads ();
      if (x < a.size[0] && y0 + ty * ROWS < a.size[1]) {
#pragma unroll 1
        for (int i = 0; i < plane.ny + ROWS - 1; i++)
          add_row<SKIP> (sum, first + i * a.pitch * sizeof (double), weights,
              plane, i);
      }
      __syncthreads ();
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const int y = y0 + ty * ROWS + r;

      if (x >= a.size[0] || y >= a.size[1])
        continue;
#pragma unroll
      for (int o = 0; o < WIDE; o += 4) {
        if (x + o < a.size[0])
          store_four (a.store, sum[r] + o, a.size[0] - x - o, x + o, y, z);
      }
    }
  }
}

/* Numbers of shared memory for @nx x @ny coefficients. */
int
weights_of (int nx, int ny)
{
  return round_up (round_up (nx, TAPS) * ny, 8);
}

/* The bytes of shared memory of a kernel with tiles of @width x @height
 * outputs. */
size_t
shared_bytes (int width, int height, int nx, int ny)
{
  const size_t pitch = pitch_of (width, nx), rows = height + ny - 1;

  return (weights_of (nx, ny) + pitch * rows) * sizeof (double)
      + (pitch + rows) * sizeof (int);
}

constexpr int WIDTHS[2] = { 128, 64 }, HEIGHTS[2] = { 32, 64 };

/* Whether planes of @nx x @ny coefficients leave shared memory for a second
 * thread block of a multiprocessor, or take less than 48 KiB. */
bool
fits (int nx, int ny)
{
  const size_t most = std::min (max_dynamic_shared (),
      std::max (max_dynamic_shared () / 2, 48 << 10));

  return shared_bytes (WIDTHS[0], HEIGHTS[0], nx, ny) <= most
      && shared_bytes (WIDTHS[1], HEIGHTS[1], nx, ny) <= most;
}

template <int ACROSS, bool SKIP>
void
launch_tiles (Arguments a, int nx, int ny, cudaStream_t stream)
{
  constexpr int WIDTH = WIDE * ACROSS, HEIGHT = THREADS / ACROSS * ROWS;
  void (*const kernel) (Arguments) = direct_double_kernel<ACROSS, SKIP>;
  const dim3 blocks ((a.size[0] + WIDTH - 1) / WIDTH,
      (a.size[1] + HEIGHT - 1) / HEIGHT, std::min (a.size[2], 65535));

  a.pitch = pitch_of (WIDTH, nx);
  a.max_ny = ny;
  a.first_tile = weights_of (nx, ny);
  prepare_shared (kernel);
  launch_early (kernel, blocks, THREADS, shared_bytes (WIDTH, HEIGHT, nx, ny),
      stream, a);
}

template <int ACROSS>
void
launch_tiles (const Arguments &a, bool skip, int nx, int ny,
    cudaStream_t stream)
{
  if (skip)
    launch_tiles<ACROSS, true> (a, nx, ny, stream);
  else
    launch_tiles<ACROSS, false> (a, nx, ny, stream);
}

} // namespace

DoubleVolumes
read_in_place (const NdSamples &volume, size_t component, int border,
    const double *outside)
{
  return DoubleVolumes{ (const double *) volume.data + component,
    volume.sample / sizeof (double), volume.row / sizeof (double),
    volume.slice / sizeof (double), 0, border, outside };
}

/* Adds the part of a plane whose first coefficient reads offset @plane, and is
 * number (at[0], at[1]) of the plane @w in the order of samples. */
void
DoubleStencil::add_plane (const double *w, const size_t size[ND_AXES],
    const DoublePlane &plane, const int at[2])
{
  const int pitch = round_up (plane.nx, TAPS);
  bool any = false;

  made.push_back (plane);
  made.back ().weights = values.size ();
  for (int y = 0; y < plane.ny; y++) {
    for (int x = 0; x < pitch; x++) {
      const size_t row = size[1] - 1 - (at[1] + y);
      const double value =
          x < plane.nx ? w[row * size[0] + size[0] - 1 - (at[0] + x)] : 0;

      any |= value != 0;
      skip_zeros |= x < plane.nx && value == 0;
      values.push_back (value);
    }
  }
  if (!any) {
    values.resize (made.back ().weights);
    made.pop_back ();
    return;
  }
  max_nx = std::max (max_nx, plane.nx);
  max_ny = std::max (max_ny, plane.ny);
}

DoubleStencil::DoubleStencil (const double *coefficients,
    const size_t size[ND_AXES], const int low[ND_AXES], int first, bool finite)
    : first_slot (low[3] - first), n_slots (size[3]), skip_zeros (false)
{
  int nx = size[0], ny = size[1];

  /* The longer side is halved until a stage fits. */
  while (!fits (nx, ny) && (nx > 1 || ny > 1)) {
    int *const side = nx > ny ? &nx : &ny;

    *side = (*side + 1) / 2;
  }
  for (int t = 0; t < (int) size[3]; t++)
    for (int z = 0; z < (int) size[2]; z++) {
      const size_t plane = (size[3] - 1 - t) * size[2] + (size[2] - 1 - z);
      const double *const w = coefficients + plane * size[1] * size[0];

      for (int y = 0; y < (int) size[1]; y += ny)
        for (int x = 0; x < (int) size[0]; x += nx) {
          const int at[2] = { x, y };

          add_plane (w, size,
              DoublePlane{ t, low[0] + x, low[1] + y, low[2] + z,
                  std::min (nx, (int) size[0] - x),
                  std::min (ny, (int) size[1] - y), 0 },
              at);
        }
    }
  skip_zeros = skip_zeros && !finite;
  ND_DEBUG ("%zu planes of up to %dx%d coefficients of float64%s", made.size (),
      max_nx, max_ny, skip_zeros ? ", skipping zeros" : "");
  planes.plan (std::move (made));
  weights.plan (std::move (values));
}

void
DoubleStencil::run (const DoubleVolumes &volumes, const int *slots,
    const size_t size[3], const Store &store, cudaStream_t stream) const
{
  Arguments a = { volumes };

  memcpy (a.slots, slots + first_slot, n_slots * sizeof (int));
  a.planes = planes.get ();
  a.n_planes = planes.count ();
  a.weights = weights.get ();
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = size[axis];
  a.store = store;
  /* A narrow volume would leave half of a wide thread block idle. */
  if (size[0] > 64)
    launch_tiles<16> (a, skip_zeros, max_nx, max_ny, stream);
  else
    launch_tiles<8> (a, skip_zeros, max_nx, max_ny, stream);
}

} // namespace nd
