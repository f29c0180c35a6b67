/* Kernels that combine the responses of a bank in registers, for filters that
 * read along z.
 *
 * A thread block goes along z through a tile of 32 x 32 samples, a step of 16
 * planes of outputs at a time. It transforms planes along x and y. Two filters
 * are the real and the imaginary part of one complex filter. A thread then has
 * both responses to its samples. The tiles are those of the blocks of
 * cuda/fft/volumebank.cu.
 *
 * Short filters are sums of products along z, so that shared memory holds the
 * spectra of the planes of a step and of as many before it as filters read. For
 * long filters the 32 planes that they read for a step are transformed along z,
 * too.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/combinevalues.cuh"
#include "cuda/fft/volumetransforms.cuh"

namespace nd
{

namespace
{

constexpr int GROUP = 8;        /* planes that are filtered at once */
constexpr int STEP = 2 * GROUP; /* planes of a step, one of each warp */
constexpr int MAX_TAPS = COMBINED_TAPS;
static_assert (STEP == PLANES && COMBINED_WEIGHTS == THREADS);
constexpr int SECTOR = 32; /* bytes, of the second level cache */

/* The planes that a thread block filters together. */
struct Step
{
  Corner at;    /* of the first plane */
  int n_planes; /* that have outputs */
  bool begins;  /* the planes before it are not those of the step before it */
};

__device__ __forceinline__ Step
step_of (const Blocks &b, int i)
{
  const int steps = (b.outputs[2] + STEP - 1) / STEP, tile = i / steps;
  const int z = i % steps * STEP;

  return Step{ Corner{ tile % b.count[0] * b.valid[0],
                   tile / b.count[0] * b.valid[1], z },
    min (STEP, b.outputs[2] - z), z == 0 };
}

/* The spectra of the planes of a step, [plane][THREADS]. A thread of two real
 * columns has both, as real and as imaginary parts. */
__device__ __forceinline__ float2 *
shared_spectra ()
{
  return shared_planes () + STEP * PLANE;
}

/* Transforms planes @from to @end - 1 of a step along x and y. The first @from
 * planes are the last ones of the step before it. */
template <typename T>
__device__ __forceinline__ void
transform_planes (const BlockArguments &a, const Column &column,
    const Step &step, int from, int end)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float2 *const plane = shared_planes () + warp * PLANE;
  float2 *to = shared_spectra () + threadIdx.x;
  const int i = from + 2 * warp;

  __syncthreads (); /* the planes have been read */
#pragma unroll 1
  for (int t = 0; t < from; t++, to += THREADS)
    to[0] = to[STEP * THREADS];
  if (i < end) {
    float2 v[BLOCK];

    transform_bank_columns<T, true, true> (a,
        Columns{ { step.at, step.at }, { i, i + 1 } }, false, v);
    transform_plane (plane, v);
#pragma unroll
    for (int x = 0; x < BLOCK; x++)
      plane[lane * PITCH + x] = v[x];
  }
  __syncthreads ();
#pragma unroll 4
  for (int z = from; z < end; z += 2, to += 2 * THREADS) {
    const float2 *const both = shared_planes () + (z - from) / 2 * PLANE;
    const float2 p = both[column.at], q = both[column.mirror];

    to[0] = column.real ? make_float2 (2 * p.x, 2 * q.x)
                        : make_float2 (p.x + q.x, p.y - q.y);
    if (z + 1 < end)
      to[THREADS] = column.real ? make_float2 (2 * p.y, 2 * q.y)
                                : make_float2 (p.y + q.y, q.x - p.x);
  }
}

/* Brings the samples of planes @from to @end - 1 of a step to the second level
 * cache. Each thread brings a row. */
__device__ __forceinline__ void
prefetch_planes (const BlockArguments &a, const Step &step, int from, int end)
{
  const Blocks &b = a.blocks;
  const BlockInput &in = a.in;

  for (int i = from + threadIdx.x / 32; i < end; i += PLANES) {
    const int x = step.at.x + b.low[0];
    const int y = padded_index (b, 1, step.at.y + threadIdx.x % 32);
    const int z = padded_index (b, 2, step.at.z + i);
    const unsigned char *p =
        in.in + max (x, 0) * in.sample + y * in.row + z * in.slice;
    const unsigned char *const last = in.in
        + min (x + BLOCK, b.shape[0]) * in.sample + y * in.row + z * in.slice;

    for (; y >= 0 && z >= 0 && p < last; p += SECTOR)
      asm volatile ("prefetch.global.L2 [%0];" : : "l"(p));
  }
}

/* Filters GROUP planes along z: @v becomes their numbers in the thread's
 * column, and then those in its mirror. @x: the numbers of the first plane.
 * @weights: of the column and of its mirror, [tap][THREADS]. @next: those of
 * the first tap. */
__device__ __forceinline__ void
filter_along_z (const float2 *x, const float4 *weights, int taps, bool real,
    float4 &next, float2 (&v)[2 * GROUP])
{
  const float complex = real ? 0 : 1;
  float2 window[GROUP];

#pragma unroll
  for (int i = 0; i < 2 * GROUP; i++)
    v[i] = make_float2 (0, 0);
#pragma unroll
  for (int i = 0; i < GROUP - 1; i++)
    window[i] = x[i * THREADS];
#pragma unroll
  for (int t = 0; t < MAX_TAPS; t++) {
    if (t >= taps)
      break;
    const float4 w = next;
    const float4 c = make_float4 (w.x * complex, w.y * complex, w.z * complex,
        w.w * complex);

    next = __ldg (weights + (t + 1 < taps ? t + 1 : 0) * THREADS);
    window[(t + GROUP - 1) % GROUP] = x[(t + GROUP - 1) * THREADS];
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
      const float2 p = window[(t + i) % GROUP];
      float2 &first = v[i], &second = v[GROUP + i];

      first.x = fmaf (w.x, p.x, fmaf (-c.y, p.y, first.x));
      first.y = fmaf (w.y, p.x, fmaf (c.x, p.y, first.y));
      second.x = fmaf (c.z, p.x, fmaf (w.w, p.y, second.x));
      second.y = fmaf (c.w, p.x, fmaf (-w.z, p.y, second.y));
    }
  }
}

/* Filters the planes of a step with a pair of filters. Each warp then has a
 * plane of the two responses in shared memory, before the inverse transforms
 * along x and y. */
__device__ __forceinline__ void
filter_planes (const Column &column, const float4 *weights, int taps)
{
  const float2 *const spectra = shared_spectra () + threadIdx.x;
  float4 next = __ldg (weights);

#pragma unroll 1
  for (int group = 0; group < 2; group++) {
    float2 *const to = shared_planes () + group * GROUP * PLANE;
    float2 v[2 * GROUP];

    filter_along_z (spectra + group * GROUP * THREADS, weights, taps,
        column.real, next, v);
    if (group == 0)
      __syncthreads (); /* the planes have been read */
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
      to[i * PLANE + column.at] = v[i];
      to[i * PLANE + column.mirror] = v[GROUP + i];
    }
  }
  __syncthreads ();
}

/* Numbers of the columns of a block of 32 planes, whose spectrum is multiplied
 * by long filters: [k][PLACES]. The last places are those of second real
 * columns. */
constexpr int PLACES = THREADS + 2;
constexpr int HELD = 23; /* numbers of a column in shared memory */

__device__ __forceinline__ float2 *
number_at (const CombineArguments &a, int k, int place)
{
  float2 *const others =
      a.numbers + (size_t) blockIdx.x * (BLOCK - HELD) * PLACES;

  return k < HELD ? shared_spectra () + k * PLACES + place
                  : others + (k - HELD) * PLACES + place;
}

/* Transforms the planes of a step and those after it that long filters read.
 * The spectrum is doubled. If a thread has two real columns, they are the real
 * and the imaginary part of the numbers that are transformed. */
template <typename T>
__device__ __forceinline__ void
transform_block (const CombineArguments &a, const Column &column,
    const Step &step)
{
  const int lane = threadIdx.x % 32;
  float2 *const plane = shared_planes () + threadIdx.x / 32 * PLANE;
  float2 v[BLOCK];

  __syncthreads (); /* the planes have been read */
  transform_bank_columns<T, true, true> (a, columns_of (step.at), false, v);
  transform_plane (plane, v);
#pragma unroll
  for (int x = 0; x < BLOCK; x++)
    plane[lane * PITCH + x] = v[x];
  __syncthreads ();
  load_column<PLANE> (shared_planes (), column, v);
  transform32<false> (v);
#pragma unroll
  for (int k = 0; k < BLOCK; k++)
    *number_at (a, k, threadIdx.x) = v[k];
  if (!column.real)
    return;
#pragma unroll
  for (int k = 0; k < BLOCK; k++) {
    const float2 p = v[k], q = v[(BLOCK - k) % BLOCK];

    *number_at (a, k, threadIdx.x) =
        make_float2 (0.5f * (p.x + q.x), 0.5f * (p.y - q.y));
    *number_at (a, k, THREADS + lane / 16) =
        make_float2 (0.5f * (p.y + q.y), 0.5f * (q.x - p.x));
  }
}

/* The same as filter_planes () for long filters. @weights:
 * [column, mirror][BLOCK / 2][THREADS], of two numbers. The numbers of a mirror
 * are the conjugates of those of the column, in the opposite order. */
__device__ __forceinline__ void
filter_block (const CombineArguments &a, const Column &column,
    const float4 *weights)
{
  float2 *planes = shared_planes () + column.at;
  int place = threadIdx.x;
  float sign = 1;

#pragma unroll 1
  for (int i = 0; i < 2; i++) {
    float2 v[BLOCK];

#pragma unroll
    for (int k = 0; k < BLOCK; k++)
      v[k] = *number_at (a, k, place);
#pragma unroll
    for (int k = 0; k < BLOCK; k += 2, weights += THREADS) {
      const float4 w = __ldg (weights);

      v[k] = multiply_number (make_float2 (0, 0), v[k], make_float2 (w.x, w.y),
          false);
      v[k + 1] = multiply_number (make_float2 (0, 0), v[k + 1],
          make_float2 (w.z, w.w), false);
    }
    transform32<true> (v);
    if (i == 0)
      __syncthreads (); /* the planes have been read */
#pragma unroll
    for (int z = 0; z < STEP; z++)
      planes[z * PLANE] = make_float2 (v[z].x, sign * v[z].y);
    planes += column.mirror - column.at;
    place = column.real ? THREADS + threadIdx.x % 32 / 16 : place;
    sign = -1;
  }
  __syncthreads ();
}

/* Pairs @first to @end - 1 of a step. */
struct Work
{
  int step, first, end;
};

/* The work that begins with pair @i of all steps. The thread block has those
 * before @end. */
__device__ __forceinline__ Work
work_at (int i, int end, int pairs)
{
  const int step = i / pairs, first = i - step * pairs;

  return Work{ step, first, min (pairs, first + end - i) };
}

/* Combines the parts of a step, in their order, if several thread blocks
 * compute it. Each one writes its part to memory; the last one reads all.
 * Returns false in the others. */
template <bool SUM>
__device__ __forceinline__ bool
join_parts (const CombineArguments &a, const Work &work, Combined &c)
{
  __shared__ bool is_last;
  constexpr size_t SIZE = (size_t) ROWS * THREADS;
  const int begin = work.step * a.pairs, end = begin + a.pairs;
  int first = blockIdx.x, last = blockIdx.x;

  if (work.first == 0 && work.end == a.pairs)
    return true;
  while (a.begins[first] > begin)
    first--;
  while (a.begins[last + 1] < end)
    last++;
  /* A thread block has parts of two steps at most, its first and its last
   * one. */
  const auto part_of = [&] (int i) {
    return a.combined + (2 * i + (a.begins[i + 1] <= end)) * SIZE + threadIdx.x;
  };
  float *const own = part_of (blockIdx.x);

#pragma unroll
  for (int y = 0; y < ROWS; y++)
    own[y * THREADS] = c.values[y];
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0) {
    is_last = atomicAdd (a.done + first, 1u) == (unsigned) (last - first);
    if (is_last)
      a.done[first] = 0;
  }
  __syncthreads ();
  if (!is_last)
    return false;
  __threadfence ();
  c = Combined ();
#pragma unroll 1
  for (int i = first; i <= last; i++) {
    const float *const from = part_of (i);

#pragma unroll
    for (int y = 0; y < ROWS; y++) {
      const float value = __ldcg (from + y * THREADS);

      c.values[y] = SUM ? c.values[y] + value
                        : __int_as_float (max (__float_as_int (c.values[y]),
                              __float_as_int (value)));
    }
  }
  return true;
}

/* SUM: of the magnitudes; otherwise the largest one. LONG: of long filters. */
template <typename T, bool SUM, bool LONG>
__global__ void __launch_bounds__ (THREADS, 1)
fft_block_combine_kernel (const __grid_constant__ CombineArguments a)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float2 *const plane = shared_planes () + warp * PLANE;
  const Column column = column_of (threadIdx.x);
  const int more = LONG ? STEP : a.taps - 1;
  const int begin = a.begins[blockIdx.x], end = a.begins[blockIdx.x + 1];
  Work work;

  begin_combining (a);
#pragma unroll 1
  for (int i = begin; i < end; i += work.end - work.first) {
    work = work_at (i, end, a.pairs);
    const Step step = step_of (a.blocks, work.step);

    if (LONG)
      transform_block<T> (a, column, step);
    else
      transform_planes<T> (a, column, step,
          i == begin || step.begins ? 0 : more, STEP + more);
    if (work.end == a.pairs && i + a.pairs - work.first < end) {
      const Step next = step_of (a.blocks, work.step + 1);

      prefetch_planes (a, next, next.begins ? 0 : more, STEP + more);
    }
    Combined c;

#pragma unroll 1
    for (int k = work.first; k < work.end; k++) {
      const float4 *const weights = a.weights + threadIdx.x
          + (size_t) k * (LONG ? BLOCK : a.taps) * COMBINED_WEIGHTS;

      if (LONG)
        filter_block (a, column, weights);
      else
        filter_planes (column, weights, a.taps);
      if (warp < step.n_planes) {
        float2 v[BLOCK];

#pragma unroll
        for (int x = 0; x < BLOCK; x++)
          v[x] = plane[lane * PITCH + x];
        combine_pair<SUM, false> (a, k, plane, v, c);
      }
    }
    if (join_parts<SUM> (a, work, c) && warp < step.n_planes)
      store_combined<SUM> (a, Corner{ step.at.x, step.at.y, step.at.z + warp },
          (float *) plane, c);
  }
}

/* The weights of filter_along_z (), [tap][THREADS]: of a column and of its
 * mirror. */
float4
weights_of_taps (int i, const CombineNumber &at)
{
  const Column c = column_of (i % THREADS);
  const int tap = i / THREADS;
  const std::complex<double> p = at (c.at % PITCH, c.at / PITCH, tap);
  const std::complex<double> q = at (c.mirror % PITCH, c.mirror / PITCH, tap);

  /* Two real columns: filter_along_z () multiplies the second one by q. */
  if (c.real)
    return make_float4 (p.real (), p.imag (), -q.imag (), q.real ());
  return make_float4 (p.real (), p.imag (), q.real (), q.imag ());
}

/* Those of filter_block (). */
float4
weights_of_block (int i, const CombineNumber &at)
{
  const Column c = column_of (i % THREADS);
  const int k = i / THREADS % (BLOCK / 2) * 2;
  const bool mirrored = i / THREADS >= BLOCK / 2;
  const int place = mirrored ? c.mirror : c.at;
  std::complex<double> w[2];

  for (int j = 0; j < 2; j++) {
    w[j] = at (place % PITCH, place / PITCH,
        mirrored ? (BLOCK - k - j) % BLOCK : k + j);
    if (mirrored)
      w[j] = std::conj (w[j]);
  }
  return make_float4 (w[0].real (), w[0].imag (), w[1].real (), w[1].imag ());
}

template <bool LONG>
CombineKernel
kernel_of (NdSampleType type, bool is_sum)
{
  constexpr size_t NUMBERS =
      STEP * PLANE + (LONG ? HELD * PLACES : (STEP + MAX_TAPS - 1) * THREADS);

  return visit_sample_type (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    return CombineKernel{ is_sum
          ? (const void *) fft_block_combine_kernel<T, true, LONG>
          : (const void *) fft_block_combine_kernel<T, false, LONG>,
      THREADS, NUMBERS * sizeof (float2),
      LONG ? weights_of_block : weights_of_taps, STEP, ROWS,
      LONG ? (BLOCK - HELD) * PLACES : 0 };
  });
}

} // namespace

CombineKernel
combine_volumes_kernel (NdSampleType type, bool is_sum, int taps)
{
  return taps > COMBINED_TAPS ? kernel_of<true> (type, is_sum)
                              : kernel_of<false> (type, is_sum);
}

} // namespace nd
