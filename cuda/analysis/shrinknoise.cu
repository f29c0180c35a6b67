/* The noise of each coefficient: the quantile of its magnitudes in blocks
 * inside of the sector of an ultrasound image.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/quantile.cuh"
#include "cuda/analysis/shrink.h"
#include "cuda/analysis/transform4.cuh"
#include "cuda/launch.cuh"
#include "cuda/rounding.h"
#include "cuda/samples.cuh"

namespace nd
{

namespace
{

constexpr int THREADS = 128;
constexpr int COEFFICIENTS = ND_SHRINK_COEFFICIENTS;
/* The norm of an odd index, divided by 1/2, that of an even one. */
constexpr double ODD_NORM = 1.3065629648763766;

/* @axis_step: 1, 4 or 16. */
template <int N>
__device__ __forceinline__ void
transform_axis (float *block, int axis_step)
{
#pragma unroll
  for (int i = 0; i < N; i++) {
    float *v = block + i;

    if (i / axis_step % 4 == 0)
      forward4 (v[0], v[axis_step], v[2 * axis_step], v[3 * axis_step], v[0],
          v[axis_step], v[2 * axis_step], v[3 * axis_step]);
  }
}

/* A thread measures one block of N samples. */
template <int N>
__global__ void __launch_bounds__ (THREADS)
shrink_measure_kernel (const __grid_constant__ ShrinkMeasurement a)
{
  const int at = blockIdx.x * THREADS + threadIdx.x, n = a.n_blocks ();
  float block[N];
  bool is_inside = true;
  int xs[4];

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  if (at >= n)
    return;
  const float least = least_value (*a.least);
  const int x = at % a.blocks[0] * a.step;
  const int y = at / a.blocks[0] % a.blocks[1] * a.step;
  const int z = at / a.blocks[0] / a.blocks[1] * a.step;

#pragma unroll
  for (int i = 0; i < 4; i++)
    xs[i] = border_index (a.border, x + i, a.size[0]);
#pragma unroll
  for (int i = 0; i < N / 4; i++) {
    const int from_y = border_index (a.border, y + i % 4, a.size[1]);
    const int from_z =
        N == COEFFICIENTS ? border_index (a.border, z + i / 4, a.size[2]) : 0;
    const float *row =
        a.volume + ((size_t) from_z * a.size[1] + from_y) * a.size[0];

#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float value = from_y >= 0 && from_z >= 0 && xs[k] >= 0
          ? row[xs[k]]
          : a.border_value;

      block[4 * i + k] = value;
      is_inside &= value > least && isfinite (value);
    }
  }
  transform_axis<N> (block, 1);
  transform_axis<N> (block, 4);
  if (N == COEFFICIENTS)
    transform_axis<N> (block, 16);
#pragma unroll
  for (int k = 0; k < N; k++) {
    float norm = N == COEFFICIENTS ? 1 / 8.f : 1 / 4.f;

#pragma unroll
    for (int odd = 0; odd < (k & 1) + (k >> 2 & 1) + (k >> 4 & 1); odd++)
      norm *= ODD_NORM;
    a.magnitudes[(size_t) k * n + at] =
        is_inside ? fabsf (block[k]) * norm : NAN;
  }
}

/* A thread has one coefficient: nd_shrink_complete (), and the levels. */
__global__ void __launch_bounds__ (COEFFICIENTS)
shrink_levels_kernel (const __grid_constant__ ShrinkMeasurement a)
{
  __shared__ double all[COEFFICIENTS];
  const int k = threadIdx.x, x = k % 4, y = k / 4 % 4, z = k / 16;
  const int at = 16 * x + 4 * y + z;
  /* A single plane fills blocks, which doubles coefficients. */
  double norm = a.size[2] > 1 ? 1 / 8. : 1 / 16.;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  double noise =
      k < a.n_coefficients () ? a.quantiles[k] / ND_SHRINK_NORMAL_QUANTILE : 0;
  double most = 0;

  all[k] = noise;
  __syncthreads ();
  for (int i = 1; i < COEFFICIENTS; i++)
    most = fmax (most, all[i]);
  if (k == 0)
    a.levels->has_noise = most > ND_DENOISE_MIN_SIGMA;
  most = fmax (most, ND_DENOISE_MIN_SIGMA);
  noise = k == 0 ? most : fmax (noise, ND_SHRINK_LEAST * most);
  for (int odd = 0; odd < (x & 1) + (y & 1) + (z & 1); odd++)
    norm *= ODD_NORM;

  const double level = a.strength * noise / norm;

  /* The mean is kept. */
  a.levels->thresholds[at] =
      k == 0 ? -1.f : (float) (ND_DENOISE_THRESHOLD * level);
  /* Not 0, so that coefficients of 0 have a factor. */
  a.levels->wiener[at] =
      fmaxf ((float) (ND_SHRINK_WIENER * level * level), 1e-37f);
  a.levels->powers[at] = (float) (noise / most * (noise / most));
}

} // namespace

void
measure_levels (const ShrinkMeasurement &a, cudaStream_t stream)
{
  const int n = a.n_blocks ();

  launch_early (a.size[2] > 1 ? shrink_measure_kernel<COEFFICIENTS>
                              : shrink_measure_kernel<COEFFICIENTS / 4>,
      dim3 (divide_up (n, THREADS)), dim3 (THREADS), 0, stream, a);
  find_quantiles (a.magnitudes, a.n_coefficients (), n, ND_SHRINK_QUANTILE,
      a.quantiles, stream);
  launch_early (shrink_levels_kernel, dim3 (1), dim3 (COEFFICIENTS), 0, stream,
      a);
}

} // namespace nd
