/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/recording.h"

#include "core/error.h"
#include "formats/headertext.h"
#include "formats/metaimage.h"
#include "formats/nifti.h"
#include "formats/npy.h"
#include "formats/nrrd.h"
#include "formats/rate.h"
#include "formats/target.h"
#include "formats/tiffbuild.h"

#include <errno.h>
#include <string.h>

/* The bytes in the header that the time of one volume needs, and the number of
 * volumes for which there is room if their number is unknown. */
#define TIME_BYTES 52
#define VOLUMES_EXPECTED 1024
#define ROOM_SLACK 256

#define PADDED_LINE 80
#define PAGES_AT_ONCE 1024
#define NRRD_COMMENT "NRRD0004\n# Complete NRRD file format specification at:"

struct _NdWriter
{
  NdTarget target;
  NdOutput *output;   /* for the samples */
  NdOutput *apart;    /* for a detached header, or NULL */
  NdZarrWriter *zarr; /* instead, for folders */

  NdRecording recording;
  gsize volume_size; /* 0: before nd_writer_begin() */
  guint64 volumes, expected;
  NdMetadata *source;   /* or NULL */
  guint64 source_next;  /* volume of the source after the last match */
  NdMetadata *metadata; /* of the volumes written */
  gsize planes;         /* TIFF: pages of a slice */
  gboolean times_known;
  gint64 last_time;
  gchar *warning;
  gboolean roomed;    /* the room for the header is fixed */
  gboolean ended;     /* the bytes after the samples are written */
  gboolean finishing; /* all volumes are written */
  gboolean finished;
  gboolean failed; /* the last volume may be incomplete */
};

NdWriter *
nd_writer_open (const gchar *path, gboolean compress, GError **error)
{
  g_autoptr (NdWriter) writer = g_new0 (NdWriter, 1);

  if (!nd_target_init (&writer->target, path, compress, error))
    return NULL;
  if (writer->target.format == ND_TARGET_ZARR)
    writer->zarr = nd_target_open_folder (&writer->target, error);
  else
    nd_target_open (&writer->target, &writer->output, &writer->apart, error);
  return writer->zarr || writer->output ? g_steal_pointer (&writer) : NULL;
}

/* After an error: forgets volumes that are not whole in the file, as those that
 * were to be compressed. */
static void
count_whole (NdWriter *writer)
{
  NdMetadata *metadata = writer->metadata;
  const NdList *fields = metadata->volume_fields;
  guint n = fields->len;

  if (!writer->output)
    return;
  writer->volumes = MIN (writer->volumes,
      nd_output_stop (writer->output) / writer->volume_size);
  if (metadata->times->len > writer->volumes)
    nd_list_set_size (metadata->times, writer->volumes);
  while (n > 0
      && g_array_index (fields, NdField, n - 1).volume >= writer->volumes)
    n--;
  nd_list_set_size (metadata->volume_fields, n);
}

/* Sets the error for @wanted bytes that could not be written; @reason is an
 * errno. */
static gboolean
set_write_error (NdWriter *writer, gint reason, gsize wanted, GError **error)
{
  const gboolean full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;

  count_whole (writer);
  g_set_error (error, ND_ERROR, full ? ND_ERROR_DISK_FULL : ND_ERROR_WRITE,
      "%s %" G_GSIZE_FORMAT " bytes of \"%s\" after %" G_GUINT64_FORMAT
      " volumes (%s); the volumes before it are in \"%s\"",
      full ? "No space left for" : "Cannot write", wanted, writer->target.path,
      writer->volumes, g_strerror (reason), nd_writer_partial_path (writer));
  writer->failed = TRUE;
  return FALSE;
}

/* Of a header without its fields. */
#define HEADER_ROOM (64 * 1024)

/* Pads with comments or empty lines, which readers of the format ignore. */
static void
pad_text (NdWriter *writer, GString *text, gsize n)
{
  const gboolean nrrd = writer->target.format == ND_TARGET_NRRD;
  gsize at = text->len;

  if (nrrd && n == 1) {
    g_string_insert_c (text, strlen (NRRD_COMMENT), ' ');
    return;
  }
  g_string_set_size (text, at + n);
  memset (text->str + at, ' ', n);
  while (n > 0) {
    const gsize line = n > PADDED_LINE + 1 ? PADDED_LINE : n;

    if (nrrd)
      text->str[at] = '#';
    at += line;
    n -= line;
    text->str[at - 1] = '\n';
  }
}

/* Bytes that suffice for a header of at least @room. */
static gsize
header_size (const NdWriter *writer, gsize room)
{
  const gsize size =
      HEADER_ROOM + nd_metadata_header_size (writer->metadata) + room;

  /* Blocks of gzip. */
  return size + size / 1024;
}

static gboolean
build_text (NdWriter *writer, GByteArray *bytes, gsize room)
{
  g_autoptr (GString) end = g_string_new (NULL);
  g_autoptr (GString) text = nd_text_new (header_size (writer, room));
  g_autofree gchar *data = !writer->target.data_path
      ? NULL
      : g_path_get_basename (writer->finishing ? writer->target.data_path
                                               : writer->target.data_partial);
  const gboolean packed = writer->target.packing != ND_PACKING_NONE;
  guint too_long = 0;

  if (!text)
    return FALSE;
  if (writer->target.format == ND_TARGET_NRRD) {
    nd_nrrd_build (text, &writer->recording, writer->metadata, packed, data,
        writer->target.list, writer->target.plus);
    if (!data)
      g_string_append_c (end, '\n');
  } else {
    too_long = nd_metaimage_build (text, &writer->recording, writer->metadata,
        packed ? (gint64) nd_output_size (writer->output) : -1);
    nd_metaimage_end (end, data);
  }
  if (text->len + end->len < room)
    pad_text (writer, text, room - text->len - end->len);
  g_string_append (text, end->str);
  g_byte_array_append (bytes, (const guint8 *) text->str, text->len);
  g_clear_pointer (&writer->warning, g_free);
  if (too_long > 0)
    writer->warning = g_strdup_printf ("%u fields are too long for MetaImage "
                                       "and are not in \"%s\"",
        too_long, writer->target.path);
  return TRUE;
}

/* Builds the bytes before the samples, at least @room. NULL without memory. */
static GByteArray *
build_header (NdWriter *writer, gsize room)
{
  const gsize size = header_size (writer, room);
  g_autoptr (GByteArray) bytes = nd_text_new_bytes (size);
  gboolean ok = TRUE;

  if (!bytes)
    return NULL;
  writer->recording.volumes = writer->volumes;
  if (writer->target.format == ND_TARGET_NRRD
      || writer->target.format == ND_TARGET_METAIMAGE) {
    ok = build_text (writer, bytes, room);
  } else if (writer->target.format == ND_TARGET_NIFTI
      && writer->target.packing == ND_PACKING_NONE) {
    ok = nd_nifti_build (bytes, &writer->recording, writer->metadata, room);
  } else if (writer->target.format == ND_TARGET_NIFTI) {
    g_autoptr (GByteArray) header = nd_text_new_bytes (size);
    gsize within = room & ~(gsize) 15;

    while (within > 0 && nd_output_stored_size (within) > room)
      within -= 16;
    ok = header
        && nd_nifti_build (header, &writer->recording, writer->metadata,
            within);
    if (ok)
      nd_output_store (writer->output, bytes, header->data, header->len);
  } else if (writer->target.format == ND_TARGET_NPY) {
    nd_npy_build (bytes, &writer->recording, room);
  } else if (writer->target.format == ND_TARGET_TIFF) {
    nd_tiff_build (bytes, &writer->recording, writer->metadata, writer->ended,
        writer->target.ome);
  }
  return ok ? g_steal_pointer (&bytes) : NULL;
}

/* .npy has no times, TIFF only their mean. NIfTI stores a rate. It needs times
 * only if the stream has no rate, or if the source has times. */
static gboolean
wants_times (NdWriter *writer)
{
  if (writer->target.format == ND_TARGET_NPY
      || writer->target.format == ND_TARGET_TIFF)
    return FALSE;
  return writer->target.format != ND_TARGET_NIFTI
      || writer->recording.rate_n == 0
      || (writer->source && writer->source->times->len > 0);
}

/* Estimates the final size of the header. It is at most the size that readers
 * accept, unless the fields alone need more. */
static gsize
estimate_room (NdWriter *writer)
{
  const guint64 volumes =
      MIN (writer->expected ? writer->expected : VOLUMES_EXPECTED,
          ND_TEXT_MAX / TIME_BYTES);
  const NdMetadata *source = writer->source;
  g_autoptr (GByteArray) header = NULL;
  NdMetadata *metadata = writer->metadata;
  gsize room;

  if (writer->target.format == ND_TARGET_RAW)
    return 0;
  /* Room for the fields of all volumes of the source. */
  if (source)
    writer->metadata = (NdMetadata *) source;
  header = build_header (writer, 0);
  writer->metadata = metadata;
  if (!header)
    return 0;
  room = header->len;
  if (wants_times (writer))
    room =
        MAX (room, MIN (room + volumes * TIME_BYTES + ROOM_SLACK, ND_TEXT_MAX));
  return (room + 15) & ~(gsize) 15;
}

/* Writes a detached header. */
static gint
write_apart (NdWriter *writer, const GByteArray *header)
{
  const gint reason = nd_output_begin (writer->apart, 0);

  return reason
      ? reason
      : nd_output_write_header (writer->apart, header->data, header->len);
}

static gint
make_room (NdWriter *writer)
{
  g_autoptr (GByteArray) header = build_header (writer, estimate_room (writer));
  gint reason;

  if (!header)
    return ENOMEM;
  writer->roomed = TRUE;
  writer->planes = writer->target.format == ND_TARGET_TIFF
      ? nd_tiff_planes (&writer->recording, writer->metadata)
      : 1;
  writer->times_known = wants_times (writer);
  /* A detached header is written now too, so that the partial recording can be
   * read. */
  if (writer->target.data_path) {
    reason = nd_output_begin (writer->output, 0);
    return reason ? reason : write_apart (writer, header);
  }
  reason = nd_output_begin (writer->output, header->len);
  return reason
      ? reason
      : nd_output_write_header (writer->output, header->data, header->len);
}

gboolean
nd_writer_begin (NdWriter *writer, const NdRecording *recording, GError **error)
{
  gint reason;

  if (recording->type == ND_FLOAT16 && writer->target.format != ND_TARGET_RAW
      && writer->target.format != ND_TARGET_NPY && !writer->zarr) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" cannot hold float16, which only NumPy, OME-Zarr and raw files "
        "do: write NumPy (.npy) or raw (.raw), or convert to float32",
        writer->target.path);
    return FALSE;
  }
  if ((writer->target.format == ND_TARGET_NIFTI
          && !nd_nifti_supports (recording, writer->target.path, error))
      || (writer->target.format == ND_TARGET_METAIMAGE
          && !nd_metaimage_supports (recording, writer->target.path, error))
      || (writer->target.format == ND_TARGET_NPY
          && !nd_npy_supports (recording, writer->target.path, error))
      || (writer->target.format == ND_TARGET_TIFF
          && !nd_tiff_supports (recording, writer->target.path, error))
      || (writer->zarr
          && !nd_zarr_supports (recording, writer->target.path, error)))
    return FALSE;
  writer->failed = FALSE;
  writer->roomed = FALSE;
  writer->ended = FALSE;
  writer->volumes = 0;
  writer->times_known = TRUE;
  writer->recording = *recording;
  writer->volume_size = nd_recording_volume_size (recording);
  g_clear_pointer (&writer->metadata, nd_metadata_unref);
  writer->metadata = nd_metadata_new (NULL);
  nd_writer_set_source (writer, NULL, 0);
  reason = writer->zarr ? nd_zarr_writer_begin (writer->zarr, recording)
                        : nd_output_begin (writer->output, 0);
  if (reason)
    return set_write_error (writer, reason, writer->volume_size, error);
  return TRUE;
}

void
nd_writer_set_source (NdWriter *writer, NdMetadata *source, guint64 volumes)
{
  g_return_if_fail (writer->metadata && writer->volumes == 0);

  g_clear_pointer (&writer->source, nd_metadata_unref);
  writer->expected = volumes;
  writer->source_next = 0;
  nd_list_set_size (writer->metadata->fields, 0);
  if (!source)
    return;
  writer->source = nd_metadata_ref (source);
  for (guint i = 0; i < source->fields->len; i++) {
    const NdField *field = &g_array_index (source->fields, NdField, i);

    nd_metadata_add (writer->metadata, field->key, field->value);
  }
}

/* Finds the volume of the source with this time, or without times, with this
 * number; FALSE if there is none. */
static gboolean
find_source (NdWriter *writer, gint64 time, guint64 *volume)
{
  const NdList *times = writer->source->times;
  guint64 low = 0, high = times->len;

  *volume = writer->volumes;
  if (times->len == 0)
    return TRUE;
  /* Usually it is the next one. Volumes with equal times match in order. */
  if (writer->source_next >= times->len
      || g_array_index (times, gint64, writer->source_next) != time) {
    while (low < high) {
      const guint64 middle = low + (high - low) / 2;

      if (g_array_index (times, gint64, middle) < time)
        low = middle + 1;
      else
        high = middle;
    }
    writer->source_next = low;
  }
  *volume = writer->source_next;
  if (*volume >= times->len || g_array_index (times, gint64, *volume) != time)
    return FALSE;
  writer->source_next++;
  return TRUE;
}

static void
note_volume (NdWriter *writer, gint64 time)
{
  NdMetadata *metadata = writer->metadata;
  const NdField *fields;
  guint64 volume;
  guint n;

  if (writer->volumes == 0)
    metadata->origin =
        (writer->source ? writer->source->origin : 0) + MAX (time, 0);
  if (time < 0 || (writer->volumes > 0 && time < writer->last_time))
    writer->times_known = FALSE;
  if (writer->times_known) {
    const gint64 relative = time
        - (metadata->origin - (writer->source ? writer->source->origin : 0));

    nd_list_add (metadata->times, relative);
  } else {
    nd_list_set_size (metadata->times, 0);
  }
  writer->last_time = time;
  if (!writer->source || writer->source->volume_fields->len == 0
      || !find_source (writer, time, &volume))
    return;
  fields = nd_metadata_of_volume (writer->source, volume, &n);
  for (guint i = 0; i < n; i++)
    nd_metadata_add_to_volume (metadata, writer->volumes, fields[i].key,
        fields[i].value);
}

/* Writes the components of each slice as pages of their own. Returns 0 or an
 * errno. */
static gint
write_planes (NdWriter *writer, const guint8 *data)
{
  const NdRecording *recording = &writer->recording;
  const gsize slices = recording->shape.size[2];
  const gsize slice = writer->volume_size / slices;
  const gsize planes = writer->planes;
  g_autofree guint8 *plane = g_try_malloc (slice / planes);
  gint reason = plane ? 0 : ENOMEM;

  for (gsize z = 0; z < slices; z++) {
    for (gsize c = 0; c < planes && !reason; c++) {
      nd_tiff_get_plane (recording, plane, data + z * slice, c);
      reason = nd_output_write (writer->output, plane, slice / planes);
    }
  }
  return reason;
}

static gint
write_samples (NdWriter *writer, gconstpointer data)
{
  if (writer->zarr)
    return nd_zarr_writer_write (writer->zarr, writer->volumes, data);
  if (writer->planes > 1)
    return write_planes (writer, data);
  return nd_output_write (writer->output, data, writer->volume_size);
}

gboolean
nd_writer_write (NdWriter *writer, gconstpointer data, gint64 time,
    GError **error)
{
  const gsize size = writer->volume_size;
  gint reason = 0;

  g_return_val_if_fail (size > 0 && !writer->finished, FALSE);

  if (!writer->roomed && !writer->zarr)
    reason = make_room (writer);
  if (!reason)
    reason = write_samples (writer, data);
  if (reason)
    return set_write_error (writer, reason, size, error);
  note_volume (writer, time);
  writer->volumes++;
  return TRUE;
}

guint64
nd_writer_volumes (NdWriter *writer)
{
  return writer->volumes;
}

const gchar *
nd_writer_partial_path (NdWriter *writer)
{
  return nd_target_partial_path (&writer->target);
}

const gchar *
nd_writer_warning (NdWriter *writer)
{
  return writer->warning;
}

/* Returns 0 or an errno. */
static gint
write_header (NdWriter *writer)
{
  const gboolean exactly = writer->target.format == ND_TARGET_NPY
      || writer->target.format == ND_TARGET_TIFF
      || (writer->target.format == ND_TARGET_NIFTI
          && writer->target.packing != ND_PACKING_NONE);
  gsize room = nd_output_room (writer->output);
  g_autoptr (GByteArray) header = NULL;
  gint reason = 0;

  if (writer->target.format == ND_TARGET_RAW)
    return 0;
  header = build_header (writer, writer->target.data_path ? 0 : room);
  if (!header)
    return ENOMEM;
  if (writer->target.data_path)
    return write_apart (writer, header);
  if (header->len > room) {
    reason = nd_output_grow (writer->output, header->len, exactly);
    room = nd_output_room (writer->output);
    if (!reason && header->len < room) {
      g_byte_array_unref (header);
      header = build_header (writer, room);
      if (!header)
        return ENOMEM;
    }
  }
  return reason
      ? reason
      : nd_output_write_header (writer->output, header->data, header->len);
}

/* Writes the part after the samples: the directories of TIFF. Returns 0 or an
 * errno. */
static gint
write_end (NdWriter *writer)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint64 page = 1, n;
  gint reason = 0;

  writer->recording.volumes = writer->volumes;
  while (writer->target.format == ND_TARGET_TIFF && !reason) {
    g_byte_array_set_size (bytes, 0);
    n = nd_tiff_build_pages (bytes, &writer->recording, writer->metadata,
        writer->target.ome, page, PAGES_AT_ONCE);
    if (n == 0)
      break;
    reason = nd_output_write (writer->output, bytes->data, bytes->len);
    page += n;
  }
  writer->ended = !reason;
  return reason ? reason : nd_output_end (writer->output);
}

/* Writes the number of volumes. Returns 0 or an errno. */
static gint
describe_folder (NdWriter *writer)
{
  return nd_zarr_writer_describe (writer->zarr, writer->volumes,
      writer->metadata->origin / 1e9,
      nd_rate_interval (writer->recording.rate_n, writer->recording.rate_d,
          writer->metadata->times));
}

static const NdPart *
samples_part (NdWriter *writer)
{
  return writer->zarr ? nd_zarr_writer_part (writer->zarr)
                      : nd_output_part (writer->output);
}

/* Writes the number of volumes, and waits for the disk. Returns 0 or an
 * errno. */
static gint
writer_complete (NdWriter *writer)
{
  gint reason = writer->zarr ? describe_folder (writer) : write_end (writer);

  if (!reason && !writer->zarr)
    reason = write_header (writer);
  if (!reason)
    reason = nd_part_sync (samples_part (writer));
  if (!reason && writer->apart)
    reason = nd_part_sync (nd_output_part (writer->apart));
  return reason;
}

static void
close_outputs (NdWriter *writer)
{
  g_clear_pointer (&writer->output, nd_output_close);
  g_clear_pointer (&writer->apart, nd_output_close);
}

gboolean
nd_writer_finish (NdWriter *writer, GError **error)
{
  gint reason;

  g_return_val_if_fail (!writer->finished, FALSE);

  if (writer->volumes == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE,
        "\"%s\" was not written: no volume arrived before the end of the "
        "stream",
        writer->target.path);
    return FALSE;
  }
  if (writer->failed) {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE,
        "\"%s\" cannot be completed: writing failed before; the volumes "
        "before that are in \"%s\"",
        writer->target.path, nd_writer_partial_path (writer));
    return FALSE;
  }
  writer->finishing = TRUE;
  reason = writer_complete (writer);
  if (reason) {
    /* nd_writer_close() makes the partial file readable. */
    writer->finishing = FALSE;
    return set_write_error (writer, reason, writer->volume_size, error);
  }
  writer->finished = nd_target_rename (&writer->target, samples_part (writer),
      writer->apart ? nd_output_part (writer->apart) : NULL, error);
  close_outputs (writer);
  if (writer->finished && !writer->warning)
    writer->warning = nd_holds_lost (&writer->target, &writer->recording,
        writer->source, writer->metadata->origin);
  return writer->finished;
}

void
nd_writer_close (NdWriter *writer)
{
  if (writer->zarr) {
    if (!writer->finished && writer->volumes > 0)
      describe_folder (writer);
    nd_zarr_writer_free (writer->zarr,
        !writer->finished && writer->volumes == 0);
  }
  if (writer->output) {
    if (writer->volumes == 0) {
      nd_part_remove (nd_output_part (writer->output));
      if (writer->apart)
        nd_part_remove (nd_output_part (writer->apart));
    } else {
      /* Makes the partial file readable up to the last volume. */
      nd_output_end (writer->output);
      /* A full disk may have no room for times and fields, but for the number
       * of volumes. */
      if (write_header (writer) != 0) {
        nd_list_set_size (writer->metadata->times, 0);
        nd_list_set_size (writer->metadata->volume_fields, 0);
        write_header (writer);
      }
    }
  }
  close_outputs (writer);
  g_clear_pointer (&writer->source, nd_metadata_unref);
  g_clear_pointer (&writer->metadata, nd_metadata_unref);
  g_free (writer->warning);
  nd_target_clear (&writer->target);
  g_free (writer);
}
