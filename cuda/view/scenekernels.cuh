/* The kernels of scenes: they pack the samples of a volume as words, find the
 * ranges of its cells and the cells without anything to see, and draw panels.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/view/rays.cuh"

namespace nd
{

/* A thread block draws TILE_X x TILE_Y pixels, and each of its warps WARP_X x
 * WARP_Y: rays that are close together read the same samples. */
constexpr int WARP_X = 8, WARP_Y = 4, TILE_X = 16, TILE_Y = 8;
constexpr int THREADS = TILE_X * TILE_Y;
static_assert (WARP_X * WARP_Y == 32 && TILE_X % WARP_X == 0
        && TILE_Y % WARP_Y == 0,
    "warps do not fill the tile");

/* Kernels for the samples or the cells of a volume. */
constexpr int LINE_X = 64, LINE_Y = 4;

struct Pack
{
  Direct volume;
  Words words;
};

template <typename T>
__global__ void
scene_pack_kernel (const __grid_constant__ Pack p)
{
  const int x = (int) (blockIdx.x * LINE_X + threadIdx.x) - WORDS_BEFORE;
  const int y = (int) (blockIdx.y * LINE_Y + threadIdx.y) - WORDS_BEFORE;

  if (x >= p.words.size[0] + WORDS_AFTER || y >= p.words.size[1] + WORDS_AFTER)
    return;
  for (int z = (int) blockIdx.z - WORDS_BEFORE;
       z < p.words.size[2] + WORDS_AFTER; z += gridDim.z)
    pack_word<T> (p.volume, p.words, x, y, z);
}

struct Ranges
{
  Words words;
  Cells cells;
  size_t n; /* cells */
};

/* A warp for each cell. */
template <typename T>
__global__ void
scene_range_kernel (const __grid_constant__ Ranges r)
{
  const size_t warps = (size_t) gridDim.x * (blockDim.x / 32);

  static_assert (CELL_PARTS <= 32, "a warp has too few threads");
  for (size_t i = (size_t) blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
       i < r.n; i += warps) {
    float low, high;

    range_of_part<T> (r.words, r.cells, i, threadIdx.x % 32, low, high);
    for (int d = 16; d > 0; d /= 2) {
      low = fminf (low, __shfl_xor_sync (0xffffffffu, low, d));
      high = fmaxf (high, __shfl_xor_sync (0xffffffffu, high, d));
    }
    if (threadIdx.x % 32 == 0) {
      r.cells.low[i] = low;
      r.cells.high[i] = high;
    }
  }
}

struct Empty
{
  Cells cells;
  size_t n;
  const Look *look;
  bool surface;
};

__global__ void
scene_empty_kernel (const __grid_constant__ Empty e)
{
  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < e.n;
       i += (size_t) gridDim.x * blockDim.x)
    e.cells.empty[i] =
        is_empty (e.cells, *e.look, e.surface, i) ? ND_SCENE_FAR : 0;
}

struct Distances
{
  Cells cells; /* `empty`: the result */
  size_t n;
  const unsigned char *from;
  int axis;
};

__global__ void
scene_distance_kernel (const __grid_constant__ Distances d)
{
  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < d.n;
       i += (size_t) gridDim.x * blockDim.x)
    d.cells.empty[i] = distance_along (d.cells, d.from, d.axis, i);
}

/* The part of a picture that the panels cover. */
struct Target
{
  unsigned char *pixels;
  size_t stride;
  int left, top; /* of the picture */
};

struct Inputs
{
  const Look *look;
  const NdPanel *panels;
  int channel;
  Target target;
};

/* The pixel of a thread in panel blockIdx.z, and its memory; nullptr if it is
 * not in the panel. */
__device__ unsigned char *
find_pixel (const NdPanel &panel, const Target &t, int &x, int &y)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  x = blockIdx.x * TILE_X + warp % (TILE_X / WARP_X) * WARP_X + lane % WARP_X;
  y = blockIdx.y * TILE_Y + warp / (TILE_X / WARP_X) * WARP_Y + lane / WARP_X;
  if (x >= panel.width || y >= panel.height)
    return nullptr;
  return t.pixels + (panel.top - t.top + y) * t.stride
      + 3 * (panel.left - t.left + x);
}

/* Called by all threads of a block. */
__device__ void
load_entries (const Look &look, LookEntry *entries)
{
  for (int i = threadIdx.x; i < ND_LOOK_COLORS; i += THREADS)
    entries[i] = look.entries[i];
  __syncthreads ();
}

struct Planes
{
  Direct volume;
  Inputs in;
};

__global__ void __launch_bounds__ (THREADS)
scene_plane_kernel (const __grid_constant__ Planes p)
{
  __shared__ LookEntry entries[ND_LOOK_COLORS];
  const NdPanel &panel = p.in.panels[blockIdx.z];
  unsigned char *pixel;
  int x, y;

  if (panel.kind != ND_PANEL_PLANE)
    return;
  load_entries (*p.in.look, entries);
  pixel = find_pixel (panel, p.in.target, x, y);
  if (pixel)
    draw_plane (p.volume, panel, *p.in.look, entries, x, y, pixel);
}

struct Rays
{
  Shot shot;
  Inputs in;
};

template <typename T, RayKind kind>
__global__ void __launch_bounds__ (THREADS)
scene_ray_kernel (const __grid_constant__ Rays r)
{
  __shared__ LookEntry entries[ND_LOOK_COLORS];
  const NdPanel &panel = r.in.panels[blockIdx.z];
  unsigned char *pixel;
  int x, y;

  if (!is_of_kind (panel, kind))
    return;
  load_entries (*r.in.look, entries);
  pixel = find_pixel (panel, r.in.target, x, y);
  if (pixel)
    draw_ray<T, kind> (r.shot, panel, *r.in.look, entries, r.in.channel, x, y,
        pixel);
}

struct Line
{
  Direct volume;
  size_t first, step, n;
  float *values;
};

__global__ void
scene_line_kernel (const __grid_constant__ Line l)
{
  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < l.n;
       i += (size_t) gridDim.x * blockDim.x)
    l.values[i] = value_at (l.volume, l.first + i * l.step);
}

} // namespace nd
