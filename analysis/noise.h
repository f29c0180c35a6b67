/* The level of white noise, from histograms of |HHH|, the differences along all
 * axes. docs/algorithms.md has the formula.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

#include <glib.h>

G_BEGIN_DECLS

/* Bins are the upper bits of a float without its sign: exponent, and 6 bits of
 * the mantissa. */
#define ND_NOISE_SHIFT 17
#define ND_NOISE_BINS (1 << (31 - ND_NOISE_SHIFT))

/* The range of an integer type is divided into this number of parts, each with
 * its own histogram. */
#define ND_NOISE_PARTS 16

typedef struct
{
  guint32
      *bins; /* bins[i], i > 0, counts bin first + i - 1; bins[0] counts those
                  * below bin `first`, all of which must be 0 */
  guint32 first, n_bins;
  guint64 n;
  gdouble sum; /* over the differences: the mean of their samples */
} NdNoiseHistogram;

/* One of this number of rows is enough if a volume has @n differences. */
gsize nd_noise_every (gsize n);

/* The standard deviation of the noise in a volume of @size. @parts are
 * histograms of the ND_NOISE_PARTS of the range @low to @high or, with @n = 1,
 * of samples without a range. */
gdouble nd_noise_sigma (const NdNoiseHistogram *parts, guint n,
    const gsize size[3], gdouble low, gdouble high);

/* The correction of the mean of samples that were clipped to the range of their
 * type after noise was added. */

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

/* Forgets the counts; the table stays. */
void nd_clipping_reset (NdClipping *clipping);

/* Frees the table. */
void nd_clipping_clear (NdClipping *clipping);

/* Adds the counts of one volume: the samples that are clipped, and those that
 * noise of @sigma would have clipped. Decides from the last volumes whether the
 * table is used. */
void nd_clipping_add (NdClipping *clipping, gdouble seen, gdouble expected,
    gdouble sigma, gfloat low, gfloat high);

G_END_DECLS
