/* Helpers that write files that ask for much memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tests/formats/files.h"

#include <stdio.h>
#include <unistd.h>

static inline void
put_bytes (const gchar *path, const GByteArray *bytes)
{
  put_file (path, bytes->data, bytes->len);
}

static inline void
add_text (GByteArray *bytes, const gchar *text)
{
  g_byte_array_append (bytes, (const guint8 *) text, strlen (text));
}

static inline void
add_again (GByteArray *bytes, const gchar *text, guint n)
{
  const gsize length = strlen (text), at = bytes->len;

  g_byte_array_set_size (bytes, at + n * length);
  for (guint i = 0; i < n; i++)
    memcpy (bytes->data + at + i * length, text, length);
}

static inline void
add_zeros (GByteArray *bytes, gsize n)
{
  const gsize at = bytes->len;

  g_byte_array_set_size (bytes, at + n);
  memset (bytes->data + at, 0, n);
}

/* The header of NRRD with bytes of @sizes, without its end. */
static inline GByteArray *
begin_nrrd (const gchar *sizes, guint dimension, const gchar *encoding)
{
  GByteArray *bytes = g_byte_array_new ();
  g_autofree gchar *text = g_strdup_printf (
      "NRRD0004\ntype: uchar\ndimension: %u\nsizes: %s\nencoding: %s\n",
      dimension, sizes, encoding);

  add_text (bytes, text);
  return bytes;
}

/* A field of a TIFF directory, in the byte order of the machine. */
static inline void
add_tag (GByteArray *bytes, guint16 tag, guint16 type, guint32 n, guint32 value)
{
  const guint16 head[2] = { tag, type };
  const guint32 tail[2] = { n, value };

  g_byte_array_append (bytes, (const guint8 *) head, sizeof (head));
  g_byte_array_append (bytes, (const guint8 *) tail, sizeof (tail));
}

/* TIFF with a picture of 4 x 4 bytes and the @description, and @more fields
 * with the number 60000 that all have the description as their bytes. */
static inline GByteArray *
make_tiff (const GByteArray *description, guint more)
{
  GByteArray *bytes = g_byte_array_new ();
  const guint32 text = 24, directory = (text + description->len + 1) & ~1u;
  const guint16 n = 10 + more;
  const guint32 end = 0;

  add_text (bytes, G_BYTE_ORDER == G_LITTLE_ENDIAN ? "II*" : "MM");
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    add_zeros (bytes, 1);
  else
    g_byte_array_append (bytes, (const guint8 *) "\0*", 2);
  g_byte_array_append (bytes, (const guint8 *) &directory, 4);
  add_again (bytes, "x", 16);
  g_byte_array_append (bytes, description->data, description->len);
  add_zeros (bytes, directory - bytes->len);
  g_byte_array_append (bytes, (const guint8 *) &n, 2);
  add_tag (bytes, 256, 4, 1, 4);
  add_tag (bytes, 257, 4, 1, 4);
  add_tag (bytes, 258, 3, 1, G_BYTE_ORDER == G_LITTLE_ENDIAN ? 8 : 8 << 16);
  add_tag (bytes, 259, 3, 1, G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1 : 1 << 16);
  add_tag (bytes, 262, 3, 1, G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1 : 1 << 16);
  add_tag (bytes, 270, 2, description->len, text);
  add_tag (bytes, 273, 4, 1, 8);
  add_tag (bytes, 277, 3, 1, G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1 : 1 << 16);
  add_tag (bytes, 278, 4, 1, 4);
  add_tag (bytes, 279, 4, 1, 16);
  for (guint i = 0; i < more; i++)
    add_tag (bytes, 60000 + i, 7, description->len, text);
  g_byte_array_append (bytes, (const guint8 *) &end, 4);
  return bytes;
}

/* A folder of Zarr with the file @name. */
static inline gchar *
put_zarr (const gchar *top, const gchar *name, const gchar *text)
{
  gchar *path = file_path (top);
  g_autofree gchar *file = g_build_filename (path, name, NULL);
  g_autofree gchar *parent = g_path_get_dirname (file);

  g_assert_cmpint (g_mkdir_with_parents (parent, 0777), ==, 0);
  put_file (file, text, strlen (text));
  return path;
}

#define ZARR_3(shape, chunk, codecs)                                      \
  "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": " shape      \
  ", \"data_type\": \"uint8\", \"chunk_grid\": {\"name\": \"regular\", "  \
  "\"configuration\": {\"chunk_shape\": " chunk "}}, \"fill_value\": 0, " \
  "\"chunk_key_encoding\": {\"name\": \"default\"}, \"codecs\": [" codecs "]}"
#define SHARDS(chunk)                                                 \
  "{\"name\": \"sharding_indexed\", \"configuration\": {"             \
  "\"chunk_shape\": " chunk ", \"codecs\": [{\"name\": \"bytes\"}], " \
  "\"index_codecs\": [{\"name\": \"bytes\"}], \"index_location\": "   \
  "\"start\"}}"
