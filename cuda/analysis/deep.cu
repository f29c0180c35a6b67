/* The sums of ndstructure along z, from tensors whose components are side by
 * side. A thread block moves along z. Its threads separate the components of
 * RUN planes, and without the isotropic part if there is a velocity, and keep
 * them in shared memory with the planes before them. Then a thread sums RUN
 * outputs of one column of one channel.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/leasteigenvalues.cuh"
#include "cuda/analysis/neighbours.cuh"
#include "cuda/analysis/window.cuh"
#include "cuda/device.h"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cstdint>

namespace nd
{

namespace
{

constexpr int RUN = 8;
/* Columns of a thread block; the second number if shared memory is small. */
constexpr int COLUMNS = 64;
constexpr int FEW_COLUMNS = 16;

/* That of the default sigma, for which the loops are unrolled. */
constexpr int COMMON_RADIUS = 8;
/* The threads of a multiprocessor, limited by registers. */
constexpr int RESIDENT = 1024;

/* The first sample and the first output of a column. */
struct Column
{
  const unsigned char *from;
  float *out;
};

/* @paired: pairs of components begin at multiples of 8 bytes. */
template <int N>
__device__ __forceinline__ void
load_tensor (const float *from, bool paired, float (&tensor)[N])
{
  if (N % 2 == 0 && paired) {
#pragma unroll
    for (int c = 0; c < N / 2; c++) {
      const float2 pair = __ldg ((const float2 *) from + c);

      tensor[2 * c] = pair.x;
      tensor[2 * c + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int c = 0; c < N; c++)
      tensor[c] = __ldg (from + c);
  }
}

/* The sums of RUN neighbours along z of one column, from the plane at @read on.
 * A sample outside the window of a sum is not multiplied by 0, because it may
 * be NaN. RADIUS < 0: any radius. */
template <int COLUMNS, int RADIUS>
__device__ __forceinline__ void
sum_column (const float *column, int planes, int read, const float *weights,
    int radius, float *sum)
{
  constexpr int UNROLL = RADIUS < 0 ? 1 : (2 * RADIUS + RUN) / RUN;
  const int taps = 2 * (RADIUS < 0 ? radius : RADIUS) + 1;
  float v[2 * RUN - 1];

#pragma unroll
  for (int o = 0; o < RUN; o++)
    sum[o] = 0;
#pragma unroll
  for (int o = 0; o < RUN - 1; o++)
    v[o] = column[(read + o) * COLUMNS];
  read += RUN - 1;
  const auto next = [&] {
    read = read == planes ? 0 : read;
    const float *const group = column + read * COLUMNS;
    read += RUN;
    return group;
  };

  sum_neighbours<RUN, COLUMNS, UNROLL> (v, weights, taps, next, sum);
}

template <int AXES, int COLUMNS, int RADIUS>
__global__ void __launch_bounds__ (RUN *COLUMNS, RESIDENT / (RUN * COLUMNS))
structure_z_kernel (const __grid_constant__ DeepSum a)
{
  constexpr int COMPONENTS = AXES * (AXES + 1) / 2, THREADS = RUN * COLUMNS;
  extern __shared__ Column columns[];
  float *const ring = (float *) (columns + COLUMNS); /* [element][plane][] */
  const int column = threadIdx.x % COLUMNS, plane = threadIdx.x / COLUMNS;
  const size_t slice = (size_t) a.size[0] * a.size[1];
  const size_t i = (size_t) blockIdx.x * COLUMNS + column;
  const int first = blockIdx.y * a.chunk;
  const int end = min (first + a.chunk, a.size[2]);
  /* The planes that outputs of the chunk read. */
  const int begin_in = max (first - a.radius, 0);
  const int end_in = min (end + a.radius, a.size[2]);
  const int taps = 2 * a.radius + 1;
  const int pitch = a.planes * COLUMNS;
  /* Sums begin one plane after a multiple of RUN in the ring, so that RUN
   * planes that are loaded together are side by side. */
  int at = taps % RUN, read = taps % RUN + a.lead - 2 * a.radius;
  float tensor[COMPONENTS];
  /* The samples of step @step. */
  const auto load = [&] (int step) {
    const int z = first + a.radius + step + plane;

    if (i < slice && z >= begin_in && z < end_in) {
      load_tensor ((const float *) (columns[column].from + z * a.slice),
          a.paired, tensor);
    } else {
#pragma unroll
      for (int c = 0; c < COMPONENTS; c++)
        tensor[c] = 0;
    }
  };

  launch_dependent_grids ();
  if (plane == 0) {
    const size_t x = i % a.size[0], y = i / a.size[0];

    columns[column].from = a.data + x * a.sample + y * a.row;
    columns[column].out = a.out + a.layout.margin + first * a.layout.slice + i;
  }
  __syncthreads ();
  wait_on_dependent_grids ();
  load (-a.lead);
  for (int step = -a.lead; step < end - first; step += RUN) {
    const int here = at + plane < a.planes ? at + plane : at + plane - a.planes;
    float *const to = ring + here * COLUMNS + column;

#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
      to[c * pitch] = tensor[c];
    if (a.has_velocity) {
      const float isotropic = find_isotropic<AXES> (tensor, to, pitch);

      /* The elements are read again, because registers are short. */
#pragma unroll
      for (int k = 0; k < AXES; k++) {
        volatile float *const element =
            to + nd_inline_tensor_index (AXES, k, k) * pitch;

        *element = *element - isotropic;
      }
      if (a.has_isotropic)
        to[COMPONENTS * pitch] = isotropic;
    }
    at = at + RUN < a.planes ? at + RUN : at + RUN - a.planes;
    /* The planes of the next step are not those that are read below. */
    __syncthreads ();
    load (step + RUN);
    if (step < 0)
      continue;
    for (int k = threadIdx.x; k < a.n_channels * COLUMNS; k += THREADS) {
      /* All of a warp if it has only one channel. */
      const int c = k / COLUMNS;
      float *out =
          columns[column].out + c * a.layout.volume + step * a.layout.slice;
      float sum[RUN];

      if (i >= slice)
        break;
      const float *const samples =
          ring + a.channels[c].component * pitch + column;
      const int power = a.channels[c].power;

      /* Weights whose place is known are operands of instructions. */
      if (RADIUS >= 0 && power == 0)
        sum_column<COLUMNS, RADIUS> (samples, a.planes, read, a.weights[0],
            a.radius, sum);
      else
        sum_column<COLUMNS, RADIUS> (samples, a.planes, read, a.weights[power],
            a.radius, sum);
#pragma unroll
      for (int o = 0; o < RUN; o++, out += a.layout.slice) {
        if (first + step + o < end)
          *out = sum[o];
      }
    }
    read = read + RUN < a.planes ? read + RUN : read + RUN - a.planes;
  }
}

template <int AXES, int COLUMNS, int RADIUS>
void
run_deep (DeepSum a, size_t shared, cudaStream_t stream)
{
  const size_t slice = (size_t) a.size[0] * a.size[1];
  const size_t across = (slice + COLUMNS - 1) / COLUMNS;
  const int wanted = device_attribute (cudaDevAttrMultiProcessorCount)
      * RESIDENT / (RUN * COLUMNS);
  /* The neighbours of a chunk are separated again for it. */
  size_t least = SIZE_MAX;

  for (int n = 1; n <= 64; n++) {
    const int chunk = ((a.size[2] + n - 1) / n + RUN - 1) / RUN * RUN;
    const int chunks = (a.size[2] + chunk - 1) / chunk;
    const size_t waves = (across * chunks + wanted - 1) / wanted;
    const size_t time = waves * (a.lead + chunk);

    if (time < least) {
      least = time;
      a.chunk = chunk;
    }
  }
  allow_shared ((const void *) structure_z_kernel<AXES, COLUMNS, RADIUS>,
      max_dynamic_shared ());
  launch_early (structure_z_kernel<AXES, COLUMNS, RADIUS>,
      dim3 (across, (a.size[2] + a.chunk - 1) / a.chunk), RUN * COLUMNS, shared,
      stream, a);
}

template <int AXES>
void
run_deep (DeepSum a, cudaStream_t stream)
{
  const size_t components = AXES * (AXES + 1) / 2 + (a.has_isotropic ? 1 : 0);
  const size_t column =
      components * a.planes * sizeof (float) + sizeof (Column);

  const bool fits = column * COLUMNS <= (size_t) max_dynamic_shared ();

  if (fits && a.radius == COMMON_RADIUS)
    run_deep<AXES, COLUMNS, COMMON_RADIUS> (a, column * COLUMNS, stream);
  else if (fits)
    run_deep<AXES, COLUMNS, -1> (a, column * COLUMNS, stream);
  else
    run_deep<AXES, FEW_COLUMNS, -1> (a, column * FEW_COLUMNS, stream);
}

} // namespace

void
sum_deep (DeepSum a, unsigned axes, cudaStream_t stream)
{
  a.lead = (2 * a.radius + RUN - 1) / RUN * RUN;
  a.planes = a.lead + 2 * RUN;
  a.paired = ((size_t) a.data | a.sample | a.row | a.slice) % 8 == 0;
  if (axes == 2)
    run_deep<2> (a, stream);
  else if (axes == 3)
    run_deep<3> (a, stream);
  else
    run_deep<4> (a, stream);
}

} // namespace nd
