/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/recording.h"

#include "core/error.h"
#include "core/log.h"
#include "formats/format.h"
#include "formats/rate.h"
#include "formats/zarr.h"

#include <string.h>

#define CHUNK (64 * 1024)

/* A position that is unknown: before the first read, or after an error. */
#define NOWHERE G_MAXUINT64

/* If time is the fastest axis, volumes are assembled in groups that fit in this
 * much memory. Each group reads the whole file. */
#define GROUP_BYTES ((gsize) 256 << 20)
#define MAX_GROUPS 32

struct _NdReader
{
  gchar *path;
  NdHeader header;
  gchar *format;  /* for messages */
  NdInput *input; /* of the file at @file */
  guint file;
  guint64 file_bytes; /* bytes of samples in each file */
  gsize stored_size;  /* bytes of one stored volume */
  guint64 position;   /* in the samples of all files, or NOWHERE */
  guint64 next;
  guint8 *chunk; /* samples before conversion, or NULL */

  guint8 *group;       /* volumes of a file with time first */
  guint64 group_first; /* NOWHERE: the group is empty */
  guint64 group_size;
};

static const gchar *
file_path (NdReader *reader)
{
  const GPtrArray *files = reader->header.files;

  return files ? g_ptr_array_index (files, reader->file) : reader->path;
}

/* The reason of the input, if it has one, replaces @reason. */
static gboolean
set_read_error (NdReader *reader, const gchar *reason, GError **error)
{
  const gchar *of_input =
      reader->input ? nd_input_reason (reader->input) : NULL;

  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s\" cannot be read at "
      "volume %" G_GUINT64_FORMAT " (of 0 to %" G_GUINT64_FORMAT "): %s",
      file_path (reader), reader->next, reader->header.recording.volumes - 1,
      of_input ? of_input : reason);
  return FALSE;
}

static gboolean
set_truncated (NdReader *reader, GError **error)
{
  const NdHeader *header = &reader->header;

  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s\" is truncated: its "
      "header says %" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
      " bytes%s, which %" G_GUINT64_FORMAT " bytes%s cannot hold",
      file_path (reader), header->recording.volumes, reader->stored_size,
      header->files && header->files->len > 1 ? " in several files" : "",
      nd_input_size (reader->input), header->compressed ? " compressed" : "");
  return FALSE;
}

/* Finds the offset after @lines lines. */
static gboolean
skip_lines (NdReader *reader, guint64 lines, guint64 *offset, GError **error)
{
  g_autofree gchar *bytes = g_malloc (CHUNK);

  *offset = 0;
  nd_input_begin (reader->input, 0, FALSE);
  while (lines > 0) {
    const gssize got = nd_input_read (reader->input, bytes, CHUNK);

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

/* Checks that the open file is large enough and goes to its first sample. */
static gboolean
begin_file (NdReader *reader, GError **error)
{
  const NdHeader *header = &reader->header;
  const guint64 size = nd_input_size (reader->input);
  const guint64 wanted = reader->file_bytes + header->skip;
  guint64 offset = 0;

  if (header->line_skip > 0
      && !skip_lines (reader, header->line_skip, &offset, error))
    return FALSE;
  offset += header->offset;
  if (header->at_end)
    offset = size < wanted ? 0 : size - wanted;
  if (wanted > nd_input_most (reader->input, offset, header->compressed))
    return set_truncated (reader, error);
  if (header->bare)
    nd_input_begin_bare (reader->input, offset, header->sum);
  else
    nd_input_begin (reader->input, offset, header->compressed);
  return nd_input_skip (reader->input, header->skip)
      || set_read_error (reader, "it is too short", error);
}

/* Opens a file and sets the position to its first sample. */
static gboolean
open_file (NdReader *reader, guint file, GError **error)
{
  reader->position = NOWHERE;
  reader->file = file;
  if (reader->header.files) {
    g_clear_pointer (&reader->input, nd_input_close);
    reader->input = nd_input_open (file_path (reader), FALSE, error);
  }
  if (!reader->input || !begin_file (reader, error))
    return FALSE;
  reader->position = file * reader->file_bytes;
  return TRUE;
}

/* Goes to a byte of the samples. In a compressed file every other position than
 * the next one costs time. */
static gboolean
go_to (NdReader *reader, guint64 position, GError **error)
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
  if (!nd_input_skip (reader->input, ahead))
    return set_read_error (reader, "it is truncated", error);
  reader->position = position;
  return TRUE;
}

/* Reads past the last sample, because the check sum of compressed data is at
 * its end. Reads at most CHUNK, because more data may follow. */
static gboolean
check_sum (NdReader *reader)
{
  g_autofree guint8 *beyond = g_malloc (CHUNK);

  return nd_input_read (reader->input, beyond, CHUNK) >= 0;
}

/* Reads @size stored bytes, across files. */
static gboolean
read_stored (NdReader *reader, guint8 *data, gsize size, GError **error)
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
    got = nd_input_read (reader->input, data, wanted);
    if (got < 0 || (gsize) got < wanted
        || (reader->header.compressed && wanted == left && !check_sum (reader)))
      return set_read_error (reader, "it is truncated", error);
    reader->position = position + wanted;
    data += wanted;
    size -= wanted;
  }
  return TRUE;
}

/* Opens every file, so that errors come before the first volume. */
static gboolean
check_files (NdReader *reader, GError **error)
{
  NdHeader *header = &reader->header;
  const guint files = header->files ? header->files->len : 1;
  const guint64 bytes = nd_header_bytes (header);

  reader->stored_size = nd_header_volume_bytes (header);
  reader->file_bytes = bytes / files;
  if (bytes % files != 0 || reader->file_bytes == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" names %u files for %" G_GUINT64_FORMAT
        " bytes of samples: each file must have equally many",
        reader->path, files, bytes);
    return FALSE;
  }
  for (guint i = files; i-- > 0 && !header->slices;) {
    if (!open_file (reader, i, error))
      return FALSE;
  }
  if (header->time_first) {
    const guint64 volumes = header->recording.volumes;

    reader->group_first = NOWHERE;
    reader->group_size =
        MIN (MAX (GROUP_BYTES / reader->stored_size, 1), volumes);
    if ((volumes + reader->group_size - 1) / reader->group_size > MAX_GROUPS) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "\"%s\" has time as its fastest axis, and is too large to be read "
          "so: \"unu permute -p 1 2 3 0 -i FILE -o NEW\" makes one with time "
          "last",
          reader->path);
      return FALSE;
    }
  }
  return TRUE;
}

/* Replaces -0, which reversed axes produce, because caps would show it. */
static void
unsign_zeros (gdouble *numbers, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (numbers[i] == 0)
      numbers[i] = 0;
  }
}

static gboolean
check_local (NdReader *reader, gboolean is_local, GError **error)
{
  if (is_local || !reader->header.files)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The header of \"%s\" names other files with the samples, which can be "
      "read on this machine only: copy all of them to one folder and open the "
      "header there",
      reader->path);
  return FALSE;
}

static void
log_recording (const NdReader *reader)
{
  const NdRecording *recording = &reader->header.recording;
  const gsize *size = recording->shape.size;

  ND_INFO ("opened \"%s\": %s; %" G_GUINT64_FORMAT
           " volumes of %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
           "x%" G_GSIZE_FORMAT " %s, components %" G_GSIZE_FORMAT
           ", responses %u, rate %d/%d",
      reader->path, reader->format, recording->volumes, size[0], size[1],
      size[2], nd_sample_name (recording->type), recording->shape.components,
      recording->responses, recording->rate_n, recording->rate_d);
}

/* Reads the header from @input, which it takes; NULL if @path is a folder. */
static NdReader *
open_input (NdInput *input, const gchar *path, gboolean is_local,
    const NdRecording *hint, GError **error)
{
  g_autoptr (NdReader) reader = g_new0 (NdReader, 1);

  reader->path = g_strdup (path);
  reader->input = input;
  if (!(input ? nd_format_read_header (&reader->header, input, path, hint,
                    error)
              : nd_zarr_open (&reader->header, path, error))
      || !check_local (reader, is_local, error) || !check_files (reader, error))
    return NULL;
  unsign_zeros (reader->header.recording.geometry.origin, 3);
  unsign_zeros (reader->header.recording.geometry.directions, 9);
  if (g_str_has_suffix (path, ".part"))
    nd_header_warn (&reader->header,
        "\"%s\" holds the volumes that were written before the writing of the "
        "recording stopped",
        path);
  reader->format = g_strdup_printf ("%s, %s%s", reader->header.format,
      nd_stored_name (reader->header.stored.type),
      reader->header.compressed ? ", compressed" : "");
  g_ptr_array_add (reader->header.warnings, NULL);
  log_recording (reader);
  return g_steal_pointer (&reader);
}

NdReader *
nd_reader_open (const gchar *path, const NdRecording *hint, GError **error)
{
  NdInput *input;

  if (nd_zarr_detect (path))
    return open_input (NULL, path, TRUE, NULL, error);
  input = nd_input_open (path, TRUE, error);
  return input ? open_input (input, path, TRUE, hint, error) : NULL;
}

NdReader *
nd_reader_open_source (const NdSource *source, const gchar *path,
    gboolean is_local, GError **error)
{
  return open_input (nd_input_new (source), path, is_local, NULL, error);
}

void
nd_reader_close (NdReader *reader)
{
  nd_header_clear (&reader->header);
  g_clear_pointer (&reader->input, nd_input_close);
  g_free (reader->format);
  g_free (reader->chunk);
  g_free (reader->group);
  g_free (reader->path);
  g_free (reader);
}

const NdRecording *
nd_reader_recording (NdReader *reader)
{
  return &reader->header.recording;
}

const NdMetadata *
nd_reader_metadata (NdReader *reader)
{
  return reader->header.metadata;
}

const gchar *
nd_reader_format (NdReader *reader)
{
  return reader->format;
}

const gchar *const *
nd_reader_warnings (NdReader *reader)
{
  return (const gchar *const *) reader->header.warnings->pdata;
}

gint64
nd_reader_time (NdReader *reader, guint64 volume)
{
  const NdRecording *recording = &reader->header.recording;
  const GArray *times = reader->header.metadata->times;

  if (volume < times->len)
    return g_array_index (times, gint64, volume);
  /* The last volume has the average duration of the others. */
  if (times->len > 1 && recording->rate_n == 0) {
    const gint64 last = g_array_index (times, gint64, times->len - 1);

    return last + last / (times->len - 1) * (volume - times->len + 1);
  }
  return nd_rate_time (recording->rate_n, recording->rate_d, volume);
}

gboolean
nd_reader_seekable (NdReader *reader)
{
  return !reader->header.compressed;
}

gboolean
nd_reader_seek (NdReader *reader, guint64 volume, GError **error)
{
  if (volume > reader->header.recording.volumes
      || (reader->header.compressed && volume < reader->next)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" cannot be read from "
        "volume %" G_GUINT64_FORMAT ": %s",
        reader->path, volume,
        reader->header.compressed ? "it is compressed; decompress it first"
                                  : "it has fewer volumes");
    return FALSE;
  }
  if (!reader->header.time_first && !reader->header.slices
      && !go_to (reader, volume * reader->stored_size, error))
    return FALSE;
  reader->next = volume;
  return TRUE;
}

/* Reads the whole file and assembles the group of volumes from @first on. */
static gboolean
read_group (NdReader *reader, guint64 first, GError **error)
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
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for %" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
        " bytes of \"%s\": use a machine with more memory",
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
read_from_group (NdReader *reader, gpointer data, GError **error)
{
  const NdStored *stored = &reader->header.stored;
  const guint64 first = reader->next / reader->group_size * reader->group_size;

  if (first != reader->group_first && !read_group (reader, first, error))
    return FALSE;
  nd_stored_convert (stored, data,
      reader->group + (reader->next - first) * reader->stored_size,
      reader->stored_size / nd_stored_size (stored->type));
  return TRUE;
}

static gboolean
read_and_convert (NdReader *reader, guint8 *data, GError **error)
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

/* Converts in place, unless the samples become smaller. */
static gboolean
read_whole (NdReader *reader, guint8 *data, GError **error)
{
  const NdStored *stored = &reader->header.stored;
  NdSlices *slices = reader->header.slices;
  const gsize width = nd_stored_size (stored->type);
  const gboolean apart =
      width != nd_sample_size (reader->header.recording.type);
  const gchar *reason = NULL;

  if (apart && !reader->chunk)
    reader->chunk = g_try_malloc (reader->stored_size);
  if (apart && !reader->chunk)
    return set_read_error (reader, "there is no memory for a volume", error);
  if (!slices->read_volume (slices, reader->next, apart ? reader->chunk : data,
          &reason))
    return set_read_error (reader, reason, error);
  if (!nd_stored_is_plain (stored))
    nd_stored_convert (stored, data, apart ? reader->chunk : data,
        reader->stored_size / width);
  return TRUE;
}

/* Reads a slice at a time, so that only one is kept before conversion. */
static gboolean
read_slices (NdReader *reader, guint8 *data, GError **error)
{
  const NdStored *stored = &reader->header.stored;
  const NdRecording *recording = &reader->header.recording;
  NdSlices *slices = reader->header.slices;
  const gsize n = recording->shape.size[2];
  const gsize size = reader->stored_size / n;
  const gsize samples = size / nd_stored_size (stored->type);
  const gboolean plain = nd_stored_is_plain (stored);

  if (!plain && !reader->chunk)
    reader->chunk = g_try_malloc (size);
  if (!plain && !reader->chunk) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for a slice of %" G_GSIZE_FORMAT
        " bytes of \"%s\": use a machine with more memory",
        size, reader->path);
    return FALSE;
  }
  for (gsize z = 0; z < n; z++) {
    guint8 *slice = data + z * samples * nd_sample_size (recording->type);
    const gchar *reason = NULL;

    if (!slices->read (slices, reader->next * n + z,
            plain ? slice : reader->chunk, &reason))
      return set_read_error (reader, reason, error);
    if (!plain)
      nd_stored_convert (stored, slice, reader->chunk, samples);
  }
  return TRUE;
}

gboolean
nd_reader_read (NdReader *reader, gpointer data, GError **error)
{
  gboolean ok;

  g_return_val_if_fail (reader->next < reader->header.recording.volumes, FALSE);

  if (reader->header.time_first)
    ok = read_from_group (reader, data, error);
  else if (reader->header.slices && reader->header.slices->read_volume)
    ok = read_whole (reader, data, error);
  else if (reader->header.slices)
    ok = read_slices (reader, data, error);
  else if (!go_to (reader, reader->next * reader->stored_size, error))
    ok = FALSE;
  else if (nd_stored_is_plain (&reader->header.stored))
    ok = read_stored (reader, data, reader->stored_size, error);
  else
    ok = read_and_convert (reader, data, error);
  reader->next += ok;
  return ok;
}
