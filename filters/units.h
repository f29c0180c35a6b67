/* Units of parameters: "0.6mm", "80ms", "12mm/s", "0.4cycles/mm".
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"

G_BEGIN_DECLS

/* The dimension of a number, as powers of length and time: 12mm/s has { 1, -1
 * }. */
typedef struct
{
  gint length, time;
} NdDimension;

/* The units are m, cm, mm, um (or µm), nm; s, ms, us (or µs), ns; a length per
 * time, as in mm/s; cycles per length, as in 0.4cycles/mm or 0.4/mm.
 *
 * Parses a number with an optional unit, up to the first character that belongs
 * to neither. @value is in mm, s, mm/s or cycles/mm; without a unit, @dimension
 * is { 0, 0 }. FALSE if @text does not begin with a number. */
gboolean nd_units_parse (const gchar *text, gdouble *value,
    NdDimension *dimension, const gchar **end);

/* Parses the distances of samples along x, y and z: 1 to 3 numbers above 0, in
 * mm or with a unit of length, as "0.3:0.3:0.5" or "0.3um:0.3um:1um". The last
 * one is also for the axes without one. FALSE for any other text. */
gboolean nd_units_parse_spacing (const gchar *text, gdouble spacing[3]);

/* TRUE if filter text or the value of a parameter has a number with a unit. */
gboolean nd_units_are_in (const gchar *text);

/* Converts the value @text of the parameter @name to samples by axes->step:
 *
 *   sigma, radius  lengths along x, y, z and times along t
 *   size           the same; the odd number of samples that comes nearest
 *   tau            a time, in volumes
 *   velocity       lengths per time, in samples per volume
 *   center-frequency  cycles per length, in radians per sample of the finest
 *                  axis in space
 *   wavelength, sampling  lengths, in mm
 *
 * Numbers without a unit stay as they are. A single length is for all axes in
 * space and a single time for t; the axes without a value have size 1, sigma 0.
 * Other parameters have no units and are copied. The caller frees the result;
 * NULL and ND_ERROR_SETTINGS if a unit is wrong or if the step is unknown. */
gchar *nd_units_resolve (const gchar *name, const gchar *text,
    const NdAxes *axes, GError **error);

/* Sets axes->scale by the unit of length and of time that a size, a velocity or
 * a frequency of @parameters names first, by default mm and s. */
void nd_units_set_scale (const NdParameters *parameters, NdAxes *axes);

/* The smallest step of the filtered axes in space with more than one sample; 0
 * if none is known. */
gdouble nd_units_finest_step (const NdAxes *axes);

/* axes->scale, or 1 if filters are not physical. ND_ERROR_SETTINGS if it is
 * unknown. */
gboolean nd_units_get_scale (const NdAxes *axes, NdAxis axis, gdouble *scale,
    GError **error);

G_END_DECLS
