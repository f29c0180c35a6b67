/* The terms that the cost models of all methods share. A cost is the time in
 * seconds that a volume takes on an H100, divided by the rates of the current
 * device. The plan measures the methods whose costs are near the least.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"
#include "cuda/rates.h"

namespace nd
{

constexpr double BYTE_RATE =
    2.1e12;                     /* bytes per second, of padding and of passes */
constexpr double LAUNCH = 3e-6; /* seconds */

/* The samples of a volume or, if @reach is not nullptr, of a padded volume. */
inline double
count_samples (const RingJob &job, const NdReach *reach = nullptr)
{
  double n = job.shape.components;

  for (int a = 0; a < 3; a++)
    n *= job.shape.size[a] + (reach ? reach->high[a] - reach->low[a] : 0);
  return n;
}

inline double
count_padded (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);

  return count_samples (job, &reach);
}

/* The bytes that padding a volume reads and writes. */
inline double
push_bytes (const RingJob &job)
{
  return count_padded (job) * (4 + nd_sample_size (job.in_type));
}

} // namespace nd
