/* The terms that the cost models of all methods share. A cost is the time in
 * seconds that a volume takes on an H100, divided by the rates of the current
 * device. Autotuning measures the methods whose costs are near the least one.
 *
 * The constants of all cost models are fitted to times on one H100 80GB HBM3
 * (`scripts/bench --backend cuda --crossing`).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"
#include "cuda/rates.h"

namespace nd
{

/* Bytes per second that kernels read and write if memory limits them. */
constexpr double BYTE_RATE = 2.1e12;

/* Seconds that the launch of a kernel adds. */
constexpr double LAUNCH = 3e-6;

/* Seconds to make the ring of method `fft`. */
double fft_setup (const RingJob &job);

/* The samples of a volume, all components; of a padded volume if @reach is not
 * nullptr. */
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

/* The bytes of a number that the job computes with. */
inline double
real_size (const RingJob &job)
{
  return nd_sample_size (nd_sample_computed (ND_FLOAT64, job.precision));
}

/* The bytes that padding a volume reads and writes. */
inline double
push_bytes (const RingJob &job)
{
  return count_padded (job) * (real_size (job) + nd_sample_size (job.in_type));
}

} // namespace nd
