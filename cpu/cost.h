/* The cost model: estimated seconds per volume on this machine, from the rates
 * of the kernels that will run.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

G_BEGIN_DECLS

gdouble nd_cost_direct (const NdJob *job);

/* For jobs that nd_job_check_separable() accepts. */
gdouble nd_cost_separable (const NdJob *job);

/* @size is the size of the transforms, @spectra the number of filter spectra
 * that are not zero. */
gdouble nd_cost_fft (const NdJob *job, const gsize size[3], guint spectra);

/* Seconds of a KissFFT transform of @n complex numbers on one core. INFINITY if
 * @n has prime factors above 5, for which KissFFT has no butterfly. */
gdouble nd_cost_transform (gsize n);

G_END_DECLS
