/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/levels.cuh"

#include "cuda/fft/coefficients.h"

#include <cstring>
#include <numeric>

namespace nd
{

namespace
{

/* The levels of the volumes of a window, and the sum of a filter's coefficients
 * for each volume. */
struct WindowLevels
{
  const double *levels; /* slot 0; @stride from slot to slot */
  int stride;
  const double *sums; /* [t] */
  int n_slots;
  int slots[MAX_SLOTS];
};

/* The mean of some samples of a volume. Runs in one thread block. */
template <typename T, typename R>
__global__ void
fft_level_kernel (const unsigned char *in, NdSamples strides, int nx, int ny,
    int nz, double *level)
{
  __shared__ double sums[256];
  __shared__ int counts[256];
  const size_t rows = (size_t) ny * nz;
  double sum = 0;
  int count = 0;

  for (int i = threadIdx.x; i < 4096; i += 256) {
    /* Spread over the volume: steps through the rows, scattered columns. */
    const size_t row = (size_t) i * rows / 4096;
    const int x = (int) ((i * 2654435761u) % (unsigned) nx);
    const R v = *(const T *) (in + x * strides.sample + row % ny * strides.row
        + row / ny * strides.slice);

    if (isfinite (v)) {
      sum += v;
      count++;
    }
  }
  sums[threadIdx.x] = sum;
  counts[threadIdx.x] = count;
  __syncthreads ();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      sums[threadIdx.x] += sums[threadIdx.x + step];
      counts[threadIdx.x] += counts[threadIdx.x + step];
    }
    __syncthreads ();
  }
  if (threadIdx.x == 0) {
    const R mean = counts[0] ? sums[0] / counts[0] : 0;

    *level = isfinite (mean) ? mean : 0;
  }
}

/* Each thread stores four responses of a row. */
template <typename R>
__global__ void
fft_store_responses_kernel (const R *samples, size_t row, size_t slice, int nx,
    int ny, int nz, const __grid_constant__ Store store,
    const __grid_constant__ WindowLevels l)
{
  __shared__ R level;
  const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int y = blockIdx.y * blockDim.y + threadIdx.y;

  if (threadIdx.x == 0 && threadIdx.y == 0) {
    double sum = 0;

    for (int t = 0; t < l.n_slots; t++)
      sum += l.sums[t] * l.levels[l.slots[t] * l.stride];
    level = sum;
  }
  __syncthreads ();
  if (x >= nx || y >= ny)
    return;
  for (int z = blockIdx.z; z < nz; z += gridDim.z) {
    const R *from = samples + z * slice + y * row + x;
    R four[4];

#pragma unroll
    for (int i = 0; i < 4; i++)
      four[i] = x + i < nx ? from[i] + level : 0;
    store_four (store, four, nx - x, x, y, z);
  }
}

template <typename R>
void
find_level (const Pad &pad, const NdSamples &volume, NdSampleType type,
    size_t component, double *level, cudaStream_t stream)
{
  const unsigned char *in = volume.data + component * nd_sample_size (type);
  const int nx = pad.shape[0], ny = pad.shape[1], nz = pad.shape[2];

  visit_sample_type_of<R> (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    fft_level_kernel<T, R>
        <<<1, 256, 0, stream>>> (in, volume, nx, ny, nz, level);
  });
  ND_CUDA_LAUNCHED (fft_level_kernel);
}

} // namespace

template <typename R>
Levels<R>::Levels (const RingJob &job, const NdReach &reach, size_t n_slots,
    cudaStream_t stream)
    : job (job), reach (reach), stream (stream)
{
  std::vector<double> sums_of_filters;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *const f = job.bank->filters[k];
    const size_t n = f->size[0] * f->size[1] * f->size[2];

    for (unsigned t = 0; t < reach.slots; t++) {
      const double *const w = coefficients_of (f, t, reach);

      sums_of_filters.push_back (w ? std::accumulate (w, w + n, 0.0) : 0);
    }
  }
  levels.plan (n_slots * job.shape.components);
  sums.plan (std::move (sums_of_filters));
}

template <typename R>
void
Levels<R>::push (Pad pad, unsigned slot, const NdSamples *volume,
    size_t component, R *to, const NonFiniteList &non_finite)
{
  if (volume) {
    double *const level =
        levels.get () + slot * job.shape.components + component;

    find_level<R> (pad, *volume, job.in_type, component, level, stream);
    pad.level = level;
  }
  pad_volume (pad, volume, job.in_type, component, to, non_finite, stream);
}

template <typename R>
void
Levels<R>::store (const int *slots, unsigned k, size_t component,
    const R *responses, size_t row, size_t slice, const NdScale &scale,
    const NdSamples &out) const
{
  const size_t *const shape = job.shape.size;
  const dim3 threads (32, 4);
  const dim3 blocks ((shape[0] + 127) / 128, (shape[1] + 3) / 4,
      shape[2] < 65535 ? shape[2] : 65535);
  WindowLevels l = { levels.get () + component, (int) job.shape.components,
    sums.get () + k * reach.slots, (int) reach.slots };

  memcpy (l.slots, slots, reach.slots * sizeof (int));
  fft_store_responses_kernel<R><<<blocks, threads, 0, stream>>> (responses, row,
      slice, shape[0], shape[1], shape[2],
      make_store (out, job.out_type, scale, component, k), l);
  ND_CUDA_LAUNCHED (fft_store_responses_kernel);
}

template class Levels<float>;
template class Levels<double>;

} // namespace nd
