/* Kernels for deep blocks (cuda/fft/deep.cuh).
 *
 * A thread block transforms one plane of a pair of blocks: 64 threads have a
 * column each, and then a row. The spectra go through memory. For each
 * frequency, another kernel sums the products of the spectra of neighbouring
 * planes and of those of the filter's slices, and transforms the sums back.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/bankcolumns.cuh"
#include "cuda/fft/deep.cuh"
#include "cuda/fft/transform64.cuh"
#include "cuda/sync.cuh"

namespace nd
{

namespace
{

constexpr int DEEP_PITCH = DEEP + 1; /* of rows, without bank conflicts */
constexpr int DEEP_PLANE = DEEP * DEEP_PITCH;
constexpr int DEPTH = 6; /* planes of sums of a thread block */
constexpr int BACKWARD_THREADS = DEPTH * DEEP;

__device__ __forceinline__ float2 *
shared_planes ()
{
  extern __shared__ float2 planes[];

  return planes;
}

/* The corners of the two blocks of a pair. If there is no second block, it is
 * the first one again. */
struct DeepPair
{
  Corner at[2];
  bool is_one;
};

__device__ __forceinline__ DeepPair
pair_of (const Blocks &b, int pair)
{
  const int n = b.count[0] * b.count[1];
  DeepPair p;

  p.is_one = 2 * pair + 1 == n;
  for (int i = 0; i < 2; i++) {
    const int block = 2 * pair + (p.is_one ? 0 : i);

    p.at[i] = Corner{ block % b.count[0] * b.valid[0],
      block / b.count[0] * b.valid[1], 0 };
  }
  return p;
}

/* The index in the volume of the sample at index @i of the padded volume, or
 * that of another one if the sample has the border's value, or if no filter
 * reads there. */
__device__ __forceinline__ int
any_index (const Blocks &b, int axis, int i)
{
  return border_index (b.border == ND_BORDER_CONSTANT ? (int) ND_BORDER_NEAREST
                                                      : b.border,
      min (i, b.padded[axis] - 1) + b.low[axis], b.shape[axis]);
}

__device__ __forceinline__ bool
is_inside (const Blocks &b, const Corner &at)
{
  const int x = at.x + b.low[0], y = at.y + b.low[1];

  return x >= 0 && x + DEEP <= b.shape[0] && y >= 0 && y + DEEP <= b.shape[1];
}

/* Sets the samples of a column that are not in the volume to the border's
 * value. */
__device__ __forceinline__ void
set_border (const Blocks &b, const DeepPair &pair, int z, float2 (&v)[DEEP])
{
  const int t = threadIdx.x, lane = t % 32;
  const bool inside = is_in_volume (b, 2, z);
  bool x[2];

  for (int i = 0; i < 2; i++)
    x[i] = inside && is_in_volume (b, 0, pair.at[i].x + t);
#pragma unroll
  for (int half = 0; half < DEEP; half += 32) {
    unsigned rows[2];

    for (int i = 0; i < 2; i++) {
      const int y = pair.at[i].y + half + lane;

      rows[i] = __ballot_sync (~0u, is_in_volume (b, 1, y));
      if (!x[i])
        rows[i] = 0;
    }
#pragma unroll
    for (int y = 0; y < 32; y++) {
      if (!(rows[0] >> y & 1))
        v[half + y].x = b.border_value;
      if (!(rows[1] >> y & 1))
        v[half + y].y = b.border_value;
    }
  }
}

/* Loads a column of each block of the pair. */
template <typename T>
__device__ __forceinline__ void
load_columns (const DeepArguments &a, const DeepPair &pair, int z,
    float2 (&v)[DEEP])
{
  const Blocks &b = a.blocks;
  const BlockInput &in = a.in;
  const int t = threadIdx.x;
  const unsigned char *const slice = in.in + any_index (b, 2, z) * in.slice;

  if (is_inside (b, pair.at[0]) && is_inside (b, pair.at[1]) && in.row <= ~0u) {
    const unsigned char *p[2];

    for (int i = 0; i < 2; i++)
      p[i] = slice + (pair.at[i].y + b.low[1]) * in.row
          + (pair.at[i].x + b.low[0] + t) * in.sample;
#pragma unroll
    for (int y = 0; y < DEEP; y++) {
      v[y].x = load_sample<T> (row_at (p[0], in.row, y));
      v[y].y = load_sample<T> (row_at (p[1], in.row, y));
    }
  } else {
    const unsigned char *const p[2] = { slice
          + any_index (b, 0, pair.at[0].x + t) * in.sample,
      slice + any_index (b, 0, pair.at[1].x + t) * in.sample };

#pragma unroll
    for (int half = 0; half < DEEP; half += 32) {
      const int lane = half + t % 32;
      const int first = any_index (b, 1, pair.at[0].y + lane);
      const int second = any_index (b, 1, pair.at[1].y + lane);

#pragma unroll
      for (int y = 0; y < 32; y++) {
        v[half + y].x =
            load_sample<T> (p[0] + __shfl_sync (~0u, first, y) * in.row);
        v[half + y].y =
            load_sample<T> (p[1] + __shfl_sync (~0u, second, y) * in.row);
      }
    }
  }
  if (b.border == ND_BORDER_CONSTANT
      && !(is_inside (b, pair.at[0]) && is_inside (b, pair.at[1])
          && is_in_volume (b, 2, z)))
    set_border (b, pair, z, v);
}

/* Replaces the samples of a column in shared memory that are not finite by 0,
 * and lists them. Only the last block that contains a sample lists it. */
__device__ __noinline__ void
take_out_non_finite (const DeepArguments &a, const Corner &at, int z,
    float *column)
{
  const Blocks &b = a.blocks;
  const int x = threadIdx.x;
  const bool lists = a.in.non_finite.count
      && (x < b.valid[0] || at.x + b.valid[0] >= b.outputs[0])
      && at.x + x < b.padded[0];

  for (int y = 0; y < DEEP; y++) {
    float *const value = column + 2 * y * DEEP_PITCH;

    if (isfinite (*value))
      continue;
    if (lists && (y < b.valid[1] || at.y + b.valid[1] >= b.outputs[1])
        && at.y + y < b.padded[1])
      add_non_finite (a.in.non_finite, b.first[0] + at.x + x,
          b.first[1] + at.y + y, b.first[2] + z, *value);
    *value = 0;
  }
}

/* From a plane of a volume to its spectrum. Columns whose sum is not finite are
 * loaded again without the samples that are not finite. */
template <typename T>
__global__ void __launch_bounds__ (DEEP, 6)
fft_deep_forward_kernel (const __grid_constant__ DeepArguments a)
{
  float2 *const plane = shared_planes ();
  const int t = threadIdx.x;
  const int z = blockIdx.x % a.blocks.padded[2];
  const int pair = blockIdx.x / a.blocks.padded[2];
  const DeepPair at = pair_of (a.blocks, a.first_pair + pair);
  float2 v[DEEP];
  bool again = false;

#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 0) {
      load_columns<T> (a, at, z, v);
      if (again) {
#pragma unroll
        for (int y = 0; y < DEEP; y++)
          plane[y * DEEP_PITCH + t] = v[y];
        take_out_non_finite (a, at.at[0], z, &plane[t].x);
        if (!at.is_one)
          take_out_non_finite (a, at.at[1], z, &plane[t].y);
#pragma unroll
        for (int y = 0; y < DEEP; y++)
          v[y] = plane[y * DEEP_PITCH + t];
        if (at.is_one) {
#pragma unroll
          for (int y = 0; y < DEEP; y++)
            v[y].y = v[y].x;
        }
      }
    } else {
#pragma unroll
      for (int y = 0; y < DEEP; y++)
        plane[y * DEEP_PITCH + t] = v[y];
      __syncthreads ();
#pragma unroll
      for (int x = 0; x < DEEP; x++)
        v[x] = plane[t * DEEP_PITCH + x];
    }
    transform64<false> (v);
    if (sizeof (T) == 4 && pass == 0 && !again
        && __syncthreads_or (!isfinite (v[0].x + v[0].y))) {
      again = true;
      pass = -1;
    }
  }
  float2 *const out =
      a.spectra + ((size_t) pair * a.n_planes + z) * DEEP_NUMBERS + t;

#pragma unroll
  for (int k = 0; k < DEEP; k++)
    out[k * DEEP] = v[k];
}

/* Sums the products for DEPTH planes, from spectra at @p and filters at @filter
 * to @to. BOTH: also for the frequency of opposite sign, at @q, to @mirror. */
template <int SLICES, bool BOTH>
__device__ __forceinline__ void
sum_products (const float2 *p, const float2 *q, const float2 *filter,
    float2 *to, float2 *mirror)
{
  float2 h[SLICES], sum[DEPTH] = {}, other[DEPTH] = {};

#pragma unroll
  for (int t = 0; t < SLICES; t++)
    h[t] = __ldg (filter + t * DEEP_FILTER);
#pragma unroll
  for (int t = 0; t < SLICES + DEPTH - 1; t++) {
    const float2 v = __ldcg (p + t * DEEP_NUMBERS);
    const float2 w = BOTH ? __ldcg (q + t * DEEP_NUMBERS) : v;

#pragma unroll
    for (int i = 0; i < DEPTH; i++) {
      if (t - i < 0 || t - i >= SLICES)
        continue;
      const float2 f = h[t - i];

      sum[i] = multiply_number (sum[i], v, f, false);
      if (BOTH)
        other[i] =
            multiply_number (other[i], w, make_float2 (f.x, -f.y), false);
    }
  }
#pragma unroll
  for (int i = 0; i < DEPTH; i++) {
    to[i * DEEP_PLANE] = sum[i];
    if (BOTH)
      mirror[i * DEEP_PLANE] = other[i];
  }
}

/* Stores the thread's columns of responses. */
__device__ __forceinline__ void
store_columns (const DeepArguments &a, const DeepPair &pair, int z,
    float2 *plane, const float2 (&v)[DEEP])
{
  const Blocks &b = a.blocks;
  const Store &s = a.store;
  const int t = threadIdx.x % DEEP;
  unsigned char *out[2];
  int n[2];

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const Corner &at = pair.at[i];

    n[i] = t < min (b.valid[0], b.outputs[0] - at.x) && !(i && pair.is_one)
        ? min (b.valid[1], b.outputs[1] - at.y)
        : 0;
    out[i] = s.out + (at.x + t) * s.sample + at.y * s.row + z * s.slice;
  }
  if (!s.scaled && s.row <= ~0u) {
    visit_sample_type (s.type, [&] (auto sample) {
      using OUT = typename decltype (sample)::Type;

#pragma unroll
      for (int y = 0; y < DEEP; y++) {
        if (y < n[0])
          *(OUT *) row_at (out[0], s.row, y) = round_response<OUT> (v[y].x);
        if (y < n[1])
          *(OUT *) row_at (out[1], s.row, y) = round_response<OUT> (v[y].y);
      }
    });
    return;
  }
  /* The thread writes its own column, which other threads have read. */
#pragma unroll
  for (int y = 0; y < DEEP; y++)
    plane[y * DEEP_PITCH + t] = v[y];
  put_bank_scaled<DEEP_PITCH> (s, out[0], n[0], 0, &plane[t].x);
  put_bank_scaled<DEEP_PITCH> (s, out[1], n[1], 0, &plane[t].y);
}

/* From spectra to DEPTH slices of responses of a pair. */
template <int SLICES>
__global__ void __launch_bounds__ (BACKWARD_THREADS, 1)
fft_deep_backward_kernel (const __grid_constant__ DeepArguments a)
{
  const int n_parts = (a.blocks.outputs[2] + DEPTH - 1) / DEPTH;
  const int pair = blockIdx.x / n_parts, z0 = blockIdx.x % n_parts * DEPTH;
  const float2 *const spectra =
      a.spectra + ((size_t) pair * a.n_planes + z0) * DEEP_NUMBERS;
  float2 *const planes = shared_planes ();

  /* A warp has half a column of frequencies at a time, and that of opposite
   * sign. Those with kx = 0 and 32 are opposite to each other. */
#pragma unroll 1
  for (int i = threadIdx.x / 32; i < 2 * DEEP_HALF;
       i += BACKWARD_THREADS / 32) {
    const bool both = i < 2 * (DEEP_HALF - 2);
    const int kx = both ? i / 2 + 1 : i < 2 * (DEEP_HALF - 1) ? 0 : DEEP / 2;
    const int ky = i % 2 * 32 + threadIdx.x % 32;
    const int mx = DEEP - kx, my = (DEEP - ky) % DEEP;
    const float2 *const filter = a.filter + kx * DEEP + ky;
    const float2 *const p = spectra + kx * DEEP + ky;
    float2 *const to = planes + ky * DEEP_PITCH + kx;

    if (both)
      sum_products<SLICES, true> (p, spectra + mx * DEEP + my, filter, to,
          planes + my * DEEP_PITCH + mx);
    else
      sum_products<SLICES, false> (p, p, filter, to, to);
  }
  __syncthreads ();
  const int t = threadIdx.x % DEEP, z = z0 + threadIdx.x / DEEP;
  float2 *const plane = planes + threadIdx.x / DEEP * DEEP_PLANE;
  float2 v[DEEP];

  if (z >= a.blocks.outputs[2])
    return;
#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 0) {
#pragma unroll
      for (int x = 0; x < DEEP; x++)
        v[x] = plane[t * DEEP_PITCH + x];
    } else {
#pragma unroll
      for (int x = 0; x < DEEP; x++)
        plane[t * DEEP_PITCH + x] = v[x];
      wait_for_group<DEEP> ();
#pragma unroll
      for (int y = 0; y < DEEP; y++)
        v[y] = plane[y * DEEP_PITCH + t];
    }
    transform64<true> (v);
  }
  if (a.store.scaled || a.store.row > ~0u)
    wait_for_group<DEEP> ();
  store_columns (a, pair_of (a.blocks, a.first_pair + pair), z, plane, v);
}

/* The slices for which there is a kernel. */
template <int SLICES>
const void *
backward_for (int *slices)
{
  if constexpr (SLICES < 33) {
    if (*slices > SLICES)
      return backward_for < SLICES == 7 ? 13 : SLICES + 4 > (slices);
  }
  *slices = SLICES;
  return (const void *) fft_deep_backward_kernel<SLICES>;
}

} // namespace

DeepKernels
deep_kernels (NdSampleType type, int slices)
{
  const void *const backward = backward_for<7> (&slices);
  const void *const forward = visit_sample_type (type, [] (auto sample) {
    return (const void *)
        fft_deep_forward_kernel<typename decltype (sample)::Type>;
  });

  return DeepKernels{ forward, sizeof (float2) * DEEP_PLANE, DEEP, backward,
    sizeof (float2) * DEEP_PLANE * DEPTH, BACKWARD_THREADS, DEPTH, slices };
}

} // namespace nd
