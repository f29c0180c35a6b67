/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndformat.h"

#include "engine/nderror.h"
#include "formats/ndmetaimage.h"
#include "formats/ndnifti.h"
#include "formats/ndnrrd.h"
#include "formats/ndtext.h"

#define FIRST_BYTES (64 * 1024)

/* The beginning of a file, unpacked where all of it is packed. */
typedef struct
{
  NdStream *stream;
  const gchar *path;
  gboolean gzip;
  GByteArray *bytes;            /* as far as it was read */
} Beginning;

static gboolean
describe_raw (NdHeader * header, const Beginning * file,
    const NdRecording * hint, GError ** error)
{
  const guint64 size = nd_stream_size (file->stream);
  NdRecording *recording = &header->recording;
  gsize volume;

  if (file->gzip) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" is compressed but "
        "no NIfTI file: raw volumes must be unpacked first (gunzip)",
        file->path);
    return FALSE;
  }
  if (!hint) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" has no header of "
        "NIfTI, NRRD or MetaImage: to read it as raw samples, say the size and "
        "the type of its volumes", file->path);
    return FALSE;
  }
  nd_header_init (header, "raw");
  *recording = *hint;
  header->stored.type = nd_stored_of (hint->type);
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
        G_GSIZE_FORMAT " samples of %" G_GSIZE_FORMAT " x %s)", file->path,
        size, volume, hint->shape.size[0], hint->shape.size[1],
        hint->shape.size[2], hint->shape.components,
        nd_sample_name (hint->type));
    return FALSE;
  }
  recording->volumes = size / volume;
  return TRUE;
}

/* Until @size bytes of it are there, or all. */
static gboolean
read_up_to (Beginning * file, gsize size, GError ** error)
{
  GByteArray *bytes = file->bytes;
  const guint have = bytes->len;
  gssize got;

  if (size <= have)
    return TRUE;
  g_byte_array_set_size (bytes, size);
  got = nd_stream_read (file->stream, bytes->data + have, size - have);
  g_byte_array_set_size (bytes, have + MAX (got, 0));
  if (got < 0)
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read at its "
        "header: %s", file->path, nd_stream_reason (file->stream));
  return got >= 0;
}

/* A header of text, as far as it goes; where samples are, nothing of them. */
static gboolean
read_text (Beginning * file, gboolean nrrd, GError ** error)
{
  GByteArray *bytes = file->bytes;
  gboolean to_end = FALSE;
  guint before;

  do {
    const gsize n = nrrd ? nd_nrrd_header_size (bytes->data, bytes->len) :
        nd_metaimage_header_size (bytes->data, bytes->len, &to_end);

    if (n > 0 && !to_end) {
      g_byte_array_set_size (bytes, n);
      return TRUE;
    }
    if (bytes->len >= ND_TEXT_MAX) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The header of \"%s\" has "
          "no end within %d MiB", file->path, ND_TEXT_MAX >> 20);
      return FALSE;
    }
    before = bytes->len;
    if (!read_up_to (file, MIN (MAX (2 * (gsize) before, FIRST_BYTES),
                ND_TEXT_MAX), error))
      return FALSE;
  } while (bytes->len > before);
  return TRUE;
}

static gboolean
read_nrrd (NdHeader * header, Beginning * file, GError ** error)
{
  const GByteArray *bytes = file->bytes;

  if (!read_text (file, TRUE, error)
      || !nd_nrrd_parse (header, bytes->data, bytes->len, file->path, error))
    return FALSE;
  /* Lines and bytes that are skipped count from the end of the header. */
  if (!header->files && header->line_skip > 0) {
    for (gsize i = 0; i < bytes->len; i++)
      header->line_skip += bytes->data[i] == '\n';
  } else if (!header->files) {
    header->offset += bytes->len;
  }
  return TRUE;
}

static gboolean
read_metaimage (NdHeader * header, Beginning * file, GError ** error)
{
  return read_text (file, FALSE, error)
      && nd_metaimage_parse (header, file->bytes->data, file->bytes->len,
      file->path, error);
}

static gboolean
read_nifti (NdHeader * header, Beginning * file, GError ** error)
{
  const GByteArray *bytes = file->bytes;
  const gsize size = nd_nifti_header_size (bytes->data, bytes->len);

  /* No more than the file can have is asked for. */
  if (!read_up_to (file, MIN (size, nd_stream_most (file->stream, 0,
                  file->gzip)), error)
      || !nd_nifti_parse (header, bytes->data, bytes->len, file->path, error))
    return FALSE;
  header->compressed = file->gzip;
  return TRUE;
}

gboolean
nd_format_read_header (NdHeader * header, NdStream * stream,
    const gchar * path, const NdRecording * hint, GError ** error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  Beginning file = { stream, path, nd_stream_is_gzip (stream), bytes };

  nd_stream_begin (stream, 0, file.gzip);
  if (!read_up_to (&file, ND_NIFTI_HEADER, error))
    return FALSE;
  if (nd_nifti_detect (bytes->data, bytes->len))
    return read_nifti (header, &file, error);
  if (!file.gzip && nd_nrrd_detect (bytes->data, bytes->len))
    return read_nrrd (header, &file, error);
  if (!file.gzip && nd_metaimage_detect (bytes->data, bytes->len))
    return read_metaimage (header, &file, error);
  return describe_raw (header, &file, hint, error);
}
