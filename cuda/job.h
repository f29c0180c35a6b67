/* The job of a ring: the user's settings, and the options that the convolver
 * sets.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

namespace nd
{

struct RingJob : NdJob, NdRingOptions
{
  /* If a method computes the responses of this job for another job, which makes
   * its output of them: that job. */
  const NdJob *combined = nullptr;

  RingJob (const NdJob &job, const NdRingOptions &options)
      : NdJob (job), NdRingOptions (options)
  {
  }
};

} // namespace nd
