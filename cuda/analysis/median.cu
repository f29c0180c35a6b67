/* The samples around a sample are sorted in three steps, and each step is
 * shared: those of a column along time and z by all samples around the column,
 * those of three columns along y by three samples along x, and those of two
 * such planes by two samples. The median is then selected from sorted lists,
 * without sorting all of them. Samples are compared as integers, so that NaN
 * has a place in the order.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/median.cuh"

#include "analysis/adaptive.h"
#include "cuda/launch.cuh"
#include "cuda/rounding.h"
#include "cuda/samples.cuh"

#include <algorithm>

namespace nd
{

namespace
{

/* The samples of a thread block. A thread computes two along x. */
constexpr int WIDTH = 32, HEIGHT = 8;
constexpr int COLUMNS = WIDTH + 2, ROWS = HEIGHT + 2;
constexpr int THREADS = WIDTH / 2 * HEIGHT;

/* Floats as integers of the same order, and back. */
__device__ __forceinline__ int
ordered (int bits)
{
  return bits ^ (bits >> 31 & 0x7fffffff);
}

__device__ __forceinline__ int
key_of (float value)
{
  return ordered (__float_as_int (value));
}

/* Sorting networks */

__device__ __forceinline__ void
compare (int &a, int &b)
{
  const int less = min (a, b);

  b = max (a, b);
  a = less;
}

__device__ __forceinline__ void
sort3 (int *v)
{
  compare (v[0], v[1]);
  compare (v[1], v[2]);
  compare (v[0], v[1]);
}

/* The steps of Batcher's odd-even merge of two lists of HALF values, from
 * distance K on. The first list has only its last M values, and the second one
 * only its first N, because comparisons with the others change nothing. */
template <int M, int N, int HALF, int K>
__device__ __forceinline__ void
merge_from (int *v)
{
  constexpr int BEGIN = HALF - M, END = HALF + N;

#pragma unroll
  for (int i = BEGIN; i + K < END; i++) {
    if (i / K % 2 == (K == HALF ? 0 : 1))
      compare (v[i - BEGIN], v[i + K - BEGIN]);
  }
  if constexpr (K > 1)
    merge_from<M, N, HALF, K / 2> (v);
}

__host__ __device__ constexpr int
power_of_two (int n)
{
  return n <= 1 ? 1 : 2 * power_of_two ((n + 1) / 2);
}

/* Merges the sorted lists v[0 .. M - 1] and v[M .. M + N - 1]. */
template <int M, int N>
__device__ __forceinline__ void
merge (int *v)
{
  constexpr int HALF = power_of_two (M > N ? M : N);

  merge_from<M, N, HALF, HALF> (v);
}

/* IN_COLUMN samples of a column along time and z: 9, or 3 in frames. */
template <int IN_COLUMN>
struct MedianShared
{
  int columns[IN_COLUMN][ROWS][COLUMNS];
  /* An odd pitch: the two rows of a warp then use different banks. */
  int planes[3 * IN_COLUMN][HEIGHT][COLUMNS + 1];
};

/* Reads and sorts the column at (x, y). */
template <int IN_COLUMN>
__device__ __forceinline__ void
sort_column (const HalfMedian &a, int x, int y, int z, int *v)
{
  const int constant = key_of (a.border_value);
  const int from_x = border_index (a.border, x, a.size[0]);
  const int from_y = border_index (a.border, y, a.size[1]);

#pragma unroll
  for (int i = 0; i < IN_COLUMN / 3; i++) {
    const int from_z =
        IN_COLUMN == 3 ? 0 : border_index (a.border, z + i - 1, a.size[2]);
    const bool inside = from_x >= 0 && from_y >= 0 && from_z >= 0;
    const size_t at =
        ((size_t) from_z * a.size[1] + from_y) * a.size[0] + from_x;

#pragma unroll
    for (int t = 0; t < 3; t++)
      v[3 * i + t] =
          inside && a.volumes[t] ? key_of (a.volumes[t][at]) : constant;
    sort3 (v + 3 * i);
  }
  if constexpr (IN_COLUMN == 9) {
    merge<3, 3> (v);
    merge<6, 3> (v);
  }
}

/* The mean of the median and of the sample, which moves towards those before
 * and after. If these are of one volume, because the stream begins or ends or
 * the latency is 0, walls that move cannot be told from noise, and the sample
 * stays. */
__device__ __forceinline__ float
add_sample (const HalfMedian &a, int median, size_t at)
{
  const float in = a.volumes[1][at];
  const float before = (a.volumes[0] ? a.volumes[0][at] : a.border_value) - in;
  const float after = (a.volumes[2] ? a.volumes[2][at] : a.border_value) - in;
  const float nearer = fabsf (before) < fabsf (after) ? before : after;
  const bool moves = a.volumes[0] != a.volumes[2] && before * after > 0;

  return (__int_as_float (ordered (median)) + in
             + (moves ? (float) ND_SPECKLE_TIME * nearer : 0.f))
      / 2;
}

template <int IN_COLUMN>
__global__ void __launch_bounds__ (THREADS)
speckle_median_kernel (const __grid_constant__ HalfMedian a)
{
  extern __shared__ int2 memory[];
  MedianShared<IN_COLUMN> &shared = *(MedianShared<IN_COLUMN> *) memory;
  constexpr int IN_PLANE = 3 * IN_COLUMN;
  /* The median's rank, from 0, among all samples. */
  constexpr int MIDDLE = (3 * IN_PLANE - 1) / 2;
  const int tid = threadIdx.x;
  const int x0 = blockIdx.x * WIDTH, y0 = blockIdx.y * HEIGHT;
  const int x = tid % (WIDTH / 2) * 2, y = tid / (WIDTH / 2);

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  for (int z = blockIdx.z; z < a.size[2]; z += gridDim.z) {
    for (int i = tid; i < ROWS * COLUMNS; i += THREADS) {
      const int column = i % COLUMNS, row = i / COLUMNS;
      int v[IN_COLUMN];

      /* Columns and rows beyond the border are not used. */
      sort_column<IN_COLUMN> (a, min (x0 + column - 1, a.size[0]),
          min (y0 + row - 1, a.size[1]), z, v);
#pragma unroll
      for (int k = 0; k < IN_COLUMN; k++)
        shared.columns[k][row][column] = v[k];
    }
    __syncthreads ();
    for (int i = tid; i < HEIGHT * COLUMNS; i += THREADS) {
      const int column = i % COLUMNS, row = i / COLUMNS;
      int v[IN_PLANE];

#pragma unroll
      for (int k = 0; k < IN_PLANE; k++)
        v[k] = shared.columns[k % IN_COLUMN][row + k / IN_COLUMN][column];
      merge<IN_COLUMN, IN_COLUMN> (v);
      merge<2 * IN_COLUMN, IN_COLUMN> (v);
#pragma unroll
      for (int k = 0; k < IN_PLANE; k++)
        shared.planes[k][row][column] = v[k];
    }
    __syncthreads ();

    /* The planes x - 1 to x + 2 are in columns x to x + 3. The value of rank
     * MIDDLE of two sorted lists is the least, over i, of the larger one of
     * value MIDDLE - i of one list and value i - 1 of the other. */
    int v[2 * IN_PLANE], median[2];

#pragma unroll
    for (int k = 0; k < IN_PLANE; k++) {
      const int *row = shared.planes[k][y];

      v[k] = row[x + 1];
      v[IN_PLANE + k] = row[x + 2];
    }
    merge<IN_PLANE, IN_PLANE> (v);
    median[0] = median[1] = v[MIDDLE];
#pragma unroll
    for (int i = 1; i <= IN_PLANE; i++) {
      const int *row = shared.planes[i - 1][y];

      median[0] = min (median[0], max (v[MIDDLE - i], row[x]));
      median[1] = min (median[1], max (v[MIDDLE - i], row[x + 3]));
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const size_t at =
          ((size_t) z * a.size[1] + y0 + y) * a.size[0] + x0 + x + i;

      if (x0 + x + i < a.size[0] && y0 + y < a.size[1])
        a.out[at] = add_sample (a, median[i], at);
    }
    __syncthreads ();
  }
}

template <int IN_COLUMN>
void
run (const HalfMedian &a, cudaStream_t stream)
{
  const dim3 blocks (divide_up (a.size[0], WIDTH),
      divide_up (a.size[1], HEIGHT), std::min (a.size[2], 65535));

  launch_early (speckle_median_kernel<IN_COLUMN>, blocks, dim3 (THREADS),
      sizeof (MedianShared<IN_COLUMN>), stream, a);
}

} // namespace

void
compute_half_median (const HalfMedian &a, cudaStream_t stream)
{
  if (a.size[2] > 1)
    run<9> (a, stream);
  else
    run<3> (a, stream);
}

} // namespace nd
