/* Method `separable` with fused passes, for filters that the shared memory of
 * the device holds.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"

namespace nd
{

/* Returns nullptr if a filter is too long. @available: free bytes of the
 * device. */
std::unique_ptr<Method> make_fused (const RingJob &job,
    const ComputeStreams &streams, size_t available);

} // namespace nd
