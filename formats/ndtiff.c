/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/ndtiff.h"

#include "core/error.h"
#include "formats/headertext.h"
#include "formats/jsontokens.h"
#include "formats/micromanager.h"

#include <string.h>

#define INDEX "NDTiff.index"
#define MAGIC 483729
#define SUMMARY_MAGIC 2355492
#define SUMMARY_AT 16
#define METADATA_MAX (1 << 20)
#define METADATA_ALL_MAX ((gsize) 128 << 20)
#define LONGEST 1e9 /* seconds */

#define PLANES_MAX (1u << 22)
#define TEXTS_MAX 256 /* names of channels, and files */
#define NAME_BYTES 255
#define LAST_AXIS 3

typedef enum
{
  AXIS_CHANNEL,
  AXIS_Z,
  AXIS_TIME,
  AXIS_POSITION
} Axis;

static const gchar *const axis_names[] = { "channel", "z", "time", "position" };

/* Texts that stand for the numbers 0, 1, ... */
typedef struct
{
  gchar *text[TEXTS_MAX];
  guint n;
} Texts;

typedef struct
{
  gint32 place[LAST_AXIS + 1]; /* on each axis */
  guint file;
  guint32 offset, metadata, metadata_bytes;
} Entry;

typedef struct
{
  guint32 width, height, type, compression;
} Kind;

typedef struct
{
  NdSlices base;
  NdBudget *budget;
  gchar *folder;
  Texts files, channels;
  NdList *entries; /* Entry, in the order of the index */
  Kind kind;
  gint32 least[LAST_AXIS + 1];
  guint64 size[LAST_AXIS + 1];
  NdList *planes; /* guint32: an entry + 1; 0: there is none */
  NdInput *input; /* of the file @open, or NULL */
  guint open;
  gsize samples, bytes; /* of a pixel: their number, and the bytes of all */
  guint8 *plane;
  gsize plane_size;
  gchar *reason;
} NdTiff;

static void
free_texts (Texts *texts)
{
  for (guint i = 0; i < texts->n; i++)
    g_free (texts->text[i]);
}

static void
free_ndtiff (NdSlices *slices)
{
  NdTiff *self = (NdTiff *) slices;

  free_texts (&self->files);
  free_texts (&self->channels);
  g_clear_pointer (&self->input, nd_input_close);
  g_clear_pointer (&self->entries, nd_list_free);
  g_clear_pointer (&self->planes, nd_list_free);
  nd_budget_free (self->budget, self->plane, self->plane_size);
  g_free (self->folder);
  g_free (self->reason);
  g_free (self);
}

gboolean
nd_ndtiff_detect (const gchar *path)
{
  g_autofree gchar *index = g_build_filename (path, INDEX, NULL);

  return g_file_test (index, G_FILE_TEST_IS_REGULAR);
}

static guint32
get32 (const guint8 *bytes)
{
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (guint32) bytes[3] << 24;
}

gboolean
nd_ndtiff_detect_file (const guint8 *bytes, gsize n, const gchar *path)
{
  g_autofree gchar *folder = g_path_get_dirname (path);

  return n >= 12 && bytes[0] == 'I' && get32 (bytes + 8) == MAGIC
      && nd_ndtiff_detect (folder);
}

/* Index */

static gboolean
refuse_index (const NdTiff *self, const gchar *reason, GError **error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s/" INDEX "\" is damaged or of another version: %s; tiffcp joins "
      "the pages of single files (libtiff-tools)",
      self->folder, reason);
  return FALSE;
}

/* FALSE if there are too many. */
static gboolean
number_text (Texts *texts, const gchar *text, gsize n, guint *number)
{
  for (*number = texts->n; (*number)-- > 0;) {
    if (strlen (texts->text[*number]) == n
        && memcmp (texts->text[*number], text, n) == 0)
      return TRUE;
  }
  *number = texts->n;
  if (texts->n == TEXTS_MAX)
    return FALSE;
  texts->text[texts->n++] = g_strndup (text, n);
  return TRUE;
}

/* Reads {"time": 3, "channel": "GFP"}. FALSE if an axis is not known. */
static gboolean
parse_axes (NdTiff *self, Entry *entry, const gchar *text, gsize n)
{
  NdJsonTokens tokens;
  NdJsonToken token;

  nd_json_tokens_init (&tokens, text, n);
  while ((token = nd_json_tokens_next (&tokens)) != ND_JSON_END) {
    guint axis = 0, number;

    if (token != ND_JSON_VALUE)
      continue;
    while (axis <= LAST_AXIS && strcmp (tokens.name, axis_names[axis]) != 0)
      axis++;
    if (tokens.quoted && axis == AXIS_CHANNEL) {
      if (!number_text (&self->channels, tokens.value, strlen (tokens.value),
              &number))
        return FALSE;
      entry->place[axis] = number;
    } else if (axis <= LAST_AXIS && !tokens.quoted) {
      const gint64 place = g_ascii_strtoll (tokens.value, NULL, 10);

      entry->place[axis] = CLAMP (place, -(gint) PLANES_MAX, PLANES_MAX);
    } else if (strcmp (tokens.value, "0") != 0) {
      return FALSE;
    }
  }
  return TRUE;
}

/* Cuts a text with its length before it off the bytes. */
static const guint8 *
take_text (const guint8 **at, const guint8 *end, gsize *n)
{
  const guint8 *text = *at + 4;

  if (end - *at < 4 || get32 (*at) > end - text)
    return NULL;
  *n = get32 (*at);
  *at = text + *n;
  return text;
}

static gboolean
parse_entry (NdTiff *self, const guint8 **at, const guint8 *end, GError **error)
{
  Entry entry = { 0 };
  gsize n = 0, length = 0;
  const guint8 *axes = take_text (at, end, &n);
  const guint8 *name = axes ? take_text (at, end, &length) : NULL;
  Kind kind;

  if (!name || end - *at < 32 || length > NAME_BYTES
      || memchr (name, '\0', length))
    return refuse_index (self, "it ends within an entry", error);
  if (!parse_axes (self, &entry, (const gchar *) axes, n))
    return refuse_index (self,
        "it has an axis that is not time, position, z or channel, or more "
        "than 256 channels",
        error);
  if (!number_text (&self->files, (const gchar *) name, length, &entry.file))
    return refuse_index (self, "it names more than 256 files", error);
  entry.offset = get32 (*at);
  kind = (Kind){ get32 (*at + 4), get32 (*at + 8), get32 (*at + 12),
    get32 (*at + 16) };
  entry.metadata = get32 (*at + 20);
  entry.metadata_bytes = get32 (*at + 24);
  *at += 32;
  if (self->entries->len == 0)
    self->kind = kind;
  if (memcmp (&kind, &self->kind, sizeof (kind)) != 0 || kind.compression != 0
      || kind.type > 6)
    return refuse_index (self,
        "its planes have several sizes or types, or are compressed", error);
  return nd_list_add (self->entries, entry)
      || nd_budget_refuse (self->budget, self->folder, error);
}

static gboolean
read_index (NdTiff *self, gboolean keep, GError **error)
{
  g_autofree gchar *path = g_build_filename (self->folder, INDEX, NULL);
  g_autoptr (NdInput) input = nd_input_open (path, FALSE, error);
  const guint64 size = input ? nd_input_size (input) : 0;
  g_autoptr (NdList) bytes = nd_list_new (self->budget, 1);
  const guint8 *at, *end;

  if (!input)
    return FALSE;
  if (size == 0)
    return refuse_index (self, "it is empty", error);
  if (size > ND_TEXT_MAX)
    return refuse_index (self, "it has more than 64 MiB", error);
  if (!nd_list_set_size (bytes, size))
    return nd_budget_refuse (self->budget, path, error);
  if (nd_input_read (input, bytes->data, size) != (gssize) size)
    return refuse_index (self, "it cannot be read", error);
  at = bytes->data;
  end = at + size;
  while (at < end) {
    if (!parse_entry (self, &at, end, error)) {
      if (!keep || self->entries->len == 0)
        return FALSE;
      g_clear_error (error);
      break;
    }
  }
  return TRUE;
}

/* Planes */

static gboolean
find_sizes (NdTiff *self, GError **error)
{
  guint64 planes = 1;

  for (guint a = 0; a <= LAST_AXIS; a++) {
    gint32 least = G_MAXINT32, most = G_MININT32;

    for (guint i = 0; i < self->entries->len; i++) {
      const gint32 place = g_array_index (self->entries, Entry, i).place[a];

      least = MIN (least, place);
      most = MAX (most, place);
    }
    self->least[a] = least;
    self->size[a] = (gint64) most - least + 1;
    if (a < AXIS_POSITION)
      planes *= self->size[a];
    if (planes > PLANES_MAX || self->size[AXIS_CHANNEL] > TEXTS_MAX)
      return refuse_index (self, "it counts more planes than it can have",
          error);
  }
  if (!nd_list_set_size (self->planes, planes))
    return nd_budget_refuse (self->budget, self->folder, error);
  return TRUE;
}

/* Of the first position; an entry replaces one before it at its place. */
static void
place_entries (NdTiff *self, NdHeader *header)
{
  guint64 missing = 0;

  for (guint i = 0; i < self->entries->len; i++) {
    const Entry *entry = &g_array_index (self->entries, Entry, i);
    guint64 plane = 0;

    if (entry->place[AXIS_POSITION] != self->least[AXIS_POSITION])
      continue;
    for (guint a = AXIS_POSITION; a-- > 0;)
      plane = plane * self->size[a] + (entry->place[a] - self->least[a]);
    g_array_index (self->planes, guint32, plane) = i + 1;
  }
  for (guint i = 0; i < self->planes->len; i++)
    missing += g_array_index (self->planes, guint32, i) == 0;
  if (missing > 0)
    nd_header_warn (header,
        "\"%s\" lacks %" G_GUINT64_FORMAT
        " of %u planes between the first and the last: their samples are 0",
        self->folder, missing, self->planes->len);
  if (self->size[AXIS_POSITION] > 1)
    nd_header_warn (header,
        "\"%s\" has several positions: the first one is read", self->folder);
}

static gboolean
open_file (NdTiff *self, guint file, GError **error)
{
  g_autofree gchar *beside = NULL, *path = NULL;

  if (self->input && self->open == file)
    return TRUE;
  g_clear_pointer (&self->input, nd_input_close);
  beside = g_build_filename (self->folder, INDEX, NULL);
  path = nd_header_beside (beside, self->files.text[file], error);
  self->input = path ? nd_input_open (path, FALSE, error) : NULL;
  self->open = file;
  return self->input != NULL;
}

/* Opens all files, so that errors come before the first volume. */
static gboolean
check_entries (NdTiff *self, GError **error)
{
  const guint64 bytes =
      (guint64) self->kind.width * self->kind.height * self->bytes;

  for (guint i = 0; i < self->entries->len; i++) {
    const Entry *entry = &g_array_index (self->entries, Entry, i);

    if (!open_file (self, entry->file, error))
      return FALSE;
    if (nd_input_size (self->input) >= entry->offset + bytes)
      continue;
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s/%s\" is truncated: the samples of its plane %u are not there",
        self->folder, self->files.text[entry->file], i);
    return FALSE;
  }
  return TRUE;
}

static gboolean
read_plane (NdTiff *self, guint64 plane, guint8 *samples, gsize size,
    GError **error)
{
  const guint32 number = g_array_index (self->planes, guint32, plane);
  const Entry *entry;

  if (number == 0) {
    memset (samples, 0, size);
    return TRUE;
  }
  entry = &g_array_index (self->entries, Entry, number - 1);
  if (!open_file (self, entry->file, error))
    return FALSE;
  nd_input_begin (self->input, entry->offset, FALSE);
  if (nd_input_read (self->input, samples, size) == (gssize) size)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" is truncated",
      self->files.text[entry->file]);
  return FALSE;
}

static gboolean
read_slice (NdSlices *slices, guint64 slice, guint8 *samples,
    const gchar **reason)
{
  NdTiff *self = (NdTiff *) slices;
  const guint64 channels = self->size[AXIS_CHANNEL];
  const gsize pixels = (gsize) self->kind.width * self->kind.height;
  const gsize size = pixels * self->bytes, pixel = self->bytes;
  g_autoptr (GError) error = NULL;

  *reason = "there is no memory for a plane";
  if (channels > 1
      && !nd_budget_reuse (self->budget, &self->plane, &self->plane_size, size))
    return FALSE;
  for (guint64 c = 0; c < channels; c++) {
    guint8 *to = channels == 1 ? samples : self->plane;

    if (!read_plane (self, slice * channels + c, to, size, &error)) {
      g_free (self->reason);
      self->reason = g_strdup (error->message);
      *reason = self->reason;
      return FALSE;
    }
    for (gsize i = 0; i < pixels && channels > 1; i++)
      memcpy (samples + (i * channels + c) * pixel, to + i * pixel, pixel);
  }
  return TRUE;
}

/* Header */

static void
read_text (NdTiff *self, NdMicroManager *found, guint64 offset, guint32 size)
{
  gchar *text;

  if (size == 0 || size > METADATA_MAX
      || !(text = nd_budget_alloc (self->budget, size)))
    return;
  nd_input_begin (self->input, offset, FALSE);
  if (nd_input_read (self->input, text, size) == (gssize) size)
    nd_micro_manager_parse (found, text, size);
  nd_budget_free (self->budget, text, size);
}

/* The summary is after the magic number and one or two numbers of the
 * version. */
static void
read_summary (NdTiff *self, NdMicroManager *found)
{
  guint8 bytes[12];
  guint at = 0;

  if (!open_file (self, g_array_index (self->entries, Entry, 0).file, NULL))
    return;
  nd_input_begin (self->input, SUMMARY_AT, FALSE);
  if (nd_input_read (self->input, bytes, sizeof (bytes)) != sizeof (bytes))
    return;
  if (get32 (bytes) != SUMMARY_MAGIC)
    at = 4;
  if (get32 (bytes + at) == SUMMARY_MAGIC)
    read_text (self, found, SUMMARY_AT + at + 8, get32 (bytes + at + 4));
}

/* What the first plane of each volume says. Texts of all volumes have up to
 * METADATA_ALL_MAX bytes. */
static void
read_metadata (NdTiff *self, NdMicroManager *found)
{
  const guint64 planes = self->size[AXIS_CHANNEL] * self->size[AXIS_Z];
  gsize bytes = 0;

  found->times = nd_list_new (self->budget, sizeof (NdMicroManagerTime));
  for (guint64 t = 0; t < MIN (self->size[AXIS_TIME], ND_FILES_MAX); t++) {
    const guint32 number = g_array_index (self->planes, guint32, t * planes);
    const Entry *entry;
    NdMicroManagerTime time = { .volume = t };

    if (number == 0)
      return;
    entry = &g_array_index (self->entries, Entry, number - 1);
    found->elapsed = -1;
    bytes += entry->metadata_bytes;
    if (bytes > METADATA_ALL_MAX || !open_file (self, entry->file, NULL))
      return;
    read_text (self, found, entry->metadata, entry->metadata_bytes);
    if (!(found->elapsed >= 0 && found->elapsed < LONGEST))
      return;
    time.seconds = found->elapsed;
    nd_list_add (found->times, time);
  }
}

static gboolean
describe (NdTiff *self, NdHeader *header, GError **error)
{
  g_auto (NdMicroManager) found = { .budget = self->budget };
  const gboolean wide = self->kind.type != 0 && self->kind.type != 2;

  self->samples = self->kind.type == 2 ? 3 : 1;
  self->bytes = self->samples * (wide ? 2 : 1);
  if (self->kind.width == 0 || self->kind.height == 0
      || self->kind.width > G_MAXINT32 || self->kind.height > G_MAXINT32)
    return refuse_index (self, "its planes have no size", error);
  if (!find_sizes (self, error))
    return FALSE;
  header->stored.type = wide ? ND_STORED_UINT16 : ND_STORED_UINT8;
  header->stored.swapped = wide && G_BYTE_ORDER == G_BIG_ENDIAN;
  header->recording.shape = (NdShape){ self->samples * self->size[AXIS_CHANNEL],
    { self->kind.width, self->kind.height, self->size[AXIS_Z] } };
  header->recording.volumes = self->size[AXIS_TIME];
  if (!nd_header_settle (header, self->folder, error)
      || !check_entries (self, error))
    return FALSE;
  place_entries (self, header);
  read_summary (self, &found);
  read_metadata (self, &found);
  nd_micro_manager_use (&found, header);
  return TRUE;
}

gboolean
nd_ndtiff_open (NdHeader *header, const gchar *path, GError **error)
{
  NdTiff *self = g_new0 (NdTiff, 1);

  nd_header_init (header, "TIFF");
  self->base.read = read_slice;
  self->base.free = free_ndtiff;
  self->budget = &header->budget;
  self->folder = g_file_test (path, G_FILE_TEST_IS_DIR)
      ? g_strdup (path)
      : g_path_get_dirname (path);
  self->entries = nd_list_new (self->budget, sizeof (Entry));
  self->planes = nd_list_new (self->budget, sizeof (guint32));
  header->slices = &self->base;
  if (!read_index (self, header->keep, error)
      || !describe (self, header, error))
    return FALSE;
  return nd_metadata_settle (header->metadata)
      || nd_budget_refuse (&header->budget, path, error);
}
