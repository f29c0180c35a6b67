/* OME-XML, the description of OME-TIFF: sizes, order, spacing and times of the
 * first image. https://docs.openmicroscopy.org/ome-model/
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffaxes.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

typedef struct
{
  NdTiffAxes *axes;
  guint64 samples;    /* of a pixel, which SizeC counts too */
  gboolean in_pixels; /* of the first image */
  gboolean found;     /* after its begin */
  guint images;
  gchar *file; /* the first name of a file */
  gboolean several_files;
} Reading;

/* The name without the prefix of its namespace. */
static const gchar *
local_name (const gchar *name)
{
  const gchar *colon = strchr (name, ':');

  return colon ? colon + 1 : name;
}

static const gchar *
find (const gchar **names, const gchar **values, const gchar *name)
{
  for (guint i = 0; names[i]; i++) {
    if (strcmp (names[i], name) == 0)
      return values[i];
  }
  return NULL;
}

static guint64
find_count (const gchar **names, const gchar **values, const gchar *name,
    guint64 otherwise)
{
  const gchar *text = find (names, values, name);

  return text ? g_ascii_strtoull (text, NULL, 10) : otherwise;
}

static gdouble
time_unit (const gchar *name)
{
  static const struct
  {
    const gchar *name;
    gdouble seconds;
  } units[] = { { "s", 1 }, { "ms", 1e-3 }, { "\302\265s", 1e-6 },
    { "\316\274s", 1e-6 }, { "us", 1e-6 }, { "ns", 1e-9 }, { "min", 60 },
    { "h", 3600 } };

  for (guint i = 0; name && i < G_N_ELEMENTS (units); i++) {
    if (strcmp (name, units[i].name) == 0)
      return units[i].seconds;
  }
  return name ? 0 : 1;
}

static void
read_pixels (Reading *reading, const gchar **names, const gchar **values)
{
  static const gchar *const sizes[] = { "PhysicalSizeX", "PhysicalSizeY",
    "PhysicalSizeZ" };
  static const gchar *const units[] = { "PhysicalSizeXUnit",
    "PhysicalSizeYUnit", "PhysicalSizeZUnit" };
  NdTiffAxes *axes = reading->axes;
  const gchar *order = find (names, values, "DimensionOrder");
  const gchar *step = find (names, values, "TimeIncrement");

  reading->in_pixels = reading->found = TRUE;
  axes->channels = find_count (names, values, "SizeC", 1);
  axes->slices = find_count (names, values, "SizeZ", 1);
  axes->volumes = find_count (names, values, "SizeT", 1);
  if (reading->samples > 1 && axes->channels % reading->samples == 0)
    axes->channels /= reading->samples;
  axes->known = TRUE;
  for (guint i = 0; order && strlen (order) == 5 && i < 3; i++)
    axes->order[i] = g_ascii_tolower (order[2 + i]);
  if (!memchr (axes->order, 'c', 3) || !memchr (axes->order, 'z', 3)
      || !memchr (axes->order, 't', 3))
    axes->known = FALSE;
  for (guint a = 0; a < 3; a++) {
    const gchar *size = find (names, values, sizes[a]);
    const gchar *unit = find (names, values, units[a]);
    const gdouble spacing = size ? g_ascii_strtod (size, NULL) : 0;

    if (isfinite (spacing) && spacing > 0)
      axes->spacing[a] = spacing * (unit ? nd_tiff_length_unit (unit) : 1e-3);
  }
  if (step) {
    const gdouble seconds = g_ascii_strtod (step, NULL)
        * time_unit (find (names, values, "TimeIncrementUnit"));

    axes->seconds = isfinite (seconds) && seconds > 0 ? seconds : 0;
  }
}

static void
read_planes (Reading *reading, const gchar **names, const gchar **values)
{
  NdTiffAxes *axes = reading->axes;
  const gboolean all = !find (names, values, "IFD");
  NdTiffPlanes planes = {
    .page = find_count (names, values, "IFD", 0),
    .c = find_count (names, values, "FirstC", 0),
    .z = find_count (names, values, "FirstZ", 0),
    .t = find_count (names, values, "FirstT", 0),
    .count = find_count (names, values, "PlaneCount", all ? G_MAXUINT64 : 1),
  };

  if (reading->samples > 1)
    planes.c /= reading->samples;
  if (!axes->planes)
    axes->planes = g_array_new (FALSE, FALSE, sizeof (NdTiffPlanes));
  g_array_append_val (axes->planes, planes);
}

static void
read_time (Reading *reading, const gchar **names, const gchar **values)
{
  NdTiffAxes *axes = reading->axes;
  const gchar *delta = find (names, values, "DeltaT");
  NdTiffTime time = { .t = find_count (names, values, "TheT", 0) };

  if (!delta || find_count (names, values, "TheZ", 0) != 0
      || find_count (names, values, "TheC", 0) != 0)
    return;
  time.seconds = g_ascii_strtod (delta, NULL)
      * time_unit (find (names, values, "DeltaTUnit"));
  if (!axes->times)
    axes->times = g_array_new (FALSE, FALSE, sizeof (NdTiffTime));
  g_array_append_val (axes->times, time);
}

static void
read_file (Reading *reading, const gchar *name)
{
  if (!name)
    return;
  if (!reading->file)
    reading->file = g_strdup (name);
  else if (strcmp (reading->file, name) != 0)
    reading->several_files = TRUE;
}

static void
begin (GMarkupParseContext *context, const gchar *element, const gchar **names,
    const gchar **values, gpointer data, GError **error)
{
  Reading *reading = data;
  const gchar *name = local_name (element);

  if (strcmp (name, "Pixels") == 0) {
    reading->images++;
    if (!reading->found)
      read_pixels (reading, names, values);
  } else if (reading->in_pixels && strcmp (name, "TiffData") == 0) {
    read_planes (reading, names, values);
  } else if (reading->in_pixels && strcmp (name, "Plane") == 0) {
    read_time (reading, names, values);
  } else if (reading->in_pixels && strcmp (name, "UUID") == 0) {
    read_file (reading, find (names, values, "FileName"));
  }
}

static void
end (GMarkupParseContext *context, const gchar *element, gpointer data,
    GError **error)
{
  Reading *reading = data;

  if (strcmp (local_name (element), "Pixels") == 0)
    reading->in_pixels = FALSE;
}

/* One element for all pages, from the first one on, means the same as none. */
static void
drop_trivial_planes (NdTiffAxes *axes)
{
  const NdTiffPlanes *planes;

  if (!axes->planes || axes->planes->len != 1)
    return;
  planes = &g_array_index (axes->planes, NdTiffPlanes, 0);
  if (planes->page == 0 && planes->c == 0 && planes->z == 0 && planes->t == 0
      && planes->count > 1)
    g_clear_pointer (&axes->planes, g_array_unref);
}

gboolean
nd_tiff_ome_parse (NdTiffAxes *axes, const gchar *description, guint64 samples,
    GError **error)
{
  static const GMarkupParser parser = { .start_element = begin,
    .end_element = end };
  Reading reading = { .axes = axes, .samples = samples };
  g_autoptr (GMarkupParseContext) context =
      g_markup_parse_context_new (&parser, 0, &reading, NULL);
  const gboolean ok =
      g_markup_parse_context_parse (context, description, -1, NULL)
      && g_markup_parse_context_end_parse (context, NULL);

  axes->kind = reading.found ? ND_TIFF_OME : ND_TIFF_PLAIN;
  if (!ok || !reading.found) {
    axes->known = FALSE;
    axes->warning = "OME-XML is damaged and not used";
  }
  g_free (reading.file);
  if (reading.several_files) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It is one file of several of an OME-TIFF recording: \"bfconvert\" of "
        "Bio-Formats makes one file of them");
    return FALSE;
  }
  drop_trivial_planes (axes);
  if (reading.images > 1 && !axes->warning)
    axes->warning = "The file has several images: the first one is read";
  return ok && reading.found;
}
