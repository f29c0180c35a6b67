/* Two stages of shared memory in turn: rows of samples are copied into one
 * while the other is used. From sm_90 on the copy engine takes a row at once,
 * and a barrier in memory tells when it is there; before, threads copy 16 bytes
 * each. (A warp of its own for copying was slower: kernels are larger than the
 * caches of instructions, and warps that go side by side share them.)
 *
 * Source: PTX ISA 8.0 and later, 9.7.9.25 (cp.async, cp.async.bulk), 9.7.13.15
 * (mbarrier).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <cstdint>
#include <cuda_pipeline.h>

namespace nd
{

/* All threads of a block call all of it, and f () of for_rows () calls
 * copy_row (). */
template <int THREADS> class Stages
{
public:
  __device__ __forceinline__
  Stages ()
  {
#if __CUDA_ARCH__ >= 900
    __shared__ uint64_t barriers[2];

    there = (uint32_t) __cvta_generic_to_shared (barriers);
    if (threadIdx.x < 2)
      asm volatile ("mbarrier.init.shared::cta.b64 [%0], 1;"
          : : "r" (there + 8 * threadIdx.x) : "memory");
    show_to_engine ();
    __syncthreads ();
#endif
  }

  /* What copy_one () wrote to a stage, copy_row () may write over. */
  static __device__ __forceinline__ void
  show_to_engine ()
  {
#if __CUDA_ARCH__ >= 900
    asm volatile ("fence.proxy.async.shared::cta;" : : : "memory");
#endif
  }

  /* The stage that is copied to. */
  __device__ int begins () const { return begun & 1; }

  /* Calls @f (y, lane, lanes) for each of @rows rows; the lanes share one. */
  template <typename F> __device__ __forceinline__ void
  for_rows (int rows, F f) const
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

  /* @floats, a multiple of four; both addresses are of 16 bytes. */
  __device__ __forceinline__ void
  copy_row (float *to, const float *from, int floats, int lane, int lanes) const
  {
#if __CUDA_ARCH__ >= 900
    if (lane == 0)
      asm volatile ("cp.async.bulk.shared::cluster.global.mbarrier"
          "::complete_tx::bytes [%0], [%1], %2, [%3];"
          : : "r" ((uint32_t) __cvta_generic_to_shared (to)), "l" (from),
            "r" (4 * floats), "r" (there + 8 * begins ()) : "memory");
#else
    for (int x = 4 * lane; x < floats; x += 4 * lanes)
      __pipeline_memcpy_async (to + x, from + x, 16);
#endif
  }
  __device__ __forceinline__ void
  copy_one (float *to, const float *from) const
  {
    __pipeline_memcpy_async (to, from, 4);
  }

  /* @floats: of all rows. */
  __device__ __forceinline__ void
  close (int floats)
  {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0)
      asm volatile ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
          : : "r" (there + 8 * begins ()), "r" (4 * floats) : "memory");
#endif
    __pipeline_commit ();
    begun++;
  }

  /* Until the next stage is there, whose number it returns. */
  __device__ __forceinline__ int
  use () const
  {
    if (used == sure)
      wait_for_threads (begun - used - 1);
#if __CUDA_ARCH__ >= 900
    asm volatile ("{\n.reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}"
        : : "r" (there + 8 * (used & 1)), "r" (used >> 1 & 1) : "memory");
#endif
    return used & 1;
  }
  __device__ __forceinline__ void
  release ()
  {
    used++;
    sure = begun;
    wait_for_threads (0);
  }

private:
  /* Until what threads copied is there, but for so many stages. */
  __device__ __forceinline__ void
  wait_for_threads (unsigned under_way) const
  {
    if (under_way > 0)
      __pipeline_wait_prior (1);
    else
      __pipeline_wait_prior (0);
    __syncthreads ();
  }

  uint32_t there = 0;
  unsigned begun = 0, used = 0; /* stages */
  unsigned sure = 0;            /* those that threads waited for */
};

} // namespace nd
