/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarraxes.h"

#include "core/error.h"
#include "formats/axes.h"
#include "formats/rate.h"

#include <math.h>
#include <string.h>

gboolean
nd_zarr_find_axes (const NdZarrArray *array, NdZarrImage *image, GError **error)
{
  const gboolean has_image = image->rank > 0;

  if (has_image && image->rank != array->rank) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Its array has %u axes, its metadata have %u", array->rank,
        image->rank);
    return FALSE;
  }
  image->rank = array->rank;
  for (guint i = 0; i < array->rank && !has_image; i++) {
    image->axes[i] =
        array->named ? array->axes[i] : "tczyx"[5 - array->rank + i];
    image->scale[i] = 1;
    /* Four axes are t, z, y, x. */
    if (!array->named && array->rank == 4 && i == 0)
      image->axes[i] = 't';
  }
  for (guint i = 0; i < image->rank; i++) {
    if (memchr (image->axes, image->axes[i], i)) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "Two of its axes have the same name");
      return FALSE;
    }
  }
  if (memchr (image->axes, 'x', image->rank)
      && memchr (image->axes, 'y', image->rank))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "It must have the axes x and y");
  return FALSE;
}

void
nd_zarr_set_geometry (const NdZarrImage *image, NdRecording *recording)
{
  static const gchar spatial[] = "xyz";
  gdouble spacing[3] = { 1, 1, 1 }, origin[3] = { 0 };
  gboolean known = FALSE;

  for (guint i = 0; i < image->rank; i++) {
    const gchar *axis = strchr (spatial, image->axes[i]);

    if (!axis)
      continue;
    spacing[axis - spatial] = image->scale[i];
    origin[axis - spatial] = image->translation[i];
    known |= image->has_unit[i] || image->scale[i] != 1;
  }
  memset (&recording->geometry, 0, sizeof (recording->geometry));
  if (known)
    nd_axes_set (&recording->geometry, spacing, origin);
}

void
nd_zarr_set_rate (const NdZarrImage *image, gint time, NdRecording *recording)
{
  if (time >= 0 && (image->has_unit[time] || image->scale[time] != 1))
    nd_rate_from_seconds (image->scale[time], &recording->rate_n,
        &recording->rate_d);
}
