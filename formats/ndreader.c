/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndrecording.h"

#include <string.h>

#include "engine/nderror.h"
#include "formats/ndformat.h"
#include "formats/ndrate.h"

#define CHUNK (64 * 1024)

/* What is not known before, or after an error. */
#define NOWHERE G_MAXUINT64

/* Where time runs fastest, as many volumes are put together at a time as fit
 * in so much memory; the file is read once for each time. */
#define GROUP_BYTES ((gsize) 256 << 20)
#define MAX_GROUPS 32

struct _NdReader
{
  gchar *path;
  NdHeader header;
  gchar *format;                /* for people */
  NdStream *stream;             /* of the file at @file */
  guint file;
  guint64 file_bytes;           /* of samples in each file */
  gsize stored_size;            /* bytes of one volume in the file */
  guint64 position;             /* in the samples of all files; or NOWHERE */
  guint64 next;
  guint8 *chunk;                /* samples before conversion, or NULL */

  guint8 *group;                /* volumes of a file with time first */
  guint64 group_first;          /* NOWHERE: none are there */
  guint64 group_size;
};

static const gchar *
file_path (NdReader * reader)
{
  const GPtrArray *files = reader->header.files;

  return files ? g_ptr_array_index (files, reader->file) : reader->path;
}

/* @reason, or that of the stream. */
static gboolean
set_read_error (NdReader * reader, const gchar * reason, GError ** error)
{
  const gchar *of_stream = nd_stream_reason (reader->stream);

  g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read at "
      "volume %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ": %s",
      file_path (reader), reader->next + 1, reader->header.recording.volumes,
      of_stream ? of_stream : reason);
  return FALSE;
}

static gboolean
set_truncated (NdReader * reader, GError ** error)
{
  const NdHeader *header = &reader->header;

  g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" is truncated: its "
      "header says %" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
      " bytes%s, which %" G_GUINT64_FORMAT " bytes%s cannot hold",
      file_path (reader),
      header->recording.volumes, reader->stored_size, header->files
      && header->files->len > 1 ? " in several files" : "",
      nd_stream_size (reader->stream), header->compressed ? " compressed" : "");
  return FALSE;
}

/* Behind so many lines. */
static gboolean
skip_lines (NdReader * reader, guint64 lines, guint64 * offset, GError ** error)
{
  g_autofree gchar *bytes = g_malloc (CHUNK);

  *offset = 0;
  nd_stream_begin (reader->stream, 0, FALSE);
  while (lines > 0) {
    const gssize got = nd_stream_read (reader->stream, bytes, CHUNK);

    if (got <= 0)
      return set_read_error (reader, "it has fewer lines than the header says",
          error);
    for (gssize i = 0; i < got && lines > 0; i++) {
      (*offset)++;
      lines -= bytes[i] == '\n';
    }
  }
  return TRUE;
}

/* Checks that the open file can hold its samples, and begins to read them. */
static gboolean
begin_file (NdReader * reader, GError ** error)
{
  const NdHeader *header = &reader->header;
  const guint64 size = nd_stream_size (reader->stream);
  const guint64 wanted = reader->file_bytes + header->skip;
  guint64 offset = 0;

  if (header->line_skip > 0
      && !skip_lines (reader, header->line_skip, &offset, error))
    return FALSE;
  offset += header->offset;
  if (header->at_end)
    offset = size < wanted ? 0 : size - wanted;
  if (wanted > nd_stream_most (reader->stream, offset, header->compressed))
    return set_truncated (reader, error);
  nd_stream_begin (reader->stream, offset, header->compressed);
  return nd_stream_skip (reader->stream, header->skip)
      || set_read_error (reader, "it is too short", error);
}

/* The position is where its samples begin. */
static gboolean
open_file (NdReader * reader, guint file, GError ** error)
{
  reader->position = NOWHERE;
  reader->file = file;
  if (reader->header.files) {
    g_clear_pointer (&reader->stream, nd_stream_close);
    reader->stream = nd_stream_open (file_path (reader), FALSE, error);
  }
  if (!reader->stream || !begin_file (reader, error))
    return FALSE;
  reader->position = file * reader->file_bytes;
  return TRUE;
}

/* To a byte of the samples; in a compressed file that costs nothing only where
 * it is the next one. */
static gboolean
go_to (NdReader * reader, guint64 position, GError ** error)
{
  const guint file = MIN (position / reader->file_bytes,
      reader->header.files ? reader->header.files->len - 1 : 0);
  guint64 ahead;

  if (position == reader->position)
    return TRUE;
  if ((file != reader->file || position < reader->position)
      && !open_file (reader, file, error))
    return FALSE;
  ahead = position - reader->position;
  reader->position = NOWHERE;
  if (!nd_stream_skip (reader->stream, ahead))
    return set_read_error (reader, "it is truncated", error);
  reader->position = position;
  return TRUE;
}

/* Only at the end of compressed data their check sum is seen; something may
 * stand between, which is not unpacked without end. */
static gboolean
check_sum (NdReader * reader)
{
  g_autofree guint8 *beyond = g_malloc (CHUNK);

  return nd_stream_read (reader->stream, beyond, CHUNK) >= 0;
}

/* @size bytes of the samples as they are stored, from one file to the next. */
static gboolean
read_stored (NdReader * reader, guint8 * data, gsize size, GError ** error)
{
  while (size > 0) {
    const guint64 position = reader->position;
    const guint64 left = (reader->file + 1) * reader->file_bytes - position;
    const gsize wanted = MIN (left, size);
    gssize got;

    if (left == 0) {
      if (!open_file (reader, reader->file + 1, error))
        return FALSE;
      continue;
    }
    reader->position = NOWHERE;
    got = nd_stream_read (reader->stream, data, wanted);
    if (got < 0 || (gsize) got < wanted || (reader->header.compressed
            && wanted == left && !check_sum (reader)))
      return set_read_error (reader, "it is truncated", error);
    reader->position = position + wanted;
    data += wanted;
    size -= wanted;
  }
  return TRUE;
}

/* Every file is looked at before the first volume is promised. */
static gboolean
check_files (NdReader * reader, GError ** error)
{
  NdHeader *header = &reader->header;
  const guint files = header->files ? header->files->len : 1;
  const guint64 bytes = nd_header_bytes (header);

  reader->stored_size = nd_header_volume_bytes (header);
  reader->file_bytes = bytes / files;
  if (bytes % files != 0 || reader->file_bytes == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" names %u files, "
        "which cannot have %" G_GUINT64_FORMAT " bytes between them",
        reader->path, files, bytes);
    return FALSE;
  }
  for (guint i = files; i-- > 0;) {
    if (!open_file (reader, i, error))
      return FALSE;
  }
  if (header->time_first) {
    const guint64 volumes = header->recording.volumes;

    reader->group_first = NOWHERE;
    reader->group_size = MIN (MAX (GROUP_BYTES / reader->stored_size, 1),
        volumes);
    if ((volumes + reader->group_size - 1) / reader->group_size > MAX_GROUPS) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" has time as its "
          "fastest axis, and is too large to be read so: \"unu permute -p 1 2 "
          "3 0 -i FILE -o NEW\" makes one with time last", reader->path);
      return FALSE;
    }
  }
  return TRUE;
}

/* -0, of an axis that is turned round, would be seen in caps. */
static void
unsign_zeros (gdouble * numbers, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (numbers[i] == 0)
      numbers[i] = 0;
  }
}

NdReader *
nd_reader_open (const gchar * path, const NdRecording * hint, GError ** error)
{
  g_autoptr (NdReader) reader = g_new0 (NdReader, 1);

  reader->path = g_strdup (path);
  reader->stream = nd_stream_open (path, TRUE, error);
  if (!reader->stream || !nd_format_read_header (&reader->header,
          reader->stream, path, hint, error) || !check_files (reader, error))
    return NULL;
  unsign_zeros (reader->header.recording.geometry.origin, 3);
  unsign_zeros (reader->header.recording.geometry.directions, 9);
  if (g_str_has_suffix (path, ".part"))
    nd_header_warn (&reader->header, "\"%s\" is what was written of a "
        "recording that was not finished", path);
  reader->format = g_strdup_printf ("%s, %s%s", reader->header.format,
      nd_stored_name (reader->header.stored.type),
      reader->header.compressed ? ", compressed" : "");
  g_ptr_array_add (reader->header.warnings, NULL);
  return g_steal_pointer (&reader);
}

void
nd_reader_close (NdReader * reader)
{
  nd_header_clear (&reader->header);
  g_clear_pointer (&reader->stream, nd_stream_close);
  g_free (reader->format);
  g_free (reader->chunk);
  g_free (reader->group);
  g_free (reader->path);
  g_free (reader);
}

const NdRecording *
nd_reader_recording (NdReader * reader)
{
  return &reader->header.recording;
}

const NdMetadata *
nd_reader_metadata (NdReader * reader)
{
  return reader->header.metadata;
}

const gchar *
nd_reader_format (NdReader * reader)
{
  return reader->format;
}

const gchar *const *
nd_reader_warnings (NdReader * reader)
{
  return (const gchar * const *) reader->header.warnings->pdata;
}

gint64
nd_reader_time (NdReader * reader, guint64 volume)
{
  const NdRecording *recording = &reader->header.recording;
  const GArray *times = reader->header.metadata->times;

  if (volume < times->len)
    return g_array_index (times, gint64, volume);
  /* The last one lasts as long as the others did on average. */
  if (times->len > 1 && recording->rate_n == 0) {
    const gint64 last = g_array_index (times, gint64, times->len - 1);

    return last + last / (times->len - 1) * (volume - times->len + 1);
  }
  return nd_rate_time (recording->rate_n, recording->rate_d, volume);
}

gboolean
nd_reader_seekable (NdReader * reader)
{
  return !reader->header.compressed;
}

gboolean
nd_reader_seek (NdReader * reader, guint64 volume, GError ** error)
{
  if (volume > reader->header.recording.volumes
      || (reader->header.compressed && volume < reader->next)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read from "
        "volume %" G_GUINT64_FORMAT ": %s", reader->path, volume + 1,
        reader->header.compressed ? "it is compressed, unpack it first" :
        "it has fewer volumes");
    return FALSE;
  }
  if (!reader->header.time_first
      && !go_to (reader, volume * reader->stored_size, error))
    return FALSE;
  reader->next = volume;
  return TRUE;
}

/* Reads the whole file, and puts together the volumes from @first on. */
static gboolean
read_group (NdReader * reader, guint64 first, GError ** error)
{
  const NdHeader *header = &reader->header;
  const gsize width = nd_stored_size (header->stored.type);
  const guint64 volumes = header->recording.volumes;
  const gsize samples = reader->stored_size / width;
  const gsize rows = MAX (CHUNK / (volumes * width), 1);
  const guint64 count = MIN (reader->group_size, volumes - first);
  g_autofree guint8 *chunk = g_try_malloc (rows * volumes * width);

  if (!reader->group)
    reader->group = g_try_malloc (reader->group_size * reader->stored_size);
  if (!reader->group || !chunk) {
    g_set_error (error, ND_ERROR, ND_ERROR_NO_SPACE, "No memory for %"
        G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT " bytes of \"%s\"",
        count, reader->stored_size, reader->path);
    return FALSE;
  }
  if (reader->position > 0 && !open_file (reader, 0, error))
    return FALSE;
  reader->group_first = NOWHERE;
  for (gsize at = 0; at < samples; at += rows) {
    const gsize n = MIN (rows, samples - at);

    if (!read_stored (reader, chunk, n * volumes * width, error))
      return FALSE;
    for (guint64 g = 0; g < count; g++) {
      guint8 *to = reader->group + g * reader->stored_size + at * width;

      for (gsize i = 0; i < n; i++)
        memcpy (to + i * width, chunk + (i * volumes + first + g) * width,
            width);
    }
  }
  reader->group_first = first;
  return TRUE;
}

static gboolean
read_from_group (NdReader * reader, gpointer data, GError ** error)
{
  const NdStored *stored = &reader->header.stored;
  const guint64 first = reader->next / reader->group_size * reader->group_size;

  if (first != reader->group_first && !read_group (reader, first, error))
    return FALSE;
  nd_stored_convert (stored, data, reader->group + (reader->next - first)
      * reader->stored_size, reader->stored_size
      / nd_stored_size (stored->type));
  return TRUE;
}

static gboolean
read_and_convert (NdReader * reader, guint8 * data, GError ** error)
{
  const NdStored *stored = &reader->header.stored;
  const gsize from = nd_stored_size (stored->type);
  const gsize to = nd_sample_size (reader->header.recording.type);

  if (!reader->chunk)
    reader->chunk = g_malloc (CHUNK);
  for (gsize done = 0; done < reader->stored_size; done += CHUNK) {
    const gsize wanted = MIN (reader->stored_size - done, CHUNK);

    if (!read_stored (reader, reader->chunk, wanted, error))
      return FALSE;
    nd_stored_convert (stored, data + done / from * to, reader->chunk,
        wanted / from);
  }
  return TRUE;
}

gboolean
nd_reader_read (NdReader * reader, gpointer data, GError ** error)
{
  gboolean ok;

  g_return_val_if_fail (reader->next < reader->header.recording.volumes, FALSE);

  if (reader->header.time_first)
    ok = read_from_group (reader, data, error);
  else if (!go_to (reader, reader->next * reader->stored_size, error))
    ok = FALSE;
  else if (nd_stored_is_plain (&reader->header.stored))
    ok = read_stored (reader, data, reader->stored_size, error);
  else
    ok = read_and_convert (reader, data, error);
  reader->next += ok;
  return ok;
}
