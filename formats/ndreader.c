/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndrecording.h"

#include <string.h>

#include "engine/nderror.h"
#include "formats/ndheader.h"
#include "formats/ndmetaimage.h"
#include "formats/ndnifti.h"
#include "formats/ndnrrd.h"
#include "formats/ndrate.h"
#include "formats/ndstream.h"
#include "formats/ndtext.h"

/* Deflate makes at most 1032 bytes of one (zlib, "Maximum Compression
 * Factor"). */
#define DEFLATE_MAX_RATIO 1032

#define FIRST_BYTES (64 * 1024)
#define CHUNK (64 * 1024)

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
  guint64 position;             /* in the samples of all files, in bytes */
  guint64 next;
  guint8 *chunk;                /* samples before conversion, or NULL */

  guint8 *group;                /* volumes of a file with time first */
  guint64 group_first, group_size;
};

static gboolean
set_read_error (NdReader * reader, const gchar * reason, GError ** error)
{
  const GPtrArray *files = reader->header.files;
  const gchar *path = files && reader->file < files->len ?
      g_ptr_array_index (files, reader->file) : reader->path;

  if (reader->stored_size == 0)
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read at its "
        "header: %s", path, reason);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read at "
        "volume %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ": %s", path,
        reader->next + 1, reader->header.recording.volumes, reason);
  return FALSE;
}

static gboolean
set_truncated (NdReader * reader, const gchar * path, guint64 size,
    GError ** error)
{
  const NdHeader *header = &reader->header;

  g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" is truncated: its "
      "header says %" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
      " bytes%s, which %" G_GUINT64_FORMAT " bytes%s cannot hold", path,
      header->recording.volumes, reader->stored_size, header->files
      && header->files->len > 1 ? " in several files" : "", size,
      header->compressed ? " compressed" : "");
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
begin_file (NdReader * reader, const gchar * path, GError ** error)
{
  const NdHeader *header = &reader->header;
  const guint64 size = nd_stream_size (reader->stream);
  guint64 offset = 0, wanted = reader->file_bytes + header->skip, most;

  if (header->line_skip > 0
      && !skip_lines (reader, header->line_skip, &offset, error))
    return FALSE;
  offset += header->offset;
  if (header->at_end)
    offset = size < wanted ? 0 : size - wanted;
  most = size < offset ? 0 : size - offset;
  if (header->compressed
      && !g_uint64_checked_mul (&most, most, DEFLATE_MAX_RATIO))
    most = G_MAXUINT64;
  if (wanted > most)
    return set_truncated (reader, path, size, error);
  nd_stream_begin (reader->stream, offset, header->compressed);
  if (!nd_stream_skip (reader->stream, header->skip))
    return set_read_error (reader, nd_stream_reason (reader->stream) ?
        nd_stream_reason (reader->stream) : "it is too short", error);
  return TRUE;
}

static gboolean
open_file (NdReader * reader, guint file, GError ** error)
{
  GPtrArray *files = reader->header.files;
  const gchar *path = files ? g_ptr_array_index (files, file) : reader->path;

  if (files) {
    g_clear_pointer (&reader->stream, nd_stream_close);
    reader->stream = nd_stream_open (path, FALSE, error);
    if (!reader->stream)
      return FALSE;
  }
  reader->file = file;
  return begin_file (reader, path, error);
}

/* To a byte of the samples; in a compressed file only ahead. */
static gboolean
go_to (NdReader * reader, guint64 position, GError ** error)
{
  const guint file = MIN (position / reader->file_bytes,
      reader->header.files ? reader->header.files->len - 1 : 0);
  guint64 at = reader->position - reader->file * reader->file_bytes;

  if (position == reader->position)
    return TRUE;
  if (file != reader->file || position < reader->position) {
    if (!open_file (reader, file, error))
      return FALSE;
    at = 0;
  }
  reader->position = position;
  if (!nd_stream_skip (reader->stream, position - file * reader->file_bytes
          - at))
    return set_read_error (reader, nd_stream_reason (reader->stream) ?
        nd_stream_reason (reader->stream) : "it is truncated", error);
  return TRUE;
}

/* Of the samples as they are stored, from one file to the next. Bytes got, -1
 * after an error. */
static gssize
read_stored (NdReader * reader, guint8 * data, gsize size, GError ** error)
{
  const guint files = reader->header.files ? reader->header.files->len : 1;
  gsize done = 0;

  while (done < size) {
    guint64 left = (reader->file + 1) * reader->file_bytes - reader->position;
    gssize got;

    if (left == 0) {
      if (reader->file + 1 == files)
        break;
      if (!open_file (reader, reader->file + 1, error))
        return -1;
      continue;
    }
    left = MIN (left, size - done);
    got = nd_stream_read (reader->stream, data + done, left);
    if (got >= 0) {
      done += got;
      reader->position += got;
    }
    /* Only at the end of compressed data their check sum is seen; something
     * may stand between, which is not unpacked without end. */
    if (got >= 0 && reader->header.compressed
        && reader->position == (reader->file + 1) * reader->file_bytes) {
      g_autofree guint8 *beyond = g_malloc (CHUNK);

      got = nd_stream_read (reader->stream, beyond, CHUNK) < 0 ? -1 : got;
    }
    if (got < 0) {
      set_read_error (reader, nd_stream_reason (reader->stream), error);
      return -1;
    }
    if ((guint64) got < left)
      break;
  }
  return done;
}

static gboolean
check_got (NdReader * reader, gssize got, gsize wanted, GError ** error)
{
  if (got < 0)
    return FALSE;
  if ((gsize) got == wanted)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" is truncated: it ends "
      "in volume %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ", %"
      G_GSSIZE_FORMAT " of %" G_GSIZE_FORMAT " bytes are there", reader->path,
      reader->next + 1, reader->header.recording.volumes, got, wanted);
  return FALSE;
}

/* Opening */

static gboolean
open_raw (NdReader * reader, const NdRecording * hint, GError ** error)
{
  const guint64 size = nd_stream_size (reader->stream);
  NdRecording *recording = &reader->header.recording;
  gsize volume;

  if (nd_stream_is_gzip (reader->stream)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" is compressed but "
        "no NIfTI file: raw volumes must be unpacked first (gunzip)",
        reader->path);
    return FALSE;
  }
  if (!hint) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" has no header of "
        "NIfTI, NRRD or MetaImage: to read it as raw samples, say the size and "
        "the type of its volumes", reader->path);
    return FALSE;
  }
  nd_header_init (&reader->header, "raw");
  *recording = *hint;
  reader->header.stored.type = nd_stored_of (hint->type);
  volume = nd_recording_volume_size (hint);
  if (volume == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "Volumes of %"
        G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT " samples of %"
        G_GSIZE_FORMAT " components do not fit in memory",
        hint->shape.size[0], hint->shape.size[1], hint->shape.size[2],
        hint->shape.components);
    return FALSE;
  }
  if (size == 0 || size % volume != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" has %"
        G_GUINT64_FORMAT " bytes: it must be one or more whole volumes of %"
        G_GSIZE_FORMAT " bytes (%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%"
        G_GSIZE_FORMAT " samples of %" G_GSIZE_FORMAT " x %s)", reader->path,
        size, volume, hint->shape.size[0], hint->shape.size[1],
        hint->shape.size[2], hint->shape.components,
        nd_sample_name (hint->type));
    return FALSE;
  }
  recording->volumes = size / volume;
  return TRUE;
}

/* More of the beginning of the file into @bytes; FALSE at its end, or where it
 * cannot be read. */
static gboolean
read_more (NdReader * reader, GByteArray * bytes, gsize size, GError ** error)
{
  const guint have = bytes->len;
  gssize got;

  g_byte_array_set_size (bytes, size);
  got = nd_stream_read (reader->stream, bytes->data + have, size - have);
  g_byte_array_set_size (bytes, have + MAX (got, 0));
  if (got < 0)
    set_read_error (reader, nd_stream_reason (reader->stream), error);
  return got > 0;
}

/* A header of text, as far as it goes; where samples are, nothing of them. */
static gboolean
read_text_header (NdReader * reader, GByteArray * bytes, gboolean nrrd,
    GError ** error)
{
  GError *reason = NULL;
  gboolean to_end = FALSE;

  for (;;) {
    const gsize n = nrrd ? nd_nrrd_header_size (bytes->data, bytes->len) :
        nd_metaimage_header_size (bytes->data, bytes->len, &to_end);

    if (n > 0 && !to_end) {
      g_byte_array_set_size (bytes, n);
      return TRUE;
    }
    if (bytes->len >= ND_TEXT_MAX) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The header of \"%s\" has "
          "no end within %d MiB", reader->path, ND_TEXT_MAX >> 20);
      return FALSE;
    }
    if (!read_more (reader, bytes, MIN (MAX (2 * (gsize) bytes->len,
                    FIRST_BYTES), ND_TEXT_MAX), &reason)) {
      if (reason)
        g_propagate_error (error, reason);
      return reason == NULL;
    }
  }
}

static gboolean
open_nrrd (NdReader * reader, GByteArray * bytes, GError ** error)
{
  NdHeader *header = &reader->header;

  if (!read_text_header (reader, bytes, TRUE, error)
      || !nd_nrrd_parse (header, bytes->data, bytes->len, reader->path, error))
    return FALSE;
  if (!header->files) {
    /* Lines and bytes that are skipped count from the end of the header. */
    if (header->line_skip > 0) {
      for (gsize i = 0; i < bytes->len; i++)
        header->line_skip += bytes->data[i] == '\n';
    } else {
      header->offset += bytes->len;
    }
  }
  return TRUE;
}

static gboolean
open_metaimage (NdReader * reader, GByteArray * bytes, GError ** error)
{
  return read_text_header (reader, bytes, FALSE, error)
      && nd_metaimage_parse (&reader->header, bytes->data, bytes->len,
      reader->path, error);
}

static gboolean
open_nifti (NdReader * reader, GByteArray * bytes, GError ** error)
{
  const gsize size = nd_nifti_header_size (bytes->data, bytes->len);
  GError *reason = NULL;

  /* No more than the file can have is asked for. */
  if (size > bytes->len)
    read_more (reader, bytes, MIN (size, nd_stream_size (reader->stream)
            * (nd_stream_is_gzip (reader->stream) ? DEFLATE_MAX_RATIO : 1)),
        &reason);
  if (reason) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (!nd_nifti_parse (&reader->header, bytes->data, bytes->len, reader->path,
          error))
    return FALSE;
  reader->header.compressed = nd_stream_is_gzip (reader->stream);
  return TRUE;
}

static gboolean
open_any (NdReader * reader, const NdRecording * hint, GError ** error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  GError *reason = NULL;
  gboolean gzip;

  gzip = nd_stream_is_gzip (reader->stream);
  nd_stream_begin (reader->stream, 0, gzip);
  read_more (reader, bytes, ND_NIFTI_HEADER, &reason);
  if (reason) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (nd_nifti_detect (bytes->data, bytes->len))
    return open_nifti (reader, bytes, error);
  if (!gzip && nd_nrrd_detect (bytes->data, bytes->len))
    return open_nrrd (reader, bytes, error);
  if (!gzip && nd_metaimage_detect (bytes->data, bytes->len))
    return open_metaimage (reader, bytes, error);
  return open_raw (reader, hint, error);
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
  if (!reader->stream || !open_any (reader, hint, error)
      || !check_files (reader, error))
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
  if (volume == reader->next)
    return TRUE;
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
  if (reader->position > 0) {
    reader->position = 0;
    if (!open_file (reader, 0, error))
      return FALSE;
  }
  for (gsize at = 0; at < samples; at += rows) {
    const gsize n = MIN (rows, samples - at);
    const gsize wanted = n * volumes * width;

    if (!check_got (reader, read_stored (reader, chunk, wanted, error), wanted,
            error))
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

  if ((!reader->group || first != reader->group_first)
      && !read_group (reader, first, error))
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
    gssize got = read_stored (reader, reader->chunk, wanted, error);

    if (got >= 0 && (gsize) got < wanted)
      return check_got (reader, done + got, reader->stored_size, error);
    if (got < 0)
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
  else if (nd_stored_is_plain (&reader->header.stored))
    ok = check_got (reader, read_stored (reader, data, reader->stored_size,
            error), reader->stored_size, error);
  else
    ok = read_and_convert (reader, data, error);
  reader->next += ok;
  return ok;
}
