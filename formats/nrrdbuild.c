/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/nrrd.h"

#include "formats/headertext.h"
#include "formats/sequence.h"

#include <string.h>

static const gchar *
type_name (NdSampleType type)
{
  static const gchar *const type_names[ND_STREAM_TYPES] = {
    [ND_UINT8] = "uchar",
    [ND_INT16] = "short",
    [ND_UINT16] = "ushort",
    [ND_FLOAT32] = "float",
    [ND_INT8] = "signed char",
    [ND_INT32] = "int",
    [ND_UINT32] = "uint",
    [ND_FLOAT64] = "double",
  };

  return type_names[type];
}

static void
build_geometry (GString *text, const NdRecording *recording, gboolean list)
{
  const NdGeometry *geometry = &recording->geometry;

  g_string_append (text, "space directions:");
  if (recording->shape.components > 1)
    g_string_append (text, " none");
  for (guint a = 0; a < 3; a++) {
    const gdouble *d = geometry->directions + a;
    const gdouble step[3] = { -d[0] * geometry->spacing[a],
      -d[3] * geometry->spacing[a], d[6] * geometry->spacing[a] };

    nd_text_append_doubles (text, " (", step, 3, ",", ")");
  }
  if (recording->responses > 1)
    g_string_append (text, " none");
  g_string_append (text, list ? " none\n" : "\n");
}

/* Appends a field with a text for the list axis. */
static void
append_strings (GString *text, const gchar *field, const gchar *before,
    const gchar *last)
{
  g_string_append_printf (text, "%s: %s\"\" \"\" \"\" \"", field, before);
  for (; last && *last; last++) {
    if (*last == '"')
      g_string_append_c (text, '\\');
    /* A last backslash would escape the quote after it. */
    g_string_append_c (text,
        (guchar) *last < ' ' || (*last == '\\' && !last[1]) ? ' ' : *last);
  }
  g_string_append (text, "\"\n");
}

static void
build_axes (GString *text, const NdRecording *recording, gboolean list,
    const NdMetadata *metadata, gboolean indexed)
{
  const NdShape *shape = &recording->shape;
  const gboolean components = shape->components > 1;
  const gboolean responses = recording->responses > 1;
  const gchar *none = components ? responses ? "\"\" \"\" " : "\"\" "
      : responses                ? "\"\" "
                                 : "";

  g_string_append (text, "sizes:");
  if (components)
    g_string_append_printf (text, " %" G_GSIZE_FORMAT, shape->components);
  for (guint a = 0; a < 3; a++)
    g_string_append_printf (text, " %" G_GSIZE_FORMAT, shape->size[a]);
  if (responses)
    g_string_append_printf (text, " %u", recording->responses);
  if (list)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, recording->volumes);
  g_string_append_printf (text, "\nkinds: %sdomain domain domain%s%s\n",
      shape->components == 2 ? "complex "
          : components       ? "vector "
                             : "",
      responses ? " vector" : "", list ? " list" : "");
  if (list && indexed) {
    append_strings (text, "labels", none,
        nd_metadata_get (metadata, ND_INDEX_NAME));
    append_strings (text, "units", none,
        nd_metadata_get (metadata, ND_INDEX_UNIT));
  } else if (list && (metadata->times->len > 0 || recording->rate_n > 0)) {
    append_strings (text, "labels", none, "time");
    append_strings (text, "units", none, "s");
  }
  if (list && recording->rate_n > 0 && !indexed) {
    g_string_append_printf (text, "spacings: %snan nan nan %s",
        components ? "nan " : "", responses ? "nan " : "");
    nd_text_append_double (text,
        (gdouble) recording->rate_d / recording->rate_n);
    g_string_append_c (text, '\n');
  }
}

/* Writes a field of NRRD that the parser kept as metadata. */
static gboolean
is_kept (const NdField *field)
{
  static const gchar *const kept[] = { ND_NRRD_KEPT "content",
    ND_NRRD_KEPT "measurement frame", ND_NRRD_KEPT "sample units" };

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    if (strcmp (field->key, kept[i]) == 0)
      return !strchr (field->value, '\n');
  }
  return FALSE;
}

static gboolean
is_of_index (const NdField *field)
{
  return strcmp (field->key, ND_INDEX_NAME) == 0
      || strcmp (field->key, ND_INDEX_UNIT) == 0
      || strcmp (field->key, ND_INDEX_TYPE) == 0;
}

/* g_string_append_printf() would have a copy of @value. */
static void
append_line (GString *text, const gchar *key, const gchar *value)
{
  g_string_append (text, key);
  g_string_append (text, ": ");
  g_string_append (text, value);
  g_string_append_c (text, '\n');
}

void
nd_nrrd_build (GString *text, const NdRecording *recording,
    const NdMetadata *metadata, gboolean compressed, const gchar *data,
    gboolean always_list, gboolean plus)
{
  const NdGeometry *geometry = &recording->geometry;
  const gboolean list = always_list || recording->volumes != 1;
  const gboolean indexed = list && !plus && nd_sequence_has_index (metadata);
  const NdSequenceStyle style = plus ? ND_SEQUENCE_PLUS
      : indexed                      ? ND_SEQUENCE_INDEXED
                                     : ND_SEQUENCE_SLICER;

  g_string_append_printf (text,
      "NRRD0004\n"
      "# Complete NRRD file format specification at:\n"
      "# http://teem.sourceforge.net/nrrd/format.html\n"
      "type: %s\ndimension: %u\n",
      type_name (recording->type),
      3 + (recording->shape.components > 1) + (recording->responses > 1)
          + list);
  if (geometry->known)
    g_string_append (text, "space: left-posterior-superior\n");
  build_axes (text, recording, list, metadata, indexed);
  if (geometry->known) {
    const gdouble origin[3] = { -geometry->origin[0], -geometry->origin[1],
      geometry->origin[2] };

    build_geometry (text, recording, list);
    nd_text_append_doubles (text, "space origin: (", origin, 3, ",", ")\n");
  }
  g_string_append_printf (text, "endian: %s\nencoding: %s\n",
      G_BYTE_ORDER == G_BIG_ENDIAN ? "big" : "little",
      compressed ? "gzip" : "raw");
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    /* A measurement frame needs a space. */
    if (is_kept (field) && (geometry->known || !strstr (field->key, "frame")))
      append_line (text, field->key + strlen (ND_NRRD_KEPT), field->value);
  }
  if (data)
    g_string_append_printf (text, "data file: %s\n", data);
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    if (!is_kept (field) && !(indexed && is_of_index (field)))
      nd_sequence_write_field (text, style, field->key, field->value);
  }
  if (list)
    nd_sequence_write (text, style, metadata);
}
