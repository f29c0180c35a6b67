/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/metaimage.h"

#include "core/error.h"
#include "formats/axes.h"
#include "formats/headertext.h"
#include "formats/sequence.h"

gboolean
nd_metaimage_supports (const NdRecording *recording, const gchar *path,
    GError **error)
{
  if (recording->responses == 1)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" cannot hold the %u responses of a bank: MetaImage has no "
      "dimension for them; write NRRD (.nrrd) or raw (.raw)",
      path, recording->responses);
  return FALSE;
}

static void
metaimage_build_build_geometry (GString *text, const NdRecording *recording,
    const NdMetadata *metadata, guint n)
{
  const NdGeometry *geometry = &recording->geometry;
  const gdouble *sign = nd_axes_signs;
  const gdouble centre[4] = { 0 };
  gdouble matrix[16] = { 0 }, offset[4] = { 0 }, spacing[4] = { 1, 1, 1, 1 };

  for (guint a = 0; a < 3; a++) {
    for (guint row = 0; row < 3; row++)
      matrix[a * n + row] = geometry->known
          ? sign[row] * geometry->directions[3 * row + a]
          : a == row;
    if (geometry->known) {
      offset[a] = sign[a] * geometry->origin[a];
      spacing[a] = geometry->spacing[a];
    }
  }
  matrix[n * n - 1] = n == 4 ? 1 : matrix[8];
  offset[3] = metadata->origin / 1e9;
  if (recording->rate_n > 0)
    spacing[3] = (gdouble) recording->rate_d / recording->rate_n;
  nd_text_append_doubles (text, "TransformMatrix = ", matrix, n * n, " ", "\n");
  nd_text_append_doubles (text, "Offset = ", offset, n, " ", "\n");
  nd_text_append_doubles (text, "CenterOfRotation = ", centre, n, " ", "\n");
  if (!nd_metadata_get (metadata, "AnatomicalOrientation"))
    g_string_append_printf (text, "AnatomicalOrientation = %s\n",
        n == 4 ? "????" : "RAI");
  nd_text_append_doubles (text, "ElementSpacing = ", spacing, n, " ", "\n");
}

static const gchar *
metaimage_build_type_name (NdSampleType type)
{
  static const gchar *const type_names[ND_STREAM_TYPES] = {
    [ND_UINT8] = "MET_UCHAR",
    [ND_INT16] = "MET_SHORT",
    [ND_UINT16] = "MET_USHORT",
    [ND_FLOAT32] = "MET_FLOAT",
    [ND_INT8] = "MET_CHAR",
    [ND_INT32] = "MET_INT",
    [ND_UINT32] = "MET_UINT",
    [ND_FLOAT64] = "MET_DOUBLE",
  };

  return type_names[type];
}

guint
nd_metaimage_build (GString *text, const NdRecording *recording,
    const NdMetadata *metadata, gint64 compressed)
{
  const NdShape *shape = &recording->shape;
  const gboolean list = recording->volumes != 1;
  const guint n_space = list && shape->size[2] == 1 ? 2 : 3;
  const guint n = n_space + list;
  guint too_long = 0;

  g_string_append_printf (text,
      "ObjectType = Image\nNDims = %u\n"
      "BinaryData = True\nBinaryDataByteOrderMSB = %s\nCompressedData = %s\n",
      n, G_BYTE_ORDER == G_BIG_ENDIAN ? "True" : "False",
      compressed >= 0 ? "True" : "False");
  if (compressed >= 0)
    g_string_append_printf (text, "CompressedDataSize = %" G_GINT64_FORMAT "\n",
        compressed);
  metaimage_build_build_geometry (text, recording, metadata, n);
  g_string_append (text, "DimSize =");
  for (guint a = 0; a < n_space; a++)
    g_string_append_printf (text, " %" G_GSIZE_FORMAT, shape->size[a]);
  if (list)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, recording->volumes);
  g_string_append_printf (text, "\nKinds = domain domain%s%s",
      n_space == 3 ? " domain" : "", list ? " list" : "");
  if (shape->components > 1)
    g_string_append_printf (text,
        "\nElementNumberOfChannels = %" G_GSIZE_FORMAT, shape->components);
  g_string_append_printf (text, "\nElementType = %s\n",
      metaimage_build_type_name (recording->type));
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    if (!nd_metaimage_is_field (field->key)
        && !nd_sequence_write_field (text, ND_SEQUENCE_META, field->key,
            field->value))
      too_long++;
  }
  /* A field of a frame tells frames from the slices of a volume. */
  if (n_space == 2 && metadata->times->len == 0
      && metadata->volume_fields->len == 0)
    g_string_append (text, "Seq_Frame0000_ImageStatus = OK\n");
  return too_long + nd_sequence_write (text, ND_SEQUENCE_META, metadata);
}

void
nd_metaimage_end (GString *text, const gchar *data)
{
  g_string_append_printf (text, ND_METAIMAGE_LAST " = %s\n",
      data ? data : "LOCAL");
}
