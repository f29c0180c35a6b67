/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/axes.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

gboolean
nd_axes_from_text (const gchar *text, NdAxes *axes, GError **error)
{
  static const NdAxes known[] = { { 2, { ND_AXIS_X, ND_AXIS_Y } },
    { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z } },
    { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_T } },
    { 4, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T } } };
  static const gchar *const names[] = { "xy", "xyz", "xyt", "xyzt" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (strcmp (text, names[i]) == 0) {
      *axes = known[i];
      return TRUE;
    }
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "axes is %s; it must be xy, xyz, xyt or xyzt", text);
  return FALSE;
}

static gboolean
set_spacing (NdAxes *axes, const gchar *spacing, GError **error)
{
  g_auto (GStrv) numbers = g_strsplit (spacing, ":", -1);
  const guint n = g_strv_length (numbers);

  for (guint a = 0; a < ND_AXIS_T && n > 0; a++) {
    gchar *end;

    axes->step[a] = g_ascii_strtod (numbers[MIN (a, n - 1)], &end);
    if (*end != '\0' || !(axes->step[a] > 0) || isinf (axes->step[a])
        || n > ND_AXIS_T) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "spacing is %s; it must be 1 to 3 numbers above 0, in mm, as "
          "0.3:0.3:0.5",
          spacing);
      return FALSE;
    }
  }
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
