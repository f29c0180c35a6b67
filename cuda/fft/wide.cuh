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

/* A filter is real, so that the numbers of half of its spectrum are known from
 * the other half: number (kx, ky) is at kx * WIDE_HALF + ky. */
constexpr int WIDE_HALF = WIDE / 2 + 1;
constexpr size_t WIDE_NUMBERS = (size_t) WIDE * WIDE_HALF;

struct WideArguments
{
  CUtensorMap map; /* of the volume, for boxes of the rows of a block */
  Blocks blocks;
  BlockInput in;
  Store store;
  NonFiniteWork work;
  const float2 *filter; /* WIDE_NUMBERS */
  int n_pairs;          /* of blocks */
  int begin;            /* Begin */
  bool is_plain; /* stores float32, or the type of the input, without scale */
};

/* Samples that the copy engine brings of each row of a block: a row begins at a
 * multiple of 16 bytes. */
constexpr int
copied_samples (size_t sample)
{
  return WIDE + 16 / sample;
}

/* WIDE threads of a thread block compute a pair of blocks at a time. */
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
