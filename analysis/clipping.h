/* The correction of the mean of samples that were clipped to the range of their
 * type after noise was added.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

G_BEGIN_DECLS

#define ND_CLIPPING_TABLE 512
/* Clipped samples are counted in every fourth row. */
#define ND_CLIPPING_EVERY 4

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
  gfloat *table;          /* ND_CLIPPING_TABLE + 1 */
  gdouble seen, expected; /* clipped samples of the last volumes, weighted */
  gboolean is_active;
} NdClipping;

void nd_clipping_reset (NdClipping *clipping);
void nd_clipping_clear (NdClipping *clipping);

/* Adds the counts of one volume: the samples that are clipped, and those that
 * noise of @sigma would have clipped. Decides from the last volumes whether the
 * table is used. */
void nd_clipping_add (NdClipping *clipping, gdouble seen, gdouble expected,
    gdouble sigma, gfloat low, gfloat high);

G_END_DECLS
