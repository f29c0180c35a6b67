/* Numbers of float64 in shared memory, by address. Addresses of 32 bits take
 * fewer instructions than pointers.
 *
 * Source: PTX ISA 8.0, 9.7.8.8 (ld), 9.7.8.24 (cp.async).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/sharedaddress.cuh"

namespace nd
{

/* Bytes. */
typedef uint32_t SharedAddress;

/* Two numbers. @from is a multiple of 16 bytes. */
__device__ __forceinline__ double2
load_pair (SharedAddress from)
{
  double2 pair;

  asm volatile ("ld.shared.v2.f64 {%0, %1}, [%2];"
                : "=d"(pair.x), "=d"(pair.y)
                : "r"(from)
                : "memory");
  return pair;
}

__device__ __forceinline__ int
load_index (SharedAddress from)
{
  int index;

  asm volatile ("ld.shared.s32 %0, [%1];" : "=r"(index) : "r"(from) : "memory");
  return index;
}

/* Copies one number to @to + OFFSET if it is @wanted, from compute capability
 * 8.0 on asynchronously. */
template <int OFFSET>
__device__ __forceinline__ void
copy_number (SharedAddress to, const double *from, bool wanted)
{
#if __CUDA_ARCH__ >= 800
  asm volatile ("{\n"
                ".reg .pred wanted;\n"
                "setp.ne.s32 wanted, %2, 0;\n"
                "@wanted cp.async.ca.shared.global [%0 + %3], [%1], 8;\n"
                "}"
                :
                : "r"(to), "l"(from), "r"((int) wanted), "n"(OFFSET)
                : "memory");
#else
  if (wanted)
    asm volatile ("st.shared.f64 [%0 + %2], %1;"
                  :
                  : "r"(to), "d"(*from), "n"(OFFSET)
                  : "memory");
#endif
}

} // namespace nd
