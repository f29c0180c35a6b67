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

/* Times have 62 bits. */
#define TIME_MAX (G_MAXINT64 / 4)
#define MISSING G_MININT64

/* Times are used if one in so many volumes has one. */
#define STAMPS_LEAST 4

/* Fields of the index take many times the memory of its text. */
#define INDEX_MAX 65536

void
nd_sequence_init (NdSequence *sequence, NdHeader *header)
{
  sequence->header = header;
  sequence->stamps = nd_list_new (&header->budget, sizeof (NdField));
  sequence->index_values = NULL;
}

void
nd_sequence_clear (NdSequence *sequence)
{
  g_clear_pointer (&sequence->stamps, nd_list_free);
}

/* Reads digits; FALSE if there are none. @rest is the text after them. */
static gboolean
sequence_read_number (const gchar *text, guint64 *number, const gchar **rest)
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
sequence_take_field (NdSequence *sequence, guint64 volume, const gchar *key,
    const gchar *value)
{
  NdMetadata *metadata = sequence->header->metadata;

  if (strcmp (key, TIMESTAMP) == 0) {
    const NdField stamp = { volume, NULL, value };

    if (!nd_list_add (sequence->stamps, stamp))
      metadata->failed = TRUE;
  } else {
    nd_metadata_add_to_volume (metadata, volume, key, value);
  }
}

gboolean
nd_sequence_take (NdSequence *sequence, const gchar *key, gchar *value)
{
  const gchar *rest;
  guint64 number;

  if (g_str_has_prefix (key, FRAME)
      && sequence_read_number (key + strlen (FRAME), &number, &rest)
      && rest[0] == '_' && rest[1] != '\0') {
    sequence_take_field (sequence, number, rest + 1, value);
    return TRUE;
  }
  if (!g_str_has_prefix (key, "axis ")
      || !sequence_read_number (key + strlen ("axis "), &number, &rest))
    return FALSE;
  if (strcmp (rest, " index type") == 0) {
    if (g_ascii_strcasecmp (value, "numeric") != 0)
      nd_header_add_field (sequence->header, ND_INDEX_TYPE, value);
    return TRUE;
  }
  if (strcmp (rest, " index values") == 0) {
    sequence->index_values = value;
    return TRUE;
  }
  if (!g_str_has_prefix (rest, " item ")
      || !sequence_read_number (rest + strlen (" item "), &number, &rest)
      || rest[0] != ' ' || rest[1] == '\0')
    return FALSE;
  sequence_take_field (sequence, number, rest + 1, value);
  return TRUE;
}

/* @step times @n beside @time, within the range of times. */
static gint64
sequence_beside (gint64 time, gint64 step, gint64 n)
{
  const __int128 sum = (__int128) step * n + time;

  return CLAMP (sum, -(__int128) TIME_MAX, (__int128) TIME_MAX);
}

/* Times of volumes that have none, MISSING, lie in equal steps between those
 * before and after; at the ends, in the mean steps of the others. At least two
 * are known. */
static void
fill_times (gint64 *times, guint64 n)
{
  guint64 first = 0, last = n - 1, known;

  while (times[first] == MISSING)
    first++;
  while (times[last] == MISSING)
    last--;
  const gint64 mean = (times[last] - times[first]) / (gint64) (last - first);

  for (guint64 i = 0; i < first; i++)
    times[i] = sequence_beside (times[first], -mean, first - i);
  for (guint64 i = last + 1; i < n; i++)
    times[i] = sequence_beside (times[last], mean, i - last);
  known = first;
  for (guint64 i = first + 1; i <= last; i++) {
    if (times[i] == MISSING)
      continue;
    for (guint64 k = known + 1; k < i; k++)
      times[k] = times[known]
          + (gint64) ((__int128) (times[i] - times[known])
              * (gint64) (k - known) / (gint64) (i - known));
    known = i;
  }
}

/* Completes the times, of which @what some may lack. FALSE if there are too few
 * to do so. */
static gboolean
complete_times (NdSequence *sequence, gint64 *times, const gchar *what)
{
  const guint64 n = sequence->header->recording.volumes;
  g_autofree gchar *others = NULL;
  guint64 missing = 0, first = 0;

  for (guint64 i = n; i-- > 0;) {
    missing += times[i] == MISSING;
    first = times[i] == MISSING ? i : first;
  }
  if (missing == 0)
    return TRUE;
  others = missing == 1
      ? g_strdup ("has")
      : g_strdup_printf ("and %" G_GUINT64_FORMAT " others have", missing - 1);
  if (n - missing >= 2)
    fill_times (times, n);
  nd_header_warn (sequence->header,
      "Volume %" G_GUINT64_FORMAT " %s no time (%s): %s", first, others, what,
      n - missing < 2    ? "times of the file are not used"
          : missing == 1 ? "it is interpolated"
                         : "they are interpolated");
  return n - missing >= 2;
}

/* An empty list of times, one for each volume. */
static NdList *
new_times (NdSequence *sequence)
{
  NdHeader *header = sequence->header;
  g_autoptr (NdList) times = nd_list_new (&header->budget, sizeof (gint64));

  if (!nd_list_set_size (times, header->recording.volumes)) {
    header->metadata->failed = TRUE;
    return NULL;
  }
  for (guint i = 0; i < times->len; i++)
    g_array_index (times, gint64, i) = MISSING;
  return g_steal_pointer (&times);
}

/* NULL if there are not enough times. */
static NdList *
stamps_to_times (NdSequence *sequence, gint64 *unit)
{
  const guint64 volumes = sequence->header->recording.volumes;
  g_autoptr (NdList) times = NULL;

  /* Else a header could ask for much memory. */
  if (sequence->stamps->len < volumes / STAMPS_LEAST) {
    nd_header_warn (sequence->header,
        "Most volumes have no time (" FRAME "NNNN_" TIMESTAMP
        "): times of the file are not used");
    return NULL;
  }
  times = new_times (sequence);
  *unit = G_MAXINT64;
  for (guint i = 0; times && i < sequence->stamps->len; i++) {
    const NdField *stamp = &g_array_index (sequence->stamps, NdField, i);
    gint64 last, time;

    if (stamp->volume >= volumes
        || !nd_text_time (stamp->value, 0, &time, &last))
      continue;
    g_array_index (times, gint64, stamp->volume) = time;
    *unit = MIN (*unit, last);
  }
  return times
          && complete_times (sequence, (gint64 *) times->data,
              FRAME "NNNN_" TIMESTAMP)
      ? g_steal_pointer (&times)
      : NULL;
}

/* Values are separated by one space. */
static guint64
count_values (const gchar *values)
{
  guint64 n = *values != '\0';

  for (; *values; values++)
    n += *values == ' ';
  return n;
}

/* Cuts off the next value; NULL at the end. */
static gchar *
next_value (gchar **rest)
{
  gchar *value = *rest, *space = value ? strchr (value, ' ') : NULL;

  if (space)
    *space = '\0';
  *rest = space ? space + 1 : NULL;
  return value;
}

/* FALSE if there is not one value for each volume. */
static gboolean
sequence_check_index (NdSequence *sequence)
{
  NdHeader *header = sequence->header;
  const guint64 n = count_values (g_strstrip (sequence->index_values));

  if (n == header->recording.volumes)
    return TRUE;
  nd_header_warn (header,
      "The index has %" G_GUINT64_FORMAT " values for %" G_GUINT64_FORMAT
      " volumes: it is not used",
      n, header->recording.volumes);
  return FALSE;
}

/* Index values that are not times become fields, unless they are only the
 * numbers of the volumes and have no name. */
static void
keep_index (NdSequence *sequence)
{
  NdHeader *header = sequence->header;
  const guint64 volumes = header->recording.volumes;
  const gchar *value = sequence->index_values;
  gchar *rest = sequence->index_values;
  gboolean counts = TRUE;

  if (!sequence_check_index (sequence))
    return;
  for (guint64 i = 0; i < volumes; i++) {
    gchar *end;

    counts &= g_ascii_strtoull (value, &end, 10) == i && end > value
        && (*end == ' ' || *end == '\0');
    value = strchr (value, ' ');
    value = value ? value + 1 : "";
  }
  if (counts && !nd_metadata_get (header->metadata, ND_INDEX_NAME)
      && !nd_metadata_get (header->metadata, ND_INDEX_UNIT))
    return;
  if (volumes > INDEX_MAX) {
    nd_header_warn (header,
        "The index has more than %d values that are no times: it is not kept",
        INDEX_MAX);
    return;
  }
  for (guint i = 0; (value = next_value (&rest)); i++)
    nd_metadata_add_to_volume (header->metadata, i, ND_INDEX, value);
}

static NdList *
index_to_times (NdSequence *sequence, gint exponent, gint64 *unit)
{
  gchar *rest = sequence->index_values, *value;
  g_autoptr (NdList) times = NULL;

  if (!sequence_check_index (sequence))
    return NULL;
  times = new_times (sequence);
  *unit = G_MAXINT64;
  for (guint i = 0; times && (value = next_value (&rest)); i++) {
    gint64 time, last;

    if (!nd_text_time (value, exponent, &time, &last))
      continue;
    g_array_index (times, gint64, i) = time;
    *unit = MIN (*unit, last);
  }
  return times
          && complete_times (sequence, (gint64 *) times->data,
              "axis 3 index values")
      ? g_steal_pointer (&times)
      : NULL;
}

void
nd_sequence_settle (NdSequence *sequence, gboolean index_is_time, gint exponent)
{
  NdHeader *header = sequence->header;
  NdList *fields = header->metadata->volume_fields;
  NdList *times = NULL;
  gint64 unit = 1;
  guint count;

  if (sequence->stamps->len > 0)
    times = stamps_to_times (sequence, &unit);
  if (sequence->index_values && !index_is_time)
    keep_index (sequence);
  else if (sequence->index_values && !times)
    times = index_to_times (sequence, exponent, &unit);
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
  nd_list_set_size (fields, count);
}

/* Replaces characters that readers would not accept in a key. */
static void
sequence_append_key (GString *text, NdSequenceStyle style, const gchar *key)
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
sequence_append_value (GString *text, NdSequenceStyle style, const gchar *value)
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

  sequence_append_key (text, style, key);
  if (sequence_append_value (text, style, value))
    return TRUE;
  g_string_truncate (text, length);
  return FALSE;
}

gboolean
nd_sequence_has_index (const NdMetadata *metadata)
{
  const NdList *fields = metadata->volume_fields;
  guint64 n = 0;

  for (guint i = 0; i < fields->len; i++) {
    const NdField *field = &g_array_index (fields, NdField, i);

    if (strcmp (field->key, ND_INDEX) != 0)
      continue;
    if (field->volume != n++ || *field->value == '\0'
        || strpbrk (field->value, " \t\r\n"))
      return FALSE;
  }
  return n > 0 && n >= metadata->times->len;
}

static void
write_index (GString *text, NdSequenceStyle style, const NdMetadata *metadata)
{
  const gchar *type = nd_metadata_get (metadata, ND_INDEX_TYPE);
  const NdList *fields = metadata->volume_fields;

  g_string_append (text, "axis 3 index type:=");
  g_string_append (text,
      style == ND_SEQUENCE_INDEXED && type ? type : "numeric");
  g_string_append (text, "\naxis 3 index values:=");
  if (style == ND_SEQUENCE_INDEXED) {
    for (guint i = 0; i < fields->len; i++) {
      const NdField *field = &g_array_index (fields, NdField, i);

      if (strcmp (field->key, ND_INDEX) != 0)
        continue;
      g_string_append (text, field->volume > 0 ? " " : "");
      g_string_append (text, field->value);
    }
  }
  for (guint i = 0; i < metadata->times->len && style == ND_SEQUENCE_SLICER;
       i++) {
    if (i > 0)
      g_string_append_c (text, ' ');
    nd_text_append_time (text,
        metadata->origin + g_array_index (metadata->times, gint64, i), 0);
  }
  g_string_append_c (text, '\n');
}

/* TRUE if times may be those that volumes get which have none, a second
 * apart. */
static gboolean
are_invented (const NdMetadata *metadata)
{
  const NdList *times = metadata->times;

  for (guint i = 0; i < times->len; i++) {
    if (g_array_index (times, gint64, i) != i * G_GINT64_CONSTANT (1000000000))
      return FALSE;
  }
  return metadata->origin == 0;
}

static void
sequence_write_frame (GString *text, NdSequenceStyle style, guint64 volume)
{
  g_string_append_printf (text,
      style >= ND_SEQUENCE_SLICER ? "axis 3 item %04" G_GUINT64_FORMAT " "
                                  : FRAME "%04" G_GUINT64_FORMAT "_",
      volume);
}

static void
write_timestamp (GString *text, NdSequenceStyle style,
    const NdMetadata *metadata, guint volume)
{
  sequence_write_frame (text, style, volume);
  g_string_append_printf (text, TIMESTAMP "%s",
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
  const gboolean indexed = style == ND_SEQUENCE_INDEXED;
  const guint times =
      style == ND_SEQUENCE_SLICER || (indexed && are_invented (metadata))
      ? 0
      : metadata->times->len;
  const NdList *fields = metadata->volume_fields;
  guint next = 0, too_long = 0;

  if (indexed || (style == ND_SEQUENCE_SLICER && metadata->times->len > 0))
    write_index (text, style, metadata);
  for (guint i = 0; i < fields->len; i++) {
    const NdField *field = &g_array_index (fields, NdField, i);
    const gsize length = text->len;

    /* The time follows the other fields of its volume. */
    while (next < times && next < field->volume)
      write_timestamp (text, style, metadata, next++);
    /* Readers would find two times. A peer of OpenIGTLink may send such a
     * field. */
    if ((metadata->times->len > 0 && strcmp (field->key, TIMESTAMP) == 0)
        || (indexed && strcmp (field->key, ND_INDEX) == 0))
      continue;
    sequence_write_frame (text, style, field->volume);
    sequence_append_key (text, style, field->key);
    if (!sequence_append_value (text, style, field->value)) {
      g_string_truncate (text, length);
      too_long++;
    }
  }
  while (next < times)
    write_timestamp (text, style, metadata, next++);
  return too_long;
}
