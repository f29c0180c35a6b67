/* The passes along x and y of method `separable` for few taps, in one kernel. A
 * thread block computes a strip of a plane: its warps sum along x, eight rows
 * at a time, from samples that a lane holds in registers, and then sum these
 * sums along y. There is code for each number of taps, so that weights are
 * operands of multiply-adds and no loop is executed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/device.h"
#include "cuda/direct/fewtaps.cuh"
#include "cuda/direct/quads.cuh"
#include "cuda/launch.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int ROWS = 8;   /* that a warp sums along x together */
constexpr int LANES = 4;  /* of a row */
constexpr int ACROSS = 8; /* outputs of a lane: STRIP / LANES */
constexpr int PITCH = 36; /* of sums: rows are in different banks */

/* Quads of samples that a lane reads. */
template <int N>
constexpr int quads_of = (ACROSS + lead_of (N) + N + 2) / 4;

struct StripArguments
{
  const unsigned char *in;
  size_t row, slice;
  int border;
  float border_value;
  int size[3];
  Store out;
  int strips;
  int rows;     /* of outputs of a thread block */
  int outside;  /* samples of a row that are copied at a border, a multiple of
                * four */
  FewTaps x, y; /* x.low: of the first sample that is read */
};

/* The samples outside the volume that a strip reads. */
struct Outside
{
  int first; /* column */
  int n;
  const int *columns; /* their places in a row, or -1 for the border value */
};

size_t
shared_bytes (int rows, int taps)
{
  return (size_t) PITCH * (column_rows (rows, taps) + ROWS) * sizeof (float);
}
static_assert (PITCH * (column_rows (256, MAX_FEW_TAPS) + ROWS) * sizeof (float)
        < 48 * 1024,
    "more needs the permission of the device");

/* The samples of a lane: those of a row from column @x on. */
template <typename T>
struct Row
{
  const StripArguments &a;
  const T *row; /* nullptr: outside the volume */
  int x;

  /* @column: -1 for the border value. */
  __device__ __forceinline__ T sample (int column) const
  {
    return row && column >= 0 ? row[column] : (T) a.border_value;
  }

  /* Loads quads that are inside the volume. */
  template <int N>
  __device__ __forceinline__ void load (Quad<T> (&quads)[N]) const
  {
    const Quad<T> *const at = (const Quad<T> *) (row + x);

#pragma unroll
    for (int i = 0; i < N; i++)
      quads[i] = at[i];
  }

  /* Loads any quads. The lanes of a row copy the samples outside the volume to
   * @copies in shared memory. All lanes of a warp call it. */
  template <int N>
  __device__ __forceinline__ void load (Quad<T> (&quads)[N],
      const Outside &outside, T *copies) const
  {
    const T v = (T) a.border_value;

#pragma unroll 2
    for (int i = threadIdx.x % LANES; i < outside.n; i += LANES)
      copies[i] = sample (outside.columns[i]);
    __syncwarp ();
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int from = x + 4 * i;

      if (!row)
        quads[i] = Quad<T>{ { v, v, v, v } };
      else if (from >= 0 && from + 4 <= a.size[0])
        quads[i] = *(const Quad<T> *) (row + from);
      else
        quads[i] = *(const Quad<T> *) (copies
            + min (from - outside.first, outside.n - 4));
    }
    __syncwarp ();
  }
};

/* sum[o] = the sum over k < N of weights[k] * sample o + k + lead_of (N). */
template <int N, typename T>
__device__ __forceinline__ void
sum_row (const StripArguments &a, float (&sum)[ACROSS],
    const Quad<T> (&quads)[quads_of<N>])
{
#pragma unroll
  for (int o = 0; o < ACROSS; o++)
    sum[o] = 0;
#pragma unroll
  for (int i = 0; i < quads_of<N>; i++) {
    float v[4];

    to_floats (quads[i], v);
#pragma unroll
    for (int j = 0; j < 4; j++) {
#pragma unroll
      for (int o = 0; o < ACROSS; o++) {
        const int k = 4 * i + j - lead_of (N) - o;

        if (k >= 0 && k < N)
          sum[o] = fmaf (a.x.weights[k], v[j], sum[o]);
      }
    }
  }
}

/* The same of output @o without the weights that are 0. */
template <typename T>
__device__ __forceinline__ float
sum_again (const StripArguments &a, const Row<T> &row, int o)
{
  const int x = row.x + o + lead_of (a.x.n);
  float sum = 0;

#pragma unroll 1
  for (int k = 0; k < a.x.n; k++) {
    const float w = a.x.weights[k];

    if (w != 0)
      sum = fmaf (w,
          (float) row.sample (border_index (a.border, x + k, a.size[0])), sum);
  }
  return sum;
}

__device__ __forceinline__ void
put_row (float *to, const float (&sum)[ACROSS])
{
  ((float4 *) to)[0] = make_float4 (sum[0], sum[1], sum[2], sum[3]);
  ((float4 *) to)[1] = make_float4 (sum[4], sum[5], sum[6], sum[7]);
}

template <typename T>
__global__ void __launch_bounds__ (PASS_THREADS, 4)
separable_xy_few_kernel (const __grid_constant__ StripArguments a)
{
  extern __shared__ float4 shared[];
  __shared__ int columns[PITCH];
  float *const sums = (float *) shared;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int x0 = blockIdx.x % a.strips * STRIP, first = x0 + a.x.low;
  const int y0 = blockIdx.x / a.strips * a.rows, low = y0 + a.y.low;
  const int n = min (a.rows, a.size[1] - y0), rows = n + a.y.n - 1;
  const int across = lane % LANES * ACROSS; /* from x0 to the lane's outputs */
  /* Whether all samples are inside the volume. */
  const bool is_inside = first >= 0 && first + STRIP + a.x.n + 4 <= a.size[0];
  const bool is_plain = is_inside
      && (a.border != ND_BORDER_CONSTANT
          || (low >= 0 && low + rows + ROWS <= a.size[1]));
  const Outside outside = { first < 0 ? first : a.size[0] / 4 * 4,
    is_inside ? 0 : a.outside, columns };

  if (threadIdx.x < outside.n)
    columns[threadIdx.x] =
        border_index (a.border, outside.first + threadIdx.x, a.size[0]);
  __syncthreads ();
  launch_dependent_grids ();
  wait_on_dependent_grids ();

  const int z = blockIdx.z * gridDim.y + blockIdx.y;

  if (z >= a.size[2])
    return;
  const unsigned char *const plane = a.in + z * a.slice;
  const auto row_of = [&] (int r) {
    const int y = border_index (a.border, low + r, a.size[1]);

    return Row<T>{ a, y < 0 ? nullptr : (const T *) (plane + y * a.row),
      first + across };
  };
  bool again = false;

  visit_taps (a.x.n, [&] (auto taps) {
    constexpr int N = decltype (taps)::value;

#pragma unroll 1
    for (int group = warp * ROWS; group < rows; group += WARPS * ROWS) {
      const int r = group + lane / LANES;
      float *const to = sums + r * PITCH;
      Quad<T> quads[quads_of<N>];
      float sum[ACROSS];

      /* All loads begin before the sums. */
      if (is_plain)
        row_of (r).load (quads);
      else
        row_of (r).load (quads, outside, (T *) to);
      sum_row<N> (a, sum, quads);
      put_row (to + across, sum);
      again |= a.x.check && !all_finite (sum);
    }
  });
  if (again) {
#pragma unroll 1
    for (int r = warp * ROWS + lane / LANES; r < rows; r += WARPS * ROWS) {
#pragma unroll 1
      for (int o = 0; o < ACROSS; o++)
        sums[r * PITCH + across + o] = sum_again (a, row_of (r), o);
    }
  }
  __syncthreads ();
  const int x = x0 + lane % 8 * 4;

  compute_columns<PITCH> (a.y, a.out, sums + lane % 8 * 4,
      (warp * GROUPS + lane / 8) * DOWN, WARPS * WARP_ROWS, n, a.size[0] - x,
      a.out.out + x * a.out.sample + y0 * a.out.row + z * a.out.slice,
      a.out.row, [&] (int r, const float (&sum)[4]) {
        store_four (a.out, sum, a.size[0] - x, x, y0 + r, z);
      });
}

} // namespace

int
few_taps (int *low, int n, int axis)
{
  for (int taps = 1; taps <= MAX_FEW_TAPS; taps += 4) {
    const int before = axis == 0 ? ((*low - lead_of (taps)) % 4 + 4) % 4 : 0;

    if (before + n > taps)
      continue;
    *low -= before;
    return taps;
  }
  return 0;
}

int
strip_rows (const size_t size[3], const FewTaps &y)
{
  return choose_outputs (size[1], (size[0] + STRIP - 1) / STRIP * size[2],
      [&] (int rows) { return shared_bytes (rows, y.n); });
}

bool
run_strips (const StripPass &pass, const Store &out, cudaStream_t stream)
{
  const NdSamples *volume = pass.volume;
  const size_t sample = nd_sample_size (pass.type);
  StripArguments a = {};

  if (!volume || volume->sample != sample || !stores_quads (out))
    return false;
  a.in = volume->data + pass.component * sample;
  a.row = volume->row;
  a.slice = volume->slice;
  if (((size_t) a.in | a.row | a.slice) % (4 * sample) != 0)
    return false;
  a.border = pass.border;
  a.border_value = pass.border_value;
  for (int axis = 0; axis < 3; axis++)
    a.size[axis] = pass.size[axis];
  a.x = *pass.x;
  a.y = *pass.y;
  a.x.low -= lead_of (a.x.n);

  /* The samples of a strip before the volume and after it. */
  const int left = std::max (-a.x.low, 0);
  const int right = std::max (a.x.low + lead_of (a.x.n) + a.x.n - 1, 0);

  a.outside = (std::max (left, right + 3) + 3) / 4 * 4;
  /* A quad that is not inside the volume is one of those after it. */
  if (a.outside > PITCH
      || (left + STRIP - 1) / STRIP * STRIP + right > a.size[0] / 4 * 4)
    return false;
  a.out = out;
  a.strips = (a.size[0] + STRIP - 1) / STRIP;
  a.rows = pass.rows;
  visit_sample_type (pass.type, [&] (auto type) {
    using T = typename decltype (type)::Type;
    const int tiles = (a.size[1] + a.rows - 1) / a.rows;
    const int most = 65535;
    const dim3 blocks ((unsigned) a.strips * tiles, std::min (a.size[2], most),
        (a.size[2] + most - 1) / most);

    launch_early (separable_xy_few_kernel<T>, blocks, PASS_THREADS,
        shared_bytes (a.rows, a.y.n), stream, a);
  });
  return true;
}

} // namespace nd
