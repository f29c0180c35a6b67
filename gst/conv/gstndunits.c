/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndunits.h"

#include "filters/units.h"

#include <string.h>

void
gst_nd_units_set_steps (NdAxes *axes, const GstNdFormat *format)
{
  const NdGeometry *geometry = &format->tensors.geometry;

  memset (axes->step, 0, sizeof (axes->step));
  for (guint a = 0; a < ND_AXIS_T; a++) {
    if (!format->is_video && geometry->known)
      axes->step[a] = geometry->spacing[a];
  }
  if (format->rate_n > 0 && !format->is_variable)
    axes->step[ND_AXIS_T] = (gdouble) format->rate_d / format->rate_n;
}

gboolean
gst_nd_units_same_filter (const gchar *filter, const GstNdFormat *a,
    const GstNdFormat *b)
{
  NdAxes of_a = { 0 }, of_b = { 0 };

  if (!nd_units_are_in (filter))
    return TRUE;
  gst_nd_units_set_steps (&of_a, a);
  gst_nd_units_set_steps (&of_b, b);
  return memcmp (of_a.step, of_b.step, sizeof (of_a.step)) == 0;
}
