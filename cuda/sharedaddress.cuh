/* Addresses of shared memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <cstdint>

namespace nd
{

/* As PTX instructions take it. */
__device__ __forceinline__ uint32_t
shared_address (const void *in_shared)
{
  return (uint32_t) __cvta_generic_to_shared (in_shared);
}

/* The same pointer to shared memory, which the compiler keeps in a register. It
 * would compute it again for each access, from a special register. */
template <typename T>
__device__ __forceinline__ T *
keep_shared (T *p)
{
  uint32_t address = shared_address (p);

  asm volatile ("" : "+r"(address));
  return (T *) __cvta_shared_to_generic (address);
}

} // namespace nd
