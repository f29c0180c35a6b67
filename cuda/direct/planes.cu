/* The passes along x and y of method `separable`, in one kernel for any number
 * of taps and any layout of samples and responses. A thread block computes a
 * strip of a plane: its warps sum along x, eight rows at a time, from samples
 * that they converted and extended by the border in shared memory. Then they
 * sum these sums along y.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/device.h"
#include "cuda/direct/columns.cuh"
#include "cuda/direct/quads.cuh"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cuda_pipeline.h>

namespace nd
{

namespace
{

constexpr int ROWS = 8;   /* that a warp sums along x together */
constexpr int LANES = 4;  /* of a row */
constexpr int ACROSS = 8; /* outputs of a lane: STRIP / LANES */
constexpr int BATCH = 3;  /* quads that a lane loads together */
constexpr int PITCH = 36; /* of sums: rows are in different banks */

struct PlaneArguments
{
  const unsigned char *in; /* nullptr: border volume */
  size_t sample, row, slice;
  bool aligned; /* quads of samples begin at multiples of their size */
  int border;
  float border_value;
  int size[3];
  Factor x, y;
  Store out;
  int strips;
  int rows;  /* of outputs of a thread block */
  int quads; /* of a row of samples */
};

__host__ __device__ int
quads_of (int taps)
{
  return STRIP / 4 + taps / 4;
}

/* Floats of a row in shared memory: an odd number of quads, so that
 * neighbouring rows are in different banks. */
__host__ __device__ int
pitch_of (int quads)
{
  return 4 * (quads | 1);
}

size_t
shared_bytes (int rows, int x_taps, int y_taps)
{
  const int quads = quads_of (x_taps);
  const size_t floats = x_taps + y_taps + 4 * quads
      + (size_t) 2 * WARPS * ROWS * pitch_of (quads)
      + (size_t) PITCH * column_rows (rows, y_taps);

  return floats * sizeof (float);
}

/* Loads the samples of a row from column @first on to shared memory. Four lanes
 * share a row. float32 is copied asynchronously; other types stay in registers
 * until end () converts them. */
template <typename T>
class RowLoader
{
public:
  /* @columns: the place of each column in the row, or -1 for the border
   * value. */
  __device__ __forceinline__ RowLoader (const PlaneArguments &a, int first,
      const int *columns)
      : a (a), first (first), columns (columns),
        inside (a.aligned && first >= 0 && first + 4 * a.quads <= a.size[0])
  {
  }

  /* @row is nullptr if it is outside the volume. */
  __device__ __forceinline__ void begin (const unsigned char *row, float *to)
  {
    const int lane = threadIdx.x % LANES;

    this->row = row;
    if constexpr (is_integer<T>) {
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        const int q = lane + i * LANES;

        if (q < a.quads && row)
          loaded[i] = load (q);
      }
    } else if (row && inside) {
      const unsigned char *const from = row + (first + 4 * lane) * sizeof (T);

#pragma unroll 1
      for (int q = 0; q < a.quads - lane; q += LANES)
        __pipeline_memcpy_async (to + 4 * (q + lane),
            from + q * sizeof (float4), sizeof (float4));
    } else {
#pragma unroll 1
      for (int q = lane; q < a.quads; q += LANES)
        copy (q, to + 4 * q);
    }
    __pipeline_commit ();
  }

  __device__ __forceinline__ void end (float *to)
  {
    if constexpr (is_integer<T>) {
      const int lane = threadIdx.x % LANES;

#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        const int q = lane + i * LANES;

        if (q < a.quads)
          store (q, loaded[i], to + 4 * q);
      }
#pragma unroll 1
      for (int q = lane + BATCH * LANES; q < a.quads; q += LANES) {
        Quad<T> quad;

        if (row)
          quad = load (q);
        store (q, quad, to + 4 * q);
      }
    }
  }

private:
  __device__ __forceinline__ bool is_inside (int q) const
  {
    const int x = first + 4 * q;

    return inside || (a.aligned && x >= 0 && x + 4 <= a.size[0]);
  }

  __device__ __forceinline__ Quad<T> load (int q) const
  {
    Quad<T> quad;

    if (is_inside (q))
      return *(const Quad<T> *) (row + (first + 4 * q) * (int) sizeof (T));
#pragma unroll
    for (int j = 0; j < 4; j++)
      quad.v[j] = *(const T *) (row + max (columns[4 * q + j], 0) * a.sample);
    return quad;
  }

  __device__ __forceinline__ void store (int q, const Quad<T> &quad,
      float *to) const
  {
    float v[4];

#pragma unroll
    for (int j = 0; j < 4; j++)
      v[j] = row ? (float) quad.v[j] : a.border_value;
    if (a.border == ND_BORDER_CONSTANT && !inside) {
#pragma unroll
      for (int j = 0; j < 4; j++)
        v[j] = columns[4 * q + j] < 0 ? a.border_value : v[j];
    }
    *(float4 *) to = make_float4 (v[0], v[1], v[2], v[3]);
  }

  /* Of float32. */
  __device__ __forceinline__ void copy (int q, float *to) const
  {
    if (row && is_inside (q)) {
      __pipeline_memcpy_async (to, row + (first + 4 * q) * (int) sizeof (float),
          sizeof (float4));
      return;
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int x = row ? columns[4 * q + j] : -1;

      if (x < 0)
        to[j] = a.border_value;
      else
        __pipeline_memcpy_async (to + j, row + x * a.sample, sizeof (float));
    }
  }

  const PlaneArguments &a;
  const int first;
  const int *const columns;
  const bool inside; /* all samples are inside the row */
  const unsigned char *row;
  Quad<T> loaded[is_integer<T> ? BATCH : 1];
};

/* Adds the four weights of chunk U to the sums of a row. */
template <int U>
__device__ __forceinline__ void
add_row (float (&sum)[ACROSS], float (&samples)[ACROSS + 4], const float *row,
    const float4 *weights)
{
  constexpr int N = ACROSS + 4;
  const float4 four = *(const float4 *) (row + 4 * U + ACROSS);

  samples[(4 * U + ACROSS) % N] = four.x;
  samples[(4 * U + ACROSS + 1) % N] = four.y;
  samples[(4 * U + ACROSS + 2) % N] = four.z;
  samples[(4 * U + ACROSS + 3) % N] = four.w;
  add_four<4 * U % N> (sum, samples, weights[U]);
}

/* sum[o] = the sum over k < @f.n of weights[k] * row[o + k]. */
__device__ __forceinline__ void
sum_row (float (&sum)[ACROSS], const float *row, const float *weights,
    const Factor &f)
{
  float samples[ACROSS + 4];
  const float *at = row;
  const float4 *four = (const float4 *) weights;
  int chunks = f.n / 4;

#pragma unroll
  for (int o = 0; o < ACROSS; o += 4) {
    const float4 v = *(const float4 *) (row + o);

    samples[o] = v.x;
    samples[o + 1] = v.y;
    samples[o + 2] = v.z;
    samples[o + 3] = v.w;
  }
#pragma unroll
  for (int o = 0; o < ACROSS; o++)
    sum[o] = 0;
#pragma unroll 1
  while (true) {
    add_row<0> (sum, samples, at, four);
    if (chunks == 1)
      break;
    add_row<1> (sum, samples, at, four);
    if (chunks == 2)
      break;
    add_row<2> (sum, samples, at, four);
    if (chunks == 3)
      break;
    chunks -= 3;
    four += 3;
    at += 12;
  }
  if (!f.check || all_finite (sum))
    return;
#pragma unroll
  for (int o = 0; o < ACROSS; o++)
    sum[o] = 0;
#pragma unroll 1
  for (int k = 0; k < f.n; k++) {
    const float w = weights[k];

    if (w == 0)
      continue;
#pragma unroll
    for (int o = 0; o < ACROSS; o++)
      sum[o] = fmaf (w, row[k + o], sum[o]);
  }
}

template <typename T>
__global__ void __launch_bounds__ (PASS_THREADS, 4)
separable_xy_kernel (const __grid_constant__ PlaneArguments a)
{
  extern __shared__ float4 shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int pitch = pitch_of (a.quads);
  float *const wx = (float *) shared, *const wy = wx + a.x.n;
  int *const columns = (int *) (wy + a.y.n);
  float *const samples = (float *) (columns + 4 * a.quads);
  float *const sums = samples + 2 * WARPS * ROWS * pitch;
  const int other = WARPS * ROWS * pitch; /* from one buffer to the other */
  float *const mine = samples + (warp * ROWS + lane / LANES) * pitch;
  const int x0 = blockIdx.x % a.strips * STRIP;
  const int y0 = blockIdx.x / a.strips * a.rows;
  const int n = min (a.rows, a.size[1] - y0), first = x0 + a.x.low;
  const int rows = column_rows (n, a.y.n);

  for (int i = threadIdx.x; i < a.x.n; i += PASS_THREADS)
    wx[i] = a.x.weights[i];
  for (int i = threadIdx.x; i < a.y.n; i += PASS_THREADS)
    wy[i] = a.y.weights[i];
  for (int i = threadIdx.x; i < 4 * a.quads; i += PASS_THREADS)
    columns[i] = border_index (a.border, first + i, a.size[0]);
  __syncthreads ();
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  RowLoader<T> loader (a, first, columns);

  for (int z = blockIdx.y; z < a.size[2]; z += gridDim.y) {
    const unsigned char *const plane = a.in + z * a.slice;
    const auto begin = [&] (int r, float *to) {
      const int y =
          a.in ? border_index (a.border, y0 + r + a.y.low, a.size[1]) : -1;

      loader.begin (y < 0 ? nullptr : plane + y * a.row, to);
    };
    float *samples = mine;

    begin (warp * ROWS + lane / LANES, samples);
    loader.end (samples);
#pragma unroll 1
    for (int group = warp * ROWS; group < rows; group += WARPS * ROWS) {
      const int r = group + lane / LANES;
      float *const next = samples == mine ? mine + other : mine;
      float sum[ACROSS];

      if (group + WARPS * ROWS < rows)
        begin (r + WARPS * ROWS, next);
      else
        __pipeline_commit ();
      __pipeline_wait_prior (1);
      __syncwarp ();
      sum_row (sum, samples + lane % LANES * ACROSS, wx, a.x);
      if (r < rows) {
        float *const to = sums + r * PITCH + lane % LANES * ACROSS;

        *(float4 *) to = make_float4 (sum[0], sum[1], sum[2], sum[3]);
        *(float4 *) (to + 4) = make_float4 (sum[4], sum[5], sum[6], sum[7]);
      }
      if (group + WARPS * ROWS < rows)
        loader.end (next);
      samples = next;
      __syncwarp ();
    }
    __syncthreads ();
    unsigned char *const out =
        a.out.out + (x0 + lane) * a.out.sample + z * a.out.slice;
#pragma unroll 1
    for (int r = warp * OUTPUTS; r < n; r += WARPS * OUTPUTS) {
      float sum[OUTPUTS];

      sum_column<PITCH> (sum, sums + r * PITCH + lane, wy, a.y.n, a.y.check);
      if (x0 + lane < a.size[0])
        store_column (a.out, sum, n - r, out + (y0 + r) * a.out.row, a.out.row);
    }
    __syncthreads ();
  }
}

} // namespace

int
plane_rows (const size_t size[3], const Factor &x, const Factor &y)
{
  return choose_outputs (size[1], (size[0] + STRIP - 1) / STRIP * size[2],
      [&] (int rows) { return shared_bytes (rows, x.n, y.n); });
}

void
prepare_planes (NdSampleType type)
{
  visit_sample_type (type, [&] (auto sample) {
    prepare_shared (separable_xy_kernel<typename decltype (sample)::Type>);
  });
}

void
run_planes (const PlanePass &pass, const Store &out, cudaStream_t stream)
{
  const NdSamples *volume = pass.volume;
  PlaneArguments a = {};

  if (volume) {
    a.in = volume->data + pass.component * nd_sample_size (pass.type);
    a.sample = volume->sample;
    a.row = volume->row;
    a.slice = volume->slice;
  }
  a.border = pass.border;
  a.border_value = pass.border_value;
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = pass.size[axis];
  a.x = pass.x;
  a.y = pass.y;
  a.out = out;
  a.strips = (a.size[0] + STRIP - 1) / STRIP;
  a.rows = pass.rows;
  a.quads = quads_of (a.x.n);
  visit_sample_type (pass.type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;
    const size_t bytes = shared_bytes (a.rows, a.x.n, a.y.n);
    const int tiles = (a.size[1] + a.rows - 1) / a.rows;
    const dim3 blocks ((unsigned) a.strips * tiles,
        std::min (a.size[2], 65535));

    a.aligned = a.sample == sizeof (T)
        && ((size_t) a.in | a.row | a.slice) % (4 * sizeof (T)) == 0;
    launch_early (separable_xy_kernel<T>, blocks, PASS_THREADS, bytes, stream,
        a);
  });
}

} // namespace nd
