/* Kernels over volumes: a thread computes a sample of each plane, or of some if
 * there are many.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/launch.cuh"
#include "cuda/rounding.h"

#include <algorithm>

namespace nd
{

constexpr int THREADS_X = 32, THREADS_Y = 8;
constexpr int THREADS = THREADS_X * THREADS_Y;

template <typename A>
void
launch_volume (void (*kernel) (A), const int size[3], const A &a,
    cudaStream_t stream)
{
  launch_early (kernel,
      dim3 (divide_up (size[0], THREADS_X), divide_up (size[1], THREADS_Y),
          std::min (size[2], 65535)),
      dim3 (THREADS_X, THREADS_Y), 0, stream, a);
}

/* Runs code for every sample of this thread. Before it, a kernel reads only its
 * arguments. */
#define FOR_EACH_SAMPLE(size, x, y, z)                \
  const int x = blockIdx.x * THREADS_X + threadIdx.x; \
  const int y = blockIdx.y * THREADS_Y + threadIdx.y; \
                                                      \
  launch_dependent_grids ();                          \
  wait_on_dependent_grids ();                         \
  if (x >= (size)[0] || y >= (size)[1])               \
    return;                                           \
  for (int z = blockIdx.z; z < (size)[2]; z += gridDim.z)

__device__ __forceinline__ size_t
sample_index (const int size[3], int x, int y, int z)
{
  return ((size_t) z * size[1] + y) * size[0] + x;
}

} // namespace nd
