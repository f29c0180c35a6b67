/* A filter, a bank of filters, and what analysis finds in them.
 *
 * out[i] = sum_m w[m] * in[i + k/2 + origin - m] per axis, integer division,
 * 0 <= m < k: a true convolution, as scipy.ndimage.convolve defines it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndshape.h"

G_BEGIN_DECLS

/* How far the response of a fitted filter is from the ideal one, where W is the
 * amplitude expected of the input (ndfit.h), relative to what the ideal one
 * answers, sqrt (mean (W^2 |ideal|^2)); means are over all frequencies.
 *
 *   varying: sqrt (mean (W^2 |ideal - response|^2))
 *   total: the same with the mean of the input, of ten times the energy
 *
 * Both are one where the sum of the filter is that of the ideal one. */
typedef struct
{
  gdouble varying;
  gdouble total;
} NdFitError;

typedef struct
{
  gchar *name;                  /* the design, and its file: for messages */
  gsize size[ND_AXES];          /* coefficients per axis, 1 and more */
  gint origin[ND_AXES];         /* -(k/2) to (k-1)/2, as in SciPy */
  gdouble *coefficients;        /* x fastest, t slowest; all finite */

  /* Of a design that is fitted, and of the ideal filter cut off at this size;
   * otherwise NAN. Both parts of a complex filter have those of the whole. */
  NdFitError fit_error;
  NdFitError truncation_error;

  /* The band that was asked for: radians per sample, octaves; or NAN. */
  gdouble center_frequency;
  gdouble bandwidth;
} NdFilter;

/* More coefficients than this are refused (a filter of 2 GiB). */
#define ND_FILTER_MAX_COEFFICIENTS ((gsize) 1 << 28)

/* A filter of zeros with origin 0, or NULL where the product of @size is 0 or
 * above ND_FILTER_MAX_COEFFICIENTS, or where there is no memory for it. */
NdFilter *nd_filter_new (const gchar * name, const gsize size[ND_AXES]);

/* The outer product of one factor per axis, factors[a] being size[a] long and
 * NULL standing for 1 along an axis of size 1: what nd_filter_separate()
 * undoes. NULL as above. */
NdFilter *nd_filter_new_product (const gchar * name,
    const gsize size[ND_AXES], gdouble * const factors[ND_AXES]);
NdFilter *nd_filter_copy (const NdFilter * filter);
void nd_filter_free (NdFilter * filter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdFilter, nd_filter_free)

gsize nd_filter_count (const NdFilter * filter);

/* Sum of the coefficients: the gain for constant input. */
gdouble nd_filter_sum (const NdFilter * filter);

/* Scales the sum to 1. ND_ERROR_SETTINGS where the sum is zero, that is at
 * most 1e-12 of the sum of absolute values. */
gboolean nd_filter_normalize (NdFilter * filter, GError ** error);

/* Offsets that the filter reads, relative to the output: from low[a] (<= 0)
 * to high[a] (>= 0) along each axis. Coefficient m reads offset high[a] - m. */
void nd_filter_reach (const NdFilter * filter, gint low[ND_AXES],
    gint high[ND_AXES]);

/* Rank 1: coefficients = the outer product of one factor per axis. Fills
 * factors[a], size[a] long, to be freed by the caller, and returns TRUE;
 * otherwise sets them to NULL and returns FALSE. Each product is within
 * 2^-21 |coefficient| of its coefficient, or within 2^-24 |largest| / count,
 * whichever is more, so that a filter saved as float32 is still found.
 *
 * A filter of integers below 2^24 is separable only if it is so exactly, and
 * its factors are then integers without common divisor, so that sums of
 * integer samples stay exact. The scale sits in the first factor longer than
 * 1; along an axis of size 1 the factor is {1}. */
gboolean nd_filter_separate (const NdFilter * filter,
    gdouble * factors[ND_AXES]);

typedef enum
{
  ND_SYMMETRY_NONE,
  ND_SYMMETRY_EVEN,             /* w[m] = w[k-1-m] in all axes at once */
  ND_SYMMETRY_ODD               /* w[m] = -w[k-1-m] */
} NdSymmetry;
NdSymmetry nd_filter_symmetry (const NdFilter * filter);

/* K filters over the same input. A complex filter is two real ones, and gives
 * one response. */
typedef struct
{
  guint n_filters;              /* 1 and more */
  NdFilter **filters;
  gboolean is_complex;             /* pairs: real part, imaginary part */
} NdBank;

/* Takes the filters in @filters (of NdFilter *), and empties it. */
NdBank *nd_bank_new (GPtrArray * filters);

/* The parts of the filter of a response; @imaginary is NULL where that is real.
 * In a complex bank such a one has a zero of size 1 beside it. */
void nd_bank_parts (const NdBank * bank, guint response,
    const NdFilter ** real, const NdFilter ** imaginary);

/* K: n_filters, or half as many. */
guint nd_bank_responses (const NdBank * bank);
NdBank *nd_bank_copy (const NdBank * bank);
void nd_bank_free (NdBank * bank);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdBank, nd_bank_free)

/* The reach of all its filters together. */
void nd_bank_reach (const NdBank * bank, gint low[ND_AXES],
    gint high[ND_AXES]);

G_END_DECLS
