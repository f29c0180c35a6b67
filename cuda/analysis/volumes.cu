/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/volumes.cuh"

#include "cuda/analysis/eachsample.cuh"
#include "cuda/analysis/interpolate.cuh"
#include "cuda/samples.cuh"

namespace nd
{

namespace
{

/* Samples */

struct Component
{
  unsigned char *data;
  size_t sample, row, slice;
  int type;
  int size[3];
  float *floats;
  Unclipping unclipping;
};

__global__ void
denoise_read_kernel (const __grid_constant__ Component a)
{
  FOR_EACH_SAMPLE (a.size, x, y, z)
  {
    const void *from = a.data + x * a.sample + y * a.row + z * a.slice;

    a.floats[sample_index (a.size, x, y, z)] =
        visit_sample_type (a.type, [&] (auto type) -> float {
          return *(const typename decltype (type)::Type *) from;
        });
  }
}

__device__ float
look_up (const Unclipping &u, float above_low)
{
  const float at = above_low * (ND_CLIPPING_TABLE / u.span);
  const int i = min ((int) fmaxf (at, 0.f), ND_CLIPPING_TABLE - 1);

  return u.table[i] + (at - i) * (u.table[i + 1] - u.table[i]);
}

__device__ float
unclip (const Unclipping &u, float value)
{
  if (!u.table)
    return value;
  if (value < u.low + u.span)
    return u.low + look_up (u, value - u.low);
  if (value > u.high - u.span)
    return u.high - look_up (u, u.high - value);
  return value;
}

template <typename T>
__device__ void
store (void *to, float value)
{
  if constexpr (is_integer<T>) {
    value = isnan (value) ? 0.f : value;
    value = fminf (fmaxf (value, (float) lowest<T>), (float) highest<T>);
    *(T *) to = (T) (int) rintf (value);
  } else {
    *(T *) to = (T) value;
  }
}

__global__ void
denoise_write_kernel (const __grid_constant__ Component a)
{
  FOR_EACH_SAMPLE (a.size, x, y, z)
  {
    void *to = a.data + x * a.sample + y * a.row + z * a.slice;
    const float value =
        unclip (a.unclipping, a.floats[sample_index (a.size, x, y, z)]);

    visit_sample_type (a.type,
        [&] (auto type) { store<typename decltype (type)::Type> (to, value); });
  }
}

Component
make_component (const NdSamples &volume, const int size[3], NdSampleType type,
    size_t component, float *floats)
{
  return Component{ volume.data + component * nd_sample_size (type),
    volume.sample, volume.row, volume.slice, (int) type,
    { size[0], size[1], size[2] }, floats, {} };
}

/* The coarse scale */

struct Scales
{
  int size[3], coarse[3];
  const float *in, *minuend;
  float *out;
};

Scales
make_scales (const int size[3], const float *in, const float *minuend,
    float *out)
{
  return Scales{ { size[0], size[1], size[2] },
    { (size[0] + 1) / 2, (size[1] + 1) / 2, (size[2] + 1) / 2 }, in, minuend,
    out };
}

__global__ void
denoise_coarsen_kernel (const __grid_constant__ Scales a)
{
  FOR_EACH_SAMPLE (a.coarse, x, y, z)
  {
    const int b = min (2 * x + 1, a.size[0] - 1);
    const size_t at = sample_index (a.coarse, x, y, z);
    float pair[4];

#pragma unroll
    for (int i = 0; i < 4; i++) {
      const size_t row =
          sample_index (a.size, 0, min (2 * y + (i & 1), a.size[1] - 1),
              min (2 * z + (i >> 1), a.size[2] - 1));

      pair[i] = a.in[row + 2 * x] + a.in[row + b];
    }

    const float mean = .125f * (pair[0] + pair[1] + (pair[2] + pair[3]));

    a.out[at] = a.minuend ? a.minuend[at] - mean : mean;
  }
}

__global__ void
denoise_refine_kernel (const __grid_constant__ Scales a)
{
  FOR_EACH_SAMPLE (a.size, x, y, z)
  {
    const int at[3] = { x, y, z };
    int near[3], far[3];

    locate_cells (at, a.coarse, near, far);
    a.out[sample_index (a.size, x, y, z)] +=
        interpolate_sample (a.in, a.coarse, near, far);
  }
}

/* Noise */

struct NoiseCount
{
  const float *volume;
  int size[3], n[3]; /* samples, differences */
  int every;         /* rows one is counted */
  unsigned n_rows;   /* that are counted */
  float low, scale;
  unsigned first, n_bins;
  unsigned *bins, n_words; /* of all parts, and a thread block's words */
  NoiseCounts *counts;
};

constexpr int NOISE_THREADS = 1024;
/* Differences of a thread block, about: more thread blocks add more counts that
 * are not 0, fewer ones wait longer for samples. */
constexpr int NOISE_SHARE = 2048;

/* Counts the threads of a warp that have each part, and adds their values. Most
 * threads have the same part. A thread of part -1 does not count. */
__device__ __forceinline__ void
count_parts (int part, unsigned value, unsigned *counts, unsigned *sums)
{
  constexpr unsigned ALL = 0xffffffff;

  for (unsigned left = __ballot_sync (ALL, part >= 0); left;) {
    const int p = __shfl_sync (ALL, part, __ffs (left) - 1);
    const unsigned same = __ballot_sync (ALL, part == p);
    unsigned sum = part == p ? value : 0;

    for (int i = 16; i > 0; i /= 2)
      sum += __shfl_xor_sync (ALL, sum, i);
    if (threadIdx.x % 32 == 0) {
      atomicAdd (&counts[p], __popc (same));
      atomicAdd (&sums[p], sum);
    }
    left &= ~same;
  }
}

/* Most differences are in a few bins, so that threads would wait for one
 * another at counts in memory. */
__global__ void __launch_bounds__ (NOISE_THREADS)
denoise_count_noise_kernel (const __grid_constant__ NoiseCount a)
{
  /* Two counts in a word, which have 16 bits: a thread block has less than
   * 2^13 differences. */
  extern __shared__ unsigned bins[];
  /* 32 bits hold the sums, because 8 times a mean is below 2^19. */
  __shared__ unsigned counts[ND_NOISE_PARTS], eighths[ND_NOISE_PARTS];
  const unsigned n = a.n_rows * a.n[0];
  const size_t plane = (size_t) a.size[0] * a.size[1];
  const bool has_x = a.size[0] > 1, has_y = a.size[1] > 1;
  const size_t step_x = has_x ? 1 : 0, step_y = has_y ? a.size[0] : 0;
  const size_t step_z = a.size[2] > 1 ? plane : 0;

  for (int i = threadIdx.x; i < ND_NOISE_PARTS; i += NOISE_THREADS)
    counts[i] = eighths[i] = 0;
  for (unsigned i = threadIdx.x; i < a.n_words; i += NOISE_THREADS)
    bins[i] = 0;
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  __syncthreads ();
  for (unsigned first = blockIdx.x * NOISE_THREADS; first < n;
       first += gridDim.x * NOISE_THREADS) {
    const unsigned i = min (first + threadIdx.x, n - 1);
    const size_t row = (size_t) (i / a.n[0]) * a.every;
    const size_t z = row / a.n[1], y = row - z * a.n[1];
    const float *v = a.volume + z * plane + y * a.size[0] + i % a.n[0];
    float difference[2], sum[2];

    for (int k = 0; k < 2; k++) {
      const float *p = v + k * step_x;
      const float b = p[step_y], d = p[step_z + step_y];
      const float near = p[0] - (has_y ? b : 0.f);
      const float far = p[step_z] - (has_y ? d : 0.f);

      difference[k] = near - (step_z ? far : 0.f);
      sum[k] = (p[0] + b) + (p[step_z] + d);
    }

    const float value =
        fabsf (has_x ? difference[0] - difference[1] : difference[0]);
    const float mean8 = sum[0] + sum[1];
    const unsigned bin = __float_as_uint (value) >> ND_NOISE_SHIFT;
    const bool is_counted = isfinite (value) && i == first + threadIdx.x;
    int part = 0;

    /* Only integer types have parts, whose mean is needed. Sums of their
     * samples are whole numbers. */
    if (is_counted && a.scale > 0)
      part = min ((int) ((mean8 / 8 - a.low) * a.scale), ND_NOISE_PARTS - 1);
    if (is_counted) {
      const unsigned at = part * a.n_bins
          + (bin < a.first ? 0 : min (bin - a.first + 1, a.n_bins - 1));

      atomicAdd (&bins[at / 2], at % 2 ? 0x10000u : 1u);
    }
    count_parts (is_counted ? part : -1,
        a.scale > 0 ? (unsigned) (mean8 - 8 * a.low) : 0, counts, eighths);
  }
  __syncthreads ();
  for (unsigned i = threadIdx.x; i < a.n_words; i += NOISE_THREADS) {
    const unsigned even = bins[i] & 0xffff, odd = bins[i] >> 16;

    if (even)
      atomicAdd (&a.bins[2 * i], even);
    if (odd)
      atomicAdd (&a.bins[2 * i + 1], odd);
  }
  for (int i = threadIdx.x; i < ND_NOISE_PARTS; i += NOISE_THREADS) {
    if (counts[i] == 0)
      continue;
    atomicAdd (&a.counts->n[i], (unsigned long long) counts[i]);
    atomicAdd (&a.counts->eighths[i], (unsigned long long) eighths[i]);
  }
}

struct ClippingCount
{
  const float *in, *out;
  int size[3];
  float sigma, low, high;
  ClippingCounts *counts;
};

__global__ void __launch_bounds__ (THREADS)
denoise_count_clipping_kernel (const __grid_constant__ ClippingCount a)
{
  __shared__ ClippingCounts here;
  const size_t rows = ((size_t) a.size[1] * a.size[2] + ND_CLIPPING_EVERY - 1)
      / ND_CLIPPING_EVERY;
  unsigned long long seen = 0, expected = 0;

  if (threadIdx.x == 0)
    here = ClippingCounts{ 0, 0 };
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  __syncthreads ();
  for (size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x;
       i < rows * a.size[0]; i += (size_t) gridDim.x * THREADS) {
    const size_t at =
        i / a.size[0] * ND_CLIPPING_EVERY * a.size[0] + i % a.size[0];
    const float low_side = (a.out[at] - a.low) / a.sigma;
    const float high_side = (a.high - a.out[at]) / a.sigma;
    float side;

    if (low_side < 1) {
      seen += a.in[at] <= a.low;
      side = low_side;
    } else if (high_side < 1) {
      seen += a.in[at] >= a.high;
      side = high_side;
    } else {
      continue;
    }
    expected +=
        (unsigned long long) ((.68 - .47 * fmaxf (side, .4f)) * 4294967296.0);
  }
  atomicAdd (&here.seen, seen);
  atomicAdd (&here.expected, expected);
  __syncthreads ();
  if (threadIdx.x == 0 && here.expected > 0) {
    atomicAdd (&a.counts->seen, here.seen);
    atomicAdd (&a.counts->expected, here.expected);
  }
}

/* Blocks of threads for @n numbers. */
unsigned
count_blocks (size_t n)
{
  return std::max<size_t> (1, std::min<size_t> (n / THREADS / 4, 1024));
}

} // namespace

void
read_component (const NdSamples &volume, const int size[3], NdSampleType type,
    size_t component, float *out, cudaStream_t stream)
{
  launch_volume (denoise_read_kernel, size,
      make_component (volume, size, type, component, out), stream);
}

void
write_component (const NdSamples &volume, const int size[3], NdSampleType type,
    size_t component, const float *in, const Unclipping &unclipping,
    cudaStream_t stream)
{
  Component a =
      make_component (volume, size, type, component, const_cast<float *> (in));

  a.unclipping = unclipping;
  launch_volume (denoise_write_kernel, size, a, stream);
}

void
coarsen (const float *fine, const int size[3], const float *minuend, float *out,
    cudaStream_t stream)
{
  const Scales a = make_scales (size, fine, minuend, out);

  launch_volume (denoise_coarsen_kernel, a.coarse, a, stream);
}

void
add_refined (float *fine, const int size[3], const float *coarse,
    cudaStream_t stream)
{
  launch_volume (denoise_refine_kernel, size,
      make_scales (size, coarse, nullptr, fine), stream);
}

void
count_noise (const float *volume, const int size[3], float low, float high,
    unsigned first, unsigned n_bins, unsigned *bins, NoiseCounts *counts,
    cudaStream_t stream)
{
  NoiseCount a = { volume, { size[0], size[1], size[2] }, {}, 0, 0, low,
    std::isfinite (low) ? ND_NOISE_PARTS / (high - low) : 0, first, n_bins,
    bins, 0, counts };
  size_t n = 1;

  for (int i = 0; i < 3; i++) {
    a.n[i] = size[i] - (size[i] > 1 ? 1 : 0);
    n *= a.n[i];
  }
  a.every = (int) nd_noise_every (n);
  a.n_rows = divide_up ((size_t) a.n[1] * a.n[2], a.every);
  n = (size_t) a.n_rows * a.n[0];
  a.n_words =
      divide_up ((std::isfinite (low) ? ND_NOISE_PARTS : 1) * n_bins, 2);
  launch_early (denoise_count_noise_kernel, dim3 (divide_up (n, NOISE_SHARE)),
      dim3 (NOISE_THREADS), a.n_words * sizeof (unsigned), stream, a);
}

void
count_clipped (const float *in, const float *out, const int size[3],
    float sigma, float low, float high, ClippingCounts *counts,
    cudaStream_t stream)
{
  const ClippingCount a = { in, out, { size[0], size[1], size[2] }, sigma, low,
    high, counts };

  launch_early (denoise_count_clipping_kernel,
      dim3 (count_blocks ((size_t) size[0] * size[1] * size[2]
          / ND_CLIPPING_EVERY)),
      dim3 (THREADS), 0, stream, a);
}

} // namespace nd
