/* The cells of view/sceneinline.h: their ranges, and how far from each of
 * them the next one is that may show.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/view/look.h"
#include "cuda/view/words.cuh"
#include "view/sceneinline.h"

namespace nd
{

struct Cells
{
  int count[3];
  float *low, *high; /* infinity and -infinity if there are no values */
  unsigned char *empty;
};

/* The number of the cell with index @x, @y, @z. */
__host__ __device__ inline size_t
cell_number (const Cells &c, int x, int y, int z)
{
  return ((size_t) z * c.count[1] + y) * c.count[0] + x;
}

__host__ __device__ inline void
cell_index (const Cells &c, size_t number, int index[3])
{
  index[0] = number % c.count[0];
  index[1] = number / c.count[0] % c.count[1];
  index[2] = number / c.count[0] / c.count[1];
}

/* The samples along a side of a cell, with the first one of the next cell. */
constexpr int CELL_SIDE = ND_SCENE_CELL + 1;

/* The range of the samples of cell @number in its column @part % CELL_SIDE and
 * every third row from @part / CELL_SIDE on. */
constexpr int CELL_PARTS = 3 * CELL_SIDE;

template <typename T>
__host__ __device__ inline void
range_of_part (const Words &w, const Cells &c, size_t number, int part,
    float &low, float &high)
{
  int cell[3], first[3], n[3];

  low = INFINITY;
  high = -INFINITY;
  cell_index (c, number, cell);
  for (int a = 0; a < 3; a++) {
    first[a] = cell[a] * ND_SCENE_CELL;
    n[a] = w.size[a] - first[a] < CELL_SIDE ? w.size[a] - first[a] : CELL_SIDE;
  }
  if (part >= CELL_PARTS || part % CELL_SIDE >= n[0])
    return;
  for (int row = part / CELL_SIDE; row < n[1] * n[2]; row += 3) {
    const float v = Packing<T>::sample (word_at (w, first[0] + part % CELL_SIDE,
        first[1] + row % n[1], first[2] + row / n[1]));

    /* NaN does not count. */
    low = fminf (low, v);
    high = fmaxf (high, v);
  }
}

__host__ __device__ inline bool
is_empty (const Cells &c, const Look &look, bool surface, size_t number)
{
  const float low = c.low[number], high = c.high[number];

  return !(surface
          ? nd_scene_may_reach (look.level, low, high)
          : nd_scene_may_show (look.low, look.window, look.opaque, low, high));
}

/* The distance of cell @number if @from has the distances in which the axes
 * before @axis count, and 0 or ND_SCENE_FAR before the first axis. */
__host__ __device__ inline unsigned char
distance_along (const Cells &c, const unsigned char *from, int axis,
    size_t number)
{
  const size_t step = axis == 0 ? 1
      : axis == 1               ? c.count[0]
                                : (size_t) c.count[0] * c.count[1];
  int index[3], least = from[number];

  cell_index (c, number, index);
  for (int d = 1; d < least; d++) {
    if (index[axis] >= d) {
      const int other = from[number - d * step];

      least = other <= d ? d : other < least ? other : least;
    }
    if (index[axis] + d < c.count[axis]) {
      const int other = from[number + d * step];

      least = other <= d ? d : other < least ? other : least;
    }
  }
  return least;
}

} // namespace nd
