/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffbuild.h"

#include "core/error.h"
#include "formats/axes.h"
#include "formats/rate.h"
#include "formats/stored.h"
#include "formats/tiff.h"

#include <math.h>
#include <string.h>

/* Places before the samples. */
#define FIRST_DIRECTORY 16
#define RESOLUTIONS 512
#define DESCRIPTION 528

#define CLASSIC_MAX ((guint64) G_MAXUINT32)
#define MAX_COMPONENTS 65535
#define MAX_ENTRIES 15

/* Numbers of the specification, TIFF 6.0. */
enum
{
  TYPE_ASCII = 2,
  TYPE_SHORT = 3,
  TYPE_LONG = 4,
  TYPE_RATIONAL = 5,
  TYPE_LONG8 = 16
};

typedef struct
{
  GByteArray *bytes;
  const NdRecording *recording;
  gboolean big;
  guint64 pages, page_bytes, room;
  guint64 samples; /* of a pixel; other components are pages of their own */
  gsize arrays;    /* the place of values of each sample */
} Builder;

gboolean
nd_tiff_supports (const NdRecording *recording, const gchar *path,
    GError **error)
{
  const NdShape *shape = &recording->shape;

  if (recording->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" cannot store the %u responses of a bank: the axes of TIFF are "
        "t, z, y, x and components; write NRRD (.nrrd) or raw (.raw)",
        path, recording->responses);
  else if (shape->components > MAX_COMPONENTS
      || MAX (shape->size[0], shape->size[1]) > G_MAXUINT32)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" cannot store pages of %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
        " samples of %" G_GSIZE_FORMAT " components: TIFF has up to %u "
        "components; write NRRD (.nrrd) or raw (.raw)",
        path, shape->size[0], shape->size[1], shape->components,
        MAX_COMPONENTS);
  else
    return TRUE;
  return FALSE;
}

gsize
nd_tiff_planes (const NdRecording *recording, const NdMetadata *metadata)
{
  const gsize components = recording->shape.components;

  return recording->type == ND_UINT8 && (components == 3 || components == 4)
          && !nd_metadata_get (metadata, ND_TIFF_CHANNELS)
      ? 1
      : components;
}

void
nd_tiff_get_plane (const NdRecording *recording, guint8 *plane,
    const guint8 *slice, gsize c)
{
  const NdShape *shape = &recording->shape;
  const gsize width = nd_sample_size (recording->type);
  const gsize stride = width * shape->components;

  nd_stored_pick (plane, slice + c * width, stride,
      shape->size[0] * shape->size[1], width);
}

static gsize
directory_size (gboolean big)
{
  return big ? 8 + MAX_ENTRIES * 20 + 8 : 2 + MAX_ENTRIES * 12 + 4;
}

static Builder
make_builder (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gboolean ome)
{
  const NdShape *shape = &recording->shape;
  const gsize channels = nd_tiff_planes (recording, metadata);
  const guint64 planes = shape->size[2] * channels;
  const gsize arrays = DESCRIPTION + nd_tiff_description_room (channels, ome);
  Builder builder = { .bytes = bytes,
    .recording = recording,
    .pages = recording->volumes * planes,
    .page_bytes = nd_recording_volume_size (recording) / planes,
    .samples = shape->components / channels,
    .arrays = arrays };

  builder.room = (arrays + 6 * builder.samples + 15) & ~(guint64) 15;
  builder.big = builder.room
          + builder.pages * (builder.page_bytes + directory_size (FALSE))
      > CLASSIC_MAX;
  return builder;
}

static void
tiff_build_append (GByteArray *bytes, guint64 number, guint n)
{
  const guint16 two = number;
  const guint32 four = number;

  g_byte_array_append (bytes,
      n == 2       ? (const guint8 *) &two
          : n == 4 ? (const guint8 *) &four
                   : (const guint8 *) &number,
      n);
}

/* Fills up to @size bytes. */
static void
tiff_build_pad (GByteArray *bytes, gsize size)
{
  const gsize from = bytes->len;

  if (from >= size)
    return;
  g_byte_array_set_size (bytes, size);
  memset (bytes->data + from, 0, size - from);
}

/* Begins an entry; its value follows. */
static void
begin_entry (const Builder *b, guint16 tag, guint16 type, guint64 count)
{
  tiff_build_append (b->bytes, tag, 2);
  tiff_build_append (b->bytes, type, 2);
  tiff_build_append (b->bytes, count, b->big ? 8 : 4);
}

/* An entry with one number. */
static void
put_number (const Builder *b, guint16 tag, guint16 type, guint64 number)
{
  const guint word = b->big ? 8 : 4;
  const guint size = type == TYPE_SHORT ? 2 : type == TYPE_LONG ? 4 : 8;

  begin_entry (b, tag, type, 1);
  tiff_build_append (b->bytes, number, size);
  tiff_build_pad (b->bytes, b->bytes->len + word - size);
}

/* An entry with the place of its values. */
static void
put_place (const Builder *b, guint16 tag, guint16 type, guint64 count,
    guint64 place)
{
  begin_entry (b, tag, type, count);
  tiff_build_append (b->bytes, place, b->big ? 8 : 4);
}

/* @count equal numbers, which are also at @place. */
static void
put_shorts (const Builder *b, guint16 tag, guint64 count, guint16 number,
    guint64 place)
{
  const guint word = b->big ? 8 : 4;

  if (2 * count > word) {
    put_place (b, tag, TYPE_SHORT, count, place);
    return;
  }
  begin_entry (b, tag, TYPE_SHORT, count);
  for (guint64 i = 0; i < count; i++)
    tiff_build_append (b->bytes, number, 2);
  tiff_build_pad (b->bytes, b->bytes->len + word - 2 * count);
}

/* The fraction n / d that comes nearest to @value. */
static void
tiff_build_find_fraction (gdouble value, guint32 *n, guint32 *d)
{
  gdouble n0 = 0, n1 = 1, d0 = 1, d1 = 0, rest = value;

  *n = *d = 1;
  while (value > 0 && isfinite (rest)) {
    const gdouble whole = floor (rest);
    const gdouble next_n = whole * n1 + n0, next_d = whole * d1 + d0;

    if (next_n > G_MAXUINT32 || next_d > G_MAXUINT32)
      break;
    n0 = n1;
    d0 = d1;
    n1 = next_n;
    d1 = next_d;
    if (n1 > 0) {
      *n = n1;
      *d = d1;
    }
    if (fabs (n1 / d1 / value - 1) < 1e-13)
      break;
    rest = 1 / (rest - whole);
  }
}

/* The pixels per unit along x or y. */
static void
append_resolution (const Builder *b, guint axis)
{
  const NdGeometry *geometry = &b->recording->geometry;
  guint32 n = 1, d = 1;

  if (geometry->known)
    tiff_build_find_fraction (nd_tiff_unit (geometry) / geometry->spacing[axis],
        &n, &d);
  tiff_build_append (b->bytes, n, 4);
  tiff_build_append (b->bytes, d, 4);
}

static void
put_resolution (const Builder *b, guint16 tag, guint axis)
{
  if (!b->big) {
    put_place (b, tag, TYPE_RATIONAL, 1, RESOLUTIONS + 8 * axis);
    return;
  }
  begin_entry (b, tag, TYPE_RATIONAL, 1);
  append_resolution (b, axis);
}

static guint16
get_format (NdSampleType type)
{
  if (nd_sample_is_float (type))
    return 3;
  return type == ND_INT8 || type == ND_INT16 || type == ND_INT32 ? 2 : 1;
}

/* The directory of @page; @next is the place of the one after it, or 0. The
 * first page has the description, of @description bytes. */
static void
put_directory (const Builder *b, guint64 page, gsize description, guint64 next)
{
  const NdRecording *recording = b->recording;
  const guint64 samples = b->samples;
  const guint64 extra = samples - (samples > 1 ? 3 : 1);
  const guint16 offset = b->big ? TYPE_LONG8 : TYPE_LONG;
  const gsize begin = b->bytes->len;
  const guint16 entries = 13 + (page == 0) + (extra > 0);

  tiff_build_append (b->bytes, entries, b->big ? 8 : 2);
  put_number (b, 256, TYPE_LONG, recording->shape.size[0]);
  put_number (b, 257, TYPE_LONG, recording->shape.size[1]);
  put_shorts (b, 258, samples, 8 * nd_sample_size (recording->type), b->arrays);
  put_number (b, 259, TYPE_SHORT, 1); /* not compressed */
  put_number (b, 262, TYPE_SHORT, samples > 1 ? 2 : 1);
  if (page == 0)
    put_place (b, 270, TYPE_ASCII, description, DESCRIPTION);
  put_number (b, 273, offset, b->room + page * b->page_bytes);
  put_number (b, 277, TYPE_SHORT, samples);
  put_number (b, 278, TYPE_LONG, recording->shape.size[1]);
  put_number (b, 279, offset, b->page_bytes);
  put_resolution (b, 282, 0);
  put_resolution (b, 283, 1);
  put_number (b, 296, TYPE_SHORT, 1); /* the description has the unit */
  if (extra > 0)
    put_shorts (b, 338, extra, 0, b->arrays + 4 * samples);
  put_shorts (b, 339, samples, get_format (recording->type),
      b->arrays + 2 * samples);
  tiff_build_append (b->bytes, next, b->big ? 8 : 4);
  tiff_build_pad (b->bytes, begin + directory_size (b->big));
}

static void
put_beginning (const Builder *b)
{
  const guint16 order =
      G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0x4949 /* II */ : 0x4d4d /* MM */;

  tiff_build_append (b->bytes, order, 2);
  tiff_build_append (b->bytes, b->big ? 43 : 42, 2);
  if (b->big) {
    tiff_build_append (b->bytes, 8, 2); /* bytes of an offset */
    tiff_build_append (b->bytes, 0, 2);
  }
  tiff_build_append (b->bytes, b->pages > 0 ? FIRST_DIRECTORY : 0,
      b->big ? 8 : 4);
  tiff_build_pad (b->bytes, FIRST_DIRECTORY);
}

void
nd_tiff_build (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gboolean ended, gboolean ome)
{
  const Builder b = make_builder (bytes, recording, metadata, ome);
  g_autoptr (GString) text =
      nd_tiff_describe (recording, metadata, ome && ended);
  const guint16 values[] = { 8 * nd_sample_size (recording->type),
    get_format (recording->type), 0 };

  put_beginning (&b);
  put_directory (&b, 0, text->len + 1,
      ended && b.pages > 1 ? b.room + b.pages * b.page_bytes : 0);
  tiff_build_pad (bytes, RESOLUTIONS);
  append_resolution (&b, 0);
  append_resolution (&b, 1);
  g_byte_array_append (bytes, (const guint8 *) text->str, text->len + 1);
  tiff_build_pad (bytes, b.arrays);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    for (gsize c = 0; c < b.samples; c++)
      tiff_build_append (bytes, values[i], 2);
  }
  tiff_build_pad (bytes, b.room);
}

guint64
nd_tiff_build_pages (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gboolean ome, guint64 first, guint64 n)
{
  const Builder b = make_builder (bytes, recording, metadata, ome);
  const gsize size = directory_size (b.big);
  const guint64 place = b.room + b.pages * b.page_bytes;
  guint64 page = first;

  for (; page < b.pages && page - first < n; page++)
    put_directory (&b, page, 0, page + 1 < b.pages ? place + page * size : 0);
  return page - first;
}

/* The description of a TIFF file that is written.
 */

#define SMALL_SPACING 0.01 /* mm; smaller ones are written in micrometres */

#define IMAGEJ_ROOM 496
#define OME_ROOM 1280
#define CHANNEL_ROOM 64

gdouble
nd_tiff_unit (const NdGeometry *geometry)
{
  return geometry->spacing[0] < SMALL_SPACING ? 1e-3 : 1;
}

gsize
nd_tiff_description_room (gsize channels, gboolean ome)
{
  return ome ? OME_ROOM + CHANNEL_ROOM * channels : IMAGEJ_ROOM;
}

/* key@between@number@after */
static void
tiff_build_append_key (GString *text, const gchar *key, const gchar *between,
    gdouble value, const gchar *after)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s%s%s%s", key, between,
      g_ascii_dtostr (number, sizeof (number), value), after);
}

/* https://imagej.net/ij/source/ij/io/FileSaver.java */
static void
describe_imagej (GString *text, const NdRecording *recording, gsize channels,
    gdouble interval)
{
  const NdGeometry *geometry = &recording->geometry;
  const gsize z = recording->shape.size[2];

  g_string_append_printf (text, "ImageJ=1.53t\nimages=%" G_GUINT64_FORMAT "\n",
      recording->volumes * z * channels);
  if (channels > 1)
    g_string_append_printf (text, "channels=%" G_GSIZE_FORMAT "\n", channels);
  g_string_append_printf (text,
      "slices=%" G_GSIZE_FORMAT "\nframes=%" G_GUINT64_FORMAT "\n", z,
      recording->volumes);
  if (channels > 1 || (z > 1 && recording->volumes > 1))
    g_string_append (text, "hyperstack=true\n");
  g_string_append (text, "mode=grayscale\nloop=false\n");
  if (geometry->known) {
    static const gchar *const keys[] = { "xorigin", "yorigin", "zorigin" };
    const gdouble unit = nd_tiff_unit (geometry);
    gdouble origin[3];

    g_string_append_printf (text, "unit=%s\n", unit == 1 ? "mm" : "um");
    tiff_build_append_key (text, "spacing", "=", geometry->spacing[2] / unit,
        "\n");
    /* In pixels, as ij/measure/Calibration.java counts. */
    nd_axes_get_origin (geometry, origin);
    for (guint a = 0; a < 3; a++) {
      if (origin[a] != 0)
        tiff_build_append_key (text, keys[a], "=",
            -origin[a] / geometry->spacing[a], "\n");
    }
  }
  if (interval > 0) {
    tiff_build_append_key (text, "finterval", "=", interval, "\n");
    tiff_build_append_key (text, "fps", "=", 1 / interval, "\n");
  }
}

/* https://docs.openmicroscopy.org/ome-model/ */
static void
describe_ome (GString *text, const NdRecording *recording, gsize channels,
    gdouble interval)
{
  static const gchar *const types[ND_STREAM_TYPES] = { [ND_UINT8] = "uint8",
    [ND_INT8] = "int8",
    [ND_UINT16] = "uint16",
    [ND_INT16] = "int16",
    [ND_UINT32] = "uint32",
    [ND_INT32] = "int32",
    [ND_FLOAT32] = "float",
    [ND_FLOAT64] = "double" };
  static const gchar *const sizes[] = { " PhysicalSizeX", " PhysicalSizeY",
    " PhysicalSizeZ" };
  const NdGeometry *geometry = &recording->geometry;
  const NdShape *shape = &recording->shape;

  g_string_append_printf (text,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
      "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\">"
      "<Image ID=\"Image:0\"><Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" "
      "Type=\"%s\" BigEndian=\"%s\" SizeX=\"%" G_GSIZE_FORMAT
      "\" SizeY=\"%" G_GSIZE_FORMAT "\" SizeC=\"%" G_GSIZE_FORMAT
      "\" SizeZ=\"%" G_GSIZE_FORMAT "\" SizeT=\"%" G_GUINT64_FORMAT "\"",
      types[recording->type],
      G_BYTE_ORDER == G_LITTLE_ENDIAN ? "false" : "true", shape->size[0],
      shape->size[1], shape->components, shape->size[2], recording->volumes);
  for (guint a = 0; a < 3 && geometry->known; a++) {
    const gdouble unit = nd_tiff_unit (geometry);

    tiff_build_append_key (text, sizes[a], "=\"", geometry->spacing[a] / unit,
        "\"");
    g_string_append_printf (text, "%sUnit=\"%s\"", sizes[a],
        unit == 1 ? "mm" : "\302\265m");
  }
  if (interval > 0)
    tiff_build_append_key (text, " TimeIncrement", "=\"", interval,
        "\" TimeIncrementUnit=\"s\"");
  g_string_append (text, ">");
  for (gsize c = 0; c < channels; c++)
    g_string_append_printf (text,
        "<Channel ID=\"Channel:0:%" G_GSIZE_FORMAT
        "\" SamplesPerPixel=\"%" G_GSIZE_FORMAT "\"/>",
        c, shape->components / channels);
  g_string_append_printf (text,
      "<TiffData IFD=\"0\" PlaneCount=\"%" G_GUINT64_FORMAT
      "\"/></Pixels></Image></OME>",
      recording->volumes * shape->size[2] * channels);
}

GString *
nd_tiff_describe (const NdRecording *recording, const NdMetadata *metadata,
    gboolean ome)
{
  const gdouble interval =
      nd_rate_interval (recording->rate_n, recording->rate_d, metadata->times);
  const gsize channels = nd_tiff_planes (recording, metadata);
  GString *text = g_string_new (NULL);

  if (ome)
    describe_ome (text, recording, channels, interval);
  else
    describe_imagej (text, recording, channels, interval);
  return text;
}

gboolean
nd_tiff_detect (const guint8 *bytes, gsize n)
{
  static const gchar magic[][5] = { "II*\0", "MM\0*", "II+\0", "MM\0+" };

  for (guint i = 0; i < G_N_ELEMENTS (magic); i++) {
    if (n >= 8 && memcmp (bytes, magic[i], 4) == 0)
      return TRUE;
  }
  return FALSE;
}
