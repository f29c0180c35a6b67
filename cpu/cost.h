/* The cost model: estimated seconds per volume on this machine, from the rates
 * of the kernels that will run.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/fftkernels.h"
#include "engine/job.h"

G_BEGIN_DECLS

/* With options->ahead sums are begun ahead, which takes longer in all. Of these
 * sums only a share is counted. */
gdouble nd_cost_direct (const NdJob *job, const NdRingOptions *options);

/* For jobs that nd_job_check_separable() accepts. */
gdouble nd_cost_separable (const NdJob *job);

/* By @tasks of as many pieces of rows as a vector has lanes, of @n samples
 * each. */
gdouble nd_cost_fft_lines (const NdJob *job, gsize n, gsize tasks);

/* By transforms of whole volumes. @size is the size of the transforms, @spectra
 * the number of filter spectra that are not zero. */
gdouble nd_cost_fft_whole (const NdJob *job, const gsize size[3],
    guint spectra);

/* By @pairs of blocks, of which @planes planes are transformed back. */
gdouble nd_cost_fft_blocks (const NdJob *job, const NdFftBlock *block,
    gsize pairs, gsize planes, guint spectra);

/* Seconds of a transform (cpu/linefft.h) of @n complex numbers of one lane, on
 * one core. INFINITY if @n has prime factors above 5, for which there is no
 * butterfly. */
gdouble nd_cost_transform (gsize n);

G_END_DECLS
