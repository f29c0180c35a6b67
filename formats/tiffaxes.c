/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffaxes.h"

#include <math.h>
#include <string.h>

#define PLANE_DIMENSIONS 8

static const struct
{
  const gchar *name;
  gdouble mm;
} units[] = {
  { "mm", 1 },
  { "millimeter", 1 },
  { "cm", 10 },
  { "centimeter", 10 },
  { "m", 1e3 },
  { "meter", 1e3 },
  { "um", 1e-3 },
  { "\302\265m", 1e-3 }, /* micro sign */
  { "\316\274m", 1e-3 }, /* Greek mu */
  { "\\u00B5m", 1e-3 },  /* as ImageJ writes it */
  { "\265m", 1e-3 },     /* Latin-1 */
  { "micron", 1e-3 },
  { "microns", 1e-3 },
  { "micrometer", 1e-3 },
  { "nm", 1e-6 },
  { "nanometer", 1e-6 },
  { "pm", 1e-9 },
  { "\303\205", 1e-7 }, /* angstrom */
  { "inch", 25.4 },
  { "in", 25.4 },
};

gdouble
nd_tiff_length_unit (const gchar *name)
{
  for (guint i = 0; name && i < G_N_ELEMENTS (units); i++) {
    if (strcmp (name, units[i].name) == 0)
      return units[i].mm;
  }
  return 0;
}

/* The product, or 0 if it overflows or exceeds @most. */
static guint64
product (guint64 a, guint64 b, guint64 c, guint64 most)
{
  guint64 n;

  if (!g_uint64_checked_mul (&n, a, b) || !g_uint64_checked_mul (&n, n, c)
      || n > most)
    return 0;
  return n;
}

static gdouble
positive (const gchar *text)
{
  const gdouble value = fabs (g_ascii_strtod (text, NULL));

  return isfinite (value) ? value : 0;
}

/* Lines key=value. https://imagej.net/ij/source/ij/io/FileSaver.java */
static void
parse_imagej (NdTiffAxes *axes, const gchar *description, guint64 pages)
{
  g_auto (GStrv) lines = g_strsplit (description, "\n", -1);
  guint64 most;

  axes->kind = ND_TIFF_IMAGEJ;
  axes->known = TRUE;
  axes->images = 1;
  for (guint i = 0; lines[i]; i++) {
    gchar *value = strchr (lines[i], '=');

    if (!value)
      continue;
    *value++ = '\0';
    g_strchomp (value);
    if (strcmp (lines[i], "images") == 0)
      axes->images = g_ascii_strtoull (value, NULL, 10);
    else if (strcmp (lines[i], "channels") == 0)
      axes->channels = g_ascii_strtoull (value, NULL, 10);
    else if (strcmp (lines[i], "slices") == 0)
      axes->slices = g_ascii_strtoull (value, NULL, 10);
    else if (strcmp (lines[i], "frames") == 0)
      axes->volumes = g_ascii_strtoull (value, NULL, 10);
    else if (strcmp (lines[i], "unit") == 0)
      axes->resolution_unit = nd_tiff_length_unit (value);
    else if (strcmp (lines[i], "spacing") == 0)
      axes->spacing[2] = positive (value);
    else if (strcmp (lines[i], "finterval") == 0)
      axes->seconds = positive (value);
    else if (strcmp (lines[i], "fps") == 0 && axes->seconds == 0
        && positive (value) > 0)
      axes->seconds = 1 / positive (value);
  }
  axes->spacing[2] *= axes->resolution_unit;
  axes->images = MAX (axes->images, 1);
  most = MAX (axes->images, pages);
  if (axes->slices * axes->channels == 1 && axes->volumes == 1)
    axes->slices = most;
  if (product (axes->channels, axes->slices, axes->volumes, most) != most) {
    axes->warning = "ImageJ's description has other counts of channels, slices "
                    "and frames than pages: the pages are taken as slices";
    axes->known = FALSE;
    axes->channels = axes->volumes = 1;
    axes->slices = most;
  }
}

/* tifffile: {"shape": [5, 4, 130, 120], "axes": "TZYX"}, without axes if the
 * program did not name them. */
static void
parse_tifffile (NdTiffAxes *axes, const gchar *description, guint64 pages,
    guint64 width, guint64 height, guint64 samples)
{
  const gchar *shape = strstr (description, "\"shape\"");
  const gchar *names = strstr (description, "\"axes\"");
  guint64 sizes[PLANE_DIMENSIONS], *count;
  guint n = 0, outer;
  gchar *end;

  axes->kind = ND_TIFF_TIFFFILE;
  shape = shape ? strchr (shape, '[') : NULL;
  while (shape && n < PLANE_DIMENSIONS && *shape && *shape != ']') {
    sizes[n] = g_ascii_strtoull (shape + 1, &end, 10);
    if (end == shape + 1)
      return;
    shape = end;
    n++;
  }
  outer = 2 + (samples > 1);
  if (!shape || *shape != ']' || n < outer || sizes[n - outer] != height
      || sizes[n - outer + 1] != width)
    return;
  outer = n - outer;
  names = names ? strchr (names, ':') : NULL;
  names = names ? strchr (names, '"') : NULL;
  names = names && strlen (names) > n && names[n + 1] == '"' ? names + 1 : NULL;
  if (!names && outer == 2)
    names = "TZ";
  if (!names || outer > 3)
    return;
  for (guint i = 0; i < outer; i++) {
    switch (names[i]) {
      case 'T':
        count = &axes->volumes;
        break;
      case 'Z':
        count = &axes->slices;
        break;
      case 'C':
        count = &axes->channels;
        break;
      default:
        axes->channels = axes->slices = axes->volumes = 1;
        return;
    }
    *count = sizes[i];
    axes->order[outer - 1 - i] = g_ascii_tolower (names[i]);
  }
  axes->known = outer > 0
      && product (axes->channels, axes->slices, axes->volumes, pages) == pages;
  /* The axes that are not there, in any order. */
  for (const gchar *axis = "czt"; *axis; axis++) {
    if (!memchr (axes->order, *axis, outer))
      axes->order[outer++] = *axis;
  }
  if (!axes->known)
    axes->channels = axes->slices = axes->volumes = 1;
}

gboolean
nd_tiff_axes_parse (NdTiffAxes *axes, const gchar *description, guint64 pages,
    guint64 width, guint64 height, guint64 samples, GError **error)
{
  GError *reason = NULL;

  *axes =
      (NdTiffAxes){ .channels = 1, .slices = 1, .volumes = 1, .order = "czt" };
  if (description && g_str_has_prefix (description, "ImageJ="))
    parse_imagej (axes, description, pages);
  else if (description && strstr (description, "\"shape\""))
    parse_tifffile (axes, description, pages, width, height, samples);
  else if (description && strstr (description, "<OME")
      && !nd_tiff_ome_parse (axes, description, samples, &reason) && reason) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (axes->kind == ND_TIFF_OME
      && product (axes->channels, axes->slices, axes->volumes, pages) == 0) {
    /* A recording that was stopped has fewer volumes than planned. */
    const guint64 of_volume = product (axes->channels, axes->slices, 1, pages);

    axes->known = of_volume > 0 && axes->order[2] == 't' && !axes->planes;
    if (axes->known) {
      axes->volumes = pages / of_volume;
      axes->warning = "OME-XML has more volumes than the file: those that are "
                      "there are read";
    }
  }
  if (!axes->known && axes->kind == ND_TIFF_OME && !axes->warning)
    axes->warning = "OME-XML has other counts of channels, slices and volumes "
                    "than pages: the pages are taken as slices";
  if (!axes->known && axes->kind != ND_TIFF_IMAGEJ) {
    axes->channels = axes->volumes = 1;
    axes->slices = pages;
    g_clear_pointer (&axes->planes, g_array_unref);
  }
  return TRUE;
}

void
nd_tiff_axes_clear (NdTiffAxes *axes)
{
  g_clear_pointer (&axes->planes, g_array_unref);
  g_clear_pointer (&axes->times, g_array_unref);
}

/* The number of a plane in the order of @axes. */
static guint64
plane_number (const NdTiffAxes *axes, guint64 c, guint64 z, guint64 t)
{
  guint64 number = 0;

  for (gint i = 2; i >= 0; i--) {
    switch (axes->order[i]) {
      case 'c':
        number = number * axes->channels + c;
        break;
      case 'z':
        number = number * axes->slices + z;
        break;
      default:
        number = number * axes->volumes + t;
        break;
    }
  }
  return number;
}

gboolean
nd_tiff_axes_page (const NdTiffAxes *axes, guint64 c, guint64 z, guint64 t,
    guint64 *page)
{
  const guint64 number = plane_number (axes, c, z, t);

  if (!axes->planes) {
    *page = number;
    return TRUE;
  }
  for (guint i = 0; i < axes->planes->len; i++) {
    const NdTiffPlanes *planes = &g_array_index (axes->planes, NdTiffPlanes, i);
    const guint64 first = plane_number (axes, planes->c, planes->z, planes->t);

    if (number >= first && number - first < planes->count) {
      *page = planes->page + (number - first);
      return TRUE;
    }
  }
  return FALSE;
}
