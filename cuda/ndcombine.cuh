/* What becomes of the responses of a bank: magnitudes, phases and so on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndsamples.cuh"

namespace nd
{

/* Makes the output of a job that nd_job_combines(), of its own type, of the
 * @responses of its filters: dense float32 volumes, one behind the other. */
void combine_responses (const NdJob &job, const float *responses,
    const NdScale &scale, const NdSamples &out, cudaStream_t stream);

} // namespace nd
