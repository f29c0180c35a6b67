/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/levels.cuh"

namespace nd
{

namespace
{

/* The mean of some samples of a volume. Runs in one thread block. */
template <typename T, typename R>
__global__ void
level_kernel (const unsigned char *in, NdSamples strides, int nx, int ny,
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
take_kernel (const R *samples, size_t row, size_t slice, int nx, int ny, int nz,
    const __grid_constant__ Store store, const __grid_constant__ Levels l)
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

} // namespace

template <typename R>
void
find_level (const Pad &pad, const NdSamples &volume, NdSampleType type,
    size_t component, double *level, cudaStream_t stream)
{
  const unsigned char *in = volume.data + component * nd_sample_size (type);
  const int nx = pad.shape[0], ny = pad.shape[1], nz = pad.shape[2];

  visit_sample_type_of<R> (type, [&] (auto sample) {
    using T = typename decltype (sample)::Type;

    level_kernel<T, R><<<1, 256, 0, stream>>> (in, volume, nx, ny, nz, level);
  });
  ND_CUDA_LAUNCHED (level_kernel);
}

template <typename R>
void
store_responses (const R *responses, size_t row, size_t slice,
    const int shape[3], const Store &store, const Levels &levels,
    cudaStream_t stream)
{
  const dim3 threads (32, 4);
  const dim3 blocks ((shape[0] + 127) / 128, (shape[1] + 3) / 4,
      shape[2] < 65535 ? shape[2] : 65535);

  take_kernel<R><<<blocks, threads, 0, stream>>> (responses, row, slice,
      shape[0], shape[1], shape[2], store, levels);
  ND_CUDA_LAUNCHED (take_kernel);
}

template void find_level<float> (const Pad &, const NdSamples &, NdSampleType,
    size_t, double *, cudaStream_t);
template void find_level<double> (const Pad &, const NdSamples &, NdSampleType,
    size_t, double *, cudaStream_t);
template void store_responses<float> (const float *, size_t, size_t,
    const int[3], const Store &, const Levels &, cudaStream_t);
template void store_responses<double> (const double *, size_t, size_t,
    const int[3], const Store &, const Levels &, cudaStream_t);

} // namespace nd
