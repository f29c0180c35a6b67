/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffdirectory.h"

#include <string.h>

/* libtiff refuses more. */
#define ENTRIES_MAX 65535

/* Values lie in the entries themselves up to this size in all. */
#define SLACK (64 * 1024)

#define COMPRESSION 259
#define PREDICTOR 317
#define STACK 33629

/* Offsets and sizes of strips and tiles, which have 8 bytes in memory. */
#define STRIP_OFFSETS 273
#define STRIP_SIZES 279
#define TILE_OFFSETS 324
#define TILE_SIZES 325

static guint64
tiff_directory_get (const NdTiffDirectories *directories, const guint8 *bytes,
    guint n)
{
  guint64 number = 0;

  for (guint i = 0; i < n; i++)
    number = number << 8 | bytes[directories->big_endian ? i : n - 1 - i];
  return number;
}

static gboolean
tiff_directory_read_at (NdTiffDirectories *directories, guint64 offset,
    guint8 *bytes, gsize n)
{
  if (offset > nd_input_size (directories->input))
    return FALSE;
  nd_input_begin (directories->input, offset, FALSE);
  return nd_input_read (directories->input, bytes, n) == (gssize) n;
}

gboolean
nd_tiff_directories_begin (NdTiffDirectories *directories, NdInput *input,
    guint64 *offset)
{
  guint8 head[16];

  directories->input = input;
  if (!tiff_directory_read_at (directories, 0, head, 8))
    return FALSE;
  directories->big_endian = head[0] == 'M';
  directories->wide = tiff_directory_get (directories, head + 2, 2) == 43;
  if (directories->wide && !tiff_directory_read_at (directories, 0, head, 16))
    return FALSE;
  *offset = directories->wide ? tiff_directory_get (directories, head + 8, 8)
                              : tiff_directory_get (directories, head + 4, 4);
  return TRUE;
}

/* The bytes of the values of an entry, as libtiff keeps them. */
static guint64
value_bytes (const NdTiffDirectories *directories, const guint8 *entry)
{
  static const guint8 sizes[] = { 1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1,
    1, 8, 8, 8 };
  const guint tag = tiff_directory_get (directories, entry, 2);
  const guint type = tiff_directory_get (directories, entry + 2, 2);
  const guint64 count =
      tiff_directory_get (directories, entry + 4, directories->wide ? 8 : 4);
  const guint size = tag == STRIP_OFFSETS || tag == STRIP_SIZES
          || tag == TILE_OFFSETS || tag == TILE_SIZES
      ? 8
      : sizes[type < G_N_ELEMENTS (sizes) ? type : 0];

  return count > G_MAXUINT64 / 16 ? G_MAXUINT64 / 2 : count * size;
}

/* UIC2Tag: as many values as planes. */
static void
note_stack (NdTiffDirectories *directories, const guint8 *entry)
{
  if (directories->wide || tiff_directory_get (directories, entry, 2) != STACK)
    return;
  directories->planes = tiff_directory_get (directories, entry + 4, 4);
  directories->places = tiff_directory_get (directories, entry + 8, 4);
}

/* The value of the entry, if it has the tag. */
static void
note_value (const NdTiffDirectories *directories, const guint8 *entry,
    guint tag, guint *value)
{
  if (tiff_directory_get (directories, entry, 2) == tag)
    *value = tiff_directory_get (directories,
        entry + (directories->wide ? 12 : 8), 2);
}

gboolean
nd_tiff_directories_next (NdTiffDirectories *directories, guint64 *offset,
    guint64 most)
{
  const guint entry_size = directories->wide ? 20 : 12;
  const guint count_size = directories->wide ? 8 : 2;
  const guint64 size = nd_input_size (directories->input);
  guint8 bytes[20];
  guint64 at = *offset, bytes_left = MIN (4 * size + SLACK, most), n;
  guint compression = 1, predictor = 1;

  if (!tiff_directory_read_at (directories, at, bytes, count_size))
    return FALSE;
  n = tiff_directory_get (directories, bytes, count_size);
  at += count_size;
  if (n > ENTRIES_MAX)
    return FALSE;
  for (guint64 i = 0; i < n; i++) {
    guint64 value;

    if (!tiff_directory_read_at (directories, at, bytes, entry_size))
      return FALSE;
    value = value_bytes (directories, bytes);
    if (value > bytes_left)
      return FALSE;
    bytes_left -= value;
    note_stack (directories, bytes);
    note_value (directories, bytes, COMPRESSION, &compression);
    note_value (directories, bytes, PREDICTOR, &predictor);
    at += entry_size;
  }
  if (compression == 1 && predictor > 1)
    directories->predicted = TRUE;
  if (!tiff_directory_read_at (directories, at, bytes,
          directories->wide ? 8 : 4))
    return FALSE;
  *offset = tiff_directory_get (directories, bytes, directories->wide ? 8 : 4);
  return TRUE;
}
