/* How a thread block of 16 warps computes a block of 32 x 32 x 32 samples: the
 * column of the spectrum that each thread has (cuda/fft/volumekernels.cu,
 * cuda/fft/volumebank.cu). A column is the 32 numbers along z at one (kx, ky);
 * its mirror is the column at (-kx, -ky).
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

__host__ __device__ inline Column
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

/* Replaces the transform of two real columns, which were the real and the
 * imaginary parts of @v, by the half of the spectrum of each. */
__device__ __forceinline__ void
split_real_columns (float2 (&v)[BLOCK])
{
  const float2 zero = v[0], middle = v[16];

  v[0] = make_float2 (zero.x, middle.x);
  v[16] = make_float2 (zero.y, middle.y);
#pragma unroll
  for (int k = 1; k < 16; k++) {
    const float2 p = v[k], q = v[BLOCK - k];

    v[k] = make_float2 (0.5f * (p.x + q.x), 0.5f * (p.y - q.y));
    v[BLOCK - k] = make_float2 (0.5f * (p.y + q.y), 0.5f * (q.x - p.x));
  }
}

/* The inverse of split_real_columns (). */
__device__ __forceinline__ void
join_real_columns (float2 (&v)[BLOCK])
{
  const float2 f = v[0], g = v[16];

  v[0] = make_float2 (f.x, g.x);
  v[16] = make_float2 (f.y, g.y);
#pragma unroll
  for (int k = 1; k < 16; k++) {
    const float2 p = v[k], q = v[BLOCK - k];

    v[k] = make_float2 (p.x - q.y, p.y + q.x);
    v[BLOCK - k] = make_float2 (p.x + q.y, q.x - p.y);
  }
}

__device__ __forceinline__ float2 *
shared_planes ()
{
  extern __shared__ float2 planes[];

  return planes;
}

} // namespace nd
