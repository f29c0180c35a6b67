/* The work of denoising on whole volumes: conversion of samples, the coarse
 * scale, and the counts from which noise level and clipping are estimated.
 * cpu/denoisesamples.c and denoisescale.c do the same on the CPU.
 *
 * Sums that the host reads are sums of integers, so that they do not depend on
 * the order of threads.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/noise.h"
#include "cuda/error.h"
#include "engine/algorithm.h"

namespace nd
{

/* Component @component of @volume, which is on the device, as dense floats. */
void read_component (const NdSamples &volume, const int size[3],
    NdSampleType type, size_t component, float *out, cudaStream_t stream);

/* The table of NdClipping; nullptr: samples are not corrected. */
struct Unclipping
{
  const float *table;
  float low, high, span;
};

/* The reverse. Rounds half to even and saturates; NaN becomes 0 in integers. */
void write_component (const NdSamples &volume, const int size[3],
    NdSampleType type, size_t component, const float *in,
    const Unclipping &unclipping, cudaStream_t stream);

/* out = means of 2 samples along each axis of @fine or, if @minuend is not
 * nullptr, minuend - means. */
void coarsen (const float *fine, const int size[3], const float *minuend,
    float *out, cudaStream_t stream);

/* fine += linear interpolation of @coarse. */
void add_refined (float *fine, const int size[3], const float *coarse,
    cudaStream_t stream);

/* The histogram of one part of the range (analysis/noise.h). Bin 0 counts the
 * differences that are 0. */
constexpr unsigned NOISE_BINS = ND_NOISE_BINS;
struct NoiseCounts
{
  unsigned long long n[ND_NOISE_PARTS];
  unsigned long long eighths[ND_NOISE_PARTS]; /* sum of 8 times the means */
};
void count_noise (const float *volume, const int size[3], float low, float high,
    unsigned first, unsigned n_bins, unsigned *bins, NoiseCounts *counts,
    cudaStream_t stream);

struct ClippingCounts
{
  unsigned long long seen;
  unsigned long long expected; /* in units of 2^-32 */
};
void count_clipped (const float *in, const float *out, const int size[3],
    float sigma, float low, float high, ClippingCounts *counts,
    cudaStream_t stream);

} // namespace nd
