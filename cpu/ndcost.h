/* The cost model: estimated seconds per volume on this machine, from the rates
 * of the kernels that will run. docs/performance.md holds the measurements that
 * the constants come from.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndjob.h"

G_BEGIN_DECLS

gdouble nd_cost_direct (const NdJob * job);

/* For a job that nd_filter_separate() finds separable. */
gdouble nd_cost_separable (const NdJob * job);

/* @size: of the transforms; @spectra: filter spectra that are not zero. */
gdouble nd_cost_fft (const NdJob * job, const gsize size[3], guint spectra);

/* Seconds of a KissFFT transform of @n complex numbers on one core; INFINITY
 * where @n has prime factors above 5, for which KissFFT has no butterfly. */
gdouble nd_cost_transform (gsize n);

G_END_DECLS
