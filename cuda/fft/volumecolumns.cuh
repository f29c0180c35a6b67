/* How a thread block of 16 warps computes a block of 32 x 32 x 32 samples: the
 * column of the spectrum that each thread has (cuda/fft/volumekernels.cu,
 * cuda/fft/volumebank.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/blockkernels.cuh"

namespace nd
{

constexpr int PLANES = 16;           /* complex planes, each of one warp */
constexpr int THREADS = 32 * PLANES; /* each has a column of the spectrum */
static_assert (THREADS == BlockSpectrum::COLUMNS);
constexpr size_t NUMBERS = THREADS * BLOCK; /* of a spectrum */
constexpr int PLANE = BLOCK * PITCH;        /* numbers of a complex plane */
constexpr size_t SHARED = sizeof (float2) * PLANES * PLANE;

/* The places in a complex plane of a thread's column and of the mirror of that
 * column. If the thread has two real columns, the places of both. */
struct Column
{
  int at, mirror;
  bool real;
};

__device__ inline Column
column_of (int thread)
{
  const int lane = thread % 32, row = thread / 32 + 1;

  if (row < 16)
    return Column{ row * PITCH + lane,
      (BLOCK - row) * PITCH + (BLOCK - lane) % BLOCK, false };
  const int ky = lane < 16 ? 0 : 16, kx = lane % 16;

  if (kx > 0)
    return Column{ ky * PITCH + kx, ky * PITCH + BLOCK - kx, false };
  return Column{ ky * PITCH, ky * PITCH + 16, true };
}

__device__ __forceinline__ float2 *
shared_planes ()
{
  extern __shared__ float2 planes[];

  return planes;
}

} // namespace nd
