/* The ways of method `fft`: whole volumes, boxes of them, and blocks
 * (ndblocks.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndcuda.h"

namespace nd
{

/* Transforms of cuFFT over whole volumes. */
std::unique_ptr<Method> make_fft_whole (const NdJob &job, cudaStream_t stream);

/* The same over boxes of up to @box samples. */
std::unique_ptr<Method> make_fft_boxes (const NdJob &job, const size_t box[3],
    cudaStream_t stream);

} // namespace nd
