/* What a filter does, found in its coefficients: a real filter, or a complex
 * one, of which @imaginary is not NULL and has the same size.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndfilter.h"

G_BEGIN_DECLS

/* F(u) = sum_x f[x] exp (-i u.x), x counted from the middle of the filter, @u
 * in radians per sample. */
void nd_filter_response (const NdFilter * real, const NdFilter * imaginary,
    const gdouble u[ND_AXES], gdouble * re, gdouble * im);

/* The largest |F(u)| and where it is, to a thousandth of what a filter of this
 * size can tell apart. */
gdouble nd_filter_gain (const NdFilter * real, const NdFilter * imaginary,
    gdouble u[ND_AXES]);

/* The band about a maximum at @u (nd_filter_gain()), along the ray from 0
 * through it: the frequencies, radians per sample, where |F| has fallen to half
 * of @gain below and above. FALSE where it does not on both sides, the upper as
 * far as pi along an axis. */
gboolean nd_filter_band (const NdFilter * real, const NdFilter * imaginary,
    const gdouble u[ND_AXES], gdouble gain, gdouble * low, gdouble * high);

/* The multilinear rank: how many filters along one axis, to 1e-6 of the largest
 * singular value, all lines along that axis are made of. 1 along all axes:
 * separable (De Lathauwer, De Moor and Vandewalle, SIAM Journal on Matrix
 * Analysis and Applications 21 (4), 2000). FALSE where it would take more
 * products than ND_RANK_MAX_PRODUCTS, coefficients times the sum of the sizes,
 * and the filter is not a real one that nd_filter_separate() finds separable:
 * from about 800 samples a side in 2D, 135 in 3D, 48 in 4D. */
#define ND_RANK_MAX_PRODUCTS 1e9

gboolean nd_filter_rank (const NdFilter * real, const NdFilter * imaginary,
    gsize rank[ND_AXES]);

G_END_DECLS
