/* Kernels that combine the responses of a bank, for windows of one volume: the
 * sum of their magnitudes, the largest one, or its number. Responses never
 * reach memory.
 *
 * A thread block goes along z through a tile of 32 x 32 samples, a step of
 * planes at a time. It transforms planes along x and y, and filters along z by
 * sums of products, so that its shared memory holds the spectra of the planes
 * of a step and of as many before it as filters read. Two filters are the real
 * and the imaginary part of one complex filter. A thread then has both
 * responses to its samples, and combines them in registers. The tiles are those
 * of the blocks of cuda/fft/volumebank.cu.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/combinebank.cuh"
#include "cuda/fft/volumecolumns.cuh"

namespace nd
{

namespace
{

constexpr int ROWS = COMBINED_ROWS;
constexpr int GROUP = 8;        /* planes that are filtered at once */
constexpr int STEP = 2 * GROUP; /* planes of a step, one of each warp */
constexpr int MAX_TAPS = COMBINED_TAPS;
static_assert (STEP == PLANES);
constexpr int SECTOR = 32; /* bytes, of the second level cache */

constexpr int WORDS = (ROWS + 3) / 4;

/* What a thread has combined so far, a column of a plane: sums of magnitudes,
 * or the squares of the largest ones with their numbers, four in a word. */
struct Combined
{
  float values[ROWS] = {};
  unsigned numbers[WORDS] = {};
};

/* The thread's numbers of the spectra of planes, [plane][THREADS]. If it has
 * two real columns, the real and the imaginary parts are those of two
 * columns. */
struct Spectra
{
  float2 *numbers;
  Column column;
};

/* The planes that a thread block filters together. */
struct Step
{
  Corner at;    /* of the first plane */
  int tile;     /* flat: of the first plane */
  int n_planes; /* that have outputs */
  bool begins;  /* the planes before it are not those of the step before it */
};

template <bool FLAT>
__device__ __forceinline__ Step
step_of (const Blocks &b, int i)
{
  if (FLAT)
    return Step{ {}, i * STEP,
      min (STEP, b.count[0] * b.count[1] * b.count[2] - i * STEP), true };
  const int steps = (b.outputs[2] + STEP - 1) / STEP, tile = i / steps;
  const int z = i % steps * STEP;

  return Step{ Corner{ tile % b.count[0] * b.valid[0],
                   tile / b.count[0] * b.valid[1], z },
    0, min (STEP, b.outputs[2] - z), z == 0 };
}

/* The columns of planes @i and @i + 1 of a step. */
template <bool FLAT>
__device__ __forceinline__ Columns
columns_of (const Blocks &b, const Step &step, int i)
{
  if (!FLAT)
    return Columns{ { step.at, step.at }, { i, i + 1 } };
  const int tile = step.tile + i;

  if (i + 1 < step.n_planes)
    return Columns{ { corner_of (b, tile), corner_of (b, tile + 1) },
      { 0, 0 } };
  const Corner at = corner_of (b, tile);

  return Columns{ { at, at }, { 0, b.outputs[2] } }; /* the other reads none */
}

/* Transforms planes @from to @end - 1 of a step along x and y. */
template <typename T, bool FLAT>
__device__ __forceinline__ void
transform_planes (const BlockArguments &a, const Step &step, int from, int end,
    const Spectra &spectra)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float2 *const plane = shared_planes () + warp * PLANE;
  const Column &column = spectra.column;

  __syncthreads (); /* the planes have been read */
  if (from + 2 * warp < end) {
    float2 v[BLOCK];

    transform_bank_columns<T, !FLAT> (a,
        columns_of<FLAT> (a.blocks, step, from + 2 * warp), false, v);
    transform_plane (plane, v);
#pragma unroll
    for (int x = 0; x < BLOCK; x++)
      plane[lane * PITCH + x] = v[x];
  }
  __syncthreads ();
  float2 *to = spectra.numbers + from * THREADS;

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
template <bool FLAT>
__device__ __forceinline__ void
prefetch_planes (const BlockArguments &a, const Step &step, int from, int end)
{
  const Blocks &b = a.blocks;
  const BlockInput &in = a.in;

  for (int i = from + threadIdx.x / 32; i < end; i += PLANES) {
    const Corner at = FLAT ? corner_of (b, step.tile + i) : step.at;
    const int x = at.x + b.low[0];
    const int y = padded_index (b, 1, at.y + threadIdx.x % 32);
    const int z = padded_index (b, 2, FLAT ? at.z : at.z + i);
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
filter_planes (const Spectra &spectra, const float4 *weights, int taps)
{
  const Column &column = spectra.column;
  float4 next = __ldg (weights);

#pragma unroll 1
  for (int group = 0; group < 2; group++) {
    float2 *const to = shared_planes () + group * GROUP * PLANE;
    float2 v[2 * GROUP];

    filter_along_z (spectra.numbers + group * GROUP * THREADS, weights, taps,
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

__device__ __forceinline__ float
square_root (float x)
{
  float root;

  asm ("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/* @word with @value as byte @i. */
__device__ __forceinline__ unsigned
put_byte (unsigned word, unsigned value, int i)
{
  return __byte_perm (word, value,
      i == 0       ? 0x3214
          : i == 1 ? 0x3240
          : i == 2 ? 0x3410
                   : 0x4210);
}

/* Combines the response of number @k, whose magnitude has the square @square. A
 * magnitude that is NaN is never the largest. */
template <bool SUM>
__device__ __forceinline__ void
combine_value (Combined &c, int y, float square, unsigned k)
{
  if (SUM) {
    c.values[y] += square_root (square);
  } else if (square > c.values[y]) {
    c.values[y] = square;
    c.numbers[y / 4] = put_byte (c.numbers[y / 4], k, y % 4);
  }
}

/* Restores the plane of the responses of pair @k, and combines them. */
template <bool SUM>
__device__ __forceinline__ void
combine_pair (const CombineArguments &a, int k, Combined &c)
{
  const int lane = threadIdx.x % 32;
  float2 *const plane = shared_planes () + threadIdx.x / 32 * PLANE;
  float2 v[BLOCK];

#pragma unroll
  for (int x = 0; x < BLOCK; x++)
    v[x] = plane[lane * PITCH + x];
  restore_plane (plane, v);
  if (a.is_complex) {
#pragma unroll
    for (int y = 0; y < ROWS; y++)
      combine_value<SUM> (c, y, fmaf (v[y].x, v[y].x, v[y].y * v[y].y), k);
    return;
  }
#pragma unroll
  for (int y = 0; y < ROWS; y++)
    combine_value<SUM> (c, y, v[y].x * v[y].x, 2 * k);
  if (2 * k + 1 == a.bank.n_filters)
    return;
#pragma unroll
  for (int y = 0; y < ROWS; y++)
    combine_value<SUM> (c, y, v[y].y * v[y].y, 2 * k + 1);
}

/* Makes outputs of what is combined. Returns a bit for each of them that is the
 * label below the threshold. */
template <bool SUM>
__device__ __forceinline__ unsigned
finish (const CombineArguments &a, Combined &c)
{
  unsigned none = 0;

#pragma unroll
  for (int y = 0; !SUM && y < ROWS; y++) {
    float value = sqrtf (c.values[y]);

    if (a.response == ND_RESPONSE_ARGMAX) {
      const bool is_none = value < a.threshold;

      none |= (unsigned) is_none << y;
      value = is_none ? a.none : c.numbers[y / 4] >> y % 4 * 8 & 255;
    }
    c.values[y] = value;
  }
  return none;
}

template <typename OUT>
__device__ __forceinline__ void
put_values (unsigned char *out, unsigned row, int n, const Combined &c)
{
#pragma unroll
  for (int y = 0; y < ROWS; y++) {
    if (y < n)
      *(OUT *) row_at (out, row, y) = round_response<OUT> (c.values[y]);
  }
}

/* The same for any store. @values: the column, in shared memory. Labels below
 * the threshold, which have a bit of @none, are not scaled. */
__device__ __noinline__ static void
put_any_values (const Store &s, unsigned char *out, int n, unsigned none,
    const float *values)
{
  Store store = s;

#pragma unroll 1
  for (int y = 0; y < n; y++, out += s.row) {
    store.out = out;
    store.scaled = s.scaled && !(none >> y & 1);
    store_sample (store, values[y * PITCH], 0, 0, 0);
  }
}

/* Stores the outputs of plane @z of the step at @at. @plane: shared memory of
 * the warp, which has been read. */
template <bool SUM>
__device__ __forceinline__ void
store_combined (const CombineArguments &a, const Corner &at, int z,
    float *plane, Combined &c)
{
  const Blocks &b = a.blocks;
  const Store &s = a.store;
  const int lane = threadIdx.x % 32;
  const unsigned none = finish<SUM> (a, c);
  const int n = lane < min (b.valid[0], b.outputs[0] - at.x)
      ? min (b.valid[1], b.outputs[1] - at.y)
      : 0;
  unsigned char *const out =
      s.out + (at.x + lane) * s.sample + at.y * s.row + (at.z + z) * s.slice;

  if (!s.scaled && s.row <= ~0u) {
    visit_sample_type (s.type, [&] (auto sample) {
      put_values<typename decltype (sample)::Type> (out, s.row, n, c);
    });
    return;
  }
  __syncwarp ();
#pragma unroll
  for (int y = 0; y < ROWS; y++)
    plane[y * PITCH + lane] = c.values[y];
  put_any_values (s, out, n, none, plane + lane);
}

/* The work of a thread block: pairs @first to @end - 1 of a step. */
struct Work
{
  int step, part, first, end;
  bool begins; /* with new planes */
};

/* The @i-th work of the thread block: successive steps, and then parts of those
 * that are left over. Returns false if there is none. */
__device__ __forceinline__ bool
find_work (const CombineArguments &a, int i, Work *work)
{
  const BankArguments &bank = a.bank;
  const int n = bank.whole / gridDim.x;

  if (i < n) {
    *work = Work{ (int) blockIdx.x * n + i, -1, 0, a.pairs, i == 0 };
    return true;
  }
  const int k = blockIdx.x + (i - n) * gridDim.x, step = k / bank.parts;
  const int part = k - step * bank.parts;
  const int first = part * bank.filters_of_part;

  *work = Work{ bank.whole + step, bank.parts > 1 ? part : -1, first,
    min (first + bank.filters_of_part, a.pairs), true };
  return work->step < bank.n_units;
}

/* Brings the samples of the next work to the second level cache. */
template <bool FLAT>
__device__ __forceinline__ void
prefetch_work (const CombineArguments &a, int i, int more)
{
  Work work;

  if (!find_work (a, i, &work))
    return;
  const Step step = step_of<FLAT> (a.blocks, work.step);

  prefetch_planes<FLAT> (a, step, work.begins || step.begins ? 0 : more,
      (FLAT ? step.n_planes : STEP) + more);
}

/* Combines the parts of a step, in their order. Each thread block that has
 * computed a part writes it to memory; the last one reads all. Returns false in
 * the others. */
template <bool SUM>
__device__ __forceinline__ bool
join_parts (const CombineArguments &a, const Work &work, Combined &c)
{
  __shared__ bool is_last;
  constexpr size_t SIZE = (size_t) (ROWS + WORDS) * THREADS;
  const int step = work.step - a.bank.whole;
  float *const parts = a.combined + step * a.bank.parts * SIZE + threadIdx.x;
  float *const own = parts + work.part * SIZE;

#pragma unroll
  for (int y = 0; y < ROWS; y++)
    own[y * THREADS] = c.values[y];
#pragma unroll
  for (int k = 0; !SUM && k < WORDS; k++)
    own[(ROWS + k) * THREADS] = __uint_as_float (c.numbers[k]);
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0) {
    is_last = atomicAdd (a.done + step, 1u) == (unsigned) a.bank.parts - 1;
    if (is_last)
      a.done[step] = 0;
  }
  __syncthreads ();
  if (!is_last)
    return false;
  __threadfence ();
  c = Combined ();
#pragma unroll 1
  for (int p = 0; p < a.bank.parts; p++) {
    const float *const from = parts + p * SIZE;

#pragma unroll
    for (int y = 0; y < ROWS; y++) {
      const float value = __ldcg (from + y * THREADS);

      if (SUM) {
        c.values[y] += value;
      } else if (value > c.values[y]) {
        const float number = __ldcg (from + (ROWS + y / 4) * THREADS);

        c.values[y] = value;
        c.numbers[y / 4] = put_byte (c.numbers[y / 4],
            __float_as_uint (number) >> y % 4 * 8, y % 4);
      }
    }
  }
  return true;
}

/* FLAT: no filter reads along z. SUM: of the magnitudes; otherwise the largest
 * one. */
template <typename T, bool FLAT, bool SUM>
__global__ void __launch_bounds__ (THREADS, 1)
combine_kernel (const __grid_constant__ CombineArguments a)
{
  const int warp = threadIdx.x / 32;
  const int taps = FLAT ? 1 : a.taps, more = taps - 1;
  const Spectra spectra = { shared_planes () + STEP * PLANE + threadIdx.x,
    column_of (threadIdx.x) };
  Work work;

#pragma unroll 1
  for (int i = 0; find_work (a, i, &work); i++) {
    const Step step = step_of<FLAT> (a.blocks, work.step);
    const bool begins = work.begins || step.begins;

#pragma unroll 1
    for (int t = 0; t < more && !begins; t++)
      spectra.numbers[t * THREADS] = spectra.numbers[(STEP + t) * THREADS];
    transform_planes<T, FLAT> (a, step, begins ? 0 : more,
        (FLAT ? step.n_planes : STEP) + more, spectra);
    prefetch_work<FLAT> (a, i + 1, more);
    Combined c;

#pragma unroll 1
    for (int k = work.first; k < work.end; k++) {
      filter_planes (spectra,
          a.weights + (size_t) k * taps * THREADS + threadIdx.x, taps);
      if (warp < step.n_planes)
        combine_pair<SUM> (a, k, c);
    }
    if (work.part >= 0 && !join_parts<SUM> (a, work, c))
      continue;
    if (warp < step.n_planes)
      store_combined<SUM> (a,
          FLAT ? corner_of (a.blocks, step.tile + warp) : step.at,
          FLAT ? 0 : warp, (float *) (shared_planes () + warp * PLANE), c);
  }
}

template <bool FLAT>
CombineKernel
kernel_of (NdSampleType type, bool is_sum)
{
  constexpr int PLANES = STEP + (FLAT ? 1 : COMBINED_TAPS) - 1;

  return visit_sample_type (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    return CombineKernel{ is_sum
          ? (const void *) combine_kernel<T, FLAT, true>
          : (const void *) combine_kernel<T, FLAT, false>,
      THREADS, (STEP * PLANE + PLANES * THREADS) * sizeof (float2), STEP,
      ROWS + WORDS };
  });
}

} // namespace

CombineKernel
combine_kernel_for (NdSampleType type, const Blocks &b, bool is_sum)
{
  return b.is_flat () ? kernel_of<true> (type, is_sum)
                      : kernel_of<false> (type, is_sum);
}

/* The numbers of the thread's column and of its mirror in the spectrum of a
 * complex filter, whose number (kx, ky) is @at (kx, ky). */
float4
combine_weights (int thread,
    const std::function<std::complex<double> (int, int)> &at)
{
  const Column c = column_of (thread);
  const std::complex<double> p = at (c.at % PITCH, c.at / PITCH);
  const std::complex<double> q = at (c.mirror % PITCH, c.mirror / PITCH);

  /* Two real columns: filter_along_z () multiplies the second one by q. */
  if (c.real)
    return make_float4 (p.real (), p.imag (), -q.imag (), q.real ());
  return make_float4 (p.real (), p.imag (), q.real (), q.imag ());
}

} // namespace nd
