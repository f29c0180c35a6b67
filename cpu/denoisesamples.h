/* Samples of volumes to floats and back, and what clipping did to them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

G_BEGIN_DECLS

/* The range of a type; infinite for float32. */
gfloat nd_sample_low (NdSampleType type);
gfloat nd_sample_high (NdSampleType type);

/* How to bring the mean of clipped samples back to that before clipping. */
typedef struct
{
  gdouble sigma;          /* that `table` is for */
  gfloat low, high, span; /* the table is for low to low + span, and
                                 * mirrored for high - span to high */
  gfloat *table;
  gdouble seen, expected; /* clipped samples, of late */
  gboolean is_active;
} NdClipping;

void nd_clipping_reset (NdClipping *clipping);
void nd_clipping_clear (NdClipping *clipping);

/* Looks at the samples of one volume near the ends of the range, and decides
 * whether noise was added before they were clipped: whether about as many of
 * @in are clipped as noise of @sigma about the means @out has it. */
void nd_clipping_update (NdClipping *clipping, const gfloat *in,
    const gfloat *out, const gsize size[3], gdouble sigma, gfloat low,
    gfloat high);

/* Component @c of a volume, to or from dense floats. Integers are rounded half
 * to even and saturated; NaN becomes 0 in them. @clipping may be NULL. */
void nd_samples_read (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, gfloat *out);
void nd_samples_write (const NdSamples *volume, const NdShape *shape,
    NdSampleType type, gsize c, const gfloat *in, const NdClipping *clipping);

G_END_DECLS
