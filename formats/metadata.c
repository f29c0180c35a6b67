/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/metadata.h"

#include <string.h>

#define TEXT_BLOCK (16 * 1024)

/* Keys that are remembered. */
#define KEYS 256

/* Texts lie one after the other in blocks, because there are many small ones. A
 * long one has a block of its own. */
typedef struct _Block Block;
struct _Block
{
  Block *next;
  gsize size, used; /* bytes after the block */
};

NdMetadata *
nd_metadata_new (NdBudget *budget)
{
  NdMetadata *metadata = g_new0 (NdMetadata, 1);

  g_atomic_ref_count_init (&metadata->references);
  metadata->fields = nd_list_new (budget, sizeof (NdField));
  metadata->volume_fields = nd_list_new (budget, sizeof (NdField));
  metadata->times = nd_list_new (budget, sizeof (gint64));
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
  for (Block *block = metadata->text; block;) {
    Block *next = block->next;

    nd_budget_free (metadata->fields->budget, block,
        sizeof (Block) + block->size);
    block = next;
  }
  g_free (metadata->keys);
  nd_list_free (metadata->fields);
  nd_list_free (metadata->volume_fields);
  nd_list_free (metadata->times);
  g_free (metadata);
}

static gboolean
is_whole (const NdMetadata *metadata)
{
  return !metadata->failed && !metadata->fields->failed
      && !metadata->volume_fields->failed && !metadata->times->failed;
}

gboolean
nd_metadata_settle (NdMetadata *metadata)
{
  metadata->fields->budget = NULL;
  metadata->volume_fields->budget = NULL;
  metadata->times->budget = NULL;
  return is_whole (metadata);
}

const gchar *
nd_metadata_keep (NdMetadata *metadata, const gchar *text)
{
  const gsize n = strlen (text) + 1;
  Block *block = metadata->text;
  gchar *copy;

  if (!block || block->size - block->used < n) {
    const gsize size = MAX (n, TEXT_BLOCK);
    Block *last = block;

    block = nd_budget_alloc (metadata->fields->budget, sizeof (Block) + size);
    if (!block) {
      metadata->failed = TRUE;
      return NULL;
    }
    *block = (Block){ NULL, size, 0 };
    /* The block that has room stays the first. */
    if (last && n > TEXT_BLOCK) {
      block->next = last->next;
      last->next = block;
    } else {
      block->next = last;
      metadata->text = block;
    }
  }
  copy = (gchar *) (block + 1) + block->used;
  block->used += n;
  return memcpy (copy, text, n);
}

/* Keys repeat from volume to volume, so that equal keys share memory. */
static const gchar *
keep_key (NdMetadata *metadata, const gchar *key)
{
  const guint slot = g_str_hash (key) % KEYS;

  if (!metadata->keys)
    metadata->keys = g_new0 (const gchar *, KEYS);
  if (!metadata->keys[slot] || strcmp (metadata->keys[slot], key) != 0)
    metadata->keys[slot] = nd_metadata_keep (metadata, key);
  return metadata->keys[slot];
}

static void
metadata_append (NdMetadata *metadata, NdList *fields, guint64 volume,
    const gchar *key, const gchar *value)
{
  const NdField field = { volume, keep_key (metadata, key),
    nd_metadata_keep (metadata, value) };

  if (field.key && field.value)
    nd_list_add (fields, field);
}

void
nd_metadata_add (NdMetadata *metadata, const gchar *key, const gchar *value)
{
  metadata_append (metadata, metadata->fields, 0, key, value);
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
  metadata_append (metadata, metadata->volume_fields, volume, key, value);
}

/* Merges two sorted runs of @a, from @low on and from @middle on, into @to. A
 * field of the first run comes before an equal one of the second. */
static void
metadata_merge (const NdField *a, gsize low, gsize middle, gsize high,
    NdField *to)
{
  gsize i = low, j = middle;

  for (gsize k = low; k < high; k++) {
    if (i < middle && (j == high || a[i].volume <= a[j].volume))
      to[k] = a[i++];
    else
      to[k] = a[j++];
  }
}

static gboolean
is_sorted (const NdField *fields, gsize n)
{
  for (gsize i = 1; i < n; i++) {
    if (fields[i].volume < fields[i - 1].volume)
      return FALSE;
  }
  return TRUE;
}

/* Fields of one volume keep their order. GLib's sort, which is stable too, ends
 * the process without memory. */
void
nd_metadata_sort (NdMetadata *metadata)
{
  NdList *list = metadata->volume_fields;
  NdField *fields = (NdField *) list->data, *other;
  const gsize n = list->len, bytes = n * sizeof (NdField);

  if (n == 0 || is_sorted (fields, n))
    return;
  other = nd_budget_alloc (list->budget, bytes);
  if (!other) {
    metadata->failed = TRUE;
    return;
  }
  for (gsize width = 1; width < n; width *= 2) {
    for (gsize low = 0; low < n; low += 2 * width)
      metadata_merge (fields, low, MIN (low + width, n),
          MIN (low + 2 * width, n), other);
    memcpy (fields, other, bytes);
  }
  nd_budget_free (list->budget, other, bytes);
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
  const NdList *fields = metadata->volume_fields;

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
  nd_list_append (metadata->times, next->times->data, next->times->len);
}

NdMetadata *
nd_metadata_slice (const NdMetadata *metadata, guint64 start, guint64 stop,
    guint64 step)
{
  NdMetadata *slice = nd_metadata_new (NULL);
  const NdList *times = metadata->times;

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

    nd_list_add (slice->times, time);
  }
  return slice;
}

/* The string has lines: "o NANOSECONDS" for the origin, "t NANOSECONDS" for
 * each time, "f KEY VALUE" for each field of the recording and "v VOLUME KEY
 * VALUE" for each field of a volume. What is not printable ASCII, quotes,
 * backslashes, and spaces in keys are escaped as octal numbers: \040. */
static void
append_escaped (NdList *text, const gchar *from, const gchar *others)
{
  for (const guchar *p = (const guchar *) from; *p; p++) {
    gchar escape[4] = { '\\', '0' + (*p >> 6), '0' + (*p >> 3 & 7),
      '0' + (*p & 7) };

    if (*p < ' ' || *p >= 0x7f || strchr (others, *p))
      nd_list_append (text, escape, 4);
    else
      nd_list_append (text, p, 1);
  }
}

static void
append_text (NdList *text, const gchar *from)
{
  nd_list_append (text, from, strlen (from));
}

static void G_GNUC_PRINTF (2, 3)
    append_number (NdList *text, const gchar *format, ...)
{
  gchar line[64];
  va_list arguments;

  va_start (arguments, format);
  g_vsnprintf (line, sizeof (line), format, arguments);
  va_end (arguments);
  append_text (text, line);
}

static void
append_field (NdList *text, const NdField *field)
{
  append_escaped (text, field->key, "\\\" ");
  append_text (text, " ");
  append_escaped (text, field->value, "\\\"");
  append_text (text, "\n");
}

/* Formats escape characters with two, and write a few words around each field
 * and time. */
#define WORDS 256

static gsize
fields_header_size (const NdList *fields)
{
  gsize size = 0;

  for (guint i = 0; i < fields->len; i++) {
    const NdField *field = &g_array_index (fields, NdField, i);

    size += 2 * (strlen (field->key) + strlen (field->value)) + WORDS;
  }
  return size;
}

gsize
nd_metadata_header_size (const NdMetadata *metadata)
{
  return fields_header_size (metadata->fields)
      + fields_header_size (metadata->volume_fields)
      + metadata->times->len * (gsize) WORDS;
}

gchar *
nd_metadata_to_text (const NdMetadata *metadata)
{
  g_autoptr (NdList) text = nd_list_new (NULL, 1);

  if (!is_whole (metadata))
    return NULL;
  append_number (text, "o %" G_GINT64_FORMAT "\n", metadata->origin);
  for (guint i = 0; i < metadata->times->len; i++)
    append_number (text, "t %" G_GINT64_FORMAT "\n",
        g_array_index (metadata->times, gint64, i));
  for (guint i = 0; i < metadata->fields->len; i++) {
    append_text (text, "f ");
    append_field (text, &g_array_index (metadata->fields, NdField, i));
  }
  for (guint i = 0; i < metadata->volume_fields->len; i++) {
    const NdField *field = &g_array_index (metadata->volume_fields, NdField, i);

    append_number (text, "v %" G_GUINT64_FORMAT " ", field->volume);
    append_field (text, field);
  }
  nd_list_append (text, "", 1);
  return text->failed ? NULL : (gchar *) g_steal_pointer (&text->data);
}

/* Replaces backslashes and what they escape, in place. FALSE if the last one
 * escapes nothing. */
static gboolean
unescape (gchar *text)
{
  gchar *to = text;

  while (*text) {
    guint code = 0, digits = 0;

    if (*text != '\\') {
      *to++ = *text++;
      continue;
    }
    text++;
    for (; digits < 3 && *text >= '0' && *text <= '7'; digits++)
      code = 8 * code + (*text++ - '0');
    if (digits == 0 && *text == '\0')
      return FALSE;
    *to++ = digits > 0 ? (gchar) code : *text++;
  }
  *to = '\0';
  return TRUE;
}

static gboolean
metadata_take_field (NdMetadata *metadata, gboolean of_volume, guint64 volume,
    gchar *key)
{
  gchar *value = strchr (key, ' ');

  if (!value)
    return FALSE;
  *value++ = '\0';
  if (!unescape (key) || !unescape (value))
    return FALSE;
  if (of_volume)
    nd_metadata_add_to_volume (metadata, volume, key, value);
  else
    nd_metadata_add (metadata, key, value);
  return TRUE;
}

static gboolean
metadata_take_line (NdMetadata *metadata, gchar *line)
{
  gint64 number;
  gchar *rest;

  if (line[0] == '\0' || line[1] != ' ')
    return FALSE;
  if (line[0] == 'f')
    return metadata_take_field (metadata, FALSE, 0, line + 2);
  number = g_ascii_strtoll (line + 2, &rest, 10);
  if (rest == line + 2)
    return FALSE;
  switch (line[0]) {
    case 'o':
      metadata->origin = number;
      return *rest == '\0';
    case 't':
      nd_list_add (metadata->times, number);
      return *rest == '\0';
    case 'v':
      return number >= 0 && *rest == ' '
          && metadata_take_field (metadata, TRUE, number, rest + 1);
    default:
      return FALSE;
  }
}

NdMetadata *
nd_metadata_from_text (const gchar *text)
{
  const gsize n = strlen (text) + 1;
  g_autoptr (NdMetadata) metadata = nd_metadata_new (NULL);
  g_autofree gchar *copy = g_try_malloc (n);
  gchar *line = copy;

  if (!copy)
    return NULL;
  memcpy (copy, text, n);
  while (*line) {
    gchar *end = strchr (line, '\n');

    if (!end)
      return NULL;
    *end = '\0';
    if (!metadata_take_line (metadata, line))
      return NULL;
    line = end + 1;
  }
  nd_metadata_sort (metadata);
  return nd_metadata_settle (metadata) ? g_steal_pointer (&metadata) : NULL;
}
