/* The passes of method `separable`: x and y of a plane in one kernel and z, or
 * x, y and z in one kernel for few taps; and t (cuda/direct/time.cuh).
 * Each output is a sum over the taps in the order of the samples, so that it
 * does not depend on its place in the volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

/* The taps of a filter along one axis. */
struct Factor
{
  const float *weights; /* on the device; weights[k] multiplies the sample at
                         * offset low + k from the output */
  int n;                /* a multiple of four; unused weights are 0 */
  int low;
  bool check; /* weights of 0 must not multiply samples that are not finite: a
               * sum that is not finite is computed again without them */
};

/* A volume of sums between passes or in the ring. Rows have room for whole
 * strips. */
struct SumLayout
{
  size_t row, slice, volume; /* numbers */
};

/* The outputs of a strip: the samples of a row that the lanes of a warp compute
 * side by side. */
constexpr int STRIP = 32;

/* The outputs along an axis that a thread block computes; 0: the filter is too
 * long for the shared memory of the device. */
int plane_rows (const size_t size[3], const Factor &x, const Factor &y);
int depth_planes (const size_t size[3], const Factor &z);

/* Call prepare_planes () and prepare_depth () once on each device before the
 * passes run.
 *
 * x and y. @volume: one component, on the device; nullptr: the border
 * volume. */
struct PlanePass
{
  const NdSamples *volume;
  NdSampleType type;
  size_t component;
  int border;
  float border_value;
  const size_t *size;
  Factor x, y;
  int rows; /* plane_rows () */
};
void prepare_planes (NdSampleType type);
void run_planes (const PlanePass &pass, const Store &out, cudaStream_t stream);

/* The taps of a filter along one axis for kernels with code for each number of
 * taps: 1, 5, 9 and so on. */
constexpr int MAX_FEW_TAPS = 41;
struct FewTaps
{
  int n;                       /* 0: there are too many */
  int low;                     /* the offset of the first tap */
  bool check;                  /* as in Factor */
  float weights[MAX_FEW_TAPS]; /* unused ones are 0 */
};
/* Returns FewTaps::n for @n taps along @axis, of which the first has the offset
 * @low. Changes @low to the offset of the first tap of the kernel. */
int few_taps (int *low, int n, int axis);

/* Along x such a kernel reads from a multiple of four samples on. Its first tap
 * is so many samples further. */
__host__ __device__ constexpr int
lead_of (int taps)
{
  return (4 - taps / 2 % 4) % 4;
}

/* x and y of filters with few taps. */
struct StripPass
{
  const NdSamples *volume;
  NdSampleType type;
  size_t component;
  int border;
  float border_value; /* a sample of @type */
  const size_t *size;
  const FewTaps *x, *y;
  int rows; /* strip_rows () */
};
int strip_rows (const size_t size[3], const FewTaps &y);
/* Returns false if rows of samples or responses do not begin at multiples of
 * four, or the samples of a row are not side by side: run_planes () has to
 * run. */
bool run_strips (const StripPass &pass, const Store &out, cudaStream_t stream);

/* z. @outside: the sum that replaces a border volume's. */
struct DepthPass
{
  const float *in;
  SumLayout layout;
  int border;
  float outside;
  const size_t *size;
  Factor z;
  int planes; /* depth_planes () */
};
void prepare_depth ();
void run_depth (const DepthPass &pass, const Store &out, cudaStream_t stream);
/* The same with few taps. Returns false if run_depth () has to run. */
bool run_few_depth (const DepthPass &pass, const FewTaps &z, const Store &out,
    cudaStream_t stream);

/* x, y and z together, of filters with as many taps along each axis. */
constexpr int MAX_SLIDING_TAPS = 9;
struct VolumePass
{
  const NdSamples *volume;
  NdSampleType type;
  size_t component;
  int border;
  float border_value; /* a sample of @type */
  const size_t *size;
  int taps;   /* sliding_taps () */
  int low[2]; /* offsets of the first taps along y and z; along x it is
               * -taps / 2 */
  const float *weights[3]; /* on the host */
};
/* The taps of the least kernel that sums @taps; 0: there is none, or the two
 * kernels for planes and z are faster. */
int sliding_taps (NdSampleType type, int taps, const NdShape &shape);
/* Call it once on each device before the kernel runs. */
void prepare_sliding (NdSampleType type, int taps);
void run_sliding (const VolumePass &pass, const Store &out,
    cudaStream_t stream);

} // namespace nd
