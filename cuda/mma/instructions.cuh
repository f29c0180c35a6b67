/* Instructions of the matrix units: wgmma (sm_90a), and mma with ldmatrix
 * (sm_80 and later). Asynchronous copies into shared memory, which bring data
 * to them.
 *
 * Sources: PTX ISA 8.7 and later, 9.7.14 (mma, ldmatrix), 9.7.15 (wgmma, matrix
 * descriptors without swizzle).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/sharedaddress.cuh"
#include "cuda/sync.cuh"

#include <cstdint>

namespace nd
{

/* The descriptor of an operand of wgmma in shared memory. The operand consists
 * of matrices of 8 rows of 16 bytes, with the rows one after the other. From
 * one matrix to the next it is @leading bytes in the direction of the sum, and
 * STRIDE bytes in the other direction, both multiples of 16. The upper half of
 * the descriptor is constant. */
template <int STRIDE>
struct Matrices
{
  static constexpr uint32_t UPPER = STRIDE / 16;
  uint32_t lower;

  __device__ __forceinline__ Matrices (uint32_t address, int leading)
      : lower ((address & 0x3ffff) >> 4 | leading / 16 << 16)
  {
  }
};

#if __CUDA_ARCH__ >= 800

template <int BYTES>
__device__ __forceinline__ void
cp_async (uint32_t to, const void *from)
{
  if (BYTES == 16)
    asm volatile ("cp.async.cg.shared.global [%0], [%1], 16;"
                  :
                  : "r"(to), "l"(from)
                  : "memory");
  else
    asm volatile ("cp.async.ca.shared.global [%0], [%1], %2;"
                  :
                  : "r"(to), "l"(from), "n"(BYTES)
                  : "memory");
}

__device__ __forceinline__ void
cp_async_commit ()
{
  asm volatile ("cp.async.commit_group;" : : : "memory");
}

/* Waits until at most PENDING groups are incomplete. */
template <int PENDING>
__device__ __forceinline__ void
cp_async_wait ()
{
  asm volatile ("cp.async.wait_group %0;" : : "n"(PENDING) : "memory");
}

__device__ __forceinline__ void
load_matrices (uint32_t (&m)[4], uint32_t address)
{
  asm volatile ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                : "r"(address)
                : "memory");
}

/* Multiplies 16 rows of 32 bytes by 32 bytes of 8 columns, and adds the product
 * to @sum. */
__device__ __forceinline__ void
multiply_add (int *sum, const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
  asm volatile ("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
                "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ __forceinline__ void
wgmma_fence ()
{
  asm volatile ("wgmma.fence.sync.aligned;" : : : "memory");
}

__device__ __forceinline__ void
wgmma_commit ()
{
  asm volatile ("wgmma.commit_group.sync.aligned;" : : : "memory");
}

template <int PENDING>
__device__ __forceinline__ void
wgmma_wait ()
{
  asm volatile ("wgmma.wait_group.sync.aligned %0;"
                :
                : "n"(PENDING)
                : "memory");
}

/* Wgmma<N>::add multiplies 64 rows of 32 bytes by 32 bytes of N columns. The
 * product is added to the sums if @keep is set, and otherwise replaces them.
 * The operands begin a_begin and b_begin bytes, multiples of 16, after their
 * matrices. Warp w of four has rows 16 w to 16 w + 15. For each 8 columns a
 * thread has four sums: two side by side in row lane / 4, and two in row lane /
 * 4 + 8. */
template <int N>
struct Wgmma;

#define ND_FOUR(C, i) C (d[i]), C (d[i + 1]), C (d[i + 2]), C (d[i + 3])
#define ND_LIST_16           \
  "%0,%1,%2,%3,%4,%5,%6,%7," \
  "%8,%9,%10,%11,%12,%13,%14,%15"
#define ND_LIST_32                              \
  ND_LIST_16 ","                                \
             "%16,%17,%18,%19,%20,%21,%22,%23," \
             "%24,%25,%26,%27,%28,%29,%30,%31"
#define ND_LIST_48                              \
  ND_LIST_32 ","                                \
             "%32,%33,%34,%35,%36,%37,%38,%39," \
             "%40,%41,%42,%43,%44,%45,%46,%47"
#define ND_SUMS_16(C) \
  ND_FOUR (C, 0), ND_FOUR (C, 4), ND_FOUR (C, 8), ND_FOUR (C, 12)
#define ND_SUMS_32(C)                                                \
  ND_SUMS_16 (C), ND_FOUR (C, 16), ND_FOUR (C, 20), ND_FOUR (C, 24), \
      ND_FOUR (C, 28)
#define ND_SUMS_48(C)                                                \
  ND_SUMS_32 (C), ND_FOUR (C, 32), ND_FOUR (C, 36), ND_FOUR (C, 40), \
      ND_FOUR (C, 44)

/* The operands after the @SUMS sums: a, b, and keep. */
#define ND_WGMMA(N, SUMS, A, AU, B, BU, K)                                    \
  template <>                                                                 \
  struct Wgmma<N>                                                             \
  {                                                                           \
    template <int A_STRIDE, int B_STRIDE>                                     \
    static __device__ __forceinline__ void add (int (&d)[SUMS],               \
        Matrices<A_STRIDE> a, int a_begin, Matrices<B_STRIDE> b, int b_begin, \
        int keep)                                                             \
    {                                                                         \
      asm volatile ("{\n.reg .pred p;\n.reg .b64 a, b;\n"                     \
                    "setp.ne.b32 p, %" #K ", 0;\n"                            \
                    "mov.b64 a, {%" #A ", %" #AU "};\n"                       \
                    "mov.b64 b, {%" #B ", %" #BU "};\n"                       \
                    "wgmma.mma_async.sync.aligned.m64n" #N "k32.s32.u8.s8"    \
                    " {" ND_LIST_##SUMS "}, a, b, p;\n}"                      \
                    : ND_SUMS_##SUMS ("+r")                                   \
                    : "r"(a.lower + a_begin / 16), "r"(a.UPPER),              \
                    "r"(b.lower + b_begin / 16), "r"(b.UPPER), "r"(keep));    \
    }                                                                         \
  };

ND_WGMMA (32, 16, 16, 17, 18, 19, 20)
ND_WGMMA (64, 32, 32, 33, 34, 35, 36)
ND_WGMMA (96, 48, 48, 49, 50, 51, 52)

#undef ND_FOUR

#endif

} // namespace nd
