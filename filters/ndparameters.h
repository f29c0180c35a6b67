/* How designs read their parameters. A parameter that cannot be read gives
 * ND_ERROR_SETTINGS with a sentence that begins with its name.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "nddesign.h"

G_BEGIN_DECLS

gboolean nd_parameters_has (const NdParameters * parameters,
    const gchar * name);

/* FALSE where a parameter was set twice, or is none of @names (NULL at the
 * end). */
gboolean nd_parameters_check (const NdParameters * parameters,
    const gchar * const *names, GError ** error);

/* "size=9,bandwidth=2", in the order of setting, to be freed. */
gchar *nd_parameters_to_string (const NdParameters * parameters);

/* NULL where it is missing; belongs to @parameters. */
const gchar *nd_parameters_get_text (const NdParameters * parameters,
    const gchar * name);

/* One or more finite numbers, to be freed; NULL and an error where it is
 * missing, no number, or not finite. */
gdouble *nd_parameters_get_numbers (const NdParameters * parameters,
    const gchar * name, gsize * n, GError ** error);

/* One number per axis by the rule of NdAxes; an axis that is not given gets
 * @rest. */
gboolean nd_parameters_get_axes (const NdParameters * parameters,
    const gchar * name, const NdAxes * axes, gdouble rest,
    gdouble values[ND_AXES], GError ** error);

/* The parameter `size`: a positive integer per axis, 1 where not given. Where
 * it is missing, each of @axes gets @fallback; 0 makes it an error. */
gboolean nd_parameters_get_size (const NdParameters * parameters,
    const NdAxes * axes, gsize fallback, gsize size[ND_AXES], GError ** error);

/* One number per axis from @text, as nd_parameters_get_axes(). */
gboolean nd_axes_parse (const NdAxes * axes, const gchar * name,
    const gchar * text, gdouble rest, gdouble values[ND_AXES], GError ** error);

gboolean nd_axes_have (const NdAxes * axes, NdAxis axis);

/* "x, y, t", to be freed. */
gchar *nd_axes_to_string (const NdAxes * axes);

/* 'x', 'y', 'z', 't' */
gchar nd_axis_letter (guint axis);

G_END_DECLS
