/* Copies by the copy engine into shared memory (sm_90 and later), and the
 * barriers that count their bytes.
 *
 * Source: PTX ISA 8.0 and later, 9.7.9.25 (cp.async.bulk), 9.7.13.15
 * (mbarrier).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/sharedaddress.cuh"

#include <cuda.h>

namespace nd
{

/* A barrier of 8 bytes in shared memory. One thread calls init (), and then
 * fence_view_async_shared (). For each use of the barrier, one thread tells the
 * sum of the bytes of all copies, and wait () returns when they have arrived.
 * @parity is 0 for the first use, 1 for the next one, and so on in turn. On
 * older devices no function does anything. */
struct CopyBarrier
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

/* Copies @bytes, a multiple of 16, to a shared address. Both addresses are
 * multiples of 16. */
__device__ __forceinline__ void
copy_bytes (uint32_t to, const void *from, int bytes, CopyBarrier counts)
{
#if __CUDA_ARCH__ >= 900
  asm volatile ("cp.async.bulk.shared::cluster.global.mbarrier"
                "::complete_tx::bytes [%0], [%1], %2, [%3];"
                :
                : "r"(to), "l"(from), "r"(bytes), "r"(counts.address)
                : "memory");
#endif
}

/* Copies the box of @map at (x, y, z) to a shared address. */
__device__ __forceinline__ void
copy_box (uint32_t to, const CUtensorMap &map, int x, int y, int z,
    CopyBarrier counts)
{
#if __CUDA_ARCH__ >= 900
  asm volatile ("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
                ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                :
                : "r"(to), "l"(&map), "r"(x), "r"(y), "r"(z),
                "r"(counts.address)
                : "memory");
#endif
}

} // namespace nd
