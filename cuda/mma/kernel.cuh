/* The kernel of method `tensor`. Eight warps compute a tile of 64 x 64 outputs
 * of one plane. Kernels for pairs have eight more warps, which compute the tile
 * of the next plane. Planes of samples are copied to a ring in shared memory
 * while the matrix units multiply earlier ones.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/launch.cuh"
#include "cuda/mma/instructions.cuh"
#include "cuda/mma/planes.cuh"
#include "cuda/mma/responses.cuh"

namespace nd
{

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* Starts the product of row J of the samples. The first product of a plane
 * replaces the sums unless @keep is set. */
template <typename S, int J>
__device__ __forceinline__ void
wgmma_row (typename S::Sums &sum, Matrices<TENSOR_ROWS * S::PITCH> tile,
    Matrices<128> weights, bool keep)
{
  Wgmma<S::N>::add (sum, tile, J * S::PITCH, weights, J * S::ROW_BYTES,
      keep || J > 0);
}

template <typename S, int... I>
__device__ __forceinline__ void
wgmma_rows (typename S::Sums &sum, uint32_t tile, uint32_t weights, bool keep,
    std::integer_sequence<int, I...>)
{
  const Matrices<TENSOR_ROWS * S::PITCH> a (tile, S::LEADING);
  const Matrices<128> b (weights, S::weight_leading (S::KY));

  (wgmma_row<S, I * S::STEP> (sum, a, b, keep), ...);
}

/* Starts all products of a plane of coefficients. */
template <typename S>
__device__ __forceinline__ void
wgmma_plane (typename S::Sums &sum, uint32_t tile, uint32_t weights, bool keep)
{
  constexpr auto ALL =
      std::make_integer_sequence<int, (TENSOR_ROWS + S::KY - 1) / S::STEP> ();

  wgmma_fence ();
  wgmma_rows<S> (sum, tile, weights, keep, ALL);
  wgmma_commit ();
}

#endif

#if __CUDA_ARCH__ >= 800

/* Computes all products of a plane of coefficients by mma. */
template <typename S>
__device__ __forceinline__ void
mma_plane (typename S::Sums &sum, uint32_t tile, uint32_t weights, int ky,
    bool keep)
{
  constexpr int SIZE = S::N / 2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t a = tile
      + TENSOR_ROWS * (2 * (warp % 4) + (lane / 8 & 1)) * S::PITCH
      + lane / 16 * S::LEADING + lane % 8 * 16;
  const uint32_t b = weights + lane / 16 * 128
      + (lane / 8 & 1) * S::weight_leading (ky) + lane % 8 * 16;

  if (!keep) {
#pragma unroll
    for (int i = 0; i < SIZE; i++)
      sum[i] = 0;
  }
#pragma unroll 1
  for (int j = 0; j < TENSOR_ROWS + ky - 1; j += S::STEP) {
    uint32_t samples[4];

    load_matrices (samples, a + j * S::PITCH);
#pragma unroll
    for (int c = 0; c < SIZE; c += 8) {
      uint32_t w[4];

      load_matrices (w, b + j * S::ROW_BYTES + c / 4 * 128);
      multiply_add (sum + c, samples, w[0], w[1]);
      multiply_add (sum + c + 4, samples, w[2], w[3]);
    }
  }
}

/* Copies the coefficients that stay in shared memory. */
__device__ __forceinline__ void
copy_kept_weights (const TensorArguments &a, uint32_t to)
{
  for (int i = threadIdx.x * 16; i < a.kept_bytes; i += blockDim.x * 16)
    cp_async<16> (to + i, a.weights + i);
}

/* Waits until all threads see the planes that were copied, except the last one
 * if @but_one is set. */
template <bool WGMMA>
__device__ __forceinline__ void
wait_for_planes (bool but_one)
{
  if (but_one)
    cp_async_wait<1> ();
  else
    cp_async_wait<0> ();
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (WGMMA) {
    if (!but_one)
      wgmma_wait<0> ();
    fence_view_async_shared ();
  }
#endif
  __syncthreads ();
}

template <bool WGMMA>
__device__ __forceinline__ void
wait_for_products ()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (WGMMA)
    wgmma_wait<0> ();
#endif
}

#endif

/* A thread block computes items (TensorItem). Responses are stored while the
 * matrix units compute the next output.
 *
 * The function is long, because nvcc generates slower code if parts of its
 * loops are functions. */
template <typename S, bool WGMMA, bool PAIRS>
__global__ void __launch_bounds__ (PAIRS ? 2 * TENSOR_THREADS : TENSOR_THREADS,
    PAIRS ? 1 : 2)
tensor_filter_kernel (const __grid_constant__ TensorArguments a)
{
#if __CUDA_ARCH__ >= 800
  constexpr int OUTPUTS = PAIRS ? 2 : 1; /* planes at once */
  extern __shared__ __align__ (128) unsigned char shared[];
  const int ky = WGMMA ? S::KY : a.ky;
  /* The shuffle tells the compiler that all threads of a warp have the same
   * value. */
  const int all_warps = __shfl_sync (~0u, threadIdx.x / 32, 0);
  const int output = all_warps / (TENSOR_THREADS / 32);
  const int warp = all_warps % (TENSOR_THREADS / 32);
  const int lane = threadIdx.x % 32;
  const uint32_t kept_weights = shared_address (shared);
  const uint32_t half = warp / 4 * (TENSOR_HEIGHT / 2 * S::PITCH);
  std::conditional_t<PAIRS, TensorPairRing<S>, TensorRing<S>> ring (a,
      kept_weights + a.kept_bytes, ky);
  uint32_t first = kept_weights + a.kept_bytes; /* plane of the next output */
  int ahead = a.z_sliding ? a.n_planes + 1 : a.copied; /* planes to copy */
  int until_wait = 0;                                  /* planes */
  TensorItem item;
  typename S::Sums sum = {};
  float response[2][TENSOR_ROWS][2] = {};
  TensorPlace at = { -1, 0, 0 }; /* of responses that are not stored yet */

  copy_kept_weights (a, kept_weights);
  launch_dependent_grids ();
  wait_on_dependent_grids ();
  for (item.number = blockIdx.x; item.decode (a); item.number += gridDim.x) {
    if (ahead > 0)
      __syncthreads ();
    for (; ahead > 0; ahead--)
      ring.copy_next ();
    /* If planes stay, only the last plane of an output is new. One half of the
     * warps waits for copies before that plane, the other half before the first
     * plane, so that one half computes while the other converts its sums. */
    if (a.z_sliding) {
      until_wait = warp < TENSOR_THREADS / 64 ? a.n_planes - 1 : 0;
      if (a.n_planes > 1)
        wait_for_planes<WGMMA> (true);
    }
#pragma unroll 1
    for (int o = 0; o < item.length; o += OUTPUTS) {
      uint32_t tile = first, weights = kept_weights;
      int z = -output; /* of pairs: plane of the filter */

#pragma unroll 1
      for (int left = a.n_planes; left > 0; left--) {
        const bool is_new = until_wait == 0;

        if (is_new) {
          wait_for_planes<WGMMA> (a.z_sliding);
          until_wait = a.z_sliding ? a.n_planes : a.copied;
        }
        until_wait--;
        const uint32_t used =
            a.kept_bytes ? weights : tile + S::tile_bytes (ky);
        const bool keep = weights != kept_weights;
        const bool reads = !PAIRS || (unsigned) z < (unsigned) a.depth;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        if constexpr (WGMMA) {
          if (reads)
            wgmma_plane<S> (sum, tile + half, used, keep);
        }
#endif
        /* This runs while wgmma computes the products. */
        if (is_new || !a.z_sliding)
          ring.copy_next ();
        if (left == a.n_planes && at.x >= 0)
          store_responses (a, response, at);
        if (!WGMMA)
          mma_plane<S> (sum, tile + half, used, ky, keep);
        tile = ring.after (tile);
        if (reads)
          weights += a.weight_bytes;
        if (PAIRS && ++z > a.depth - output)
          z = -output;
      }
      at = TensorPlace{ item.x0 + lane / 4 * 8 + lane % 4 * 2,
        item.y0 + TENSOR_ROWS * 2 * warp, item.z0 + o + output };
      if (PAIRS && o + output >= item.length)
        at.x = -1; /* the last pair has only one plane */
      wait_for_products<WGMMA> ();
      compute_responses<S> (a, sum, response);
      first = a.z_sliding ? ring.after (first) : tile;
    }
    if (a.z_sliding) {
      ahead = a.n_planes - 1;
      for (int i = 0; i < ahead; i++)
        first = ring.after (first);
    }
  }
  if (at.x >= 0)
    store_responses (a, response, at);
#endif
}

} // namespace nd
