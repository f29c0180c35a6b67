/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffbuild.h"

#include "core/error.h"
#include "formats/rate.h"

#include <math.h>
#include <string.h>

/* Places before the samples. */
#define FIRST_DIRECTORY 16
#define RESOLUTIONS 512
#define DESCRIPTION 528
#define ARRAYS 1024

#define CLASSIC_MAX ((guint64) G_MAXUINT32)
#define SMALL_SPACING 0.01 /* mm; smaller ones are written in micrometres */
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

static gsize
directory_size (gboolean big)
{
  return big ? 8 + MAX_ENTRIES * 20 + 8 : 2 + MAX_ENTRIES * 12 + 4;
}

static Builder
make_builder (GByteArray *bytes, const NdRecording *recording)
{
  const NdShape *shape = &recording->shape;
  Builder builder = { bytes, recording, FALSE,
    recording->volumes * shape->size[2],
    nd_recording_volume_size (recording) / shape->size[2],
    (ARRAYS + 6 * shape->components + 15) & ~(guint64) 15 };

  builder.big = builder.room
          + builder.pages * (builder.page_bytes + directory_size (FALSE))
      > CLASSIC_MAX;
  return builder;
}

static void
append (GByteArray *bytes, guint64 number, guint n)
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
pad (GByteArray *bytes, gsize size)
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
  append (b->bytes, tag, 2);
  append (b->bytes, type, 2);
  append (b->bytes, count, b->big ? 8 : 4);
}

/* An entry with one number. */
static void
put_number (const Builder *b, guint16 tag, guint16 type, guint64 number)
{
  const guint word = b->big ? 8 : 4;
  const guint size = type == TYPE_SHORT ? 2 : type == TYPE_LONG ? 4 : 8;

  begin_entry (b, tag, type, 1);
  append (b->bytes, number, size);
  pad (b->bytes, b->bytes->len + word - size);
}

/* An entry with the place of its values. */
static void
put_place (const Builder *b, guint16 tag, guint16 type, guint64 count,
    guint64 place)
{
  begin_entry (b, tag, type, count);
  append (b->bytes, place, b->big ? 8 : 4);
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
    append (b->bytes, number, 2);
  pad (b->bytes, b->bytes->len + word - 2 * count);
}

/* The fraction n / d that comes nearest to @value. */
static void
find_fraction (gdouble value, guint32 *n, guint32 *d)
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

/* The unit of lengths in mm. */
static gdouble
get_unit (const NdGeometry *geometry)
{
  return geometry->spacing[0] < SMALL_SPACING ? 1e-3 : 1;
}

/* The pixels per unit along x or y. */
static void
append_resolution (const Builder *b, guint axis)
{
  const NdGeometry *geometry = &b->recording->geometry;
  guint32 n = 1, d = 1;

  if (geometry->known)
    find_fraction (get_unit (geometry) / geometry->spacing[axis], &n, &d);
  append (b->bytes, n, 4);
  append (b->bytes, d, 4);
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

static gboolean
is_rgb (const NdRecording *recording)
{
  const gsize components = recording->shape.components;

  return recording->type == ND_UINT8 && (components == 3 || components == 4);
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
  const guint64 components = recording->shape.components;
  const guint64 extra = components - (is_rgb (recording) ? 3 : 1);
  const guint16 offset = b->big ? TYPE_LONG8 : TYPE_LONG;
  const gsize begin = b->bytes->len;
  const guint16 entries = 13 + (page == 0) + (extra > 0);

  append (b->bytes, entries, b->big ? 8 : 2);
  put_number (b, 256, TYPE_LONG, recording->shape.size[0]);
  put_number (b, 257, TYPE_LONG, recording->shape.size[1]);
  put_shorts (b, 258, components, 8 * nd_sample_size (recording->type), ARRAYS);
  put_number (b, 259, TYPE_SHORT, 1); /* not compressed */
  put_number (b, 262, TYPE_SHORT, is_rgb (recording) ? 2 : 1);
  if (page == 0)
    put_place (b, 270, TYPE_ASCII, description, DESCRIPTION);
  put_number (b, 273, offset, b->room + page * b->page_bytes);
  put_number (b, 277, TYPE_SHORT, components);
  put_number (b, 278, TYPE_LONG, recording->shape.size[1]);
  put_number (b, 279, offset, b->page_bytes);
  put_resolution (b, 282, 0);
  put_resolution (b, 283, 1);
  put_number (b, 296, TYPE_SHORT, 1); /* the description has the unit */
  if (extra > 0)
    put_shorts (b, 338, extra, 0, ARRAYS + 4 * components);
  put_shorts (b, 339, components, get_format (recording->type),
      ARRAYS + 2 * components);
  append (b->bytes, next, b->big ? 8 : 4);
  pad (b->bytes, begin + directory_size (b->big));
}

static void
append_key (GString *text, const gchar *key, gdouble value)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s=%s\n", key,
      g_ascii_dtostr (number, sizeof (number), value));
}

/* https://imagej.net/ij/source/ij/io/FileSaver.java */
static GString *
describe (const Builder *b, const NdMetadata *metadata)
{
  const NdRecording *recording = b->recording;
  const NdGeometry *geometry = &recording->geometry;
  const gdouble interval =
      nd_rate_interval (recording->rate_n, recording->rate_d, metadata->times);
  GString *text = g_string_new ("ImageJ=1.53t\n");

  g_string_append_printf (text, "images=%" G_GUINT64_FORMAT "\n", b->pages);
  g_string_append_printf (text, "slices=%" G_GSIZE_FORMAT "\n",
      recording->shape.size[2]);
  g_string_append_printf (text, "frames=%" G_GUINT64_FORMAT "\n",
      recording->volumes);
  if (recording->shape.size[2] > 1 && recording->volumes > 1)
    g_string_append (text, "hyperstack=true\n");
  g_string_append (text, "mode=grayscale\nloop=false\n");
  if (geometry->known) {
    g_string_append_printf (text, "unit=%s\n",
        get_unit (geometry) == 1 ? "mm" : "um");
    append_key (text, "spacing", geometry->spacing[2] / get_unit (geometry));
  }
  if (interval > 0) {
    append_key (text, "finterval", interval);
    append_key (text, "fps", 1 / interval);
  }
  return text;
}

static void
put_beginning (const Builder *b)
{
  const guint16 order =
      G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0x4949 /* II */ : 0x4d4d /* MM */;

  append (b->bytes, order, 2);
  append (b->bytes, b->big ? 43 : 42, 2);
  if (b->big) {
    append (b->bytes, 8, 2); /* bytes of an offset */
    append (b->bytes, 0, 2);
  }
  append (b->bytes, b->pages > 0 ? FIRST_DIRECTORY : 0, b->big ? 8 : 4);
  pad (b->bytes, FIRST_DIRECTORY);
}

void
nd_tiff_build (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gboolean ended)
{
  const Builder b = make_builder (bytes, recording);
  const gsize components = recording->shape.components;
  g_autoptr (GString) text = describe (&b, metadata);
  const guint16 values[] = { 8 * nd_sample_size (recording->type),
    get_format (recording->type), 0 };

  put_beginning (&b);
  put_directory (&b, 0, text->len + 1,
      ended && b.pages > 1 ? b.room + b.pages * b.page_bytes : 0);
  pad (bytes, RESOLUTIONS);
  append_resolution (&b, 0);
  append_resolution (&b, 1);
  g_byte_array_append (bytes, (const guint8 *) text->str, text->len + 1);
  pad (bytes, ARRAYS);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    for (gsize c = 0; c < components; c++)
      append (bytes, values[i], 2);
  }
  pad (bytes, b.room);
}

guint64
nd_tiff_build_pages (GByteArray *bytes, const NdRecording *recording,
    guint64 first, guint64 n)
{
  const Builder b = make_builder (bytes, recording);
  const gsize size = directory_size (b.big);
  const guint64 place = b.room + b.pages * b.page_bytes;
  guint64 page = first;

  for (; page < b.pages && page - first < n; page++)
    put_directory (&b, page, 0, page + 1 < b.pages ? place + page * size : 0);
  return page - first;
}
