/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/flowkernels.cuh"

#include "cuda/analysis/eachsample.cuh"
#include "cuda/analysis/interpolate.cuh"

namespace nd
{

namespace
{

__device__ __forceinline__ int
clamp_index (int i, int n)
{
  return min (max (i, 0), n - 1);
}

__device__ __forceinline__ float
mix (float a, float b, float share)
{
  return a + share * (b - a);
}

/* Planes of a thread, which reads two more. */
constexpr int SMOOTH_PLANES = 8;

struct Smoothing
{
  int size[3], chunks[3];
  const float *in;
  float *out;
};

/* Along x and y. */
__device__ __forceinline__ float
smooth_plane (const Smoothing &a, int x, int y, int z)
{
  const int left = max (x - 1, 0), right = min (x + 1, a.size[0] - 1);
  float sums[3];

#pragma unroll
  for (int i = 0; i < 3; i++) {
    const float *row = a.in
        + sample_index (a.size, 0, clamp_index (y + i - 1, a.size[1]),
            clamp_index (z, a.size[2]));

    sums[i] = .25f * (row[left] + row[right]) + .5f * row[x];
  }
  return .25f * (sums[0] + sums[2]) + .5f * sums[1];
}

__global__ void __launch_bounds__ (THREADS)
flow_smooth_kernel (const __grid_constant__ Smoothing a)
{
  /* z counts chunks. */
  FOR_EACH_SAMPLE (a.chunks, x, y, z)
  {
    const int first = z * SMOOTH_PLANES;
    const int last = min (first + SMOOTH_PLANES, a.size[2]);
    float before = smooth_plane (a, x, y, first - 1);
    float here = smooth_plane (a, x, y, first);

    for (int plane = first; plane < last; plane++) {
      const float after = smooth_plane (a, x, y, plane + 1);

      a.out[sample_index (a.size, x, y, plane)] =
          .25f * (before + after) + .5f * here;
      before = here;
      here = after;
    }
  }
}

/* Half the differences of the samples around one. */
__device__ __forceinline__ void
gradient (const float *in, const int size[3], const int at[3], float g[3])
{
#pragma unroll
  for (int a = 0; a < 3; a++) {
    int from[3] = { at[0], at[1], at[2] }, to[3] = { at[0], at[1], at[2] };

    from[a] = max (at[a] - 1, 0);
    to[a] = min (at[a] + 1, size[a] - 1);
    g[a] = (in[sample_index (size, to[0], to[1], to[2])]
               - in[sample_index (size, from[0], from[1], from[2])])
        * .5f;
  }
}

/* The values of cells at the 8 samples of one cell: along each axis the nearer
 * cell counts 3/4, the other one 1/4. */
__device__ __forceinline__ void
interpolate_cell (const float *cells, const int n[3], int x, int y, int z,
    float out[8])
{
  const int xs[3] = { max (x - 1, 0), x, min (x + 1, n[0] - 1) };
  float planes[3][4];

#pragma unroll
  for (int k = 0; k < 3; k++) {
    float rows[3][2];

#pragma unroll
    for (int j = 0; j < 3; j++) {
      const float *row = cells
          + sample_index (n, 0, clamp_index (y + j - 1, n[1]),
              clamp_index (z + k - 1, n[2]));
      const float near = .75f * row[xs[1]];

      rows[j][0] = near + .25f * row[xs[0]];
      rows[j][1] = near + .25f * row[xs[2]];
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
      planes[k][i] = .75f * rows[1][i & 1] + .25f * rows[i & 2][i & 1];
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
    out[i] = .75f * planes[1][i & 3] + .25f * planes[(i & 4) / 2][i & 3];
}

/* The sample below a position, which is clamped to the axis, and the distance
 * from it. */
__device__ __forceinline__ int
split (float position, int n, float *distance)
{
  const float inside = fminf (fmaxf (position, 0.f), (float) (n - 1));
  const int below = (int) inside;

  *distance = inside - (float) below;
  return below;
}

/* Linear interpolation at sample @at, displaced by @flow. */
__device__ __forceinline__ float
read_displaced (const float *in, const int size[3], const int at[3],
    const float flow[3])
{
  int below[3], above[3];
  float distance[3], planes[2];

#pragma unroll
  for (int a = 0; a < 3; a++) {
    below[a] = split ((float) at[a] + flow[a], size[a], &distance[a]);
    above[a] = min (below[a] + 1, size[a] - 1);
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int z = k ? above[2] : below[2];
    const float *row = in + sample_index (size, 0, below[1], z);
    const float *next = in + sample_index (size, 0, above[1], z);

    planes[k] = mix (mix (row[below[0]], row[above[0]], distance[0]),
        mix (next[below[0]], next[above[0]], distance[0]), distance[1]);
  }
  return mix (planes[0], planes[1], distance[2]);
}

struct CellSums
{
  FlowLevel level;
  float ratio;
};

/* The means of the products of the gradients in a cell: 6 of the target alone
 * or, if RESIDUAL, 3 with the difference to the other volume. */
template <bool RESIDUAL>
__global__ void __launch_bounds__ (THREADS)
flow_sum_kernel (const __grid_constant__ CellSums a)
{
  constexpr int N = RESIDUAL ? 3 : 6;
  const FlowLevel &level = a.level;

  FOR_EACH_SAMPLE (level.cells, x, y, z)
  {
    const int first[3] = { 2 * x, 2 * y, 2 * z };
    float flow[3][8], sums[N] = {};
    int n = 0;

    for (int k = 0; RESIDUAL && k < 3; k++)
      interpolate_cell (level.flow + k * level.n_cells, level.cells, x, y, z,
          flow[k]);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int at[3] = { first[0] + (i & 1), first[1] + (i >> 1 & 1),
        first[2] + (i >> 2) };
      float g[3];

      if (at[0] >= level.size[0] || at[1] >= level.size[1]
          || at[2] >= level.size[2])
        continue;
      n++;
      gradient (level.target, level.size, at, g);
      if constexpr (RESIDUAL) {
        const float to[3] = { a.ratio * flow[0][i], a.ratio * flow[1][i],
          a.ratio * flow[2][i] };
        const float moved = read_displaced (level.other, level.size, at, to)
            - level.target[sample_index (level.size, at[0], at[1], at[2])];

#pragma unroll
        for (int k = 0; k < 3; k++)
          sums[k] += g[k] * moved;
      } else {
        sums[0] += g[0] * g[0];
        sums[1] += g[0] * g[1];
        sums[2] += g[0] * g[2];
        sums[3] += g[1] * g[1];
        sums[4] += g[1] * g[2];
        sums[5] += g[2] * g[2];
      }
    }

    float *out = level.sums + sample_index (level.cells, x, y, z);

    for (int k = 0; k < N; k++)
      out[k * level.n_cells] = sums[k] / (float) n;
  }
}

/* The window over cells: binomial coefficients of order 6, / 64. */
constexpr int WINDOW = 3;
__device__ __forceinline__ constexpr float
window_factor (int i)
{
  constexpr float factors[2 * WINDOW + 1] = { .015625f, .09375f, .234375f,
    .3125f, .234375f, .09375f, .015625f };

  return factors[i];
}

struct Windows
{
  FlowLevel level;
  int n; /* components */
};

/* Along y, then x. */
__global__ void __launch_bounds__ (THREADS)
flow_window_kernel (const __grid_constant__ Windows a)
{
  constexpr int WIDTH = THREADS_X + 2 * WINDOW;
  constexpr int HEIGHT = THREADS_Y + 2 * WINDOW;
  __shared__ float tile[HEIGHT][WIDTH], along_y[THREADS_Y][WIDTH];
  const int *cells = a.level.cells;
  const int tid = threadIdx.y * THREADS_X + threadIdx.x;
  const int x0 = blockIdx.x * THREADS_X, y0 = blockIdx.y * THREADS_Y;
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  for (int i = blockIdx.z; i < cells[2] * a.n; i += gridDim.z) {
    const int z = i % cells[2];
    const size_t component = i / cells[2] * a.level.n_cells;
    const float *in = a.level.sums + component;
    float sum = 0;

    for (int k = tid; k < HEIGHT * WIDTH; k += THREADS)
      tile[k / WIDTH][k % WIDTH] = in[sample_index (cells,
          clamp_index (x0 + k % WIDTH - WINDOW, cells[0]),
          clamp_index (y0 + k / WIDTH - WINDOW, cells[1]), z)];
    __syncthreads ();
    for (int k = tid; k < THREADS_Y * WIDTH; k += THREADS) {
      float column = 0;

#pragma unroll
      for (int j = 0; j <= 2 * WINDOW; j++)
        column += window_factor (j) * tile[k / WIDTH + j][k % WIDTH];
      along_y[k / WIDTH][k % WIDTH] = column;
    }
    __syncthreads ();
#pragma unroll
    for (int j = 0; j <= 2 * WINDOW; j++)
      sum += window_factor (j) * along_y[threadIdx.y][threadIdx.x + j];
    if (x < cells[0] && y < cells[1])
      a.level.windows[component + sample_index (cells, x, y, z)] = sum;
  }
}

/* Along z: @n components. */
template <int N>
__device__ __forceinline__ void
window_along_z (const FlowLevel &level, int x, int y, int z, float sums[N])
{
#pragma unroll
  for (int k = 0; k < N; k++)
    sums[k] = 0;
#pragma unroll
  for (int i = 0; i <= 2 * WINDOW; i++) {
    const float *in = level.windows
        + sample_index (level.cells, x, y,
            clamp_index (z + i - WINDOW, level.cells[2]));

#pragma unroll
    for (int k = 0; k < N; k++)
      sums[k] += window_factor (i) * in[k * level.n_cells];
  }
}

struct Inversion
{
  FlowLevel level;
  double regular;
};

/* 0 in place of an inverse that does not exist. */
__global__ void __launch_bounds__ (THREADS)
flow_invert_kernel (const __grid_constant__ Inversion a)
{
  FOR_EACH_SAMPLE (a.level.cells, x, y, z)
  {
    float sums[6];

    window_along_z<6> (a.level, x, y, z, sums);

    const double xx = sums[0] + a.regular, xy = sums[1], xz = sums[2];
    const double yy = sums[3] + a.regular, yz = sums[4];
    const double zz = sums[5] + a.regular;
    const double cofactors[6] = { yy * zz - yz * yz, xz * yz - xy * zz,
      xy * yz - xz * yy, xx * zz - xz * xz, xy * xz - xx * yz,
      xx * yy - xy * xy };
    const double scale =
        1 / (xx * cofactors[0] + xy * cofactors[1] + xz * cofactors[2]);
    const bool exists = isfinite (scale) && scale > 0;
    float *out = a.level.inverse + sample_index (a.level.cells, x, y, z);

    for (int k = 0; k < 6; k++)
      out[k * a.level.n_cells] = exists ? (float) (cofactors[k] * scale) : 0.f;
  }
}

struct Step
{
  FlowLevel level;
  float ratio, limit;
};

/* At most one sample far; NaN is no step. */
__global__ void __launch_bounds__ (THREADS)
flow_step_kernel (const __grid_constant__ Step a)
{
  const FlowLevel &level = a.level;

  FOR_EACH_SAMPLE (level.cells, x, y, z)
  {
    const size_t at = sample_index (level.cells, x, y, z);
    float b[3], inverse[6];

    window_along_z<3> (level, x, y, z, b);
#pragma unroll
    for (int k = 0; k < 6; k++)
      inverse[k] = level.inverse[k * level.n_cells + at];
#pragma unroll
    for (int k = 0; k < 3; k++) {
      constexpr int INDEX[3][3] = { { 0, 1, 2 }, { 1, 3, 4 }, { 2, 4, 5 } };
      float &flow = level.flow[k * level.n_cells + at];
      float step = -(inverse[INDEX[k][0]] * b[0] + inverse[INDEX[k][1]] * b[1]
          + inverse[INDEX[k][2]] * b[2]);

      step = isnan (step) ? 0.f : fminf (fmaxf (step, -1.f), 1.f);
      flow = fminf (fmaxf (a.ratio * flow + step, -a.limit), a.limit);
    }
  }
}

struct Refinement
{
  FlowLevel coarse, fine;
};

__global__ void __launch_bounds__ (THREADS)
flow_refine_kernel (const __grid_constant__ Refinement a)
{
  FOR_EACH_SAMPLE (a.fine.cells, x, y, z)
  {
    const int at[3] = { x, y, z };
    int near[3], far[3];

    locate_cells (at, a.coarse.cells, near, far);
#pragma unroll
    for (int k = 0; k < 3; k++)
      a.fine.flow[k * a.fine.n_cells + sample_index (a.fine.cells, x, y, z)] = 2
          * interpolate_sample (a.coarse.flow + k * a.coarse.n_cells,
              a.coarse.cells, near, far);
  }
}

struct Move
{
  FlowLevel level;
  const float *in[2];
  float *out[2];
};

/* The weights of the 4 samples around a position (Catmull and Rom). At distance
 * 0 they are 0, 1, 0, 0. */
__device__ __forceinline__ void
cubic_weights (float a, float w[4])
{
  w[0] = ((2 - a) * a - 1) * a * .5f;
  w[1] = ((3 * a - 5) * a * a + 2) * .5f;
  w[2] = ((4 - 3 * a) * a + 1) * a * .5f;
  w[3] = (a - 1) * a * a * .5f;
}

/* FLAT: of one plane. */
template <bool FLAT>
__global__ void __launch_bounds__ (THREADS)
flow_move_kernel (const __grid_constant__ Move a)
{
  const FlowLevel &level = a.level;
  const int *size = level.size;

  FOR_EACH_SAMPLE (size, x, y, z)
  {
    const int at[3] = { x, y, z };
    int near[3], far[3], xs[4], ys[4], zs[4];
    float w[3][4], sums[2] = { 0, 0 };
    int *const places[3] = { xs, ys, zs };

    locate_cells (at, level.cells, near, far);
#pragma unroll
    for (int k = 0; k < 3; k++) {
      float distance;
      const int below = split ((float) at[k]
              + interpolate_sample (level.flow + k * level.n_cells, level.cells,
                  near, far),
          size[k], &distance);

      cubic_weights (distance, w[k]);
#pragma unroll
      for (int i = 0; i < 4; i++)
        places[k][i] = clamp_index (below + i - 1, size[k]);
    }
#pragma unroll
    for (int k = 0; k < (FLAT ? 1 : 4); k++) {
      float planes[2] = { 0, 0 };

#pragma unroll
      for (int j = 0; j < 4; j++) {
        const size_t row = sample_index (size, 0, ys[j], FLAT ? 0 : zs[k]);

#pragma unroll
        for (int v = 0; v < 2; v++) {
          const float *in = a.in[v] + row;
          const float line = in[xs[0]] * w[0][0] + in[xs[1]] * w[0][1]
              + in[xs[2]] * w[0][2] + in[xs[3]] * w[0][3];

          planes[v] += line * w[1][j];
        }
      }
#pragma unroll
      for (int v = 0; v < 2; v++)
        sums[v] = FLAT ? planes[v] : sums[v] + planes[v] * w[2][k];
    }
#pragma unroll
    for (int v = 0; v < 2; v++)
      a.out[v][sample_index (size, x, y, z)] = sums[v];
  }
}

/* Averages the first @n components of the sums of @level along x and y. */
void
average (const FlowLevel &level, int n, cudaStream_t stream)
{
  const int planes[3] = { level.cells[0], level.cells[1],
    std::min (level.cells[2], 65535) * n };

  launch_volume (flow_window_kernel, planes, Windows{ level, n }, stream);
}

} // namespace

void
smooth_volume (const float *in, const int size[3], float *out,
    cudaStream_t stream)
{
  const Smoothing a = { { size[0], size[1], size[2] },
    { size[0], size[1], (int) divide_up (size[2], SMOOTH_PLANES) }, in, out };

  launch_volume (flow_smooth_kernel, a.chunks, a, stream);
}

void
invert_tensors (const FlowLevel &level, double regular, cudaStream_t stream)
{
  launch_volume (flow_sum_kernel<false>, level.cells, CellSums{ level, 1 },
      stream);
  average (level, 6, stream);
  launch_volume (flow_invert_kernel, level.cells, Inversion{ level, regular },
      stream);
}

void
step_flow (const FlowLevel &level, float ratio, float limit,
    cudaStream_t stream)
{
  launch_volume (flow_sum_kernel<true>, level.cells, CellSums{ level, ratio },
      stream);
  average (level, 3, stream);
  launch_volume (flow_step_kernel, level.cells, Step{ level, ratio, limit },
      stream);
}

void
refine_flow (const FlowLevel &coarse, const FlowLevel &fine,
    cudaStream_t stream)
{
  launch_volume (flow_refine_kernel, fine.cells, Refinement{ coarse, fine },
      stream);
}

void
move_volumes (const FlowLevel &level, const float *const in[2],
    float *const out[2], cudaStream_t stream)
{
  launch_volume (level.size[2] == 1 ? flow_move_kernel<true>
                                    : flow_move_kernel<false>,
      level.size, Move{ level, { in[0], in[1] }, { out[0], out[1] } }, stream);
}

} // namespace nd
