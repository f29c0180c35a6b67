/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/sequence.h"

#include "formats/headertext.h"

#include <string.h>

#define FRAME "Seq_Frame"
#define TIMESTAMP "Timestamp"
#define PLUS_DECIMALS 6

/* MetaIO reads up to 500 characters of a value and no lines after a longer
 * one. */
#define META_VALUE_MAX 480

void
nd_sequence_init (NdSequence *sequence, NdHeader *header)
{
  sequence->header = header;
  sequence->stamps = g_array_new (FALSE, FALSE, sizeof (NdField));
  sequence->index_values = NULL;
}

void
nd_sequence_clear (NdSequence *sequence)
{
  g_clear_pointer (&sequence->stamps, g_array_unref);
  g_clear_pointer (&sequence->index_values, g_free);
}

/* Reads digits; FALSE if there are none. @rest is the text after them. */
static gboolean
read_number (const gchar *text, guint64 *number, const gchar **rest)
{
  *number = 0;
  if (!g_ascii_isdigit (*text))
    return FALSE;
  for (; g_ascii_isdigit (*text); text++)
    *number = *number > G_MAXINT64 / 20 ? G_MAXINT64 / 20
                                        : 10 * *number + (*text - '0');
  *rest = text;
  return TRUE;
}

static void
take_field (NdSequence *sequence, guint64 volume, const gchar *key,
    const gchar *value)
{
  NdMetadata *metadata = sequence->header->metadata;

  if (strcmp (key, TIMESTAMP) == 0) {
    const NdField stamp = { volume, NULL,
      g_string_chunk_insert (metadata->text, value) };

    g_array_append_val (sequence->stamps, stamp);
  } else {
    nd_metadata_add_to_volume (metadata, volume, key, value);
  }
}

gboolean
nd_sequence_take (NdSequence *sequence, const gchar *key, const gchar *value)
{
  const gchar *rest;
  guint64 number;

  if (g_str_has_prefix (key, FRAME)
      && read_number (key + strlen (FRAME), &number, &rest) && rest[0] == '_'
      && rest[1] != '\0') {
    take_field (sequence, number, rest + 1, value);
    return TRUE;
  }
  if (!g_str_has_prefix (key, "axis ")
      || !read_number (key + strlen ("axis "), &number, &rest))
    return FALSE;
  if (strcmp (rest, " index type") == 0)
    return TRUE;
  if (strcmp (rest, " index values") == 0) {
    g_free (sequence->index_values);
    sequence->index_values = g_strdup (value);
    return TRUE;
  }
  if (!g_str_has_prefix (rest, " item ")
      || !read_number (rest + strlen (" item "), &number, &rest)
      || rest[0] != ' ' || rest[1] == '\0')
    return FALSE;
  take_field (sequence, number, rest + 1, value);
  return TRUE;
}

/* NULL if volumes do not have exactly one time each. */
static GArray *
stamps_to_times (NdSequence *sequence, gint64 *unit)
{
  NdHeader *header = sequence->header;
  const guint64 volumes = header->recording.volumes;
  const gint64 missing = G_MININT64;
  g_autoptr (GArray) times = NULL;
  guint64 found = 0;

  if (sequence->stamps->len != volumes)
    goto incomplete;
  times = g_array_sized_new (FALSE, FALSE, sizeof (gint64), volumes);
  for (guint64 i = 0; i < volumes; i++)
    g_array_append_val (times, missing);
  *unit = G_MAXINT64;
  for (guint i = 0; i < volumes; i++) {
    const NdField *stamp = &g_array_index (sequence->stamps, NdField, i);
    gint64 last, *time;

    if (stamp->volume >= volumes)
      goto incomplete;
    time = &g_array_index (times, gint64, stamp->volume);
    found += *time == missing;
    if (!nd_text_time (stamp->value, 0, time, &last))
      goto incomplete;
    *unit = MIN (*unit, last);
  }
  if (found == volumes)
    return g_steal_pointer (&times);

incomplete:
  nd_header_warn (header,
      "Not every volume has one time (" FRAME "NNNN_" TIMESTAMP
      "): times of the file are not used");
  return NULL;
}

/* Index values that are not times become fields, unless they are only the
 * numbers of the volumes. */
static void
keep_index (NdSequence *sequence, gchar **values)
{
  NdMetadata *metadata = sequence->header->metadata;
  gboolean counts = TRUE;

  for (guint i = 0; values[i]; i++) {
    gint64 number;

    counts &= nd_text_integer (values[i], &number) && number == i;
  }
  for (guint i = 0; values[i] && !counts; i++)
    nd_metadata_add_to_volume (metadata, i, "Index", values[i]);
}

static GArray *
index_to_times (NdSequence *sequence, gboolean is_time, gint exponent,
    gint64 *unit)
{
  NdHeader *header = sequence->header;
  g_auto (GStrv) values =
      g_strsplit (g_strstrip (sequence->index_values), " ", -1);
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (gint64));

  if (g_strv_length (values) != header->recording.volumes) {
    nd_header_warn (header,
        "The index has %u values for %" G_GUINT64_FORMAT
        " volumes: it is not used",
        g_strv_length (values), header->recording.volumes);
    return NULL;
  }
  if (!is_time) {
    keep_index (sequence, values);
    return NULL;
  }
  *unit = G_MAXINT64;
  for (guint i = 0; values[i]; i++) {
    gint64 time, last;

    if (!nd_text_time (values[i], exponent, &time, &last)) {
      nd_header_warn (header,
          "The index of volume %u is no time: times of the file are not used",
          i);
      return NULL;
    }
    g_array_append_val (times, time);
    *unit = MIN (*unit, last);
  }
  return g_steal_pointer (&times);
}

void
nd_sequence_settle (NdSequence *sequence, gboolean index_is_time, gint exponent)
{
  NdHeader *header = sequence->header;
  GArray *fields = header->metadata->volume_fields;
  g_autoptr (GArray) times = NULL;
  gint64 unit = 1;
  guint count;

  if (sequence->stamps->len > 0)
    times = stamps_to_times (sequence, &unit);
  if (!times && sequence->index_values)
    times = index_to_times (sequence, index_is_time, exponent, &unit);
  if (times)
    nd_header_set_times (header, times, unit);
  nd_metadata_sort (header->metadata);
  for (count = fields->len; count > 0
       && g_array_index (fields, NdField, count - 1).volume
           >= header->recording.volumes;
       count--)
    ;
  if (count < fields->len)
    nd_header_warn (header,
        "Fields of volumes that the file does not have are not used");
  g_array_set_size (fields, count);
}

/* Replaces characters that readers would not accept in a key. */
static void
append_key (GString *text, NdSequenceStyle style, const gchar *key)
{
  const gboolean meta = style == ND_SEQUENCE_META;

  for (const gchar *p = key; *p; p++) {
    const gboolean good = meta
        ? g_ascii_isalnum (*p) || strchr ("_.-", *p)
        : (guchar) *p >= ' ' && !(p[0] == ':' && (p[1] == '=' || p[1] == ' '))
            && !(p == key && *p == '#');

    g_string_append_c (text, good ? *p : '_');
  }
}

static gboolean
append_value (GString *text, NdSequenceStyle style, const gchar *value)
{
  g_string_append (text, style == ND_SEQUENCE_META ? " = " : ":=");
  if (style == ND_SEQUENCE_META && strlen (value) > META_VALUE_MAX)
    return FALSE;
  for (; *value; value++) {
    if (style == ND_SEQUENCE_META)
      g_string_append_c (text, (guchar) *value < ' ' ? ' ' : *value);
    else if (*value == '\n')
      g_string_append (text, "\\n");
    else if (*value == '\\')
      g_string_append (text, "\\\\");
    else if (*value != '\r')
      g_string_append_c (text, *value);
  }
  g_string_append_c (text, '\n');
  return TRUE;
}

void
nd_sequence_unescape (gchar *value)
{
  gchar *to = value;

  for (const gchar *from = value; *from; from++) {
    if (from[0] == '\\' && from[1] == 'n') {
      *to++ = '\n';
      from++;
    } else if (from[0] == '\\' && from[1] == '\\') {
      *to++ = '\\';
      from++;
    } else {
      *to++ = *from;
    }
  }
  *to = '\0';
}

gboolean
nd_sequence_write_field (GString *text, NdSequenceStyle style, const gchar *key,
    const gchar *value)
{
  const gsize length = text->len;

  append_key (text, style, key);
  if (append_value (text, style, value))
    return TRUE;
  g_string_truncate (text, length);
  return FALSE;
}

static void
write_index (GString *text, const NdMetadata *metadata)
{
  g_string_append (text, "axis 3 index type:=numeric\naxis 3 index values:=");
  for (guint i = 0; i < metadata->times->len; i++) {
    if (i > 0)
      g_string_append_c (text, ' ');
    nd_text_append_time (text,
        metadata->origin + g_array_index (metadata->times, gint64, i), 0);
  }
  g_string_append_c (text, '\n');
}

static void
write_timestamp (GString *text, NdSequenceStyle style,
    const NdMetadata *metadata, guint volume)
{
  g_string_append_printf (text, FRAME "%04u_" TIMESTAMP "%s", volume,
      style == ND_SEQUENCE_META ? " = " : ":=");
  nd_text_append_time (text,
      metadata->origin + g_array_index (metadata->times, gint64, volume),
      PLUS_DECIMALS);
  g_string_append_c (text, '\n');
}

guint
nd_sequence_write (GString *text, NdSequenceStyle style,
    const NdMetadata *metadata)
{
  const guint times = style == ND_SEQUENCE_SLICER ? 0 : metadata->times->len;
  const GArray *fields = metadata->volume_fields;
  guint next = 0, too_long = 0;

  if (style == ND_SEQUENCE_SLICER && metadata->times->len > 0)
    write_index (text, metadata);
  for (guint i = 0; i < fields->len; i++) {
    const NdField *field = &g_array_index (fields, NdField, i);
    const gsize length = text->len;

    /* The time follows the other fields of its volume. */
    while (next < times && next < field->volume)
      write_timestamp (text, style, metadata, next++);
    /* Readers would find two times. A peer of OpenIGTLink may send such a
     * field. */
    if (metadata->times->len > 0 && strcmp (field->key, TIMESTAMP) == 0)
      continue;
    g_string_append_printf (text,
        style == ND_SEQUENCE_SLICER ? "axis 3 item %04" G_GUINT64_FORMAT " "
                                    : FRAME "%04" G_GUINT64_FORMAT "_",
        field->volume);
    append_key (text, style, field->key);
    if (!append_value (text, style, field->value)) {
      g_string_truncate (text, length);
      too_long++;
    }
  }
  while (next < times)
    write_timestamp (text, style, metadata, next++);
  return too_long;
}
