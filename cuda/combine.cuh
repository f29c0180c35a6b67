/* Combines the responses of a bank to outputs: magnitude, phase, maximum, sum,
 * orientation tensor and so on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"
#include "filters/tensor.h"

namespace nd
{

/* Computes the output of a job that combines the responses of its filters, see
 * nd_job_combines(). @responses: dense volumes of float32 or,
 * in double precision, float64, one after the other.
 * @recipe: of ND_RESPONSE_TENSOR, otherwise not read. @only_if: on the device;
 * if it is 0, nothing is computed. */
void combine_responses (const NdJob &job, const NdTensorRecipe &recipe,
    const void *responses, const NdScale &scale, const NdSamples &out,
    cudaStream_t stream, const unsigned *only_if = nullptr);

} // namespace nd
