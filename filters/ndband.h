/* What the designs of band-pass filters share: a lognormal band of frequencies,
 * its parameters and their defaults, and how the filters are fitted.
 *
 *   R(u) = exp (-4 / (B^2 ln 2) ln^2 (|u| / c))
 *
 * c being the centre frequency in radians per sample, where R is 1, and B the
 * bandwidth in octaves between the two frequencies where R is 1/2 (Knutsson
 * 1982; Granlund and Knutsson, Signal Processing for Computer Vision, Kluwer
 * 1995, 6.2.1).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "nddesign.h"
#include "ndfit.h"

G_BEGIN_DECLS

typedef struct
{
  gsize size[ND_AXES];          /* odd, or 1 */
  guint n;                      /* axes along which size is above 1 */
  NdAxis axis[ND_AXES];
  gdouble center;               /* radians per sample */
  gdouble bandwidth;            /* octaves */
  NdFitWeights weights;
} NdBand;

/* Parameters size, center-frequency (above 0, below pi), bandwidth (above 0, at
 * most 8, default 2), and those of nd_parameters_get_weights().
 *
 * Half the size times the width of the band, c (2^(B/2) - 2^(-B/2)), is
 * 1.25 x 2 pi at least by default, for B above 2 1.25 + 0.2 (B - 2): of size
 * and center-frequency, the one that is missing follows from the other, the
 * frequency at most so that the upper end of the band is at 2.3, where 2 pi
 * allows it, and at most pi / 2; both missing, center-frequency is pi / 3. The
 * smallest default size is 11. */
gboolean nd_parameters_get_band (const NdParameters * parameters,
    const NdAxes * axes, NdBand * band, GError ** error);

/* center-frequency, by default @fallback, and bandwidth alone. */
gboolean nd_parameters_get_frequencies (const NdParameters * parameters,
    gdouble fallback, gdouble * center, gdouble * bandwidth, GError ** error);

/* spectrum (0 to 4, default 0.5), snr (from 0.001), localization (0 to 1,
 * default 0.0001): see NdFitWeights. */
gboolean nd_parameters_get_weights (const NdParameters * parameters,
    gdouble fallback_snr, NdFitWeights * weights, GError ** error);

/* One number, @fallback where it is missing. */
gboolean nd_parameters_get_number (const NdParameters * parameters,
    const gchar * name, gdouble fallback, gdouble * value, GError ** error);

/* R(u) */
gdouble nd_band_radial (const NdBand * band, const gdouble u[ND_AXES]);

/* Adds to @fit what holds for every band-pass filter: the response is 0 for
 * constant input. */
void nd_band_block_constant (NdFit * fit);

/* Adds to @fit that along @direction it is a band as designed: 1 at the centre
 * frequency, where it also has its maximum, 1/2 at both ends, and 0 at the
 * frequencies opposite to the middle of the band. */
void nd_band_condition (const NdBand * band, NdFit * fit,
    const gdouble direction[ND_AXES]);

/* Says in all filters of @bank, if there is one, which band was asked for. */
void nd_band_note (NdBank * bank, gdouble center, gdouble bandwidth);

/* Fits all @fits, whose ideal, data and conditions are set. Into complex
 * filters a + ib, of response E + O, where @sign is 0; otherwise into real
 * filters a + @sign b, of response E - i @sign O. */
NdBank *nd_band_fit (const gchar * design, const gsize size[ND_AXES],
    const NdFitWeights * weights, NdFit * fits, guint n, gdouble sign,
    GError ** error);

G_END_DECLS
