/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/metadata.h"

#include <string.h>

#define TEXT_CHUNK 1024

NdMetadata *
nd_metadata_new (void)
{
  NdMetadata *metadata = g_new0 (NdMetadata, 1);

  g_atomic_ref_count_init (&metadata->references);
  metadata->text = g_string_chunk_new (TEXT_CHUNK);
  metadata->fields = g_array_new (FALSE, FALSE, sizeof (NdField));
  metadata->volume_fields = g_array_new (FALSE, FALSE, sizeof (NdField));
  metadata->times = g_array_new (FALSE, FALSE, sizeof (gint64));
  return metadata;
}

NdMetadata *
nd_metadata_ref (NdMetadata *metadata)
{
  g_atomic_ref_count_inc (&metadata->references);
  return metadata;
}

void
nd_metadata_unref (NdMetadata *metadata)
{
  if (!g_atomic_ref_count_dec (&metadata->references))
    return;
  g_string_chunk_free (metadata->text);
  g_array_unref (metadata->fields);
  g_array_unref (metadata->volume_fields);
  g_array_unref (metadata->times);
  g_free (metadata);
}

/* Keys repeat from volume to volume, so that equal keys share memory. */
static void
append (NdMetadata *metadata, GArray *fields, guint64 volume, const gchar *key,
    const gchar *value)
{
  const NdField field = { volume,
    g_string_chunk_insert_const (metadata->text, key),
    g_string_chunk_insert (metadata->text, value) };

  g_array_append_val (fields, field);
}

void
nd_metadata_add (NdMetadata *metadata, const gchar *key, const gchar *value)
{
  append (metadata, metadata->fields, 0, key, value);
}

const gchar *
nd_metadata_get (const NdMetadata *metadata, const gchar *key)
{
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    if (strcmp (field->key, key) == 0)
      return field->value;
  }
  return NULL;
}

void
nd_metadata_add_to_volume (NdMetadata *metadata, guint64 volume,
    const gchar *key, const gchar *value)
{
  append (metadata, metadata->volume_fields, volume, key, value);
}

/* Fields of one volume compare equal, so that a stable sort keeps their
 * order. */
static gint
compare_fields (gconstpointer a, gconstpointer b, gpointer base)
{
  const NdField *p = a, *q = b;

  return p->volume < q->volume ? -1 : p->volume > q->volume;
}

void
nd_metadata_sort (NdMetadata *metadata)
{
  GArray *fields = metadata->volume_fields;

  /* GLib documents this sort as stable. */
  if (fields->len > 1)
    g_qsort_with_data (fields->data, fields->len, sizeof (NdField),
        compare_fields, NULL);
}

/* The index of the first field of @volume or of a later volume. */
static guint
first_of_volume (const NdMetadata *metadata, guint64 volume)
{
  guint low = 0, high = metadata->volume_fields->len;

  while (low < high) {
    const guint middle = low + (high - low) / 2;

    if (g_array_index (metadata->volume_fields, NdField, middle).volume
        < volume)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const NdField *
nd_metadata_of_volume (const NdMetadata *metadata, guint64 volume, guint *n)
{
  const guint first = first_of_volume (metadata, volume);
  const GArray *fields = metadata->volume_fields;

  *n = 0;
  while (first + *n < fields->len
      && g_array_index (fields, NdField, first + *n).volume == volume)
    (*n)++;
  return *n > 0 ? &g_array_index (fields, NdField, first) : NULL;
}

void
nd_metadata_append (NdMetadata *metadata, const NdMetadata *next)
{
  const guint64 volumes = metadata->times->len;

  for (guint i = 0; i < next->volume_fields->len; i++) {
    const NdField *field = &g_array_index (next->volume_fields, NdField, i);

    nd_metadata_add_to_volume (metadata, volumes + field->volume, field->key,
        field->value);
  }
  g_array_append_vals (metadata->times, next->times->data, next->times->len);
}

NdMetadata *
nd_metadata_slice (const NdMetadata *metadata, guint64 start, guint64 stop,
    guint64 step)
{
  NdMetadata *slice = nd_metadata_new ();
  const GArray *times = metadata->times;

  slice->origin = metadata->origin;
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    nd_metadata_add (slice, field->key, field->value);
  }
  for (guint i = first_of_volume (metadata, start);
       i < metadata->volume_fields->len; i++) {
    const NdField *field = &g_array_index (metadata->volume_fields, NdField, i);

    if (field->volume >= stop)
      break;
    if ((field->volume - start) % step == 0)
      nd_metadata_add_to_volume (slice, (field->volume - start) / step,
          field->key, field->value);
  }
  if (start < times->len)
    slice->origin += g_array_index (times, gint64, start);
  for (guint64 i = start; i < MIN (stop, times->len); i += step) {
    const gint64 time =
        g_array_index (times, gint64, i) - g_array_index (times, gint64, start);

    g_array_append_val (slice->times, time);
  }
  return slice;
}

/* The string has lines: "o NANOSECONDS" for the origin, "t NANOSECONDS" for
 * each time, "f KEY VALUE" for each field of the recording and "v VOLUME KEY
 * VALUE" for each field of a volume. Keys and values are escaped as in C, and
 * spaces in keys as \040. */
static void
append_field (GString *text, const NdField *field)
{
  g_autofree gchar *key = g_strescape (field->key, NULL);
  g_autofree gchar *value = g_strescape (field->value, NULL);

  for (const gchar *p = key; *p; p++) {
    if (*p == ' ')
      g_string_append (text, "\\040");
    else
      g_string_append_c (text, *p);
  }
  g_string_append_printf (text, " %s\n", value);
}

gchar *
nd_metadata_to_text (const NdMetadata *metadata)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "o %" G_GINT64_FORMAT "\n", metadata->origin);
  for (guint i = 0; i < metadata->times->len; i++)
    g_string_append_printf (text, "t %" G_GINT64_FORMAT "\n",
        g_array_index (metadata->times, gint64, i));
  for (guint i = 0; i < metadata->fields->len; i++) {
    g_string_append (text, "f ");
    append_field (text, &g_array_index (metadata->fields, NdField, i));
  }
  for (guint i = 0; i < metadata->volume_fields->len; i++) {
    const NdField *field = &g_array_index (metadata->volume_fields, NdField, i);

    g_string_append_printf (text, "v %" G_GUINT64_FORMAT " ", field->volume);
    append_field (text, field);
  }
  return g_string_free (text, FALSE);
}

/* NULL if the text ends with a backslash that escapes nothing. */
static gchar *
unescape (const gchar *escaped)
{
  const gsize length = strlen (escaped);
  gsize slashes = 0;

  while (slashes < length && escaped[length - 1 - slashes] == '\\')
    slashes++;
  return slashes % 2 ? NULL : g_strcompress (escaped);
}

static gboolean
take_field (NdMetadata *metadata, gboolean of_volume, guint64 volume,
    gchar *text)
{
  gchar *space = strchr (text, ' ');
  g_autofree gchar *key = NULL, *value = NULL;

  if (!space)
    return FALSE;
  *space = '\0';
  key = unescape (text);
  value = unescape (space + 1);
  if (!key || !value)
    return FALSE;
  if (of_volume)
    nd_metadata_add_to_volume (metadata, volume, key, value);
  else
    nd_metadata_add (metadata, key, value);
  return TRUE;
}

static gboolean
take_line (NdMetadata *metadata, gchar *line)
{
  gint64 number;
  gchar *rest;

  if (line[0] == '\0' || line[1] != ' ')
    return FALSE;
  if (line[0] == 'f')
    return take_field (metadata, FALSE, 0, line + 2);
  number = g_ascii_strtoll (line + 2, &rest, 10);
  if (rest == line + 2)
    return FALSE;
  switch (line[0]) {
    case 'o':
      metadata->origin = number;
      return *rest == '\0';
    case 't':
      g_array_append_val (metadata->times, number);
      return *rest == '\0';
    case 'v':
      return number >= 0 && *rest == ' '
          && take_field (metadata, TRUE, number, rest + 1);
    default:
      return FALSE;
  }
}

NdMetadata *
nd_metadata_from_text (const gchar *text)
{
  g_autoptr (NdMetadata) metadata = nd_metadata_new ();

  while (*text) {
    const gchar *end = strchr (text, '\n');
    g_autofree gchar *line = end ? g_strndup (text, end - text) : NULL;

    if (!line || !take_line (metadata, line))
      return NULL;
    text = end + 1;
  }
  nd_metadata_sort (metadata);
  return g_steal_pointer (&metadata);
}
