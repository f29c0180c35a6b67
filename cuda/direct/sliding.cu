/* The passes along x, y and z of method `separable` in one kernel, for up to 9
 * taps per axis. A thread block slides along z over a tile of 32 x 24 outputs
 * of a plane. Samples are copied to shared memory several planes ahead, summed
 * along x into shared memory, and along y into registers. There each plane adds
 * to the sums of all outputs along z that need it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/device.h"
#include "cuda/direct/columns.cuh"
#include "cuda/direct/slidingload.cuh"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace nd
{

namespace
{

constexpr int THREADS = 128;
constexpr int BLOCKS = 4; /* of a multiprocessor, limited by registers */
constexpr int TILE = 24;  /* rows of outputs */
constexpr int DOWN = 6;   /* rows of outputs of a thread */
constexpr int ACROSS = 8; /* sums along x of a thread */
constexpr int STAGES = 6; /* planes of samples in shared memory */
constexpr int SUMS_PITCH = STRIP + 4;

template <int N>
struct Arguments
{
  SlidingVolume in;
  int low[2]; /* of y and z */
  float weights[3][N];
  Store out;
  int strips;
  int chunk; /* planes of outputs of a thread block */
};

/* If thread blocks compute more sums beside their outputs, or multiprocessors
 * have less work, the two kernels for planes and z are faster. With 9 taps on
 * an H100 the ratio is 1.3 for 256^3, 2.1 for 160^3 and 3.1 for 128^3. */
constexpr double MAX_RATIO = 2.5;

template <int N>
constexpr int rows_of = TILE + N - 1;

template <typename T, int N>
constexpr size_t shared_bytes =
    (size_t) STAGES * rows_of<N> * PITCH * sizeof (Quad<T>)
    + (size_t) 2 * rows_of<N> * SUMS_PITCH * sizeof (float);

template <typename T, int N, bool ALIGNED>
__global__ void __launch_bounds__ (THREADS, BLOCKS)
separable_xyz_kernel (const __grid_constant__ Arguments<N> a)
{
  extern __shared__ float4 shared[];
  __shared__ int columns[4 * QUADS];
  constexpr int R = N / 2, ROWS = rows_of<N>, PARTS = STRIP / ACROSS;
  constexpr int SAMPLES = ACROSS + 2 * MARGIN, SUMS = ROWS * SUMS_PITCH;
  using Loader = SlidingLoader<T, ROWS, THREADS, ALIGNED>;
  const SlidingVolume &in = a.in;
  Quad<T> *const stages = (Quad<T> *) shared;
  float *const sums = (float *) (stages + STAGES * Loader::STAGE);
  const int x0 = blockIdx.x % a.strips * STRIP;
  const int y0 = blockIdx.x / a.strips * TILE;
  const int z0 = blockIdx.y * a.chunk;
  /* Plane i is at z0 + a.low[1] + i. */
  const int planes = min (a.chunk, in.size[2] - z0) + N - 1;
  /* This thread's part of the sums along x and along y. */
  const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS;
  const int column = threadIdx.x % STRIP, first = threadIdx.x / STRIP * DOWN;
  const Quad<T> *const quads =
      keep_shared (stages + row * PITCH + part * (ACROSS / 4));
  float *const to = keep_shared (sums + row * SUMS_PITCH + part * ACROSS);
  const float *const from = keep_shared (sums + first * SUMS_PITCH + column);
  const int rows = x0 + column < in.size[0] ? in.size[1] - y0 - first : 0;
  Loader loader (in, x0, y0 + a.low[0], stages, columns);
  const unsigned row_phase = ALIGNED ? 0 : loader.phase_of_row (row);
  unsigned phases = 0; /* of the last planes, two bits each */
  float queue[DOWN][N - 1] = {};
  unsigned char *out = a.out.out + (x0 + column) * a.out.sample
      + (y0 + first) * a.out.row + z0 * a.out.slice;
  /* Loads plane @i into stage @slot. */
  const auto load = [&] (int i, int slot) {
    const int before = slot > 0 ? slot - 1 : STAGES - 1;

    phases <<= 2;
    if (i < planes) {
      const int z = border_index (in.border, z0 + a.low[1] + i, in.size[2]);

      loader.copy (z, slot, before);
      phases |= ALIGNED ? 0 : loader.phase_of_plane (z);
    } else {
      loader.store (before);
    }
    __pipeline_commit ();
  };
  int slot = 0;

  static_assert (ROWS * PARTS <= THREADS, "a thread sums a part of a row");
  for (int i = threadIdx.x; i < 4 * QUADS; i += THREADS)
    columns[i] = border_index (in.border, x0 - MARGIN + i, in.size[0]);
  if (in.border == ND_BORDER_CONSTANT)
    loader.fill (0, STAGES);
  __syncthreads ();
  launch_dependent_grids ();
  wait_on_dependent_grids ();
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; i++)
    load (i, i);
#pragma unroll 1
  for (int i = 0; i <= planes; i++) {
    __pipeline_wait_prior (STAGES - 2);
    __syncthreads ();
    load (i + STAGES - 1, slot > 0 ? slot - 1 : STAGES - 1);
    if (i < planes && part < PARTS) {
      float v[SAMPLES], sum[ACROSS] = {};

      if (!ALIGNED && !in.apart) {
        read_shifted (quads + slot * Loader::STAGE,
            (row_phase + (phases >> 2 * (STAGES - 1))) % 4, v);
      } else {
#pragma unroll
        for (int q = 0; q < SAMPLES / 4; q++)
          to_floats (quads[slot * Loader::STAGE + q], v + 4 * q);
      }
#pragma unroll
      for (int t = 0; t < N; t++) {
#pragma unroll
        for (int o = 0; o < ACROSS; o++)
          sum[o] = fmaf (a.weights[0][t], v[MARGIN - R + t + o], sum[o]);
      }
      float4 *const four = (float4 *) (to + (i & 1) * SUMS);

      four[0] = make_float4 (sum[0], sum[1], sum[2], sum[3]);
      four[1] = make_float4 (sum[4], sum[5], sum[6], sum[7]);
    }
    slot = slot + 1 < STAGES ? slot + 1 : 0;
    if (i == 0)
      continue;
    float sum[DOWN] = {};

#pragma unroll
    for (int j = 0; j < DOWN + N - 1; j++) {
      const float v = from[((i - 1) & 1) * SUMS + j * SUMS_PITCH];

#pragma unroll
      for (int o = 0; o < DOWN; o++) {
        if (j - o >= 0 && j - o < N)
          sum[o] = fmaf (a.weights[1][j - o], v, sum[o]);
      }
    }
    /* queue[o][k] lacks the last k + 1 planes. */
#pragma unroll
    for (int o = 0; o < DOWN; o++) {
      const float v = sum[o];

      sum[o] = fmaf (a.weights[2][N - 1], v, queue[o][0]);
#pragma unroll
      for (int k = 0; k < N - 2; k++)
        queue[o][k] = fmaf (a.weights[2][N - 2 - k], v, queue[o][k + 1]);
      queue[o][N - 2] = fmaf (a.weights[2][0], v, 0.f);
    }
    if (i < N)
      continue;
    store_column (a.out, sum, rows, out, a.out.row);
    out += a.out.slice;
  }
}

/* How thread blocks divide a volume. A chunk along z also sums taps - 1 planes
 * beside its outputs. */
struct Division
{
  size_t strips, tiles, chunk;
  double ratio; /* of the sums along x and y to the outputs */

  Division (const size_t size[3], int taps)
      : strips ((size[0] + STRIP - 1) / STRIP),
        tiles ((size[1] + TILE - 1) / TILE)
  {
    const size_t flat = strips * tiles;
    const size_t together =
        BLOCKS * device_attribute (cudaDevAttrMultiProcessorCount);
    size_t least = SIZE_MAX;

    for (size_t n = 1; n <= std::min<size_t> (size[2], 64); n++) {
      const size_t planes = (size[2] + n - 1) / n;
      const size_t waves = (flat * n + together - 1) / together;
      const size_t time = waves * (planes + taps + 1);

      if (time < least) {
        least = time;
        chunk = planes;
      }
    }
    ratio = (double) least * together * STRIP * TILE
        / ((double) size[0] * size[1] * size[2]);
  }
};

template <typename T, int N>
void
run (const VolumePass &pass, const Store &out, cudaStream_t stream)
{
  const NdSamples *volume = pass.volume;
  const size_t bytes = shared_bytes<T, N>;
  Arguments<N> a = {};

  SlidingVolume &in = a.in;

  if (volume) {
    in.in = volume->data + pass.component * sizeof (T);
    in.sample = volume->sample;
    in.row = volume->row;
    in.slice = volume->slice;
  }
  in.apart = in.sample != sizeof (T);
  in.border = pass.border;
  in.border_value = pass.border_value;
  for (int axis = 0; axis < 3; axis++) {
    in.size[axis] = pass.size[axis];
    std::copy_n (pass.weights[axis], N, a.weights[axis]);
  }
  a.low[0] = pass.low[0];
  a.low[1] = pass.low[1];
  a.out = out;
  const Division d (pass.size, N);

  a.strips = d.strips;
  a.chunk = d.chunk;
  const bool aligned =
      !in.apart && ((size_t) in.in | in.row | in.slice) % sizeof (Quad<T>) == 0;

  launch_early (aligned ? separable_xyz_kernel<T, N, true>
                        : separable_xyz_kernel<T, N, false>,
      dim3 (d.strips * d.tiles, (in.size[2] + a.chunk - 1) / a.chunk), THREADS,
      bytes, stream, a);
}

/* Calls @visit with the kernel's numbers of taps as types. */
template <typename F>
void
visit_taps (int taps, F visit)
{
  switch (taps) {
    case 5:
      return visit (std::integral_constant<int, 5> ());
    case 7:
      return visit (std::integral_constant<int, 7> ());
    default:
      return visit (std::integral_constant<int, 9> ());
  }
}

} // namespace

/* The variable NDCONV_CUDA_SEPARABLE selects `sliding` or `passes`. */
int
sliding_taps (NdSampleType type, int taps, const NdShape &shape)
{
  const char *const variable = getenv ("NDCONV_CUDA_SEPARABLE");
  const std::string way = variable ? variable : "";
  const int n = std::max (taps | 1, 5);

  if (taps > MAX_SLIDING_TAPS || way == "passes")
    return 0;
  if (way == "sliding")
    return n;
  /* Integers that are not side by side are copied one by one. */
  if (type != ND_FLOAT32 && shape.components > 1)
    return 0;
  return Division (shape.size, n).ratio < MAX_RATIO ? n : 0;
}

void
prepare_sliding (NdSampleType type, int taps)
{
  visit_sample_type (type, [&] (auto sample) {
    visit_taps (taps, [&] (auto n) {
      using T = typename decltype (sample)::Type;
      constexpr int N = decltype (n)::value;

      prepare_shared (separable_xyz_kernel<T, N, true>);
      prepare_shared (separable_xyz_kernel<T, N, false>);
    });
  });
}

void
run_sliding (const VolumePass &pass, const Store &out, cudaStream_t stream)
{
  visit_sample_type (pass.type, [&] (auto sample) {
    visit_taps (pass.taps, [&] (auto n) {
      run<typename decltype (sample)::Type, decltype (n)::value> (pass, out,
          stream);
    });
  });
}

} // namespace nd
