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
#include "cuda/direct/quads.cuh"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cuda_pipeline.h>
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
constexpr int MARGIN = 4; /* samples beside a strip */
constexpr int STAGES = 6; /* planes of samples in shared memory */
constexpr int QUADS = (STRIP + 2 * MARGIN) / 4;
/* Rows are in different banks: odd numbers of quads apart. */
constexpr int PITCH = QUADS | 1;
constexpr int SUMS_PITCH = STRIP + 4;

template <int N>
struct Arguments
{
  const unsigned char *in; /* nullptr: border volume */
  size_t sample, row, slice;
  bool aligned; /* quads of samples begin at multiples of their size */
  int border;
  float border_value;
  int size[3];
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

/* Copies samples to shared memory, those of a thread in each plane: quads that
 * are inside the volume, and one sample of each other quad of a row. Integers
 * of the latter are too small for asynchronous copies: they are loaded with one
 * plane and stored with the next. */
template <typename T, int N>
class Loader
{
public:
  /* @columns: the place of each column in a row, or -1 for the border value,
   * which is in all stages already. */
  __device__ __forceinline__ Loader (const Arguments<N> &a, int x0, int y0,
      const int *columns)
      : a (a), columns (columns)
  {
    const int left = x0 - MARGIN < 0 ? 1 : 0;
    const int inside = (a.size[0] - (x0 - MARGIN)) / 4;
    const int single_row = threadIdx.x / 4;
    const int y = row_of (y0, single_row);

    begin = a.aligned ? left : 0;
    end = a.aligned ? max (min (inside, QUADS), left) : 0;
    from_row = a.in + max (y, 0) * a.row;
    copies_singles = single_row < rows_of<N> && y >= 0;
#pragma unroll
    for (int j = 0; j < ROUNDS; j++) {
      const int k = threadIdx.x + j * THREADS, q = k % QUADS;
      const int y = row_of (y0, k / QUADS);

      whole[j] = k < COUNT && y >= 0 && q >= begin && q < end;
      from[j] =
          a.in + max (y, 0) * a.row + (x0 - MARGIN + 4 * q) * (int) sizeof (T);
    }
  }

  /* Copies plane @z, or border values if it is below 0, to @to. The plane
   * before it went to @before. */
  __device__ __forceinline__ void copy (int z, Quad<T> *to, Quad<T> *before)
  {
    const int x = threadIdx.x % 4;

    store (before);
    if (!a.in || z < 0) {
      fill (a, to, rows_of<N> * PITCH);
      return;
    }
    const size_t plane = z * a.slice;

#pragma unroll
    for (int j = 0; j < ROUNDS; j++) {
      const int k = threadIdx.x + j * THREADS;

      if (whole[j])
        __pipeline_memcpy_async (to + k / QUADS * PITCH + k % QUADS,
            from[j] + plane, sizeof (Quad<T>));
    }
    if (!copies_singles)
      return;
    if constexpr (is_integer<T>) {
      pending = true;
#pragma unroll
      for (int i = 0; i < QUADS; i++) {
        if (i == singles ())
          break;
        const int at = columns[4 * single (i) + x];

        if (at >= 0)
          held[i] = *(const T *) (from_row + plane + at * a.sample);
      }
    } else {
      float *const row = (float *) (to + threadIdx.x / 4 * PITCH);

#pragma unroll 1
      for (int i = 0; i < singles (); i++) {
        const int column = 4 * single (i) + x, at = columns[column];

        if (at >= 0)
          __pipeline_memcpy_async (row + column,
              from_row + plane + at * a.sample, sizeof (T));
      }
    }
  }

  /* Stores the samples that were loaded into registers. */
  __device__ __forceinline__ void store (Quad<T> *before)
  {
    if constexpr (is_integer<T>) {
      const int x = threadIdx.x % 4;
      T *const row = (T *) (before + threadIdx.x / 4 * PITCH);

      if (!pending)
        return;
      pending = false;
#pragma unroll
      for (int i = 0; i < QUADS; i++) {
        if (i == singles ())
          break;
        const int column = 4 * single (i) + x;

        if (columns[column] >= 0)
          row[column] = held[i];
      }
    }
  }

  /* Fills @n quads with the border value. */
  static __device__ __forceinline__ void fill (const Arguments<N> &a,
      Quad<T> *to, int n)
  {
    const T v = (T) a.border_value;

#pragma unroll 1
    for (int k = threadIdx.x; k < n; k += THREADS)
      to[k] = Quad<T>{ { v, v, v, v } };
  }

private:
  static constexpr int COUNT = rows_of<N> * QUADS;
  static constexpr int ROUNDS = (COUNT + THREADS - 1) / THREADS;

  static_assert (rows_of<N> * 4 <= THREADS, "a thread has one row of singles");

  /* The row of the volume that row @i of the tile is, or -1. */
  __device__ __forceinline__ int row_of (int y0, int i) const
  {
    return border_index (a.border, y0 + a.low[0] + i, a.size[1]);
  }

  /* Quads of a row that are copied sample by sample: those before @begin and
   * from @end on. */
  __device__ __forceinline__ int singles () const
  {
    return QUADS - (end - begin);
  }
  __device__ __forceinline__ int single (int i) const
  {
    return i < begin ? i : i - begin + end;
  }

  const Arguments<N> &a;
  const int *const columns;
  int begin, end; /* the quads of a row that are copied as a whole */
  bool whole[ROUNDS], copies_singles, pending = false;
  const unsigned char *from[ROUNDS], *from_row;
  T held[is_integer<T> ? QUADS : 1];
};

template <typename T, int N>
__global__ void __launch_bounds__ (THREADS, BLOCKS)
sliding_kernel (const __grid_constant__ Arguments<N> a)
{
  extern __shared__ float4 shared[];
  __shared__ int columns[4 * QUADS];
  constexpr int R = N / 2, ROWS = rows_of<N>, PARTS = STRIP / ACROSS;
  constexpr int SAMPLES = ACROSS + 2 * MARGIN;
  Quad<T> *const stages = (Quad<T> *) shared;
  float *const sums = (float *) (stages + STAGES * ROWS * PITCH);
  const int x0 = blockIdx.x % a.strips * STRIP;
  const int y0 = blockIdx.x / a.strips * TILE;
  const int z0 = blockIdx.y * a.chunk;
  /* Plane i is at z0 + a.low[1] + i. */
  const int planes = min (a.chunk, a.size[2] - z0) + N - 1;
  const int column = threadIdx.x % STRIP, first = threadIdx.x / STRIP * DOWN;
  const int rows = x0 + column < a.size[0] ? a.size[1] - y0 - first : 0;
  Loader<T, N> loader (a, x0, y0, columns);
  float queue[DOWN][N - 1] = {};
  unsigned char *out = a.out.out + (x0 + column) * a.out.sample
      + (y0 + first) * a.out.row + z0 * a.out.slice;
  const auto stage = [&] (int i) { return stages + i * (ROWS * PITCH); };
  /* Loads plane @i into stage @slot. */
  const auto load = [&] (int i, int slot) {
    Quad<T> *const before = stage (slot > 0 ? slot - 1 : STAGES - 1);

    if (i < planes)
      loader.copy (border_index (a.border, z0 + a.low[1] + i, a.size[2]),
          stage (slot), before);
    else
      loader.store (before);
    __pipeline_commit ();
  };
  int slot = 0;

  for (int i = threadIdx.x; i < 4 * QUADS; i += THREADS)
    columns[i] = border_index (a.border, x0 - MARGIN + i, a.size[0]);
  if (a.border == ND_BORDER_CONSTANT)
    Loader<T, N>::fill (a, stages, STAGES * ROWS * PITCH);
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
    if (i < planes) {
      const Quad<T> *const plane = stage (slot);
      float *const to = sums + (i & 1) * (ROWS * SUMS_PITCH);

#pragma unroll
      for (int j = 0; j < (ROWS * PARTS + THREADS - 1) / THREADS; j++) {
        const int k = threadIdx.x + j * THREADS;
        const int row = k % ROWS, part = k / ROWS;
        float v[SAMPLES], sum[ACROSS] = {};

        if ((j + 1) * THREADS > ROWS * PARTS && k >= ROWS * PARTS)
          break;
#pragma unroll
        for (int q = 0; q < SAMPLES / 4; q++)
          to_floats (plane[row * PITCH + part * (ACROSS / 4) + q], v + 4 * q);
#pragma unroll
        for (int t = 0; t < N; t++) {
#pragma unroll
          for (int o = 0; o < ACROSS; o++)
            sum[o] = fmaf (a.weights[0][t], v[MARGIN - R + t + o], sum[o]);
        }
        float4 *const four = (float4 *) (to + row * SUMS_PITCH + part * ACROSS);

        four[0] = make_float4 (sum[0], sum[1], sum[2], sum[3]);
        four[1] = make_float4 (sum[4], sum[5], sum[6], sum[7]);
      }
    }
    slot = slot + 1 < STAGES ? slot + 1 : 0;
    if (i == 0)
      continue;
    const float *const from = sums + ((i - 1) & 1) * (ROWS * SUMS_PITCH)
        + first * SUMS_PITCH + column;
    float sum[DOWN] = {};

#pragma unroll
    for (int j = 0; j < DOWN + N - 1; j++) {
      const float v = from[j * SUMS_PITCH];

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

  if (volume) {
    a.in = volume->data + pass.component * sizeof (T);
    a.sample = volume->sample;
    a.row = volume->row;
    a.slice = volume->slice;
  }
  a.aligned = volume && a.sample == sizeof (T)
      && ((size_t) a.in | a.row | a.slice) % sizeof (Quad<T>) == 0;
  a.border = pass.border;
  a.border_value = pass.border_value;
  for (int axis = 0; axis < 3; axis++) {
    a.size[axis] = pass.size[axis];
    std::copy_n (pass.weights[axis], N, a.weights[axis]);
  }
  a.low[0] = pass.low[0];
  a.low[1] = pass.low[1];
  a.out = out;
  const Division d (pass.size, N);

  a.strips = d.strips;
  a.chunk = d.chunk;
  launch_early (sliding_kernel<T, N>,
      dim3 (d.strips * d.tiles, (a.size[2] + a.chunk - 1) / a.chunk), THREADS,
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
sliding_taps (int taps, const size_t size[3])
{
  const char *const variable = getenv ("NDCONV_CUDA_SEPARABLE");
  const std::string way = variable ? variable : "";
  const int n = std::max (taps | 1, 5);

  if (taps > MAX_SLIDING_TAPS || way == "passes")
    return 0;
  return way == "sliding" || Division (size, n).ratio < MAX_RATIO ? n : 0;
}

void
prepare_sliding (NdSampleType type, int taps)
{
  visit_sample_type (type, [&] (auto sample) {
    visit_taps (taps, [&] (auto n) {
      prepare_shared (sliding_kernel<typename decltype (sample)::Type,
          decltype (n)::value>);
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
