/* The interface of the kernels of cuda/direct/stencilkernel.cu.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/direct/stencil.cuh"
#include "cuda/rounding.h"

namespace nd
{

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

/* The samples between the begin of a tile and the box of a centred filter of
 * @kx columns. With them, the tile begins at a multiple of 16 bytes in a row
 * that is read unpadded. */
__host__ __device__ constexpr int
lead_of (int kx)
{
  return (4 - kx / 2 % 4) % 4;
}

/* The error for a width or remainder that no kernel is compiled for. The choice
 * of the kernel (cuda/direct/stencil.cu) prevents it. */
inline Error
no_stencil_kernel ()
{
  return Error (ND_ERROR_FAILED,
      "method=direct has no kernel for filters of that width: use method=auto "
      "or fft");
}

constexpr int THREADS = 128;

/* The rows of outputs that a thread computes, for @filters together. More rows
 * would need more registers. */
constexpr int
group_rows (unsigned filters)
{
  return filters == 12 ? 1 : filters > 2 ? 2 : 4;
}

/* Runs 1, 2, 3, 4 or 12 filters whose planes have KX columns: odd, 3 to 17. */
template <int KX>
void run_common (unsigned filters, const Arguments &a, cudaStream_t stream);

/* Runs one filter that is cut into planes of 8 columns. The last plane of each
 * row has @narrow columns, 1 to 7; 0: it has 8 too. @skip: skips coefficients
 * of 0. */
void run_general (int narrow, bool skip, const Arguments &a,
    cudaStream_t stream);

} // namespace nd
