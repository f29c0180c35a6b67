/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/rates.h"

#include "core/log.h"
#include "cuda/device.h"
#include "cuda/memory.h"
#include "cuda/mma/instructions.cuh"
#include "cuda/timer.cuh"
#include "engine/autotune.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace nd
{

namespace
{

/* The results of measure () on an H100 80GB HBM3, per second. */
constexpr double H100_MULTIPLY_ADDS = 30.8e12; /* of float32 */
constexpr double H100_PRODUCTS = 636e12;       /* of bytes, by mma */
constexpr double H100_BYTES = 2.99e12;         /* read and written by a copy */

constexpr int THREADS = 256;         /* of a thread block */
constexpr int BLOCKS = 8;            /* thread blocks per multiprocessor */
constexpr int SUMS = 8;              /* of a thread */
constexpr int STEPS = 2048;          /* multiply-adds to each sum */
constexpr size_t COPIED = 128 << 20; /* bytes, more than any cache holds */
constexpr int TRIES = 8;             /* the fastest one counts */
constexpr int N_RATES = 4;           /* of measure () */

/* A thread has several independent sums, because each addition to a single sum
 * would wait for the one before. */
template <typename R>
__global__ void __launch_bounds__ (THREADS)
rate_multiply_kernel (R *out, R factor)
{
  R sums[SUMS], all = 0;

  for (int k = 0; k < SUMS; k++)
    sums[k] = threadIdx.x + k;
#pragma unroll 8
  for (int i = 0; i < STEPS; i++) {
#pragma unroll
    for (int k = 0; k < SUMS; k++)
      sums[k] = fma (sums[k], factor, (R) 1);
  }
  for (int k = 0; k < SUMS; k++)
    all += sums[k];
  if (all == -1) /* never; without it the compiler would remove the loop */
    *out = all;
}

__global__ void __launch_bounds__ (THREADS)
rate_product_kernel (float *out, unsigned factor)
{
#if __CUDA_ARCH__ >= 800
  const uint32_t samples[4] = { threadIdx.x, factor, factor, factor };
  int sums[SUMS][4] = {}, all = 0;

#pragma unroll 4
  for (int i = 0; i < STEPS; i++) {
#pragma unroll
    for (int k = 0; k < SUMS; k++)
      multiply_add (sums[k], samples, factor, factor);
  }
  for (int k = 0; k < SUMS; k++)
    all += sums[k][0] + sums[k][1] + sums[k][2] + sums[k][3];
  if (all == -1)
    *out = all;
#endif
}

/* The least of several times is that with the least disturbance by other
 * programs that use the device. */
template <typename F>
double
least_seconds (const Timer &timer, F enqueue)
{
  double least = timer.seconds (1, enqueue);

  for (int i = 1; i < TRIES; i++)
    least = std::min (least, timer.seconds (1, enqueue));
  return least;
}

/* Bytes per second; 0 if there is too little memory to measure. */
double
copy_rate (const Timer &timer, cudaStream_t stream)
{
  if (free_bytes () < 4 * COPIED)
    return 0;
  Memory<char> memory (2 * COPIED);

  return 2.0 * COPIED / least_seconds (timer, [&] {
    ND_CUDA (cudaMemcpyAsync (memory.get (), memory.get () + COPIED, COPIED,
        cudaMemcpyDeviceToDevice, stream));
  });
}

/* Multiply-adds of numbers of type R per second. */
template <typename R>
double
multiply_rate (const Timer &timer, unsigned blocks, cudaStream_t stream)
{
  Memory<R> out (1);

  return (double) blocks * THREADS * SUMS * STEPS / least_seconds (timer, [&] {
    rate_multiply_kernel<R>
        <<<blocks, THREADS, 0, stream>>> (out.get (), (R) 0.5);
    ND_CUDA_LAUNCHED (rate_multiply_kernel);
  });
}

/* Writes multiply-adds, byte products, bytes and multiply-adds of float64 per
 * second to @rates. */
void
measure (double multiprocessors, double rates[N_RATES])
{
  const cudaStream_t stream = cudaStreamPerThread;
  const unsigned blocks = BLOCKS * multiprocessors;
  const double threads = (double) blocks * THREADS;
  Memory<float> out (1);
  const Timer timer (stream);

  rates[0] = multiply_rate<float> (timer, blocks, stream);
  /* Before sm_80 the kernel is empty, and nothing uses the rate. */
  rates[1] =
      threads / 32 * 16 * 8 * 32 * SUMS * STEPS / least_seconds (timer, [&] {
        rate_product_kernel<<<blocks, THREADS, 0, stream>>> (out.get (), 0);
        ND_CUDA_LAUNCHED (rate_product_kernel);
      });
  rates[2] = copy_rate (timer, stream);
  rates[3] = multiply_rate<double> (timer, blocks, stream);
}

/* Rates are read from a file, which may be damaged. */
bool
is_plausible (double rate)
{
  return rate > 1e9 && rate < 1e18;
}

} // namespace

Rates
device_rates ()
{
  static std::mutex *const lock = new std::mutex;
  static auto *const known = new std::map<int, Rates>;
  const std::lock_guard<std::mutex> locked (*lock);
  int device;

  ND_CUDA (cudaGetDevice (&device));
  const auto found = known->find (device);
  if (found != known->end ())
    return found->second;
  const std::string name = device_name ();
  const int multiprocessors = device_attribute (cudaDevAttrMultiProcessorCount);
  double rates[N_RATES];

  if (!nd_cache_get (name.c_str (), "rates", rates, N_RATES)
      || !std::all_of (rates, rates + N_RATES, is_plausible)) {
    measure (multiprocessors, rates);
    if (rates[2] > 0)
      nd_cache_set (name.c_str (), "rates", rates, N_RATES);
    else
      rates[2] = H100_BYTES * rates[0] / H100_MULTIPLY_ADDS;
  }
  const Rates relative = { rates[0] / H100_MULTIPLY_ADDS,
    rates[3] / H100_MULTIPLY_ADDS, rates[1] / H100_PRODUCTS,
    rates[2] / H100_BYTES, multiprocessors };

  ND_INFO ("device %d, %s: %d multiprocessors; relative to an H100 %.2f "
           "multiply-adds, %.2f of float64, %.2f byte products, %.2f memory",
      device, name.c_str (), multiprocessors, relative.multiply_adds,
      relative.double_multiply_adds, relative.products, relative.bytes);
  (*known)[device] = relative;
  return relative;
}

} // namespace nd
