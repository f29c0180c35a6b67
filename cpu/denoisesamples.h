/* Conversion of samples to floats and back, and the correction of the mean of
 * clipped samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/noise.h"
#include "engine/job.h"

G_BEGIN_DECLS

/* Decides from one volume whether noise was added before samples were clipped:
 * whether about as many samples of @in are clipped as noise of @sigma around
 * the means @out would cause. */
void nd_samples_count_clipped (NdClipping *clipping, const gfloat *in,
    const gfloat *out, const gsize size[3], gdouble sigma, gfloat low,
    gfloat high);

/* Convert component @c of a volume to and from dense floats. For integer types,
 * values are rounded half to even and saturated, and NaN becomes 0. @clipping
 * may be NULL. */
void nd_samples_read (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, gfloat *out);
void nd_samples_write (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, const gfloat *in, const NdClipping *clipping);

G_END_DECLS
