/* Kernels that make orientation tensors of the responses of a bank
 * (filters/tensor.h), for flat blocks (cuda/fft/combineflat.cuh). The responses
 * of monomials, or the magnitudes of complex filters, are here called values.
 *
 * A tensor needs all values of its sample, more than there are registers. A
 * thread keeps its values in memory, which it overwrites for the next block, so
 * that they stay in the second level cache; those of the last pair of filters
 * stay in shared memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/combineflat.cuh"
#include "cuda/fft/combinevalues.cuh"

namespace nd
{

namespace
{

constexpr int AXES = 2, COMPONENTS = ND_TENSOR_COMPONENTS (AXES);
constexpr int RUN = 4; /* rows whose values a thread loads together */

/* In shared memory of a warp: the last values of its threads, and after them a
 * row of tensors. */
constexpr int LAST_PITCH = 32;
constexpr int TENSOR_ROW = ROWS * LAST_PITCH * 2; /* float */
static_assert (TENSOR_ROW + 32 * COMPONENTS <= 2 * BLOCK * PITCH);

/* The values of a thread: value @i of row y is @i * @value numbers and y * @row
 * bytes after @at. */
struct Values
{
  float *at;
  unsigned row;
  size_t value;
};

__device__ __forceinline__ Values
values_of (const TensorPlaneArguments &a, int warp)
{
  const size_t row = a.blocks.valid[0], value = row * a.blocks.valid[1];

  return Values{ a.combined + warp * (a.n_values - a.n_last) * value
        + threadIdx.x % 32,
    (unsigned) (row * sizeof (float)), value };
}

/* The outputs of a block: @nx samples of @ny rows. */
struct Extent
{
  int nx, ny;
};

__device__ __forceinline__ Extent
extent_of (const Blocks &b, const Corner &at)
{
  return Extent{ min (b.valid[0], b.outputs[0] - at.x),
    min (b.valid[1], b.outputs[1] - at.y) };
}

__device__ __forceinline__ float
magnitude_of (float2 v)
{
  return square_root<true> (fmaf (v.x, v.x, v.y * v.y));
}

/* Keeps the values of pair @k of filters, the first @n rows. The first pair may
 * have one filter only, which is the imaginary part. */
__device__ __forceinline__ void
keep_values (const TensorPlaneArguments &a, int k, int n,
    const float2 (&v)[BLOCK], const Values &values)
{
  if (a.is_complex) {
    float *const to = values.at + k * values.value;

#pragma unroll
    for (int y = 0; y < ROWS; y++) {
      if (y < n)
        *row_at (to, values.row, y) = magnitude_of (v[y]);
    }
    return;
  }
  const int second = 2 * k + 1 - a.missing;
  float *const to = values.at + second * values.value;

  if (second > 0) {
#pragma unroll
    for (int y = 0; y < ROWS; y++) {
      if (y < n)
        *row_at (to - values.value, values.row, y) = v[y].x;
    }
  }
#pragma unroll
  for (int y = 0; y < ROWS; y++) {
    if (y < n)
      *row_at (to, values.row, y) = v[y].y;
  }
}

/* Keeps the values of the last pair in @plane. */
__device__ __forceinline__ void
hold_values (const TensorPlaneArguments &a, const float2 (&v)[BLOCK],
    float2 *plane)
{
  float2 *const to = plane + threadIdx.x % 32;

  __syncwarp (); /* the plane has been read */
#pragma unroll
  for (int y = 0; y < ROWS; y++)
    to[y * LAST_PITCH] =
        a.is_complex ? make_float2 (magnitude_of (v[y]), 0) : v[y];
}

/* Loads value @i of @n of RUN rows from row @y on. */
__device__ __forceinline__ void
load_value (const Values &values, int i, int y, int n, float (&to)[RUN])
{
#pragma unroll
  for (int r = 0; r < RUN; r++)
    to[r] = r < n
        ? __ldcg (row_at (values.at + i * values.value, values.row, y + r))
        : 0;
}

/* T = A A^T + b b^T of monomials. @last: two values. */
__device__ __forceinline__ void
multiply_monomials (const TensorPlaneArguments &a, const Values &values,
    const float2 (&last)[RUN], int y, int n, float (&tensors)[RUN][COMPONENTS])
{
  float first[AXES][RUN] = {}, second[RUN] = {};

  if (a.has_second)
    load_value (values, a.n_values - COMPONENTS, y, n, second);
  if (a.has_first && a.has_second) {
#pragma unroll
    for (int i = 0; i < AXES; i++)
      load_value (values, i, y, n, first[i]);
  }
#pragma unroll
  for (int r = 0; r < RUN; r++) {
    const float2 b =
        a.has_second ? make_float2 (first[0][r], first[1][r]) : last[r];
    const float xx = second[r], xy = a.has_second ? last[r].x : 0;
    const float yy = a.has_second ? last[r].y : 0;

    tensors[r][0] = fmaf (xx, xx, fmaf (xy, xy, b.x * b.x));
    tensors[r][1] = fmaf (xx, xy, fmaf (xy, yy, b.x * b.y));
    tensors[r][2] = fmaf (xy, xy, fmaf (yy, yy, b.y * b.y));
  }
}

/* T = sum of |q_k| M_k of complex filters. @last: one value. */
__device__ __forceinline__ void
sum_duals (const TensorPlaneArguments &a, const Values &values,
    const float2 (&last)[RUN], int y, int n, float (&tensors)[RUN][COMPONENTS])
{
  const int end = a.n_values - 1;

#pragma unroll
  for (int r = 0; r < RUN; r++) {
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
      tensors[r][c] = last[r].x * a.dual[end][c];
  }
#pragma unroll 4
  for (int k = 0; k < end; k++) {
    float value[RUN];

    load_value (values, k, y, n, value);
#pragma unroll
    for (int r = 0; r < RUN; r++) {
#pragma unroll
      for (int c = 0; c < COMPONENTS; c++)
        tensors[r][c] = fmaf (value[r], a.dual[k][c], tensors[r][c]);
    }
  }
}

/* Stores a tensor of any type at @out. */
__device__ __noinline__ void
put_any_tensor (const TensorPlaneArguments &a, unsigned char *out,
    const float *tensor)
{
  Store store = a.store;

  for (int c = 0; c < COMPONENTS; c++) {
    store.out = out + c * a.value_bytes;
    store_sample (store, tensor[c], 0, 0, 0);
  }
}

/* Stores a row of tensors, one of each thread. @row: in shared memory, so that
 * a warp stores bytes side by side. */
__device__ __forceinline__ void
put_tensors (const TensorPlaneArguments &a, unsigned char *out, int nx,
    float *row, const float (&tensor)[COMPONENTS])
{
  const int lane = threadIdx.x % 32;
  float *const own = row + lane * COMPONENTS;

  __syncwarp (); /* the row before has been read */
#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    own[c] = tensor[c];
  __syncwarp ();
  if (!a.is_plain) {
    if (lane < nx)
      put_any_tensor (a, out + lane * a.store.sample, own);
    return;
  }
#pragma unroll
  for (int c = 0; c < COMPONENTS; c++) {
    if (c * 32 + lane < nx * COMPONENTS)
      __stcs ((float *) out + c * 32 + lane, row[c * 32 + lane]);
  }
}

/* Stores the tensors of a block whose first output is @at. The last values are
 * in @plane. */
__device__ __forceinline__ void
store_tensors (const TensorPlaneArguments &a, const Corner &at,
    const Extent &extent, float2 *plane, const Values &values)
{
  const Store &s = a.store;
  const int lane = threadIdx.x % 32;
  unsigned char *out = s.out + at.x * s.sample + at.y * s.row + at.z * s.slice;

#pragma unroll 1
  for (int y = 0; y < extent.ny; y += RUN) {
    const int rows = min (RUN, extent.ny - y);
    const int n = lane < extent.nx ? rows : 0;
    float tensors[RUN][COMPONENTS];
    float2 last[RUN];

#pragma unroll
    for (int r = 0; r < RUN; r++)
      last[r] = r < n ? plane[(y + r) * LAST_PITCH + lane] : float2 ();
    if (a.is_complex)
      sum_duals (a, values, last, y, n, tensors);
    else
      multiply_monomials (a, values, last, y, n, tensors);
#pragma unroll
    for (int r = 0; r < RUN; r++, out += s.row) {
      if (r < rows)
        put_tensors (a, out, extent.nx, (float *) plane + TENSOR_ROW,
            tensors[r]);
    }
  }
}

/* As many warps as the device has room for go through the blocks. */
template <typename T>
__global__ void __launch_bounds__ (32 * WARPS, RESIDENT)
fft_flat_tensor_kernel (const __grid_constant__ TensorPlaneArguments a)
{
  extern __shared__ float2 shared[];
  const Blocks &b = a.blocks;
  const int lane = threadIdx.x % 32;
  const int warp = blockIdx.x * WARPS + threadIdx.x / 32;
  float2 *const plane = shared + threadIdx.x / 32 * WARP_NUMBERS;
  float2 *const kept = plane + BLOCK * PITCH;
  const Values values = values_of (a, warp);

  begin_combining (a);
#pragma unroll 1
  for (int block = warp; block < b.count[0] * b.count[1] * b.count[2];
       block += gridDim.x * WARPS) {
    const Corner at = corner_of (b, block);
    const Extent extent = extent_of (b, at);
    float2 v[BLOCK];

    transform_bank_columns<T, true> (a, Columns{ { at, at }, { 0, 0 } }, false,
        v);
    transform_plane (plane, v);
#pragma unroll
    for (int x = 0; x < KEPT; x++)
      kept[lane * KEPT + x] = v[x];
#pragma unroll 1
    for (int k = 0; k < a.pairs; k++) {
      __syncwarp (); /* the plane has been read, the spectrum is written */
      multiply_rows (kept, a.weights + (size_t) k * COMBINED_WEIGHTS + lane, v);
      restore_plane (plane, v);
      if (k + 1 < a.pairs)
        keep_values (a, k, lane < extent.nx ? extent.ny : 0, v, values);
      else
        hold_values (a, v, plane);
    }
    store_tensors (a, at, extent, plane, values);
    __syncwarp (); /* the plane has been read */
  }
}

} // namespace

CombineKernel
tensor_planes_kernel (NdSampleType type)
{
  return visit_sample_type (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    return CombineKernel{ (const void *) fft_flat_tensor_kernel<T>, 32 * WARPS,
      WARPS * WARP_NUMBERS * sizeof (float2), weight_of_rows, WARPS, 0, 0,
      RESIDENT };
  });
}

} // namespace nd
