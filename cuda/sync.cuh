/* Synchronization in kernels by PTX instructions for which CUDA C++ has no
 * function. The names are those of CUTLASS.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <cstdint>

namespace nd
{

/* In a kernel that launch_early () launches: the next kernel of the stream may
 * begin. */
__device__ __forceinline__ void
launch_dependent_grids ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile ("griddepcontrol.launch_dependents;" : : : "memory");
#endif
}

/* In a kernel that launch_early () launches: waits until all kernels before it
 * in the stream are complete. Before this call, the kernel must not access
 * memory that they use. */
__device__ __forceinline__ void
wait_on_dependent_grids ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile ("griddepcontrol.wait;" : : : "memory");
#endif
}

/* Makes this thread's writes to shared memory visible to the copy engine and to
 * wgmma, and orders them before the writes of the copy engine. */
__device__ __forceinline__ void
fence_view_async_shared ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile ("fence.proxy.async.shared::cta;" : : : "memory");
#endif
}

/* Waits for a group of THREADS neighbours of a thread block, as
 * __syncthreads () does for all its threads. */
template <int THREADS>
__device__ __forceinline__ void
wait_for_group ()
{
  asm volatile ("bar.sync %0, %1;"
                :
                : "r"((int) threadIdx.x / THREADS + 1), "n"(THREADS)
                : "memory");
}

/* The address of @in_shared as PTX instructions for shared memory take it. */
__device__ __forceinline__ uint32_t
shared_address (const void *in_shared)
{
  return (uint32_t) __cvta_generic_to_shared (in_shared);
}

/* A barrier of 8 bytes in shared memory that counts the bytes which the copy
 * engine has written (PTX ISA, mbarrier). One thread calls init (), and then
 * fence_view_async_shared (). For each use of the barrier, one thread tells the
 * number of bytes; wait () returns when so many have arrived. @parity is 0 for
 * the first use, 1 for the next one, and so on in turn. */
struct TransactionBarrier
{
  uint32_t address; /* shared address */

  __device__ __forceinline__ void init () const
  {
#if __CUDA_ARCH__ >= 900
    asm volatile ("mbarrier.init.shared::cta.b64 [%0], 1;"
                  :
                  : "r"(address)
                  : "memory");
#endif
  }

  __device__ __forceinline__ void arrive_and_expect (int bytes) const
  {
#if __CUDA_ARCH__ >= 900
    asm volatile ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                  :
                  : "r"(address), "r"(bytes)
                  : "memory");
#endif
  }

  __device__ __forceinline__ void wait (uint32_t parity) const
  {
#if __CUDA_ARCH__ >= 900
    asm volatile ("{\n.reg .pred done;\n"
                  "again:\n"
                  "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                  "@!done bra again;\n}"
                  :
                  : "r"(address), "r"(parity)
                  : "memory");
#endif
  }
};

} // namespace nd
