/* Wide blocks: flat blocks of 64 x 64 samples, for filters of up to 33 samples
 * along x and y (cuda/fft/wide.cu, cuda/fft/widekernels.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/blockkernels.cuh"

#include <cuda.h>

namespace nd
{

constexpr int WIDE = 64; /* samples of a block along x and y */

/* Outputs of a block along y are a multiple of so many. */
constexpr int WIDE_ROWS = 4;

/* Number (kx, ky) of a filter's spectrum is at kx * WIDE + ky. */
constexpr int WIDE_NUMBERS = WIDE * WIDE;

/* Outputs of a block along x, at most, so that the copy engine brings two
 * neighbours along x at a time. */
constexpr int WIDE_OUTPUTS = WIDE - 3;

/* A part of an axis, in outputs. */
struct WideRange
{
  int begin, end;
};

struct WideArguments
{
  CUtensorMap map; /* of the volume, for boxes of the rows of a pair */
  Blocks blocks;
  BlockInput in;
  Store store;
  NonFiniteWork work;
  const float2 *filter; /* WIDE_NUMBERS */
  int n_pairs;          /* of blocks that are neighbours along x */
  int row_pairs;        /* pairs side by side */
  int step[3];          /* from a pair to the next one of the same threads */
  WideRange copied[2];  /* the pairs that the copy engine brings, along x and
                         * y */
  int begin;            /* Begin */
  bool is_plain; /* stores float32, or the type of the input, without scale */
};

/* Samples that the copy engine brings of each row of a pair: a row begins at a
 * multiple of 16 bytes. */
constexpr int
copied_samples (size_t sample)
{
  const int group = 16 / sample;

  return (WIDE_OUTPUTS + WIDE + 2 * group - 2) / group * group;
}

/* The sample that a copied row has in the place of sample @i, for a volume of
 * @n samples along the axis. */
__host__ __device__ inline int
copied_index (int border, int i, int n)
{
  if (i < 0)
    i = border == ND_BORDER_REFLECT  ? -1 - i
        : border == ND_BORDER_MIRROR ? -i
                                     : 0;
  if (i >= n)
    i = border == ND_BORDER_REFLECT  ? 2 * n - 1 - i
        : border == ND_BORDER_MIRROR ? 2 * n - 2 - i
                                     : n - 1;
  return i;
}

/* The first sample of the rows that are copied for a pair whose first output is
 * @x: those that the pair contains, or the last ones near them. */
template <size_t SAMPLE>
__host__ __device__ inline int
first_copied (const Blocks &b, int x)
{
  const int first = min (x + b.low[0], b.shape[0] - 2 * WIDE);

  return max (first, 0) & ~(int) (16 / SAMPLE - 1);
}

/* WIDE threads of a thread block compute a pair at a time. */
struct WideKernel
{
  void (*function) (WideArguments);
  int threads;
  size_t shared; /* bytes */
};

Blocks make_wide_blocks (const RingJob &job, const NdReach &reach);

/* The kernel for the current device; threads is 0 if the device has too little
 * shared memory. @copies: the one that reads WideArguments::map. */
WideKernel wide_kernel (NdSampleType type, bool copies);

} // namespace nd
