/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffaxes.h"

#include <string.h>

#define PLANE_DIMENSIONS 8
#define PLANES_MAX ((guint64) 1 << 22)
#define IMAGES_MAX ((guint64) 1 << 40)

guint64
nd_tiff_product (guint64 a, guint64 b, guint64 c, guint64 most)
{
  guint64 n;

  if (!g_uint64_checked_mul (&n, a, b) || !g_uint64_checked_mul (&n, n, c)
      || n > most)
    return 0;
  return n;
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
  axes->images = pages;
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
  /* One page for all, which lie one after the other. */
  if (pages == 1 && strstr (description, "\"truncated\": true")) {
    for (guint i = 0; i < outer && pages > 0; i++)
      pages = nd_tiff_product (pages, sizes[i], 1, IMAGES_MAX);
    pages = axes->images = MAX (pages, 1);
  }
  names = names ? strchr (names, ':') : NULL;
  names = names ? strchr (names, '"') : NULL;
  names = names && strlen (names) > n && names[n + 1] == '"' ? names + 1 : NULL;
  if (!names && outer == 2)
    names = "TZ";
  if (!names || outer > 3)
    return;
  for (guint i = 0; i < outer; i++) {
    count = names[i] == 'T' ? &axes->volumes
        : names[i] == 'Z'   ? &axes->slices
        : names[i] == 'C'   ? &axes->channels
                            : NULL;
    if (!count || memchr (names, names[i], i)) {
      axes->channels = axes->slices = axes->volumes = 1;
      return;
    }
    *count = sizes[i];
    axes->order[outer - 1 - i] = g_ascii_tolower (names[i]);
  }
  axes->known = outer > 0
      && nd_tiff_product (axes->channels, axes->slices, axes->volumes, pages)
          == pages;
  /* The axes that are not there, in any order. */
  for (const gchar *axis = "czt"; *axis; axis++) {
    if (!memchr (axes->order, *axis, outer))
      axes->order[outer++] = *axis;
  }
  if (!axes->known)
    axes->channels = axes->slices = axes->volumes = 1;
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

/* One element for all pages, from the first one on, means the same as none. */
static gboolean
are_trivial (const NdList *planes)
{
  const NdTiffPlanes *only = (const NdTiffPlanes *) planes->data;

  return planes->len == 0
      || (planes->len == 1 && only->page == 0 && only->c == 0 && only->z == 0
          && only->t == 0 && only->count > 1);
}

/* The pages from some->page on that their file has. */
static guint64
pages_left (const NdTiffAxes *axes, const NdTiffPlanes *some, guint64 pages)
{
  const guint64 all =
      some->file == ND_TIFF_OWN ? pages : axes->count (axes->data, some->file);

  return some->page < all ? all - some->page : 0;
}

/* Finds the place of each of @n planes. The first element that names a plane
 * counts. FALSE if they name planes again and again, or without memory. */
static gboolean
assign_pages (NdTiffAxes *axes, const NdList *planes, guint64 n, guint64 pages)
{
  guint64 named = 0;

  axes->pages = nd_list_new (axes->budget, sizeof (NdTiffPlace));
  if (!nd_list_set_size (axes->pages, n))
    return FALSE;
  memset (axes->pages->data, 0xff, n * sizeof (NdTiffPlace));
  for (guint i = planes->len; i-- > 0;) {
    const NdTiffPlanes *some = &g_array_index (planes, NdTiffPlanes, i);
    const guint64 first = plane_number (axes, some->c, some->z, some->t);
    const guint64 most = MIN (some->count, pages_left (axes, some, pages));
    const guint64 count = first < n ? MIN (most, n - first) : 0;

    named += count;
    if (named > 4 * n + planes->len)
      return FALSE;
    for (guint64 p = 0; p < count; p++)
      g_array_index (axes->pages, NdTiffPlace, first + p) =
          (NdTiffPlace){ some->file, some->page + p };
  }
  for (guint64 p = 0; p < n; p++)
    axes->missing +=
        g_array_index (axes->pages, NdTiffPlace, p).page == ND_TIFF_NONE;
  return TRUE;
}

/* After OME-XML. Planes that the file lacks, for example because the recording
 * was stopped, are counted; the axes are those of the metadata. */
static void
settle_planes (NdTiffAxes *axes, const NdList *planes, guint64 pages)
{
  const guint64 n =
      nd_tiff_product (axes->channels, axes->slices, axes->volumes, PLANES_MAX);

  if (!axes->known || n == 0) {
    axes->known = FALSE;
  } else if (axes->files || !are_trivial (planes)) {
    axes->known = (axes->files || planes->len <= pages) && !planes->failed
        && assign_pages (axes, planes, n, pages) && axes->missing < n;
  } else if (n > pages) {
    /* Fewer pages than a volume has are rather another kind of file. */
    axes->known = nd_tiff_product (axes->channels, axes->slices, 1, pages) > 0;
    axes->missing = n - pages;
  }
  if (!axes->known)
    axes->missing = 0;
}

void
nd_tiff_axes_clear_files (NdTiffAxes *axes)
{
  for (guint i = 0; axes->files && i < axes->files->len; i++)
    g_free (g_array_index (axes->files, gchar *, i));
  g_clear_pointer (&axes->files, nd_list_free);
}

void
nd_tiff_axes_parse (NdTiffAxes *axes, const gchar *description, guint64 pages,
    guint64 width, guint64 height, guint64 samples)
{
  g_autoptr (NdList) planes = nd_list_new (axes->budget, sizeof (NdTiffPlanes));

  nd_tiff_axes_clear (axes);
  *axes = (NdTiffAxes){ .channels = 1,
    .slices = 1,
    .volumes = 1,
    .order = "czt",
    .budget = axes->budget,
    .name = axes->name,
    .count = axes->count,
    .data = axes->data };
  if (description && g_str_has_prefix (description, "ImageJ="))
    nd_tiff_imagej_parse (axes, description, pages);
  else if (description && strstr (description, "\"shape\""))
    parse_tifffile (axes, description, pages, width, height, samples);
  else if (description && strstr (description, "<OME"))
    nd_tiff_ome_parse (axes, description, pages, samples, planes);
  if (axes->kind == ND_TIFF_OME)
    settle_planes (axes, planes, pages);
  if (!axes->known && axes->kind == ND_TIFF_OME && !axes->warning)
    axes->warning = "OME-XML has other counts of channels, slices and volumes "
                    "than pages: the pages are taken as slices";
  if (!axes->known && axes->kind != ND_TIFF_IMAGEJ) {
    axes->channels = axes->volumes = 1;
    axes->slices = MAX (pages, axes->images);
    memcpy (axes->order, "czt", 4);
    nd_tiff_axes_clear_files (axes);
    g_clear_pointer (&axes->pages, nd_list_free);
  }
}

void
nd_tiff_axes_clear (NdTiffAxes *axes)
{
  nd_tiff_axes_clear_files (axes);
  g_clear_pointer (&axes->master, g_free);
  g_clear_pointer (&axes->pages, nd_list_free);
  g_clear_pointer (&axes->times, nd_list_free);
}

NdTiffPlace
nd_tiff_axes_place (const NdTiffAxes *axes, guint64 c, guint64 z, guint64 t)
{
  const NdTiffPlace none = { ND_TIFF_OWN, ND_TIFF_NONE };
  const guint64 number = plane_number (axes, c, z, t);

  if (!axes->pages)
    return number < ND_TIFF_NONE ? (NdTiffPlace){ ND_TIFF_OWN, number } : none;
  return number < axes->pages->len
      ? g_array_index (axes->pages, NdTiffPlace, number)
      : none;
}
