/* The kernels of compute_blocks ().
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/blocks.cuh"
#include "cuda/launch.cuh"

namespace nd
{

/* Of tiles that have one volume. */
void compute_one_blocks (const DenoiseArguments &a, cudaStream_t stream);

/* Of tiles that have all coefficients over time. */
void compute_all_blocks (const DenoiseArguments &a, cudaStream_t stream);

/* Their tiles on the current device, for blocks of @n_time volumes. */
struct AllTiles
{
  int height;   /* positions along y */
  int resident; /* tiles that a multiprocessor computes at the same time */
};
AllTiles choose_all_tiles (int n_time);

inline void
launch_blocks (void (*kernel) (DenoiseArguments), const DenoiseArguments &a,
    int threads, size_t shared, cudaStream_t stream)
{
  allow_shared ((const void *) kernel, shared);
  launch_early (kernel, dim3 (a.grid.tiles_x, a.tiles.tiles_y, a.tiles.tiles_z),
      dim3 (threads), shared, stream, a);
}

} // namespace nd
