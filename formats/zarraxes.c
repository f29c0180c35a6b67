/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarraxes.h"

#include "core/error.h"
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
  NdGeometry *geometry = &recording->geometry;

  *geometry = (NdGeometry){ FALSE, { 1, 1, 1 }, { 0, 0, 0 },
    { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  for (guint i = 0; i < image->rank; i++) {
    const gchar *axis = strchr (spatial, image->axes[i]);

    if (!axis)
      continue;
    geometry->spacing[axis - spatial] = image->scale[i];
    geometry->origin[axis - spatial] = image->translation[i];
    geometry->known |= image->has_unit[i] || image->scale[i] != 1;
  }
  for (guint a = 0; a < 3; a++) {
    if (!isfinite (geometry->spacing[a]) || geometry->spacing[a] <= 0
        || !isfinite (geometry->origin[a]))
      geometry->known = FALSE;
  }
  if (!geometry->known)
    memset (geometry, 0, sizeof (*geometry));
}

void
nd_zarr_set_rate (const NdZarrImage *image, gint time, NdRecording *recording)
{
  if (time >= 0 && (image->has_unit[time] || image->scale[time] != 1))
    nd_rate_from_seconds (image->scale[time], &recording->rate_n,
        &recording->rate_d);
}
