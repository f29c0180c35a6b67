/* Makes the output of a job from the responses of its filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/real.h"
#include "engine/job.h"

G_BEGIN_DECLS

/* For jobs that nd_job_combines(). @responses holds the responses of all
 * filters of the bank, one after the other, each a dense volume of the job's
 * shape and of float32. @out is of the job's out_type. */
void nd_cpu_combine (const NdJob *job, gconstpointer responses,
    const NdScale *scale, const NdSamples *out);

/* The same in double precision: @responses are float64. */
void nd_double_cpu_combine (const NdJob *job, gconstpointer responses,
    const NdScale *scale, const NdSamples *out);

G_END_DECLS
