/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndrecording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/nderror.h"
#include "formats/ndnifti.h"

#define BUFFER_SIZE (256 * 1024)
#define CHUNK ((gsize) 1 << 30)

/* Deflate makes at most 1032 bytes of one (zlib, "Maximum Compression
 * Factor"). */
#define DEFLATE_MAX_RATIO 1032

struct _NdReader
{
  gchar *path;
  gzFile file;                  /* reads plain files too, without copying */
  gboolean compressed;
  NdNifti nifti;                /* of a raw file: only what it has */
  gsize stored_size;            /* bytes of one volume in the file */
  guint64 next;
};

/* The bytes got, below @size only at the end of the file; -1 where the file
 * cannot be read or unpacked. */
static gssize
read_bytes (NdReader * reader, guint8 * data, gsize size)
{
  gsize done = 0;

  while (done < size) {
    gint got = gzread (reader->file, data + done, MIN (size - done, CHUNK));

    if (got < 0)
      return -1;
    if (got == 0) {
      gint code;

      /* How zlib says that the compressed data have no end. */
      gzerror (reader->file, &code);
      return code == Z_BUF_ERROR ? -1 : (gssize) done;
    }
    done += got;
  }
  return done;
}

static gboolean
set_read_error (NdReader * reader, GError ** error)
{
  gint code;
  const gchar *text = gzerror (reader->file, &code);
  const gchar *reason = code == Z_ERRNO ? g_strerror (errno)
      : code == Z_BUF_ERROR ? "the compressed data end too early" : text;

  if (reader->nifti.recording.volumes == 0)
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read at its "
        "header: %s", reader->path, reason);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read at "
        "volume %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ": %s",
        reader->path, reader->next + 1, reader->nifti.recording.volumes,
        reason);
  return FALSE;
}

static gboolean
open_file (NdReader * reader, guint64 * size, GError ** error)
{
  /* Not to wait for the other end of a FIFO. */
  gint fd = open (reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  gint reason = errno;
  struct stat info;

  if (fd < 0 || fstat (fd, &info) != 0) {
    g_set_error (error, ND_ERROR, reason == ENOENT ? ND_ERROR_NOT_FOUND :
        ND_ERROR_OPEN_READ, "\"%s\" cannot be opened for reading: %s",
        reader->path, g_strerror (reason));
    if (fd >= 0)
      close (fd);
    return FALSE;
  }
  if (!S_ISREG (info.st_mode)) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ, "\"%s\" is a folder or a "
        "device: it must be a file", reader->path);
    close (fd);
    return FALSE;
  }
  *size = info.st_size;
  reader->file = gzdopen (fd, "rb");
  gzbuffer (reader->file, BUFFER_SIZE);
  reader->compressed = !gzdirect (reader->file);
  return TRUE;
}

static gboolean
open_raw (NdReader * reader, const NdRecording * hint, guint64 size,
    GError ** error)
{
  NdRecording *recording = &reader->nifti.recording;

  if (reader->compressed) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "\"%s\" is compressed but "
        "no NIfTI file: raw volumes must be unpacked first (gunzip)",
        reader->path);
    return FALSE;
  }
  if (!hint) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" has no NIfTI "
        "header: to read it as raw samples, say the size and the type of its "
        "volumes", reader->path);
    return FALSE;
  }
  *recording = *hint;
  reader->nifti.stored = hint->type;
  reader->stored_size = nd_recording_volume_size (hint);
  if (reader->stored_size == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "Volumes of %"
        G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT " samples of %"
        G_GSIZE_FORMAT " components do not fit in memory",
        hint->shape.size[0], hint->shape.size[1], hint->shape.size[2],
        hint->shape.components);
    return FALSE;
  }
  if (size == 0 || size % reader->stored_size != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" has %"
        G_GUINT64_FORMAT " bytes: it must be one or more whole volumes of %"
        G_GSIZE_FORMAT " bytes (%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%"
        G_GSIZE_FORMAT " samples of %" G_GSIZE_FORMAT " x %s)", reader->path,
        size, reader->stored_size, hint->shape.size[0], hint->shape.size[1],
        hint->shape.size[2], hint->shape.components,
        nd_sample_name (hint->type));
    return FALSE;
  }
  recording->volumes = size / reader->stored_size;
  return TRUE;
}

static gboolean
open_nifti (NdReader * reader, const guint8 * bytes, gsize n, guint64 size,
    GError ** error)
{
  NdNifti *nifti = &reader->nifti;
  guint64 wanted, most = size;

  if (!nd_nifti_parse (nifti, bytes, n, reader->path, error))
    return FALSE;
  reader->stored_size = nd_recording_volume_size (&nifti->recording)
      / nd_sample_size (nifti->recording.type) * nd_sample_size (nifti->stored);
  /* nd_nifti_parse() saw to it that this fits. */
  wanted = nifti->offset + reader->stored_size * nifti->recording.volumes;
  if (reader->compressed
      && !g_uint64_checked_mul (&most, size, DEFLATE_MAX_RATIO))
    most = G_MAXUINT64;
  if (wanted > most) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" is truncated: its "
        "header says %" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
        " bytes, which %" G_GUINT64_FORMAT " bytes%s cannot hold",
        reader->path, nifti->recording.volumes, reader->stored_size, size,
        reader->compressed ? " compressed" : "");
    return FALSE;
  }
  return TRUE;
}

NdReader *
nd_reader_open (const gchar * path, const NdRecording * hint, GError ** error)
{
  g_autoptr (NdReader) reader = g_new0 (NdReader, 1);
  guint8 bytes[ND_NIFTI_HEADER];
  guint64 size;
  gboolean ok;
  gssize n;

  reader->path = g_strdup (path);
  if (!open_file (reader, &size, error))
    return NULL;
  n = read_bytes (reader, bytes, sizeof (bytes));
  if (n < 0) {
    set_read_error (reader, error);
    return NULL;
  }
  ok = nd_nifti_detect (bytes, n)
      ? open_nifti (reader, bytes, n, size, error)
      : open_raw (reader, hint, size, error);
  if (!ok)
    return NULL;
  /* In a compressed file this goes back to the beginning, and on from there
   * with the first volume. */
  if (gzseek (reader->file, reader->nifti.offset, SEEK_SET) < 0) {
    set_read_error (reader, error);
    return NULL;
  }
  return g_steal_pointer (&reader);
}

void
nd_reader_close (NdReader * reader)
{
  if (reader->file)
    gzclose_r (reader->file);
  g_free (reader->path);
  g_free (reader);
}

const NdRecording *
nd_reader_recording (NdReader * reader)
{
  return &reader->nifti.recording;
}

gboolean
nd_reader_seekable (NdReader * reader)
{
  return !reader->compressed;
}

gboolean
nd_reader_seek (NdReader * reader, guint64 volume, GError ** error)
{
  if (volume == reader->next)
    return TRUE;
  if (reader->compressed || volume > reader->nifti.recording.volumes) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" cannot be read from "
        "volume %" G_GUINT64_FORMAT ": %s", reader->path, volume + 1,
        reader->compressed ? "it is compressed, unpack it first" :
        "it has fewer volumes");
    return FALSE;
  }
  reader->next = volume;
  if (gzseek (reader->file, reader->nifti.offset
          + volume * reader->stored_size, SEEK_SET) < 0)
    return set_read_error (reader, error);
  return TRUE;
}

static void
swap_samples (guint8 * data, gsize size, gsize width)
{
  if (width == 2) {
    for (gsize i = 0; i < size; i += 2) {
      guint16 sample;

      memcpy (&sample, data + i, 2);
      sample = GUINT16_SWAP_LE_BE (sample);
      memcpy (data + i, &sample, 2);
    }
  } else if (width == 4) {
    for (gsize i = 0; i < size; i += 4) {
      guint32 sample;

      memcpy (&sample, data + i, 4);
      sample = GUINT32_SWAP_LE_BE (sample);
      memcpy (data + i, &sample, 4);
    }
  }
}

/* From the end of @data, where the stored samples lie, to its beginning: they
 * are no wider than what they become, so that none is overwritten unread. */
#define SCALE(Type) \
  for (gsize i = 0; i < n; i++) { \
    Type sample; \
    gfloat scaled; \
\
    memcpy (&sample, from + i * sizeof (Type), sizeof (Type)); \
    scaled = nifti->slope * sample + nifti->intercept; \
    memcpy (data + i * sizeof (gfloat), &scaled, sizeof (gfloat)); \
  }

static void
scale_samples (const NdNifti * nifti, guint8 * data, const guint8 * from,
    gsize n)
{
  switch (nifti->stored) {
    case ND_UINT8:
      SCALE (guint8);
      break;
    case ND_INT16:
      SCALE (gint16);
      break;
    case ND_UINT16:
      SCALE (guint16);
      break;
    default:
      SCALE (gfloat);
      break;
  }
}

gboolean
nd_reader_read (NdReader * reader, gpointer data, GError ** error)
{
  const NdNifti *nifti = &reader->nifti;
  const NdRecording *recording = &nifti->recording;
  const gsize stored = reader->stored_size;
  guint8 *end = (guint8 *) data + nd_recording_volume_size (recording);
  guint8 *samples = end - stored;
  guint8 beyond;
  gssize got;

  g_return_val_if_fail (reader->next < recording->volumes, FALSE);

  got = read_bytes (reader, samples, stored);
  /* Only at the end of a compressed file its check sum is seen. */
  if (got < 0 || (reader->compressed && (gsize) got == stored
          && reader->next + 1 == recording->volumes
          && read_bytes (reader, &beyond, 1) < 0))
    return set_read_error (reader, error);
  if ((gsize) got < stored) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "\"%s\" is truncated: it ends "
        "in volume %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ", %"
        G_GSSIZE_FORMAT " of %" G_GSIZE_FORMAT " bytes are there",
        reader->path, reader->next + 1, recording->volumes, got, stored);
    return FALSE;
  }
  if (nifti->swapped)
    swap_samples (samples, stored, nd_sample_size (nifti->stored));
  if (nifti->scaled)
    scale_samples (nifti, data, samples,
        stored / nd_sample_size (nifti->stored));
  reader->next++;
  return TRUE;
}
