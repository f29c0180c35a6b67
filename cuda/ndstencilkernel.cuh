/* What the kernels of ndstencilkernel.cu take.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndstencil.cuh"

namespace nd
{

__host__ __device__ constexpr int
round_up (int n, int step)
{
  return (n + step - 1) / step * step;
}

struct Arguments
{
  Bare bare;
  const float *volumes;
  size_t volume_floats;
  int slots[MAX_SLOTS];
  const Plane *planes;
  int n_planes;
  int max_ny;
  const float *weights;
  size_t row, slice;
  int size[3];
  Store stores[MAX_FILTERS];
};

/* Tiles begin so many samples before the box of a centred filter: where rows
 * are read in place, that is at a multiple of 16 bytes. */
__host__ __device__ constexpr int
lead_of (int kx)
{
  return (4 - kx / 2 % 4) % 4;
}

constexpr int THREADS = 128;

/* Rows of outputs of a thread: rows and filters share the registers. */
constexpr int
group_rows (unsigned filters)
{
  return filters == 12 ? 1 : filters > 2 ? 2 : 4;
}

/* Planes of @KX columns, of 3 to 17 odd, for 1, 2, 3, 4 or 12 filters. */
template <int KX> void run_common (unsigned filters, const Arguments &a,
    cudaStream_t stream);

/* Planes of 8 columns, the last ones of @narrow, 0 to 7; one filter. */
void run_general (int narrow, bool skip, const Arguments &a,
    cudaStream_t stream);

} // namespace nd
