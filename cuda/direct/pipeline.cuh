/* A pipeline of two stages of shared memory: while the consumer reads one, the
 * producer copies rows of samples into the other. Each thread is producer and
 * consumer. From sm_90 on the copy engine copies whole rows, and a barrier in
 * shared memory counts the bytes that arrived. On older devices each thread
 * copies 16 bytes at a time. A separate warp as producer was slower: kernels
 * with a pipeline are larger than the instruction caches, and warps that run
 * the same code at the same time share the contents of the caches.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/copybarrier.cuh"
#include "cuda/sync.cuh"

#include <cstdint>
#include <cuda_pipeline.h>

namespace nd
{

/* All threads of a block call each function, except copy_row () and
 * copy_one (). */
template <int THREADS>
class Pipeline
{
public:
  __device__ __forceinline__ Pipeline ()
  {
#if __CUDA_ARCH__ >= 900
    __shared__ uint64_t barriers[2];

    full_barriers = shared_address (barriers);
    if (threadIdx.x < 2)
      full (threadIdx.x).init ();
    fence_view_async_shared ();
    __syncthreads ();
#endif
  }

  /* Returns the stage to fill, 0 or 1. No wait is necessary:
   * consumer_release () has synchronized the threads after the last read. */
  __device__ int producer_acquire () const { return committed & 1; }

  /* Calls @f (y, lane, lanes) for each row y < @rows. @lanes threads share a
   * row, and each of them passes its number as @lane. */
  template <typename F>
  __device__ __forceinline__ void for_rows (int rows, F f) const
  {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

#if __CUDA_ARCH__ >= 900
    for (int y = lane * (THREADS / 32) + warp; y < rows; y += THREADS)
      f (y, 0, 1);
#else
    for (int y = warp; y < rows; y += THREADS / 32)
      f (y, lane, 32);
#endif
  }

  /* Copies @floats floats, a multiple of four, into the stage to fill. Both
   * addresses are multiples of 16 bytes. */
  __device__ __forceinline__ void copy_row (float *to, const float *from,
      int floats, int lane, int lanes) const
  {
#if __CUDA_ARCH__ >= 900
    if (lane == 0)
      copy_bytes (shared_address (to), from, 4 * floats, full (committed & 1));
#else
    for (int x = 4 * lane; x < floats; x += 4 * lanes)
      __pipeline_memcpy_async (to + x, from + x, 16);
#endif
  }

  /* Copies one float. Call fence_view_async_shared () before a copy_row () that
   * may write to the same place. */
  __device__ __forceinline__ void copy_one (float *to, const float *from) const
  {
    __pipeline_memcpy_async (to, from, 4);
  }

  /* Ends the copies into the stage. @floats: the sum of the floats of all
   * copy_row () calls. */
  __device__ __forceinline__ void producer_commit (int floats)
  {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0)
      full (committed & 1).arrive_and_expect (4 * floats);
#endif
    __pipeline_commit ();
    committed++;
  }

  /* Waits until the next stage is full, and returns it, 0 or 1. */
  __device__ __forceinline__ int consumer_wait () const
  {
    if (released == waited)
      wait_for_threads (committed - released - 1);
#if __CUDA_ARCH__ >= 900
    full (released & 1).wait (released >> 1 & 1);
#endif
    return released & 1;
  }

  /* Gives the stage back to the producer when all threads have read it. */
  __device__ __forceinline__ void consumer_release ()
  {
    released++;
    waited = committed;
    wait_for_threads (0);
  }

private:
  __device__ __forceinline__ CopyBarrier full (unsigned stage) const
  {
    return CopyBarrier{ full_barriers + 8 * stage };
  }

  /* Waits until the copies by threads are complete, except those of the last
   * @pending stages, 0 or 1. */
  __device__ __forceinline__ void wait_for_threads (unsigned pending) const
  {
    if (pending > 0)
      __pipeline_wait_prior (1);
    else
      __pipeline_wait_prior (0);
    __syncthreads ();
  }

  uint32_t full_barriers = 0;           /* shared address of the first */
  unsigned committed = 0, released = 0; /* stages so far */
  unsigned waited = 0; /* stages whose copies by threads are complete */
};

} // namespace nd
