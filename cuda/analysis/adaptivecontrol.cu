/* The control tensor of each sample: the last axis of the window, eigenvalues
 * and their remapping.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/adaptivederive.cuh"
#include "cuda/analysis/adaptivekernels.cuh"
#include "cuda/analysis/approximate.cuh"
#include "cuda/launch.cuh"

namespace nd
{

namespace
{

constexpr int WIDTH = 32; /* samples along x, one of each lane */

struct Trace
{
  AdaptiveBand band;
  float *out;
};

/* A thread block has N warps, one for each component of a tensor, and WIDTH x N
 * samples along x and z or, in a single plane, along x and y. */
template <int SPACE, int N>
dim3
count_blocks (const int size[3])
{
  const size_t across = (size[0] + WIDTH - 1) / WIDTH;

  return SPACE == 3 ? dim3 (across * size[1] * ((size[2] + N - 1) / N))
                    : dim3 (across * ((size[1] + N - 1) / N) * size[2]);
}

struct Place
{
  int x, y, z;
};

template <int SPACE, int N>
__device__ __forceinline__ Place
find_place (const int size[3])
{
  const unsigned across = (size[0] + WIDTH - 1) / WIDTH, i = blockIdx.x;
  const int x = i % across * WIDTH + threadIdx.x;

  if (SPACE == 3)
    return { x, (int) (i / across % size[1]),
      (int) (i / across / size[1]) * N + (int) threadIdx.y };
  return { x, (int) (i / across) * N + (int) threadIdx.y, 0 };
}

__device__ __forceinline__ bool
is_inside (const Place &p, const int size[3])
{
  return p.x < size[0] && p.y < size[1] && p.z < size[2];
}

/* The sums over z of component @k, of all samples of the thread block with the
 * x and y of @p, to the rows @to[N][N][WIDTH] of samples and components. */
template <int N, int RADIUS>
__device__ __forceinline__ void
sum_component (const AdaptiveBand &a, const Place &p, int k, float *to)
{
  const int *size = a.volume.size;
  const ptrdiff_t plane = (ptrdiff_t) size[0] * size[1];
  const int z0 = p.z - (int) threadIdx.y;
  const float *const in =
      a.tensor + k * a.volume.samples + (size_t) p.y * size[0] + p.x;
  float v[N + 2 * RADIUS];

  if (z0 >= RADIUS && z0 + N + RADIUS <= size[2]) {
    const float *from = in + (z0 - RADIUS) * plane;

#pragma unroll
    for (int i = 0; i < N + 2 * RADIUS; i++, from += plane)
      v[i] = *from;
  } else {
#pragma unroll
    for (int i = 0; i < N + 2 * RADIUS; i++)
      v[i] =
          in[nearest_index (a.volume.border, z0 - RADIUS + i, size[2]) * plane];
  }
#pragma unroll
  for (int o = 0; o < N; o++) {
    float sum = a.window[0] * v[o + RADIUS];

#pragma unroll
    for (int u = 1; u <= RADIUS; u++)
      sum = fmaf (a.window[u], v[o + RADIUS - u] + v[o + RADIUS + u], sum);
    to[o * N * WIDTH] = sum;
  }
}

/* T of one sample: the sum over z. The whole thread block calls it. */
template <int SPACE, int N>
__device__ __forceinline__ void
sum_depth (const AdaptiveBand &a, const Place &p, float *t)
{
  if constexpr (SPACE == 2) {
    const float *const in = a.tensor + (size_t) p.y * a.volume.size[0] + p.x;

#pragma unroll
    for (int k = 0; k < N; k++)
      t[k] = is_inside (p, a.volume.size) ? in[k * a.volume.samples] : 0;
  } else {
    __shared__ float sums[N][N][WIDTH];
    float *const to = &sums[0][threadIdx.y][threadIdx.x];

    if (p.x < a.volume.size[0]) {
      if (a.radius <= 3)
        sum_component<N, 3> (a, p, threadIdx.y, to);
      else if (a.radius <= 4)
        sum_component<N, 4> (a, p, threadIdx.y, to);
      else
        sum_component<N, 5> (a, p, threadIdx.y, to);
    }
    __syncthreads ();
#pragma unroll
    for (int k = 0; k < N; k++)
      t[k] = sums[threadIdx.y][k][threadIdx.x];
  }
}

template <int SPACE, bool TIME>
__global__ void __launch_bounds__ (WIDTH *component_count (SPACE + TIME))
adaptive_trace_kernel (const __grid_constant__ Trace a)
{
  constexpr int AXES = SPACE + TIME, N = component_count (AXES);
  const int *size = a.band.volume.size;
  const Place p = find_place<SPACE, N> (size);
  float t[N], trace = 0;

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  sum_depth<SPACE, N> (a.band, p, t);
  if (!is_inside (p, size))
    return;
#pragma unroll
  for (int i = 0; i < AXES; i++)
    trace += t[tensor_index<AXES> (i, i)];
  a.out[((size_t) p.z * size[1] + p.y) * size[0] + p.x] = trace;
}

/* Its error is 2 to 3 units of the last digit, if @x is normal and above 0. The
 * result is from 2^-126 to 2^126. */
__device__ __forceinline__ float
power (float x, float exponent)
{
  float r;

  asm ("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  r = fminf (fmaxf (r * exponent, -126.f), 126.f);
  asm ("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(r));
  return r;
}

/* A Jacobi rotation of axes @p and @q that makes t[p][q] zero, of @t and @h. */
template <int AXES>
__device__ __forceinline__ void
rotate (float *t, float *h, int p, int q)
{
  const int pp = tensor_index<AXES> (p, p), qq = tensor_index<AXES> (q, q);
  const int pq = tensor_index<AXES> (p, q);
  const float d = t[qq] - t[pp], a = 2 * t[pq];
  const float side = fabsf (d) + approximate_root (fmaf (d, d, a * a)) + 1e-30f;
  const float tan = copysignf (1, d) * __fdividef (a, side);
  const float c = approximate_inverse_root (fmaf (tan, tan, 1.f)), s = tan * c;
  const float cc = c * c, ss = s * s, cs = c * s;
  const float hpp = h[pp], hqq = h[qq], hpq = h[pq];

  t[pp] -= tan * t[pq];
  t[qq] += tan * t[pq];
  t[pq] = 0;
  h[pp] = cc * hpp - 2 * cs * hpq + ss * hqq;
  h[qq] = ss * hpp + 2 * cs * hpq + cc * hqq;
  h[pq] = cs * (hpp - hqq) + (cc - ss) * hpq;
#pragma unroll
  for (int k = 0; k < AXES; k++) {
    const int kp = tensor_index<AXES> (k, p), kq = tensor_index<AXES> (k, q);

    if (k == p || k == q)
      continue;
    const float tp = t[kp], tq = t[kq], hp = h[kp], hq = h[kq];

    t[kp] = c * tp - s * tq;
    t[kq] = s * tp + c * tq;
    h[kp] = c * hp - s * hq;
    h[kq] = s * hp + c * hq;
  }
}

/* Rotates both to the axes of the eigenvectors of @t, whose trace is 1. */
template <int AXES>
__device__ __forceinline__ void
diagonalize (float *t, float *h)
{
#pragma unroll 1
  for (int sweep = 0; sweep < (AXES == 2 ? 1 : 5); sweep++) {
    float rest = 0;

#pragma unroll
    for (int p = 0; p < AXES; p++) {
#pragma unroll
      for (int q = p + 1; q < AXES; q++)
        rest += fabsf (t[tensor_index<AXES> (p, q)]);
    }
    /* NaN ends it too. */
    if (!(rest > 1e-7f))
      break;
#pragma unroll
    for (int p = 0; p < AXES; p++) {
#pragma unroll
      for (int q = p + 1; q < AXES; q++)
        rotate<AXES> (t, h, p, q);
    }
  }
}

/* An upper bound of the eigenvalues of @t, whose trace is 1 (Wolkowicz and
 * Styan, Bounds for eigenvalues using traces, 1980). */
template <int AXES>
__device__ __forceinline__ float
bound_eigenvalues (const float *t)
{
  constexpr float MEAN = 1.f / AXES;
  float squares = 0;

#pragma unroll
  for (int i = 0; i < AXES; i++) {
    const float d = t[tensor_index<AXES> (i, i)] - MEAN;

    squares = fmaf (d, d, squares);
#pragma unroll
    for (int j = i + 1; j < AXES; j++) {
      const float e = t[tensor_index<AXES> (i, j)];

      squares = fmaf (2 * e, e, squares);
    }
  }
  return MEAN + approximate_root (squares * ((AXES - 1) * MEAN));
}

/* The largest value first, with @others. */
template <int AXES>
__device__ __forceinline__ void
sort (float *values, float *others)
{
#pragma unroll
  for (int i = 0; i + 1 < AXES; i++) {
#pragma unroll
    for (int j = AXES - 1; j > i; j--) {
      const bool swap = values[j] > values[j - 1];
      const float value = values[j], other = others[j];

      values[j] = swap ? values[j - 1] : value;
      values[j - 1] = swap ? value : values[j - 1];
      others[j] = swap ? others[j - 1] : other;
      others[j - 1] = swap ? other : others[j - 1];
    }
  }
}

/* The inner product of @h and the control tensor whose eigenvalues
 * nd_adaptive_remap() gives. The eigenvalues of the structure tensor minus the
 * floor are @values, and the diagonal of H on its axes is @h. */
template <int AXES>
__device__ __forceinline__ float
remap (const AdaptiveControl &c, const float *values, const float *h)
{
  float before = values[0];
  float factor = power (before, c.m_beta);

  factor = __fdividef (factor,
      (c.m_power == c.m_beta ? factor : power (before, c.m_power)) + c.m_sigma);
  if (c.m_root != 1)
    factor = power (factor + 1e-30f, c.m_root);
  float result = factor * h[0];

#pragma unroll
  for (int k = 1; k < AXES; k++) {
    const float x = fminf (values[k] / before, 1.f);
    const float a = power (fmaf (x, 1 - c.mu_alpha, 1e-30f), c.mu_beta);
    const float b = power (fmaf (1 - x, c.mu_alpha, 1e-30f), c.mu_beta);
    float mu = a / (a + b);

    if (c.mu_root != 1)
      mu = power (mu + 1e-30f, c.mu_root);
    const float kept = power (values[k], c.m_beta);

    factor = fmaxf (factor * mu, kept / (kept + c.keep));
    result += factor * h[k];
    before = values[k];
  }
  return result;
}

template <int AXES>
__device__ __forceinline__ float
control (const AdaptiveControl &c, float scale, float *t, float *h)
{
  constexpr int N = component_count (AXES);
  float trace = 0, values[AXES], responses[AXES];

#pragma unroll
  for (int i = 0; i < AXES; i++)
    trace += t[tensor_index<AXES> (i, i)];
  const float divisor = 1 / (trace + 1e-30f);

#pragma unroll
  for (int i = 0; i < N; i++)
    t[i] *= divisor;
  /* If all eigenvalues are noise, all factors are equal, so that the axes do
   * not matter. */
  if (!(bound_eigenvalues<AXES> (t) * trace * scale <= c.floor))
    diagonalize<AXES> (t, h);
#pragma unroll
  for (int i = 0; i < AXES; i++) {
    values[i] = fmaxf (t[tensor_index<AXES> (i, i)] * trace * scale - c.floor,
        c.min_value);
    responses[i] = h[tensor_index<AXES> (i, i)];
  }
  sort<AXES> (values, responses);
  /* NaN and infinite tensors make NaN. */
  return remap<AXES> (c, values, responses) + trace * 0;
}

template <int SPACE, bool TIME>
__global__ void __launch_bounds__ (WIDTH *component_count (SPACE + TIME))
adaptive_control_kernel (const __grid_constant__ AdaptiveControl a)
{
  constexpr int AXES = SPACE + TIME, N = component_count (AXES);
  const int *size = a.band.volume.size;
  const Place p = find_place<SPACE, N> (size);
  float t[N], h[N], b[AXES];

  launch_dependent_grids ();
  wait_on_dependent_grids ();
  sum_depth<SPACE, N> (a.band, p, t);
  if (!is_inside (p, size))
    return;
  const size_t at = ((size_t) p.z * size[1] + p.y) * size[0] + p.x;
  const float scale = a.trace
      ? 1 / fmaxf (*a.trace * a.speckle, (float) ND_ADAPTIVE_MIN_NOISE)
      : a.scale;
  const float low = a.low[at];
  float rest = a.above[at] - low;

  differentiate<SPACE, TIME> (a.band, p.x, p.y, p.z, b, h);
#pragma unroll
  for (int i = 0; i < AXES; i++)
    rest -= h[tensor_index<AXES> (i, i)];
#pragma unroll
  for (int i = 0; i < AXES; i++)
    h[tensor_index<AXES> (i, i)] += rest * (1.f / AXES);
  float result = control<AXES> (a, scale, t, h);

  if (!a.is_first)
    result += a.out[at];
  a.out[at] = a.is_last ? result + low : result;
}

template <int SPACE, bool TIME>
void
launch_trace (const Trace &a, cudaStream_t stream)
{
  constexpr int N = component_count (SPACE + TIME);

  launch_early (adaptive_trace_kernel<SPACE, TIME>,
      count_blocks<SPACE, N> (a.band.volume.size), dim3 (WIDTH, N), 0, stream,
      a);
}

template <int SPACE, bool TIME>
void
launch_control (const AdaptiveControl &a, cudaStream_t stream)
{
  constexpr int N = component_count (SPACE + TIME);

  launch_early (adaptive_control_kernel<SPACE, TIME>,
      count_blocks<SPACE, N> (a.band.volume.size), dim3 (WIDTH, N), 0, stream,
      a);
}

} // namespace

void
trace_adaptive_tensors (const AdaptiveBand &band, float *trace,
    cudaStream_t stream)
{
  /* Speckle is not filtered along time. */
  if (band.volume.is_deep)
    launch_trace<3, false> ({ band, trace }, stream);
  else
    launch_trace<2, false> ({ band, trace }, stream);
}

void
add_adaptive_band (const AdaptiveControl &a, cudaStream_t stream)
{
  const AdaptiveVolume &volume = a.band.volume;

  if (volume.is_deep && volume.has_time)
    launch_control<3, true> (a, stream);
  else if (volume.is_deep)
    launch_control<3, false> (a, stream);
  else if (volume.has_time)
    launch_control<2, true> (a, stream);
  else
    launch_control<2, false> (a, stream);
}

} // namespace nd
