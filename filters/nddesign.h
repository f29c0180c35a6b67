/* Filters by name and parameters: `gaussian` with sigma=1.5 and so on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndfilter.h"

G_BEGIN_DECLS

/* Parameters as the user gave them: each a text ("k.npy") or one or more
 * numbers, which may be given as a text too ("3:3"). One that the design does
 * not take is an error, so that a misspelt name never passes unseen.
 *
 *   box                  size; sum 1
 *   coefficients         size, values (x fastest, t slowest)
 *   dog                  sigma, ratio (default 1.6), size; sum 0
 *   ellipsoid            radius per axis, size; sum 1
 *   file                 location; size for raw float32, otherwise .npy or
 *                        NIfTI; complex where the samples are
 *   gabor                (complex) center-frequency, bandwidth, direction, size
 *   gaussian             sigma (samples, 0 to 1e6, per axis; 0: size 1 there),
 *                        size (default 2 floor (4 sigma + 0.5) + 1); sum 1
 *   gaussian-derivative  order per axis, sigma, size
 *   laplace              size (3 or 5, default 3), connectivity (faces, the
 *                        default, or full); sum 0
 *   log                  sigma, size as gaussian; its Laplacian, sum 0
 *   monomial             order (0 to 3) and direction, or exponents per axis;
 *                        FIT
 *   monomial-bank        order (one or several, default 1:2); FIT
 *   motion               (complex) velocity (samples per volume, per axis in
 *                        space); FIT
 *   psf                  model (gaussian or airy), wavelength, aperture,
 *                        sampling, index, size; sum 1
 *   quadrature           (complex) direction; FIT
 *   quadrature-bank      (complex) FIT
 *   riesz                direction; FIT
 *   scharr               direction (x, y, z, t; default x)
 *   sobel                direction (x, y, z, t; default x), size (3 or 5,
 *                        default 3)
 *   sphere               radius, size; sum 1
 *   wiener               sigma, snr, size, spectrum, localization
 *
 * FIT stands for center-frequency, bandwidth, size and what weighs the fit:
 * spectrum, snr and localization (ndband.h).
 *
 * Formulas and their sources stand in the file of each design. */
typedef struct _NdParameters NdParameters;

NdParameters *nd_parameters_new (void);
void nd_parameters_free (NdParameters * parameters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdParameters, nd_parameters_free)
void nd_parameters_set_text (NdParameters * parameters, const gchar * name,
    const gchar * text);
void nd_parameters_set_numbers (NdParameters * parameters, const gchar * name,
    const gdouble * numbers, gsize n);

/* The axes that an element filters along, in the order of memory: ndconv2d
 * {x, y}, ndconv3d {x, y, z} or {x, y, t}, ndconv4dtemporal {x, y, z, t}.
 *
 * Sizes, and whatever else has one value per axis, are given for these axes in
 * this order, fewer, or a single number (all axes alike); with four values they
 * are x, y, z, t. An axis without a value, or not filtered, has size 1, sigma 0
 * and origin 0. */
typedef struct
{
  guint n;
  NdAxis axis[ND_AXES];
} NdAxes;

/* Designs a filter, or a bank of them, over @axes. ND_ERROR_SETTINGS for an
 * unknown design (the message lists those there are), an unknown, missing,
 * repeated or impossible parameter; ND_ERROR_NOT_FOUND, _OPEN_READ, _READ,
 * _FORMAT for files. Every message names the design and the parameter or
 * file. */
NdBank *nd_design (const gchar * design, NdParameters * parameters,
    const NdAxes * axes, GError ** error);

/* What a design will give. */
typedef struct
{
  guint n;
  gboolean is_complex;
} NdResponses;

/* The same for a fraction of the time, and with fewer errors. */
gboolean nd_design_count (const gchar * design, NdParameters * parameters,
    const NdAxes * axes, NdResponses * responses, GError ** error);

/* Names of all designs, NULL at the end. */
const gchar *const *nd_design_names (void);

/* ND_ERROR_SETTINGS, with the names there are, where @design is none. */
gboolean nd_design_check_name (const gchar * design, GError ** error);

/* Text like "0:0:-1" for @axes by the rule above, each from -(size/2) to
 * (size-1)/2, into filter->origin. */
gboolean nd_filter_set_origin (NdFilter * filter, const gchar * text,
    const NdAxes * axes, GError ** error);

/* Time origin -(k/2), k being the size in t: no later volume is read. */
void nd_filter_set_causal (NdFilter * filter);

G_END_DECLS
