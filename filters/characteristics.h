/* Frequency response, gain, band and rank of a filter, computed from its
 * coefficients. A complex filter is given by two real ones of the same size;
 * for a real filter @imaginary is NULL.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/filter.h"

G_BEGIN_DECLS

/* F(u) = sum_x f[x] exp (-i u.x), with x counted from the middle of the filter
 * and @u in radians per sample. FALSE and NAN without memory. */
gboolean nd_filter_response (const NdFilter *real, const NdFilter *imaginary,
    const gdouble u[ND_AXES], gdouble *re, gdouble *im);

/* The largest |F(u)|, and the frequency @u that has it, to a thousandth of the
 * resolution that the size of the filter allows. NAN without memory. */
gdouble nd_filter_gain (const NdFilter *real, const NdFilter *imaginary,
    gdouble u[ND_AXES]);

/* The band around a maximum at @u (see nd_filter_gain()): along the ray from 0
 * through @u, the frequencies in radians per sample below and above it at which
 * |F| falls to half of @gain. FALSE if |F| does not fall so far on one side;
 * above @u the search ends when one axis reaches pi. FALSE without memory. */
gboolean nd_filter_band (const NdFilter *real, const NdFilter *imaginary,
    const gdouble u[ND_AXES], gdouble gain, gdouble *low, gdouble *high);

/* The mean age in volumes of the samples that the filter reads if it is causal:
 * how late the response is under the timestamp of the newest volume. (T - 1) /
 * 2 for a filter that is symmetric in time and has size T there.
 *
 * The coefficients weigh the ages if the filter passes constant input (to more
 * than a tenth of the sum of magnitudes): that is its group delay at frequency
 * 0. Otherwise the magnitudes of the coefficients do. */
gdouble nd_filter_lag (const NdFilter *real, const NdFilter *imaginary);

/* The same against the anchor, for the origin that the filter has: negative if
 * the response is ahead of its timestamp. */
gdouble nd_filter_anchor_lag (const NdFilter *real, const NdFilter *imaginary);

/* The standard deviation of the coefficients along each axis, in samples: sigma
 * of a Gaussian or of a point spread function. FALSE if a coefficient is below
 * 0, or all are 0. */
gboolean nd_filter_sigma (const NdFilter *filter, gdouble sigma[ND_AXES]);

/* The cut-off of a low-pass filter: along each axis the frequency, in radians
 * per sample, at which |F| falls to half of |F(0)|; NAN if it does not up to
 * pi. FALSE without memory. */
gboolean nd_filter_cutoff (const NdFilter *real, const NdFilter *imaginary,
    gdouble cutoff[ND_AXES]);

/* The multilinear rank (De Lathauwer, De Moor and Vandewalle, SIAM Journal on
 * Matrix Analysis and Applications 21 (4), 2000): for each axis, the number of
 * one-dimensional filters that all lines along the axis are combinations of, to
 * 1e-6 of the largest singular value. A separable filter has rank 1 along all
 * axes.
 *
 * FALSE if the computation would take more than ND_RANK_MAX_PRODUCTS products
 * (coefficients times the sum of the sizes; about 800 samples a side in 2D, 135
 * in 3D, 48 in 4D) and nd_filter_separate() does not find the filter separable
 * either, or without memory. */
#define ND_RANK_MAX_PRODUCTS 1e9
gboolean nd_filter_rank (const NdFilter *real, const NdFilter *imaginary,
    gsize rank[ND_AXES]);

G_END_DECLS
