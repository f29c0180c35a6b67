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

/* The samples between the start of a tile and the box of a centred filter of
 * @kx columns. The tile then starts at a multiple of 16 bytes in rows that are
 * read unpadded. */
__host__ __device__ constexpr int
lead_of (int kx)
{
  return (4 - kx / 2 % 4) % 4;
}

constexpr int THREADS = 128;

/* The rows of outputs that a thread computes. Rows and filters share the
 * registers. */
constexpr int
group_rows (unsigned filters)
{
  return filters == 12 ? 1 : filters > 2 ? 2 : 4;
}

/* Runs 1, 2, 3, 4 or 12 filters whose planes have KX columns: odd, 3 to 17. */
template <int KX>
void run_common (unsigned filters, const Arguments &a, cudaStream_t stream);

/* Runs one filter whose planes have 8 columns, and the last ones @narrow
 * columns, 0 to 7. */
void run_general (int narrow, bool skip, const Arguments &a,
    cudaStream_t stream);

} // namespace nd
