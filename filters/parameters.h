/* Access to the parameters of a design. If a parameter is missing or wrong, the
 * functions set ND_ERROR_SETTINGS with a sentence that begins with its name.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"

G_BEGIN_DECLS

/* Whether the parameter is set. */
gboolean nd_parameters_has (const NdParameters *parameters, const gchar *name);

/* FALSE if a parameter is set twice, or is neither in @names nor in @common;
 * both are terminated by NULL. */
gboolean nd_parameters_check (const NdParameters *parameters,
    const gchar *const *names, const gchar *const *common, GError **error);

/* See nd_parameters_set_cancelled(). */
const gint *nd_parameters_get_cancelled (const NdParameters *parameters);

/* A copy in which numbers with a unit are converted to samples
 * (filters/units.h). psf gets the spacing of @axes as its sampling if
 * wavelength has a unit and sampling is missing. NULL and an error if that
 * fails. */
NdParameters *nd_parameters_resolve (const NdParameters *parameters,
    const NdAxes *axes, GError **error);

/* "size=9,bandwidth=2", in the order in which they were set. The caller frees
 * it. */
gchar *nd_parameters_to_string (const NdParameters *parameters);

/* NULL if the parameter is missing. The text belongs to @parameters. */
const gchar *nd_parameters_get_text (const NdParameters *parameters,
    const gchar *name);

/* One or more finite numbers, which the caller frees. NULL and an error if the
 * parameter is missing, not a number, or not finite. */
gdouble *nd_parameters_get_numbers (const NdParameters *parameters,
    const gchar *name, gsize *n, GError **error);

/* One number per axis, as described for NdAxes. An axis without a value gets
 * @rest. */
gboolean nd_parameters_get_axes (const NdParameters *parameters,
    const gchar *name, const NdAxes *axes, gdouble rest,
    gdouble values[ND_AXES], GError **error);

/* Reads size, a positive integer per axis, 1 for an axis without a value. If
 * size is missing, each of @axes gets @fallback; if @fallback is 0, that is an
 * error. */
gboolean nd_parameters_get_size (const NdParameters *parameters,
    const NdAxes *axes, gsize fallback, gsize size[ND_AXES], GError **error);

/* One number per axis from @text, as in nd_parameters_get_axes(). */
gboolean nd_axes_parse (const NdAxes *axes, const gchar *name,
    const gchar *text, gdouble rest, gdouble values[ND_AXES], GError **error);

/* Whether @axis is one of @axes. */
gboolean nd_axes_have (const NdAxes *axes, NdAxis axis);

/* "x, y, t"; the caller frees it. */
gchar *nd_axes_to_string (const NdAxes *axes);

/* 'x', 'y', 'z', 't' */
gchar nd_axis_letter (guint axis);

G_END_DECLS
