/* The interface of the kernels of cuda/direct/stencilkernel.cu.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/direct/stencil.cuh"

namespace nd
{

__host__ __device__ constexpr int
round_up (int n, int step)
{
  return (n + step - 1) / step * step;
}

struct Arguments
{
  Unpadded unpadded;
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

/* Samples between the begin of a tile and the box of a centred filter of @kx
 * columns. The tile then begins at a multiple of 16 bytes in rows that are read
 * unpadded. */
__host__ __device__ constexpr int
lead_of (int kx)
{
  return (4 - kx / 2 % 4) % 4;
}

constexpr int THREADS = 128;

/* Rows of outputs of a thread. Rows and filters share the registers. */
constexpr int
group_rows (unsigned filters)
{
  return filters == 12 ? 1 : filters > 2 ? 2 : 4;
}

/* For planes of KX columns, odd, 3 to 17, and 1, 2, 3, 4 or 12 filters. */
template <int KX>
void run_common (unsigned filters, const Arguments &a, cudaStream_t stream);

/* For planes of 8 columns, the last ones of @narrow columns, 0 to 7, and one
 * filter. */
void run_general (int narrow, bool skip, const Arguments &a,
    cudaStream_t stream);

} // namespace nd
