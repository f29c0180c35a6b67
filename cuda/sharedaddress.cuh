/* Addresses of shared memory as PTX instructions take them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <cstdint>

namespace nd
{

__device__ __forceinline__ uint32_t
shared_address (const void *in_shared)
{
  return (uint32_t) __cvta_generic_to_shared (in_shared);
}

} // namespace nd
