/* The lognormal band of frequencies that the band-pass designs share: its
 * parameters, their defaults, and the conditions of the fit.
 *
 *   R(u) = exp (-4 / (B^2 ln 2) ln^2 (|u| / c))
 *
 * R is 1 at the centre frequency c (radians per sample), and 1/2 at two
 * frequencies that are B octaves apart: B is the bandwidth (Knutsson 1982;
 * Granlund and Knutsson, Signal Processing for Computer Vision, Kluwer 1995,
 * 6.2.1).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"
#include "filters/fit.h"

G_BEGIN_DECLS

typedef struct
{
  gsize size[ND_AXES]; /* odd, or 1 */
  guint n;             /* axes with a size above 1 */
  NdAxis axis[ND_AXES];
  gdouble center;    /* radians per sample of the finest axis */
  gdouble bandwidth; /* octaves */
  NdFitWeights weights;

  /* If filters are physical (NdAxes), the step of the finest axis in space by
   * that of each; otherwise 1. Designs and conditions have frequencies u per
   * sample of the finest axis; along an axis they are u / stretch per
   * sample. */
  gdouble stretch[ND_AXES];
} NdBand;

/* Reads size, center-frequency (above 0, below pi), bandwidth (above 0, at most
 * 8, default 2) and the parameters of nd_parameters_get_weights().
 *
 * By default, half the size times the width of the band, c (2^(B/2) -
 * 2^(-B/2)), is at least 1.25 x 2 pi, and 1.25 + 0.2 (B - 2) times 2 pi if B is
 * above 2. If only size or only center-frequency is given, the other follows
 * from this rule; the frequency is at most pi / 2, and low enough for the upper
 * end of the band to stay below 2.3. If neither is given, center-frequency is
 * pi / 3. A default size is at least 11. If filters are physical, a frequency
 * without a unit is per sample of the coarsest axis. */
gboolean nd_parameters_get_band (const NdParameters *parameters,
    const NdAxes *axes, NdBand *band, GError **error);

/* The same with another default of bandwidth. If only size is given,
 * center-frequency is at least @least_center. */
gboolean nd_parameters_get_wide_band (const NdParameters *parameters,
    const NdAxes *axes, gdouble bandwidth, gdouble least_center, NdBand *band,
    GError **error);

/* Reads center-frequency, by default @fallback, bandwidth and stretch, for
 * filters along all axes but single ones. */
gboolean nd_parameters_get_frequencies (const NdParameters *parameters,
    const NdAxes *axes, gdouble fallback, NdBand *band, GError **error);

/* Reads spectrum (0 to 4, default 0.5), snr (0.001 or more) and localization (0
 * to 1, default 0.0001); NdFitWeights explains them. */
gboolean nd_parameters_get_weights (const NdParameters *parameters,
    gdouble fallback_snr, NdFitWeights *weights, GError **error);

/* Reads one number, by default @fallback. */
gboolean nd_parameters_get_number (const NdParameters *parameters,
    const gchar *name, gdouble fallback, gdouble *value, GError **error);

/* R(u) */
gdouble nd_band_radial (const NdBand *band, const gdouble u[ND_AXES]);

/* Adds the condition of every band-pass filter to @fit: the response to
 * constant input is 0. */
void nd_band_block_constant (NdFit *fit);

/* Adds conditions along @direction to @fit: the response is 1 and has its
 * maximum at the centre frequency, is 1/2 at both ends of the band, and 0 at
 * the frequencies opposite to the middle of the band. */
void nd_band_condition (const NdBand *band, NdFit *fit,
    const gdouble direction[ND_AXES]);

/* Stores the band that the user requested in all filters of @bank. Does nothing
 * if @bank is NULL. */
void nd_band_note (NdBank *bank, gdouble center, gdouble bandwidth);

/* Solves @fits, which have ideal, data and conditions, for the size, weights
 * and stretch of @band. If @sign is 0, the filters are complex, a + ib, with
 * the response E + O; otherwise they are real, a + @sign b, with the response E
 * - i @sign O. */
NdBank *nd_band_fit (const gchar *design, const NdBand *band, NdFit *fits,
    guint n, gdouble sign, GError **error);

G_END_DECLS
