/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/hdf5kinds.h"

#include "formats/axes.h"
#include "formats/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE "DataSetInfo/Image"
#define TIMES "DataSetInfo/TimeInfo"
#define LEVEL "DataSet/ResolutionLevel 0"
#define METRE 1e3 /* in mm */
#define NANOSECONDS 1000000000
#define MILLISECOND 1000000
#define UNKNOWN_TIME G_MININT64

/* Bytes of the .xml beside a .h5. */
#define XML_MAX (4 << 20)

/* Beamformed samples have a scan beside them, those of channels a probe. */
static gboolean
find_uff (NdHdf5Kinds *kinds, NdHdf5File *file)
{
  static const gchar *const beside[] = { "scan", "probe" };
  gchar path[ND_HDF5_TEXT];

  for (guint i = 0; i < G_N_ELEMENTS (beside); i++) {
    if (!nd_hdf5_file_with (file, beside[i], kinds->place)
        || g_snprintf (path, sizeof (path), "%s/data/imag", kinds->place)
            >= (gint) sizeof (path))
      continue;
    kinds->is_complex = nd_hdf5_file_has (file, path);
    *strrchr (path, '/') = 0;
    if (nd_hdf5_file_has (file, path)) {
      kinds->kind = ND_HDF5_UFF;
      return TRUE;
    }
  }
  return FALSE;
}

gboolean
nd_hdf5_kinds_find (NdHdf5Kinds *kinds, NdHdf5File *file)
{
  gchar path[ND_HDF5_TEXT];

  kinds->times = nd_list_new (file->budget, sizeof (guint32));
  kinds->channels = nd_list_new (file->budget, sizeof (guint32));
  if (nd_hdf5_file_has (file, LEVEL)) {
    if (!nd_hdf5_file_number (file, LEVEL, "TimePoint ", kinds->times))
      return FALSE;
    if (kinds->times->len > 0) {
      g_snprintf (path, sizeof (path), LEVEL "/TimePoint %u",
          g_array_index (kinds->times, guint32, 0));
      if (!nd_hdf5_file_number (file, path, "Channel ", kinds->channels))
        return FALSE;
      if (kinds->channels->len > 0)
        kinds->kind = ND_HDF5_IMARIS;
    }
    return TRUE;
  }
  if (find_uff (kinds, file))
    return TRUE;
  if (!nd_hdf5_file_number (file, "", "t", kinds->times)
      || !nd_hdf5_file_number (file, "", "s", kinds->channels))
    return FALSE;
  if (kinds->times->len > 0 && kinds->channels->len > 0)
    kinds->kind = ND_HDF5_BIGDATAVIEWER;
  return TRUE;
}

void
nd_hdf5_kinds_clear (NdHdf5Kinds *kinds)
{
  g_clear_pointer (&kinds->times, nd_list_free);
  g_clear_pointer (&kinds->channels, nd_list_free);
}

void
nd_hdf5_kinds_path (const NdHdf5Kinds *kinds, guint64 volume, guint channel,
    gchar path[ND_HDF5_TEXT])
{
  const guint32 *times = (const guint32 *) kinds->times->data;
  const guint32 *channels = (const guint32 *) kinds->channels->data;

  if (kinds->kind == ND_HDF5_IMARIS)
    g_snprintf (path, ND_HDF5_TEXT, LEVEL "/TimePoint %u/Channel %u/Data",
        times[volume], channels[channel]);
  else if (kinds->kind == ND_HDF5_BIGDATAVIEWER)
    g_snprintf (path, ND_HDF5_TEXT, "t%05u/s%02u/0/cells", times[volume],
        channels[channel]);
  else
    g_snprintf (path, ND_HDF5_TEXT, "%s/data%s", kinds->place,
        !kinds->is_complex ? ""
            : channel == 0 ? "/real"
                           : "/imag");
}

/* Imaris */

static gboolean
get_number (NdHdf5File *file, const gchar *path, const gchar *attribute,
    gdouble *number)
{
  gchar text[ND_HDF5_TEXT], *end;

  if (!nd_hdf5_file_text (file, path, attribute, text))
    return FALSE;
  *number = g_ascii_strtod (text, &end);
  return end > text && isfinite (*number);
}

/* Arrays have whole chunks; the image may be smaller. */
void
nd_hdf5_kinds_crop (const NdHdf5Kinds *kinds, NdHdf5File *file, gsize size[3])
{
  static const gchar *const names[] = { "ImageSizeX", "ImageSizeY",
    "ImageSizeZ" };
  gchar path[ND_HDF5_TEXT];
  gdouble number;

  if (kinds->kind != ND_HDF5_IMARIS)
    return;
  nd_hdf5_kinds_path (kinds, 0, 0, path);
  *strrchr (path, '/') = 0;
  for (guint a = 0; a < 3; a++) {
    if ((get_number (file, path, names[a], &number)
            || get_number (file, IMAGE, (const gchar *[]){ "X", "Y", "Z" }[a],
                &number))
        && number >= 1 && number < size[a])
      size[a] = number;
  }
}

/* The extent is that of whole samples; the origin is the first centre. */
static void
describe_imaris_space (NdHdf5File *file, NdHeader *header)
{
  const gsize *size = header->recording.shape.size;
  gdouble spacing[3], origin[3], factor = 1e-3;
  gchar name[16], text[ND_HDF5_TEXT];

  if (nd_hdf5_file_text (file, IMAGE, "Unit", text))
    factor = nd_unit_mm (g_strstrip (text));
  for (guint a = 0; a < 3; a++) {
    gdouble low, high;

    g_snprintf (name, sizeof (name), "ExtMin%u", a);
    if (!get_number (file, IMAGE, name, &low))
      return;
    g_snprintf (name, sizeof (name), "ExtMax%u", a);
    if (!get_number (file, IMAGE, name, &high))
      return;
    spacing[a] = (high - low) * factor / size[a];
    origin[a] = low * factor + spacing[a] / 2;
  }
  nd_axes_set (&header->recording.geometry, spacing, origin);
}

/* Like "2009-05-12 10:11:12.123", in nanoseconds from 1970 on. */
static gboolean
parse_time (const gchar *text, gint64 *time)
{
  guint year, month, day, hour, minute;
  gchar seconds[16];
  gdouble second;
  g_autoptr (GDateTime) date = NULL;

  if (sscanf (text, "%4u-%2u-%2u %2u:%2u:%15s", &year, &month, &day, &hour,
          &minute, seconds)
      != 6)
    return FALSE;
  second = g_ascii_strtod (seconds, NULL);
  if (!(second >= 0 && second < 60) || year < 1970 || year > 2200)
    return FALSE;
  date = g_date_time_new_utc (year, month, day, hour, minute, 0);
  if (!date)
    return FALSE;
  *time = g_date_time_to_unix (date) * NANOSECONDS
      + llrint (second * 1000) * MILLISECOND;
  return TRUE;
}

typedef struct
{
  const NdList *numbers;
  gint64 *times; /* of the numbers, or UNKNOWN_TIME */
  guint found;
} Times;

static gint
hdf5_kinds_compare (gconstpointer a, gconstpointer b)
{
  const guint32 first = *(const guint32 *) a, second = *(const guint32 *) b;

  return first < second ? -1 : first > second;
}

/* TimePoint1 is that of the number 0. */
static gboolean
hdf5_kinds_take_time (const gchar *name, const gchar *text, gpointer data)
{
  Times *times = data;
  const guint32 *numbers = (const guint32 *) times->numbers->data, *at;
  guint64 number;
  guint32 wanted;
  gint64 *time;

  if (!g_str_has_prefix (name, "TimePoint")
      || !g_ascii_string_to_unsigned (name + strlen ("TimePoint"), 10, 1,
          G_MAXUINT32, &number, NULL))
    return FALSE;
  wanted = number - 1;
  at = bsearch (&wanted, numbers, times->numbers->len, sizeof (wanted),
      hdf5_kinds_compare);
  if (!at)
    return FALSE;
  time = &times->times[at - numbers];
  if (*time == UNKNOWN_TIME && text && parse_time (text, time))
    times->found++;
  return FALSE;
}

/* From the first time point: the date is no time of a stream. */
static void
describe_imaris_times (const NdHdf5Kinds *kinds, NdHdf5File *file,
    NdHeader *header, const gchar *path)
{
  const NdList *numbers = kinds->times;
  const guint n = numbers->len;
  g_autoptr (NdList) list = nd_list_new (&header->budget, sizeof (gint64));
  Times times = { .numbers = numbers };

  if (!nd_list_set_size (list, n)) {
    header->metadata->failed = TRUE;
    return;
  }
  times.times = (gint64 *) list->data;
  for (guint i = 0; i < n; i++)
    times.times[i] = UNKNOWN_TIME;
  if (!nd_hdf5_file_texts (file, TIMES, hdf5_kinds_take_time, &times))
    nd_header_warn (header,
        "The times of \"%s\" are not read: they are too many, or damaged",
        path);
  if (times.found < n || n < 2)
    return;
  for (guint i = n; i-- > 0;)
    times.times[i] -= times.times[0];
  if (times.times[n - 1] > 0)
    nd_header_set_times (header, g_steal_pointer (&list), MILLISECOND);
}

/* BigDataViewer */

/* The text between <@tag ...> and </@tag> after *@at, which moves behind it. */
static gboolean
find_tag (const gchar **at, const gchar *tag, gchar text[ND_HDF5_TEXT])
{
  g_autofree gchar *begin = g_strdup_printf ("<%s>", tag);
  g_autofree gchar *end = g_strdup_printf ("</%s>", tag);
  const gchar *from = strstr (*at, begin), *to;

  if (!from)
    return FALSE;
  from += strlen (begin);
  to = strstr (from, end);
  if (!to || to - from >= ND_HDF5_TEXT)
    return FALSE;
  memcpy (text, from, to - from);
  text[to - from] = 0;
  g_strstrip (text);
  *at = to;
  return TRUE;
}

static void
describe_bigdataviewer (NdHeader *header, const gchar *path)
{
  static const gdouble origin[3] = { 0, 0, 0 };
  const gchar *dot = strrchr (path, '.');
  g_autofree gchar *name = g_strdup_printf ("%.*s.xml",
      (gint) (dot ? dot - path : (gssize) strlen (path)), path);
  g_autoptr (NdInput) input = nd_input_open (name, FALSE, NULL);
  const guint64 size = input ? nd_input_size (input) : 0;
  gchar *xml = size > 0 && size <= XML_MAX
      ? nd_budget_alloc (&header->budget, size + 1)
      : NULL;
  const gchar *at = xml;
  gchar unit[ND_HDF5_TEXT], sizes[ND_HDF5_TEXT];
  gdouble spacing[3];
  gboolean found = FALSE;

  if (xml) {
    found = nd_input_read (input, xml, size) == (gssize) size
        && (at = strstr (xml, "<voxelSize>")) && find_tag (&at, "unit", unit)
        && find_tag (&at, "size", sizes);
    nd_budget_free (&header->budget, xml, size + 1);
  }
  if (!found || nd_unit_mm (unit) == 0) {
    nd_header_warn (header,
        "\"%s\" does not say the spacing of \"%s\", or is not there", name,
        path);
    return;
  }
  at = sizes;
  for (guint a = 0; a < 3; a++) {
    gchar *end;

    spacing[a] = g_ascii_strtod (at, &end) * nd_unit_mm (unit);
    at = end;
  }
  nd_axes_set (&header->recording.geometry, spacing, origin);
}

/* UFF */

/* The number of places of an axis of the scan, and their distance in mm or, of
 * an angle, 0. */
static guint64
find_axis (const NdHdf5Kinds *kinds, NdHdf5File *file, const gchar *axis,
    gdouble *step)
{
  static const guint64 start[ND_HDF5_AXES] = { 0 };
  NdHdf5Array array = { 0 };
  gchar path[ND_HDF5_TEXT];
  guint64 count[ND_HDF5_AXES], read = 1, n = 1;
  gfloat places[2] = { 0, 0 };
  const gchar *reason;

  *step = 0;
  g_snprintf (path, sizeof (path), "%s/scan/%s", kinds->place, axis);
  if (!nd_hdf5_array_open (&array, file, path, &reason))
    return 0;
  for (guint a = 0; a < array.axes; a++) {
    count[a] = MIN (array.size[a], 2);
    read *= count[a];
    n = n > 0 && array.size[a] < G_MAXUINT32 / n ? n * array.size[a] : 0;
  }
  if (array.type == ND_STORED_FLOAT32 && !array.swapped && read == 2
      && nd_hdf5_array_read (&array, file, start, count, (guint8 *) places,
          sizeof (gfloat), &reason))
    *step = fabs ((gdouble) places[1] - places[0]) * METRE;
  nd_hdf5_array_clear (&array, file);
  return n;
}

/* Depth is the fastest axis of the pixels of a scan, then the one across. */
static void
describe_uff (const NdHdf5Kinds *kinds, NdHdf5File *file, NdHeader *header)
{
  static const gdouble origin[3] = { 0, 0, 0 };
  static const gchar *const axes[][2] = { { "z_axis", "x_axis" },
    { "depth_axis", "azimuth_axis" } };
  gsize *size = header->recording.shape.size;
  gdouble depth, across;

  for (guint i = 0; i < G_N_ELEMENTS (axes); i++) {
    const guint64 n = find_axis (kinds, file, axes[i][0], &depth);
    const guint64 m = find_axis (kinds, file, axes[i][1], &across);

    if (n == 0 || m == 0 || n * m != size[0])
      continue;
    size[2] *= size[1];
    size[1] = m;
    size[0] = n;
    if (i == 0)
      nd_axes_set (&header->recording.geometry,
          (gdouble[3]){ depth, across, across }, origin);
    return;
  }
}

void
nd_hdf5_kinds_describe (const NdHdf5Kinds *kinds, NdHdf5File *file,
    NdHeader *header, const gchar *path)
{
  if (kinds->kind == ND_HDF5_IMARIS) {
    describe_imaris_space (file, header);
    describe_imaris_times (kinds, file, header, path);
  } else if (kinds->kind == ND_HDF5_BIGDATAVIEWER) {
    describe_bigdataviewer (header, path);
  } else {
    describe_uff (kinds, file, header);
  }
}
