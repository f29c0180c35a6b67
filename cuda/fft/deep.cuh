/* Deep blocks: 64 x 64 samples and all slices, for filters of up to 33 samples
 * along x, y and z (cuda/fft/deep.cu, cuda/fft/deepkernels.cu). Only planes are
 * transformed. Along z, the spectra of planes are summed with the spectra of
 * the slices of the filter as coefficients.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/blockkernels.cuh"

namespace nd
{

constexpr int DEEP = 64; /* samples of a block along x and y */
constexpr size_t DEEP_NUMBERS = DEEP * DEEP; /* of the spectrum of two planes */

/* A filter is real, so that the numbers of half of its spectrum are known from
 * the other half: number (kx, ky) is at kx * DEEP + ky. */
constexpr int DEEP_HALF = DEEP / 2 + 1;
constexpr size_t DEEP_FILTER = DEEP_HALF * DEEP; /* of a slice of a filter */

/* Two blocks are a pair: the real and the imaginary part of complex planes. */
struct DeepArguments
{
  Blocks blocks;
  BlockInput in;
  Store store;
  const float2 *filter; /* [slice][DEEP_FILTER]; zeros beyond the filter */
  float2 *spectra;      /* [pair][plane][kx][ky], of the pairs of a launch */
  int first_pair;       /* of the launch */
  int n_planes;         /* of a pair: the padded slices, and more that are not
                         * used */
};

/* The kernels for filters of so many slices. */
struct DeepKernels
{
  const void *forward; /* volume to spectra; a thread block computes a plane */
  size_t forward_shared;
  int forward_threads;
  const void *backward; /* spectra to responses; a thread block computes
                         * @depth slices of a pair */
  size_t backward_shared;
  int backward_threads;
  int depth;
  int slices; /* of the filter, with the zeros beyond it */
};

DeepKernels deep_kernels (NdSampleType type, int slices);

} // namespace nd
