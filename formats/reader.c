/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/recording.h"

#include "core/error.h"
#include "core/log.h"
#include "formats/format.h"
#include "formats/headertext.h"
#include "formats/nifti.h"
#include "formats/rate.h"
#include "formats/reader.h"
#include "formats/target.h"

#include <string.h>

#define BEYOND 4096

const gchar *
nd_reader_file_path (NdReader *reader)
{
  const NdList *files = reader->header.files;

  return files ? g_array_index (files, const gchar *, reader->file)
               : reader->path;
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
      nd_reader_file_path (reader), reader->next,
      reader->header.recording.volumes - 1, of_input ? of_input : reason);
  return FALSE;
}

/* Slices that were not read: without memory if their budget refused it. */
static gboolean
set_slices_error (NdReader *reader, const gchar *reason, GError **error)
{
  NdBudget *budget = &reader->header.budget;

  return budget->refused > 0 ? nd_budget_refuse (budget, reader->path, error)
                             : set_read_error (reader, reason, error);
}

/* @offset: where the samples of the file begin. */
static gboolean
set_truncated (NdReader *reader, guint64 offset, GError **error)
{
  const NdHeader *header = &reader->header;
  const guint64 begin = offset + (header->compressed ? 0 : header->skip);
  const guint64 size = nd_input_size (reader->input);
  const guint64 bytes = size > begin ? size - begin : 0;
  g_autofree gchar *whole = NULL;

  if (!header->compressed && !header->time_first && !header->planar)
    whole = g_strdup_printf (": %" G_GUINT64_FORMAT
                             " whole volumes, which truncated=keep reads",
        bytes / reader->stored_size);
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s\" is truncated: its header says %" G_GUINT64_FORMAT
      " volumes of %" G_GSIZE_FORMAT
      " bytes%s, and there are %" G_GUINT64_FORMAT " %sbytes of samples%s",
      nd_reader_file_path (reader), header->recording.volumes,
      reader->stored_size,
      header->files && header->files->len > 1 ? " in several files" : "", bytes,
      header->compressed ? "compressed " : "", whole ? whole : "");
  return FALSE;
}

/* More samples than the header says: it may be of another file, or the file of
 * the samples may have a header of its own. */
static gboolean
set_too_long (NdReader *reader, guint64 offset, GError **error)
{
  const NdHeader *header = &reader->header;
  guint8 begin[ND_NIFTI_HEADER];
  const gchar *own = NULL;
  gssize got;

  nd_input_begin (reader->input, offset, header->compressed);
  if (header->files
      && (got = nd_input_read (reader->input, begin, sizeof (begin))) > 0)
    own = nd_format_of (begin, got);
  if (own)
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" has more bytes than \"%s\" says (%" G_GUINT64_FORMAT
        "): it begins with a header of %s, which is not skipped; read \"%s\" "
        "itself instead",
        nd_reader_file_path (reader), reader->path, reader->file_bytes, own,
        nd_reader_file_path (reader));
  else
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" has more bytes of samples than the header of \"%s\" says "
        "(%" G_GUINT64_FORMAT
        "): the header is of other samples, or there is more than one "
        "recording; correct the sizes or remove the bytes after the samples",
        nd_reader_file_path (reader), reader->path, reader->file_bytes);
  return FALSE;
}

/* FALSE if there are more bytes than @wanted: any in a file of samples alone, a
 * whole volume after a header. The end of gzip data tells their number, if
 * nothing follows it; then they are counted. */
static gboolean
check_excess (NdReader *reader, guint64 offset, guint64 wanted, GError **error)
{
  NdHeader *header = &reader->header;
  const guint64 size = nd_input_size (reader->input);
  const guint64 most = header->files ? 0 : reader->stored_size - 1;
  guint8 more;

  /* The volume at which writing failed may be there in part. */
  if (header->at_end || header->within || header->bare
      || g_str_has_suffix (nd_reader_file_path (reader), ".part"))
    return TRUE;
  if (header->compressed
      && nd_input_gzip_states (reader->input, offset) > wanted) {
    nd_input_begin (reader->input, offset, TRUE);
    return !nd_input_skip (reader->input, wanted + most)
        || nd_input_read (reader->input, &more, 1) <= 0
        || set_too_long (reader, offset, error);
  }
  if (header->compressed || size - offset == wanted)
    return TRUE;
  if (size - offset - wanted > most)
    return set_too_long (reader, offset, error);
  if (!reader->format)
    nd_header_warn (header,
        "%" G_GUINT64_FORMAT " bytes after the samples of \"%s\" are not read",
        size - offset - wanted, reader->path);
  return TRUE;
}

/* Finds the offset after @lines lines. */
static gboolean
skip_lines (NdReader *reader, guint64 lines, guint64 *offset, GError **error)
{
  gchar bytes[BEYOND];

  *offset = 0;
  nd_input_begin (reader->input, 0, FALSE);
  while (lines > 0) {
    const gssize got = nd_input_read (reader->input, bytes, BEYOND);

    if (*offset > ND_TEXT_MAX) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "The lines before the samples of \"%s\" have more than %d MiB: the "
          "line skip of its header is damaged",
          nd_reader_file_path (reader), ND_TEXT_MAX >> 20);
      return FALSE;
    }
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

static gboolean
go_to_samples (NdReader *reader, guint64 offset, GError **error)
{
  const NdHeader *header = &reader->header;

  if (header->bare)
    nd_input_begin_bare (reader->input, offset, header->sum);
  else
    nd_input_begin (reader->input, offset, header->compressed);
  reader->begin = offset + header->skip;
  return nd_input_skip (reader->input, header->skip)
      || set_read_error (reader, "it is too short", error);
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
  if (reader->kept)
    return go_to_samples (reader, offset, error);
  if (wanted > nd_input_most (reader->input, offset, header->compressed))
    return set_truncated (reader, offset, error);
  return check_excess (reader, offset, wanted, error)
      && go_to_samples (reader, offset, error);
}

gboolean
nd_reader_open_file (NdReader *reader, guint file, GError **error)
{
  reader->position = ND_READER_NOWHERE;
  reader->file = file;
  if (reader->header.files) {
    g_clear_pointer (&reader->input, nd_input_close);
    reader->input = nd_input_open (nd_reader_file_path (reader), FALSE, error);
  }
  if (!reader->input || !begin_file (reader, error))
    return FALSE;
  reader->position = file * reader->file_bytes;
  return TRUE;
}

gboolean
nd_reader_go_to (NdReader *reader, guint64 position, GError **error)
{
  const guint file = MIN (position / reader->file_bytes,
      reader->header.files ? reader->header.files->len - 1 : 0);
  guint64 ahead;

  if (position == reader->position)
    return TRUE;
  if ((file != reader->file || position < reader->position)
      && !nd_reader_open_file (reader, file, error))
    return FALSE;
  ahead = position - reader->position;
  reader->position = ND_READER_NOWHERE;
  if (!nd_input_skip (reader->input, ahead))
    return set_read_error (reader, "it is truncated", error);
  reader->position = position;
  return TRUE;
}

/* Reads past the last sample, because the check sum of compressed data is at
 * its end. In a file of samples alone there must be no more. NULL, or the
 * reason of failure. */
static const gchar *
check_end (NdReader *reader)
{
  guint8 beyond[BEYOND];
  const gssize got = nd_input_read (reader->input, beyond, sizeof (beyond));

  if (got < 0)
    return "it is truncated";
  return got == 0 || !reader->header.files
          || g_str_has_suffix (nd_reader_file_path (reader), ".part")
      ? NULL
      : "it has more bytes of samples than the header says";
}

gboolean
nd_reader_read_stored (NdReader *reader, guint8 *data, gsize size,
    GError **error)
{
  while (size > 0) {
    const guint64 position = reader->position;
    const guint64 left = (reader->file + 1) * reader->file_bytes - position;
    const gsize wanted = MIN (left, size);
    const gchar *reason = NULL;
    gssize got;

    if (left == 0) {
      if (!nd_reader_open_file (reader, reader->file + 1, error))
        return FALSE;
      continue;
    }
    reader->position = ND_READER_NOWHERE;
    got = nd_input_read (reader->input, data, wanted);
    if (got < 0 || (gsize) got < wanted)
      reason = "it is truncated";
    else if (reader->header.compressed && wanted == left)
      reason = check_end (reader);
    if (reason)
      return set_read_error (reader, reason, error);
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
  /* Otherwise no volume is whole, or the samples have no known beginning. */
  if (header->keep && !nd_reader_has_groups (reader) && !header->at_end
      && !(header->slices ? nd_reader_keep_decoded (reader, error)
                          : nd_reader_keep_whole (reader, error)))
    return FALSE;
  for (guint i = files; i-- > 0 && !header->slices && !reader->kept;) {
    if (!nd_reader_open_file (reader, i, error))
      return FALSE;
  }
  return !nd_reader_has_groups (reader)
      || nd_reader_plan_groups (reader, error);
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

/* Counts the volume that the caller has. */
static gboolean
take_volume (NdReader *reader, GError **error)
{
  NdBudget *budget = &reader->header.budget;
  const gsize size = nd_recording_volume_size (&reader->header.recording);

  return nd_budget_take (budget, size)
      || nd_budget_refuse (budget, reader->path, error);
}

/* Reads the header from @input, which it takes; NULL if @path is a folder
 * or a pattern. */
static NdReader *
open_input (NdInput *input, const gchar *path, gboolean is_local,
    const NdRecording *hint, guint64 max_memory, NdTruncated truncated,
    GError **error)
{
  g_autoptr (NdReader) reader = g_new0 (NdReader, 1);

  reader->path = g_strdup (path);
  reader->input = input;
  nd_budget_init (&reader->header.budget, max_memory);
  reader->header.keep = truncated == ND_TRUNCATED_KEEP;
  reader->header.local = is_local;
  if (!(input ? nd_format_read_header (&reader->header, input, path, hint,
                    error)
              : nd_format_read_several (&reader->header, path, hint, error))
      || !check_local (reader, is_local, error) || !check_files (reader, error)
      || !take_volume (reader, error))
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
  reader->not_held = nd_holds_not (reader->header.format);
  g_ptr_array_add (reader->header.warnings, NULL);
  log_recording (reader);
  return g_steal_pointer (&reader);
}

NdReader *
nd_reader_open_beside (const gchar *path, guint64 max_memory, GError **error)
{
  NdInput *input = nd_input_open (path, FALSE, error);

  return input ? open_input (input, path, TRUE, NULL, max_memory,
                     ND_TRUNCATED_REFUSE, error)
               : NULL;
}

NdReader *
nd_reader_open_within (const gchar *path, const NdRecording *hint,
    guint64 max_memory, NdTruncated truncated, GError **error)
{
  NdInput *input;

  if (nd_format_is_several (path))
    return open_input (NULL, path, TRUE, hint, max_memory, truncated, error);
  input = nd_input_open (path, TRUE, error);
  return input
      ? open_input (input, path, TRUE, hint, max_memory, truncated, error)
      : NULL;
}

NdReader *
nd_reader_open (const gchar *path, const NdRecording *hint, GError **error)
{
  return nd_reader_open_within (path, hint, 0, ND_TRUNCATED_REFUSE, error);
}

NdReader *
nd_reader_open_source (const NdSource *source, const gchar *path,
    gboolean is_local, guint64 max_memory, NdTruncated truncated,
    GError **error)
{
  return open_input (nd_input_new (source), path, is_local, NULL, max_memory,
      truncated, error);
}

void
nd_reader_close (NdReader *reader)
{
  NdBudget *budget = &reader->header.budget;

  nd_budget_free (budget, reader->chunk, reader->chunk_size);
  nd_budget_free (budget, reader->group, reader->group_bytes);
  nd_header_clear (&reader->header);
  g_clear_pointer (&reader->input, nd_input_close);
  g_free (reader->format);
  g_free (reader->not_held);
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

const gchar *
nd_reader_not_held (NdReader *reader)
{
  return reader->not_held;
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
  const NdList *times = reader->header.metadata->times;

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
  if (!reader->header.time_first && !reader->header.planar
      && !reader->header.slices
      && !nd_reader_go_to (reader, volume * reader->stored_size, error))
    return FALSE;
  reader->next = volume;
  return TRUE;
}

static gboolean
read_and_convert (NdReader *reader, guint8 *data, GError **error)
{
  const NdStored *stored = &reader->header.stored;
  const gsize from = nd_stored_size (stored->type);
  const gsize to = nd_sample_size (reader->header.recording.type);

  if (!nd_budget_reuse (&reader->header.budget, &reader->chunk,
          &reader->chunk_size, ND_READER_CHUNK))
    return nd_budget_refuse (&reader->header.budget, reader->path, error);
  for (gsize done = 0; done < reader->stored_size; done += ND_READER_CHUNK) {
    const gsize wanted = MIN (reader->stored_size - done, ND_READER_CHUNK);

    if (!nd_reader_read_stored (reader, reader->chunk, wanted, error))
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

  if (apart
      && !nd_budget_reuse (&reader->header.budget, &reader->chunk,
          &reader->chunk_size, reader->stored_size))
    return nd_budget_refuse (&reader->header.budget, reader->path, error);
  if (!slices->read_volume (slices, reader->next, apart ? reader->chunk : data,
          &reason))
    return set_slices_error (reader, reason, error);
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

  if (!plain
      && !nd_budget_reuse (&reader->header.budget, &reader->chunk,
          &reader->chunk_size, size))
    return nd_budget_refuse (&reader->header.budget, reader->path, error);
  for (gsize z = 0; z < n; z++) {
    guint8 *slice = data + z * samples * nd_sample_size (recording->type);
    const gchar *reason = NULL;

    if (!slices->read (slices, reader->next * n + z,
            plain ? slice : reader->chunk, &reason))
      return set_slices_error (reader, reason, error);
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

  if (nd_reader_has_groups (reader))
    ok = nd_reader_read_from_group (reader, data, error);
  else if (reader->header.slices && reader->header.slices->read_volume)
    ok = read_whole (reader, data, error);
  else if (reader->header.slices)
    ok = read_slices (reader, data, error);
  else if (!nd_reader_go_to (reader, reader->next * reader->stored_size, error))
    ok = FALSE;
  else if (nd_stored_is_plain (&reader->header.stored))
    ok = nd_reader_read_stored (reader, data, reader->stored_size, error);
  else
    ok = read_and_convert (reader, data, error);
  reader->next += ok;
  return ok;
}
