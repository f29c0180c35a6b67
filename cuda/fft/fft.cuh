/* The ways of method `fft`. All multiply the spectra of samples by those of
 * filters. They differ in the part of a volume that is transformed at a time:
 *
 *   blocks     32 samples along each axis, for filters of up to 17
 *   wide       64 x 64 samples of a plane, for flat filters of up to 33
 *   deep       64 x 64 samples and all slices, for filters of up to 33
 *   whole      the whole volume, by cuFFT, for any filter
 *   decimated  parts of the frequencies, by cuFFT, if whole spectra do not fit
 *              in memory
 *
 * For each there is a function that makes the method, and its cost in seconds
 * per volume. cuda/fft/fft.cu chooses.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"

namespace nd
{

/* Transforms whole volumes with cuFFT. */
std::unique_ptr<Method> make_fft_whole (const RingJob &job,
    cudaStream_t stream);
double whole_cost (const RingJob &job);

/* Transforms whole volumes with cuFFT in @parts parts of their frequencies, an
 * even number up to 64. */
std::unique_ptr<Method> make_fft_decimated (const RingJob &job, int parts,
    cudaStream_t stream);
double decimated_cost (const RingJob &job, int parts);

/* Transforms blocks of 32 samples along each axis with kernels of this folder.
 */
std::unique_ptr<Method> make_fft_blocks (const RingJob &job,
    const ComputeStreams &streams);
double blocks_cost (const RingJob &job);

/* Transforms wide blocks (cuda/fft/wide.cuh). */
std::unique_ptr<Method> make_fft_wide (const RingJob &job,
    const ComputeStreams &streams);
double wide_cost (const RingJob &job);

/* The same as blocks_possible () for wide blocks: filters read one plane of one
 * volume. */
bool wide_possible (const RingJob &job);

/* Transforms deep blocks (cuda/fft/deep.cuh). */
std::unique_ptr<Method> make_fft_deep (const RingJob &job,
    const ComputeStreams &streams);
double deep_cost (const RingJob &job);

/* The same as blocks_possible () for deep blocks: filters read several planes
 * of one volume. */
bool deep_possible (const RingJob &job);

/* Whether the job is in single precision, all its filters fit into blocks, the
 * device has enough shared memory, and output samples can be NaN if input
 * samples can. */
bool blocks_possible (const RingJob &job);

} // namespace nd
