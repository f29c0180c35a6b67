/* The terms that the cost models of all methods share. A cost is the seconds of
 * a volume on an H100, as measured there, times the rates of the current
 * device. Only the order of the methods' costs matters.
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
    2.1e12;                     /* bytes per second, of padding and passes */
constexpr double LAUNCH = 3e-6; /* seconds */

/* Samples of a volume, with the border if @reach is not nullptr. */
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

/* Bytes that padding a volume reads and writes. */
inline double
push_bytes (const RingJob &job)
{
  return count_padded (job) * (4 + nd_sample_size (job.in_type));
}

} // namespace nd
