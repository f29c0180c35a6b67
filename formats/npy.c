/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/npy.h"

#include "core/error.h"
#include "formats/npyheader.h"

#include <string.h>

#define ALIGN 64
#define PREFIX 10 /* magic, version 1.0, length of the dictionary */

static gboolean
parse_type (NdHeader *header, const NdNpyHeader *npy, GError **error)
{
  static const NdStoredType integers[2][4] = {
    { ND_STORED_INT8, ND_STORED_INT16, ND_STORED_INT32, ND_STORED_INT64 },
    { ND_STORED_UINT8, ND_STORED_UINT16, ND_STORED_UINT32, ND_STORED_UINT64 },
  };
  NdStored *stored = &header->stored;
  gboolean swapped;
  gsize bytes;
  gchar kind;

  if (!nd_npy_parse_type (npy->descr, &kind, &bytes, &swapped)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has samples of type %.40s; they must be integers (i1 to i8, u1 to "
        "u8), floats (f2, f4, f8) or complex numbers (c8, c16); save it with "
        "numpy.save (name, array.astype (numpy.float32))",
        npy->descr);
    return FALSE;
  }
  if (kind == 'i' || kind == 'u')
    stored->type = integers[kind == 'u'][g_bit_storage (bytes) - 1];
  else
    stored->type = bytes == 2 ? ND_STORED_FLOAT16
        : bytes == 4          ? ND_STORED_FLOAT32
                              : ND_STORED_FLOAT64;
  stored->swapped = swapped && bytes > 1;
  header->recording.shape.components = kind == 'c' ? 2 : 1;
  return TRUE;
}

/* Assigns the axes in the order of memory, the fastest first. */
static gboolean
parse_shape (NdHeader *header, const NdNpyHeader *npy, GError **error)
{
  NdRecording *recording = &header->recording;
  gsize fastest[5] = { 0 };
  guint first = 0;

  if (npy->rank < 1 || npy->rank > 5
      || (npy->rank == 5 && recording->shape.components > 1)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has an array of %u axes; a recording has the axes (y, x), "
        "(z, y, x), (t, z, y, x) or (t, z, y, x, components)",
        npy->rank);
    return FALSE;
  }
  for (guint i = 0; i < npy->rank; i++) {
    fastest[i] = npy->shape[npy->fortran_order ? i : npy->rank - 1 - i];
    if (fastest[i] == 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "It has an empty array (size 0 along an axis); each size must be 1 "
          "or more");
      return FALSE;
    }
  }
  header->z_or_time = npy->rank == 3;
  if (npy->rank == 5)
    recording->shape.components = fastest[first++];
  for (guint a = 0; a < 3 && first + a < npy->rank; a++)
    recording->shape.size[a] = fastest[first + a];
  if (first + 3 < npy->rank)
    recording->volumes = fastest[first + 3];
  return TRUE;
}

gboolean
nd_npy_parse (NdHeader *header, const guint8 *bytes, gsize n, const gchar *path,
    GError **error)
{
  NdNpyHeader npy = { NULL };
  gsize end = 0;
  gboolean ok;

  nd_header_init (header, "NumPy");
  ok = nd_npy_header_parse (&npy, bytes, n, &end, error)
      && parse_type (header, &npy, error) && parse_shape (header, &npy, error);
  g_free (npy.descr);
  if (!ok) {
    g_prefix_error (error, "\"%s\" cannot be read. ", path);
    return FALSE;
  }
  header->offset = end;
  return nd_header_settle (header, path, error);
}

/* Two floats are a complex number, as in the other formats. */
static gboolean
is_complex (const NdRecording *recording)
{
  return recording->shape.components == 2
      && (recording->type == ND_FLOAT32 || recording->type == ND_FLOAT64);
}

static const gchar *
type_name (const NdRecording *recording)
{
  static const gchar *const names[ND_STREAM_TYPES] = {
    [ND_UINT8] = "u1",
    [ND_INT16] = "i2",
    [ND_UINT16] = "u2",
    [ND_FLOAT32] = "f4",
    [ND_INT8] = "i1",
    [ND_INT32] = "i4",
    [ND_UINT32] = "u4",
    [ND_FLOAT16] = "f2",
    [ND_FLOAT64] = "f8",
  };

  if (is_complex (recording))
    return recording->type == ND_FLOAT32 ? "c8" : "c16";
  return names[recording->type];
}

gboolean
nd_npy_supports (const NdRecording *recording, const gchar *path,
    GError **error)
{
  if (recording->responses == 1)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" cannot store the %u responses of a bank: the axes of .npy are "
      "t, z, y, x and components; write NRRD (.nrrd) or raw (.raw)",
      path, recording->responses);
  return FALSE;
}

void
nd_npy_build (GByteArray *bytes, const NdRecording *recording, gsize room)
{
  const gsize components =
      is_complex (recording) ? 1 : recording->shape.components;
  const gsize *size = recording->shape.size;
  g_autoptr (GString) text = g_string_new (NULL);
  guint8 prefix[PREFIX] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };

  g_string_append_printf (text,
      "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
      nd_sample_size (recording->type) == 1 ? '|'
          : G_BYTE_ORDER == G_LITTLE_ENDIAN ? '<'
                                            : '>',
      type_name (recording));
  if (recording->volumes != 1 || components > 1)
    g_string_append_printf (text, "%" G_GUINT64_FORMAT ", ",
        recording->volumes);
  g_string_append_printf (text,
      "%" G_GSIZE_FORMAT ", %" G_GSIZE_FORMAT ", %" G_GSIZE_FORMAT, size[2],
      size[1], size[0]);
  if (components > 1)
    g_string_append_printf (text, ", %" G_GSIZE_FORMAT, components);
  g_string_append (text, "), }");
  while (PREFIX + text->len + 1 < room || (PREFIX + text->len + 1) % ALIGN != 0)
    g_string_append_c (text, ' ');
  g_string_append_c (text, '\n');
  prefix[8] = text->len & 0xff;
  prefix[9] = text->len >> 8;
  g_byte_array_append (bytes, prefix, PREFIX);
  g_byte_array_append (bytes, (const guint8 *) text->str, text->len);
}
