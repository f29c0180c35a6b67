/* Filters by name and parameters: `gaussian` with sigma=1.5 and so on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/filter.h"

G_BEGIN_DECLS

/* Parameters as the user gave them: each is a text ("k.npy") or one or more
 * numbers, which a text can also hold ("3:3"). A parameter that the design does
 * not take is an error, so that a misspelt name is reported.
 *
 *   box                  size; sum 1
 *   causal-derivative    tau (default 0), size along t; sum 0; one-sided
 *   coefficients         size, values (x fastest, t slowest)
 *   dog                  sigma, ratio (default 1.6), size; sum 0
 *   ellipsoid            radius per axis, size; sum 1
 *   exponential          tau (volumes), size along t; sum 1; one-sided
 *   file                 location; size for raw float32, otherwise .npy or
 *                        NIfTI; complex if the samples are
 *   gabor                (complex) center-frequency, bandwidth, direction, size
 *   gamma                tau (volumes), order (default 2), size along t; sum 1;
 *                        one-sided
 *   gaussian             sigma (samples, 0 to 1e6, per axis; 0: size 1 there),
 *                        size (default 2 floor (4 sigma + 0.5) + 1); sum 1
 *   gaussian-derivative  order per axis, sigma, size
 *   laplace              size (3 or 5, default 3), connectivity (faces, the
 *                        default, or full); sum 0
 *   log                  sigma, size as gaussian; its Laplacian, sum 0
 *   monomial             order (0 to 3) and direction, or exponents per axis;
 *                        BAND
 *   monomial-bank        order (one or several, default 1:2); BAND
 *   motion               (complex) velocity (samples per volume, per axis in
 *                        space); BAND
 *   psf                  model (gaussian or airy), wavelength, aperture,
 *                        sampling, index, size; or location; sum 1
 *   quadrature           (complex) direction; BAND
 *   quadrature-bank      (complex) BAND
 *   riesz                direction; BAND
 *   scharr               direction (x, y, z, t; default x)
 *   sobel                direction (x, y, z, t; default x), size (3 or 5,
 *                        default 3)
 *   sphere               radius, size; sum 1
 *   wiener               sigma, snr, size, spectrum, localization
 *
 * Each design also takes lag (volumes) and lag-snr, which make it one-sided
 * (filters/onesided.h).
 *
 * BAND stands for center-frequency, bandwidth, size and the weights of the fit:
 * spectrum, snr and localization (filters/band.h).
 *
 * The file of each design has its formula and the source of the formula. */
typedef struct _NdParameters NdParameters;

/* No parameters. Used by one thread at a time. */
NdParameters *nd_parameters_new (void);
void nd_parameters_free (NdParameters *parameters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdParameters, nd_parameters_free)

/* Append a parameter, a text or @n numbers, which are copied. Wrong, repeated
 * and unknown ones are found when a filter is designed. */
void nd_parameters_set_text (NdParameters *parameters, const gchar *name,
    const gchar *text);
void nd_parameters_set_numbers (NdParameters *parameters, const gchar *name,
    const gdouble *numbers, gsize n);

/* The design with @parameters looks at @cancelled (core/error.h). */
void nd_parameters_set_cancelled (NdParameters *parameters,
    const gint *cancelled);

/* The axes that an element filters along, in the order of memory: ndconv2d
 * {x, y}, ndconv3d {x, y, z} or {x, y, t}, ndconv4dtemporal {x, y, z, t}.
 *
 * A parameter with one value per axis (size, sigma, ...) has its values in this
 * order. It may have fewer values than there are axes, or a single one for all
 * axes; four values are always x, y, z, t. An axis without a value, and an axis
 * that is not filtered, has size 1, sigma 0 and origin 0.
 *
 * Numbers with a unit (filters/units.h) are converted to samples by @step, the
 * distance of samples in mm along x, y, z and in seconds along t; 0 if it is
 * unknown.
 *
 * Along an axis that has one @single sample in the stream, a filter has size 1,
 * unless sizes are given per axis or the filter has a direction, an order, an
 * exponent or a velocity there. A single number for all axes leaves it out.
 *
 * If a parameter has a unit, filters are physical: derivatives are divided by
 * @scale, the step in the units that the parameters name, and directions are
 * those of space. @scale is NAN where the step is unknown, 0 if no parameter
 * has a unit. nd_design() sets it. */
typedef struct
{
  guint n;
  NdAxis axis[ND_AXES];
  gdouble step[ND_AXES];
  gboolean single[ND_AXES];
  gdouble scale[ND_AXES];
  gboolean physical_frequency; /* center-frequency has a unit */
} NdAxes;

/* Designs a filter or a bank of filters over @axes. ND_ERROR_SETTINGS if the
 * design is unknown (the message lists all designs), or if a parameter is
 * unknown, missing, repeated or impossible; ND_ERROR_NOT_FOUND, _OPEN_READ,
 * _READ, _FORMAT for files; ND_ERROR_CANCELLED. Every message names the design,
 * and the parameter or the file. Any thread. */
NdBank *nd_design (const gchar *design, NdParameters *parameters,
    const NdAxes *axes, GError **error);

/* The properties of a bank that caps depend on. */
typedef struct
{
  guint n_responses;
  gboolean is_complex;
  guint tensor_axes; /* of the tensor that a whole bank design makes, or 0 */
} NdBankInfo;

/* Finds the properties of the bank of nd_design() in a fraction of the time.
 * Checks only the parameters that the properties depend on. */
gboolean nd_design_info (const gchar *design, NdParameters *parameters,
    const NdAxes *axes, NdBankInfo *info, GError **error);

/* A sentence, which the caller frees, if @design takes derivatives or has
 * directions and its sizes are in samples, but the spacing of @axes differs;
 * otherwise NULL. */
gchar *nd_design_find_warning (const gchar *design,
    const NdParameters *parameters, const NdAxes *axes);

/* The names of all designs, terminated by NULL. */
const gchar *const *nd_design_names (void);

/* ND_ERROR_SETTINGS, with all names in the message, if there is no such
 * design. */
gboolean nd_design_check_name (const gchar *design, GError **error);

/* Adds text like "0:0:-1", values for @axes as described for NdAxes, to
 * filter->origin, which is 0 unless the design is one-sided. The sum must be
 * from -(size/2) to (size-1)/2. */
gboolean nd_filter_set_origin (NdFilter *filter, const gchar *text,
    const NdAxes *axes, GError **error);

/* Sets the origin in time to -(k/2) for size k, so that the filter reads no
 * later volume. */
void nd_filter_set_causal (NdFilter *filter);

G_END_DECLS
