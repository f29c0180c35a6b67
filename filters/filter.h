/* A filter and a bank of filters.
 *
 * out[i] = sum_m w[m] * in[i + k/2 + origin - m] per axis, with integer
 * division and 0 <= m < k: a true convolution, as scipy.ndimage.convolve
 * defines it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

G_BEGIN_DECLS

/* The distance of a fitted filter from the ideal one, relative to the response
 * of the ideal one, sqrt (mean (W^2 |ideal|^2)). W is the amplitude expected of
 * the input (filters/fit.h); means are over all frequencies.
 *
 *   varying: sqrt (mean (W^2 |ideal - response|^2))
 *   total: the same with the mean of the input, which has ten times the energy
 *
 * Both are equal if filter and ideal filter have the same sum. */
typedef struct
{
  gdouble varying;
  gdouble total;
} NdFitError;

/* The role of a filter in an orientation tensor (filters/tensor.h). */
typedef enum
{
  ND_TENSOR_NO_ROLE,
  ND_TENSOR_MONOMIAL,
  ND_TENSOR_QUADRATURE
} NdTensorKind;

typedef struct
{
  NdTensorKind kind;
  guint8 exponents[ND_AXES];  /* of a monomial */
  gdouble direction[ND_AXES]; /* of a quadrature filter */
} NdTensorRole;

typedef struct
{
  gchar *name;           /* the design, and its file: for messages */
  gsize size[ND_AXES];   /* coefficients per axis, 1 and more */
  gint origin[ND_AXES];  /* -(k/2) to (k-1)/2, as in SciPy */
  gdouble *coefficients; /* x fastest, t slowest; all finite */

  /* The errors of the fit, and of the ideal filter cut off at this size; NAN if
   * the design is not fitted. Real and imaginary part of a complex filter both
   * have the errors of the complex filter. */
  NdFitError fit_error;
  NdFitError truncation_error;

  /* The band that the user requested: radians per sample, octaves; or NAN. */
  gdouble center_frequency;
  gdouble bandwidth;

  NdTensorRole role;
} NdFilter;

/* The most coefficients that a filter may have (2 GiB). */
#define ND_FILTER_MAX_COEFFICIENTS ((gsize) 1 << 28)

/* A filter of zeros with origin 0. NULL if the product of @size is 0 or above
 * ND_FILTER_MAX_COEFFICIENTS, or if memory is short. */
NdFilter *nd_filter_new (const gchar *name, const gsize size[ND_AXES]);

/* The outer product of one factor per axis, the inverse of
 * nd_filter_separate(). factors[a] has size[a] numbers, or is NULL for an axis
 * of size 1. Returns NULL as nd_filter_new() does. */
NdFilter *nd_filter_new_product (const gchar *name, const gsize size[ND_AXES],
    gdouble *const factors[ND_AXES]);

/* A copy, with all fields. NULL without memory. */
NdFilter *nd_filter_copy (const NdFilter *filter);
void nd_filter_free (NdFilter *filter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdFilter, nd_filter_free)

/* The number of coefficients: the product of the sizes. */
gsize nd_filter_count (const NdFilter *filter);

/* The sum of the coefficients, which is the gain for constant input. */
gdouble nd_filter_sum (const NdFilter *filter);

/* Scales the filter to sum 1. ND_ERROR_SETTINGS if the sum is 0, or at most
 * 1e-12 of the sum of absolute values. */
gboolean nd_filter_normalize (NdFilter *filter, GError **error);

/* The offsets from an output sample to the input samples that the filter reads:
 * low[a] (<= 0) to high[a] (>= 0) along each axis. Coefficient m reads the
 * sample at offset high[a] - m. */
void nd_filter_reach (const NdFilter *filter, gint low[ND_AXES],
    gint high[ND_AXES]);

/* Writes the filter as the outer product of one factor per axis, if it has rank
 * 1. Fills factors[a] with size[a] numbers, which the caller frees, and returns
 * TRUE; otherwise sets them to NULL and returns FALSE. A product may differ
 * from its coefficient by 2^-21 |coefficient| or 2^-24 |largest| / count,
 * whichever is more, so that a filter saved as float32 stays separable.
 *
 * A filter of integers below 2^24 must be separable exactly. Its factors are
 * integers without a common divisor, so that sums of integer samples stay
 * exact. The first factor longer than 1 has the scale; an axis of size 1 has
 * the factor {1}. Without memory it is not separable, either. */
gboolean nd_filter_separate (const NdFilter *filter, gdouble *factors[ND_AXES]);

/* The same in @precision. For double, a product may differ from its coefficient
 * by 2^-49 |coefficient| or 2^-53 |largest| / count. */
gboolean nd_filter_separate_in (const NdFilter *filter, NdPrecision precision,
    gdouble *factors[ND_AXES]);

typedef enum
{
  ND_SYMMETRY_NONE,
  ND_SYMMETRY_EVEN, /* w[m] = w[k-1-m], mirrored in all axes at once */
  ND_SYMMETRY_ODD   /* w[m] = -w[k-1-m] */
} NdSymmetry;

/* The first of the symmetries that the coefficients have exactly. */
NdSymmetry nd_filter_symmetry (const NdFilter *filter);

/* K filters for the same input. A complex filter is stored as two real ones and
 * has one response. */
typedef struct
{
  guint n_filters; /* 1 and more */
  NdFilter **filters;
  gboolean is_complex; /* pairs: real part, imaginary part */
} NdBank;

/* Takes the NdFilter pointers from @filters and leaves it empty. */
NdBank *nd_bank_new (GPtrArray *filters);

/* The filter of @response: its real part and its imaginary part. @imaginary is
 * NULL if the filter is real; in a complex bank the imaginary part of a real
 * filter is stored as a single zero. */
void nd_bank_get_filter (const NdBank *bank, guint response,
    const NdFilter **real, const NdFilter **imaginary);

/* K: n_filters, or n_filters / 2 if the bank is complex. */
guint nd_bank_responses (const NdBank *bank);

/* A copy, with all filters. NULL without memory. */
NdBank *nd_bank_copy (const NdBank *bank);
void nd_bank_free (NdBank *bank);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdBank, nd_bank_free)

/* The smallest range that contains nd_filter_reach() of every filter. */
void nd_bank_reach (const NdBank *bank, gint low[ND_AXES], gint high[ND_AXES]);

G_END_DECLS
