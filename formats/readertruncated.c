/* Truncated files of which the whole volumes are read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/reader.h"

#include "core/error.h"

#define SKIPPED 4096

/* The bytes that can be read from the open file, up to @most. Those of a volume
 * that is not whole may be too few. */
static guint64
count_bytes (NdReader *reader, guint64 most)
{
  const guint64 size = nd_input_size (reader->input);
  guint8 bytes[SKIPPED];
  guint64 done = 0;

  if (!reader->header.compressed)
    return size < reader->begin ? 0 : MIN (size - reader->begin, most);
  while (done < most) {
    const gsize volume = reader->stored_size - done % reader->stored_size;
    const gssize got = nd_input_read (reader->input, bytes,
        MIN (MIN (sizeof (bytes), volume), most - done));

    if (got <= 0)
      break;
    done += got;
  }
  return done;
}

/* Leaves the first @whole volumes, and their times and fields. */
static void
cut_off (NdReader *reader, guint64 whole, const gchar *reason)
{
  NdHeader *header = &reader->header;
  NdMetadata *metadata = header->metadata;
  guint n = metadata->volume_fields->len;

  nd_header_warn (header,
      "\"%s\" is truncated%s%s: its header says %" G_GUINT64_FORMAT
      " volumes, and the %" G_GUINT64_FORMAT " whole ones are read",
      nd_reader_file_path (reader), reason ? ": " : "", reason ? reason : "",
      header->recording.volumes, whole);
  header->recording.volumes = whole;
  if (metadata->times->len > whole)
    nd_list_set_size (metadata->times, whole);
  while (n > 0
      && g_array_index (metadata->volume_fields, NdField, n - 1).volume
          >= whole)
    n--;
  nd_list_set_size (metadata->volume_fields, n);
}

gboolean
nd_reader_keep_whole (NdReader *reader, GError **error)
{
  NdHeader *header = &reader->header;
  const guint files = header->files ? header->files->len : 1;
  const guint64 volumes = header->recording.volumes;
  guint64 bytes = 0, whole;

  reader->kept = TRUE;
  for (guint i = 0; i < files && bytes == i * reader->file_bytes; i++) {
    if (!nd_reader_open_file (reader, i, error))
      return FALSE;
    bytes += count_bytes (reader, reader->file_bytes);
  }
  reader->position = ND_READER_NOWHERE;
  whole = bytes / reader->stored_size;
  if (whole == volumes) {
    reader->kept = FALSE;
    return TRUE;
  }
  if (whole == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" is truncated, and no volume is whole: its header says "
        "%" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
        " bytes, and there are %" G_GUINT64_FORMAT,
        nd_reader_file_path (reader), volumes, reader->stored_size, bytes);
    return FALSE;
  }
  cut_off (reader, whole, NULL);
  return TRUE;
}

gboolean
nd_reader_keep_decoded (NdReader *reader, GError **error)
{
  NdHeader *header = &reader->header;
  const gsize size = nd_recording_volume_size (&header->recording);
  gpointer data = nd_budget_alloc (&header->budget, size);
  g_autoptr (GError) reason = NULL;
  guint64 whole;

  if (!data)
    return nd_budget_refuse (&header->budget, reader->path, error);
  while (reader->next < header->recording.volumes
      && nd_reader_read (reader, data, &reason))
    ;
  nd_budget_free (&header->budget, data, size);
  whole = reader->next;
  reader->next = 0;
  if (reason
      && (whole == 0 || !g_error_matches (reason, ND_ERROR, ND_ERROR_READ))) {
    g_propagate_error (error, g_steal_pointer (&reason));
    return FALSE;
  }
  if (reason)
    cut_off (reader, whole, reason->message);
  return TRUE;
}
