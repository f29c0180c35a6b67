/* OME-XML, the description of OME-TIFF: sizes, order, spacing and times of the
 * first image. https://docs.openmicroscopy.org/ome-model/
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffaxes.h"
#include "formats/units.h"

#include <math.h>
#include <string.h>

/* The XML parser keeps the names of open elements, and the texts of a tag. */
#define DEPTH_MAX 64
#define TAG_MAX (16 * 1024)

/* Each name of a file is compared with all before it. */
#define FILES_MAX 4096
#define NAME_BYTES 255
#define PLANES_MAX (1u << 22)

typedef struct
{
  NdTiffAxes *axes;
  NdList *planes;
  guint64 pages;      /* of the file */
  guint64 samples;    /* of a pixel, which SizeC counts too */
  guint depth;        /* of elements */
  gboolean in_pixels; /* of the first image */
  gboolean found;     /* after its begin */
  guint images;
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
  return name ? nd_unit_seconds (name) : 1;
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
      axes->spacing[a] = spacing * (unit ? nd_unit_mm (unit) : 1e-3);
  }
  if (step) {
    const gdouble seconds = g_ascii_strtod (step, NULL)
        * time_unit (find (names, values, "TimeIncrementUnit"));

    axes->seconds = isfinite (seconds) && seconds > 0 ? seconds : 0;
  }
}

/* Of more elements than pages nothing can be true, unless other files have
 * pages. */
static gboolean
may_have_more (const Reading *reading, guint have)
{
  return have <= reading->pages || (reading->axes->files && have < PLANES_MAX);
}

static void
read_planes (Reading *reading, const gchar **names, const gchar **values)
{
  const gboolean all = !find (names, values, "IFD");
  NdTiffPlanes planes = {
    .page = find_count (names, values, "IFD", 0),
    .c = find_count (names, values, "FirstC", 0),
    .z = find_count (names, values, "FirstZ", 0),
    .t = find_count (names, values, "FirstT", 0),
    .count = find_count (names, values, "PlaneCount", all ? G_MAXUINT64 : 1),
    .file = ND_TIFF_OWN,
  };

  if (reading->samples > 1)
    planes.c /= reading->samples;
  if (may_have_more (reading, reading->planes->len))
    nd_list_add (reading->planes, planes);
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
    axes->times = nd_list_new (axes->budget, sizeof (NdTiffTime));
  if (may_have_more (reading, axes->times->len))
    nd_list_add (axes->times, time);
}

/* The number of a file, ND_TIFF_OWN if there are too many. The last one is
 * looked at first, because planes of a file mostly follow each other. */
static guint
number_file (NdList *files, const gchar *name)
{
  gchar *copy;

  for (guint i = files->len; i-- > 0;) {
    if (strcmp (g_array_index (files, gchar *, i), name) == 0)
      return i;
  }
  if (files->len >= FILES_MAX || strlen (name) > NAME_BYTES)
    return ND_TIFF_OWN;
  copy = g_strdup (name);
  if (nd_list_add (files, copy))
    return files->len - 1;
  g_free (copy);
  return ND_TIFF_OWN;
}

/* The file of the planes that were named last; without a number they are
 * missing. */
static void
read_file (Reading *reading, const gchar *name)
{
  NdTiffAxes *axes = reading->axes;
  NdTiffPlanes *planes;

  if (!name || reading->planes->len == 0)
    return;
  if (!axes->files)
    axes->files = nd_list_new (axes->budget, sizeof (gchar *));
  planes =
      &g_array_index (reading->planes, NdTiffPlanes, reading->planes->len - 1);
  /* It has one, or none was left for it. */
  if (planes->file != ND_TIFF_OWN || planes->count == 0)
    return;
  planes->file = number_file (axes->files, name);
  if (planes->file == ND_TIFF_OWN)
    planes->count = 0;
}

static void
begin (GMarkupParseContext *context, const gchar *element, const gchar **names,
    const gchar **values, gpointer data, GError **error)
{
  Reading *reading = data;
  const gchar *name = local_name (element);

  if (++reading->depth > DEPTH_MAX)
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_PARSE, "too deep");
  else if (strcmp (name, "Pixels") == 0) {
    reading->images++;
    if (!reading->found)
      read_pixels (reading, names, values);
  } else if (reading->in_pixels && strcmp (name, "TiffData") == 0) {
    read_planes (reading, names, values);
  } else if (reading->in_pixels && strcmp (name, "Plane") == 0) {
    read_time (reading, names, values);
  } else if (reading->in_pixels && strcmp (name, "UUID") == 0) {
    read_file (reading, find (names, values, "FileName"));
  } else if (strcmp (name, "BinaryOnly") == 0 && !reading->axes->master) {
    reading->axes->master =
        g_strdup (find (names, values, "MetadataFile") ?: "");
  }
}

static void
end (GMarkupParseContext *context, const gchar *element, gpointer data,
    GError **error)
{
  Reading *reading = data;

  reading->depth--;
  if (strcmp (local_name (element), "Pixels") == 0)
    reading->in_pixels = FALSE;
}

/* The end of the markup that begins at @at with "<": after ">", which may stand
 * in quotes of a tag. NULL if there is none. */
static const gchar *
markup_end (const gchar *at)
{
  static const struct
  {
    const gchar *begin, *end;
  } others[] = { { "<!--", "-->" }, { "<![CDATA[", "]]>" }, { "<?", "?>" } };
  gchar quote = '\0';

  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    if (g_str_has_prefix (at, others[i].begin)) {
      const gchar *end = strstr (at, others[i].end);

      return end ? end + strlen (others[i].end) : NULL;
    }
  }
  for (; *at && (quote || *at != '>'); at++) {
    if (quote == *at)
      quote = '\0';
    else if (!quote && (*at == '"' || *at == '\''))
      quote = *at;
  }
  return *at ? at + 1 : NULL;
}

/* Gives the tags to the parser one by one, and no texts and comments, because
 * it would gather them in memory. */
static gboolean
parse_tags (GMarkupParseContext *context, const gchar *description)
{
  const gchar *at = description;

  while ((at = strchr (at, '<'))) {
    const gchar *end = markup_end (at);

    if (!end)
      return FALSE;
    if (at[1] != '!' && at[1] != '?'
        && (end - at > TAG_MAX
            || !g_markup_parse_context_parse (context, at, end - at, NULL)))
      return FALSE;
    at = end;
  }
  return g_markup_parse_context_end_parse (context, NULL);
}

/* A single file may have another name now. Of several, that which has the
 * description is known by its name. */
static void
settle_files (NdTiffAxes *axes, NdList *planes)
{
  guint own = ND_TIFF_OWN;
  guint n = 0;

  if (!axes->files)
    return;
  for (guint i = 0; i < axes->files->len; i++) {
    if (g_strcmp0 (g_array_index (axes->files, gchar *, i), axes->name) == 0)
      own = i;
  }
  if (axes->files->len == 1)
    own = 0;
  for (guint i = 0; i < planes->len; i++) {
    NdTiffPlanes *some = &g_array_index (planes, NdTiffPlanes, i);

    if (some->file == own)
      some->file = ND_TIFF_OWN;
    n += some->file != ND_TIFF_OWN;
  }
  if (n == 0)
    nd_tiff_axes_clear_files (axes);
}

void
nd_tiff_ome_parse (NdTiffAxes *axes, const gchar *description, guint64 pages,
    guint64 samples, NdList *planes)
{
  static const GMarkupParser parser = { .start_element = begin,
    .end_element = end };
  Reading reading = {
    .axes = axes, .planes = planes, .pages = pages, .samples = samples
  };
  g_autoptr (GMarkupParseContext) context =
      g_markup_parse_context_new (&parser, 0, &reading, NULL);
  const gboolean ok = parse_tags (context, description);

  axes->kind = reading.found ? ND_TIFF_OME : ND_TIFF_PLAIN;
  if (reading.found)
    g_clear_pointer (&axes->master, g_free);
  if (!ok || !reading.found) {
    axes->known = FALSE;
    axes->warning = "OME-XML is damaged and not used";
  }
  settle_files (axes, planes);
  if (reading.images > 1 && !axes->warning)
    axes->warning = "The file has several images: the first one is read";
}
