/* Synchronization in kernels by PTX instructions for which CUDA C++ has no
 * function. The names are those of CUTLASS.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

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

} // namespace nd
