/* Methods `direct` and `separable` in double precision.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"

namespace nd
{

std::unique_ptr<Method> make_double_direct (const RingJob &job,
    const ComputeStreams &streams);
std::unique_ptr<Method> make_double_separable (const RingJob &job,
    const ComputeStreams &streams, size_t available);

/* Whether the last volume is read in place, without a ring. */
inline bool
reads_double_in_place (const RingJob &job)
{
  return job.in_type == ND_FLOAT64 && nd_job_reach (&job).slots == 1
      && !job.border_volumes;
}

} // namespace nd
