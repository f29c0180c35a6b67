/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/axes.h"

#include "core/error.h"
#include "filters/units.h"

#include <string.h>

gboolean
nd_axes_from_text (const gchar *text, NdAxes *axes, GError **error)
{
  static const NdAxes known[] = { { 1, { ND_AXIS_X } },
    { 2, { ND_AXIS_X, ND_AXIS_Y } }, { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z } },
    { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_T } },
    { 4, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T } } };
  static const gchar *const names[] = { "x", "xy", "xyz", "xyt", "xyzt" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (strcmp (text, names[i]) == 0) {
      *axes = known[i];
      return TRUE;
    }
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "axes is %s; it must be x, xy, xyz, xyt or xyzt", text);
  return FALSE;
}

static gboolean
set_spacing (NdAxes *axes, const gchar *spacing, GError **error)
{
  gdouble numbers[3];

  if (*spacing == '\0')
    return TRUE;
  if (!nd_units_parse_spacing (spacing, numbers)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "spacing is %s; it must be 1 to 3 numbers above 0, in mm or with a "
        "unit, as 0.3:0.3:0.5 or 0.3um:0.3um:1um",
        spacing);
    return FALSE;
  }
  for (guint a = 0; a < ND_AXIS_T; a++)
    axes->step[a] = numbers[a];
  return TRUE;
}

gboolean
nd_axes_set_steps (NdAxes *axes, const gchar *spacing, const gchar *rate,
    GError **error)
{
  gdouble denominator = 1;
  gchar *end;

  if (spacing && !set_spacing (axes, spacing, error))
    return FALSE;
  if (!rate)
    return TRUE;
  axes->step[ND_AXIS_T] = 1 / g_ascii_strtod (rate, &end);
  if (*end == '/')
    denominator = g_ascii_strtod (end + 1, &end);
  axes->step[ND_AXIS_T] *= denominator;
  if (*end == '\0' && axes->step[ND_AXIS_T] > 0
      && axes->step[ND_AXIS_T] < G_MAXDOUBLE)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "rate is %s; it must be the volumes per second, as 20 or 30000/1001",
      rate);
  return FALSE;
}
