/* Conversion of samples to floats and back, and the correction of the mean of
 * clipped samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

G_BEGIN_DECLS

/* The range of a type; infinite for ND_FLOAT32. */
gfloat nd_sample_low (NdSampleType type);
gfloat nd_sample_high (NdSampleType type);

/* Noise that is clipped to the range of an integer type changes the mean of the
 * samples. The table leads back to the mean before clipping. */
typedef struct
{
  gdouble sigma;          /* of `table` */
  gfloat low, high, span; /* the table is for low to low + span, and
                           * mirrored for high - span to high */
  gfloat *table;
  gdouble seen, expected; /* clipped samples of the last volumes, weighted */
  gboolean is_active;
} NdClipping;

void nd_clipping_reset (NdClipping *clipping);
void nd_clipping_clear (NdClipping *clipping);

/* Decides from one volume whether noise was added before samples were clipped:
 * whether about as many samples of @in are clipped as noise of @sigma around
 * the means @out would cause. */
void nd_clipping_update (NdClipping *clipping, const gfloat *in,
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
