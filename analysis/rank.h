/* Order statistics over a footprint in space and time: median, percentile,
 * minimum, maximum, and the grey-scale morphology that is made of them.
 *
 * The samples x + o under a footprint, o over its offsets, are sorted, and the
 * one at a rank counted from 0 is the output. NaN counts as larger than all
 * other samples, as in NumPy's sort(). With E f the minimum over the footprint
 * and D f the maximum over the footprint with all offsets negated (J. Serra,
 * Image Analysis and Mathematical Morphology, 1982, chapter XII):
 *
 *   open D E f, close E D f, tophat f - D E f, blackhat E D f - f,
 *   gradient D f - E f
 *
 * Each of E and D reads the border of its own input, in space and in time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"
#include "filters/design.h"

G_BEGIN_DECLS

/* The numbers are public, as values of a property, and never change. */
typedef enum
{
  ND_RANK_MEDIAN = 0,
  ND_RANK_PERCENTILE = 1,
  ND_RANK_MINIMUM = 2,
  ND_RANK_MAXIMUM = 3,
  ND_RANK_ERODE = 4,
  ND_RANK_DILATE = 5,
  ND_RANK_OPEN = 6,
  ND_RANK_CLOSE = 7,
  ND_RANK_TOPHAT = 8,
  ND_RANK_BLACKHAT = 9,
  ND_RANK_GRADIENT = 10
} NdRankOperation;

/* Samples of a footprint side by side along x: offsets @first to @last. */
typedef struct
{
  gint first, last, y, z, t;
} NdRankRun;

/* Offsets from an output to the samples that it reads, @low to @high along each
 * axis; 0 lies between them. */
typedef struct
{
  gint low[ND_AXES], high[ND_AXES];
  gsize n;         /* samples, 1 and more */
  NdRankRun *runs; /* sorted by t, z, y, first */
  gsize n_runs;
  gboolean is_box; /* all samples from low to high */
} NdFootprint;

/* The most samples of a footprint. */
#define ND_RANK_MAX_SAMPLES ((gsize) 1 << 20)

/* A footprint from the text of one real filter (filters/text.h): the samples
 * whose coefficient is not 0. Besides, "3:3:3" stands for "box,size=3:3:3",
 * "ball" for "sphere", and "cross,size=..." has the samples of the box whose
 * offsets are 0 along all axes but one.
 *
 * Coefficient m along an axis of k is at offset m - k/2 - origin, as in
 * scipy.ndimage.rank_filter(): a footprint is not flipped. @origin is text as
 * of nd_filter_set_origin(). With @causal, no offset in time is above 0. Along
 * the axes with @single[axis] and in time, a single number gives size 1.
 *
 * NULL with ND_ERROR_SETTINGS, those of nd_bank_from_text(), or ND_ERROR_MEMORY
 * if it has more than ND_RANK_MAX_SAMPLES. */
NdFootprint *nd_footprint_from_text (const gchar *text, const gchar *origin,
    gboolean causal, const gboolean single[ND_AXES], const gint *cancelled,
    GError **error);

/* Whether the text can be parsed; not every error of a parameter is found. */
gboolean nd_footprint_check_text (const gchar *text, GError **error);

/* From @size samples along x, y, z, t, of which those with @mask (x fastest)
 * are in the footprint; NULL: all. Errors as above. */
NdFootprint *nd_footprint_new (const gsize size[ND_AXES], const guint8 *mask,
    const gint origin[ND_AXES], GError **error);
void nd_footprint_free (NdFootprint *footprint);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdFootprint, nd_footprint_free)

/* A copy with all offsets negated. NULL without memory. */
NdFootprint *nd_footprint_negate (const NdFootprint *footprint);

/* One sort over a footprint. */
typedef struct
{
  gboolean negated; /* the footprint */
  gsize rank;
} NdRankPass;

/* An operation as one or two passes. */
typedef struct
{
  NdRankPass passes[2];
  guint n_passes;
  gboolean chained; /* the second pass reads the output of the first one */
  enum
  {
    ND_RANK_LAST,      /* the last pass is the output */
    ND_RANK_IN_MINUS,  /* input - last pass */
    ND_RANK_MINUS_IN,  /* last pass - input */
    ND_RANK_DIFFERENCE /* second pass - first pass */
  } result;
} NdRankPlan;

/* @percentile, 0 to 100, is that of ND_RANK_PERCENTILE: rank floor (n
 * percentile / 100) of n samples, n - 1 at most; the rank of the median is
 * n / 2. Both as SciPy has them. */
NdRankPlan nd_rank_plan (NdRankOperation operation, gdouble percentile,
    gsize n);

/* The operation for a whole stream of @n_volumes dense volumes of one
 * component, by sorting all samples of each output in double precision. Borders
 * are numbers of NdBorder (engine/border.h), given as functions that map an
 * index to one inside, or to -1 for @border_value. Results of differences are
 * not rounded. Slow: for tests. FALSE without memory. */
typedef gint64 (*NdRankBorder) (gint64 i, gint64 n);
gboolean nd_rank_reference (const NdRankPlan *plan,
    const NdFootprint *footprint, NdRankBorder border, NdRankBorder time_border,
    gdouble border_value, const gsize size[3], gsize n_volumes,
    const gdouble *in, gdouble *out);

G_END_DECLS
