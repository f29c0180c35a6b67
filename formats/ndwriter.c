/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndrecording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/nderror.h"
#include "formats/ndnifti.h"

#define BUFFER_SIZE (256 * 1024)
#define CHUNK ((gsize) 1 << 30)

/* Level 1 keeps up with live volumes (80 to 110 MB/s on one core); levels 2 to
 * 9 make speckle at most 2 % smaller. */
#define LEVEL 1

/* zlib's largest window, with a gzip header; and its default. */
#define GZIP_WINDOW (15 + 16)
#define MEMORY_LEVEL 8

/* A gzip member (RFC 1952) whose only block is stored (RFC 1951, 3.2.4): it
 * keeps its length whatever the header says, so that it can be overwritten.
 * Members in a row read as one. */
#define MEMBER_HEAD 10
#define STORED_HEAD 5
#define MEMBER_TAIL 8
#define MEMBER_SIZE (MEMBER_HEAD + STORED_HEAD + ND_NIFTI_ROOM + MEMBER_TAIL)

typedef enum
{
  FORMAT_RAW,
  FORMAT_NIFTI,
  FORMAT_NIFTI_GZ
} Format;

struct _NdWriter
{
  gchar *path, *part;
  Format format;
  gint fd;
  z_stream stream;              /* the samples of a compressed file */
  guint8 *buffer;               /* what the stream gives; NULL: no stream */
  NdRecording recording;
  gsize volume_size;            /* 0: not begun */
  guint64 volumes;
  gboolean finished;
  gboolean failed;              /* the last volume may be there in part */
};

static const gchar *const unsupported_endings[] = {
  ".gz", ".hdr", ".img", ".nrrd", ".nhdr", ".mha", ".mhd", ".npy", ".dcm",
  ".tif", ".tiff", ".png"
};

static gboolean
has_ending (const gchar * path, const gchar * ending)
{
  gsize length = strlen (path), n = strlen (ending);

  return length > n && g_ascii_strcasecmp (path + length - n, ending) == 0;
}

static gboolean
choose_format (NdWriter * writer, GError ** error)
{
  writer->format = has_ending (writer->path, ".nii.gz") ? FORMAT_NIFTI_GZ
      : has_ending (writer->path, ".nii") ? FORMAT_NIFTI : FORMAT_RAW;
  for (guint i = 0; writer->format == FORMAT_RAW
      && i < G_N_ELEMENTS (unsupported_endings); i++) {
    if (has_ending (writer->path, unsupported_endings[i])) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" cannot be "
          "written: the ending %s is none of .nii, .nii.gz, .raw",
          writer->path, unsupported_endings[i]);
      return FALSE;
    }
  }
  return TRUE;
}

NdWriter *
nd_writer_open (const gchar * path, GError ** error)
{
  g_autoptr (NdWriter) writer = g_new0 (NdWriter, 1);
  struct stat info;

  writer->fd = -1;
  writer->path = g_strdup (path);
  writer->part = g_strconcat (path, ".part", NULL);
  if (!choose_format (writer, error))
    return NULL;
  /* It is replaced in the end: a device must not be. */
  if (stat (path, &info) == 0 && !S_ISREG (info.st_mode)) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
        "written: it is a folder or a device, it must be a file", path);
    return NULL;
  }
  writer->fd = open (writer->part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
      0666);
  if (writer->fd < 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
        "opened for writing: %s", writer->part, g_strerror (errno));
    return NULL;
  }
  return g_steal_pointer (&writer);
}

/* @wanted bytes could not be written, for @reason (an errno). */
static gboolean
set_write_error (NdWriter * writer, gint reason, gsize wanted, GError ** error)
{
  const gboolean full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;

  g_set_error (error, ND_ERROR, full ? ND_ERROR_NO_SPACE : ND_ERROR_WRITE,
      "%s %" G_GSIZE_FORMAT " bytes of \"%s\" after %" G_GUINT64_FORMAT
      " volumes (%s); what was written is in \"%s\"", full ?
      "No space left for" : "Cannot write", wanted, writer->path,
      writer->volumes, g_strerror (reason), writer->part);
  writer->failed = TRUE;
  return FALSE;
}

/* 0, or an errno. */
static gint
write_bytes (gint fd, const guint8 * data, gsize size)
{
  while (size > 0) {
    gssize done = write (fd, data, MIN (size, CHUNK));

    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return done < 0 ? errno : EIO;
    data += done;
    size -= done;
  }
  return 0;
}

static void
set_le32 (guint8 * bytes, guint32 number)
{
  number = GUINT32_TO_LE (number);
  memcpy (bytes, &number, sizeof (number));
}

/* The file's first bytes, which say how many volumes there are. */
static gint
write_header (NdWriter * writer)
{
  guint8 member[MEMBER_SIZE] = { 0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 255,
    1, ND_NIFTI_ROOM & 255, ND_NIFTI_ROOM >> 8, ~ND_NIFTI_ROOM & 255,
    (~ND_NIFTI_ROOM >> 8) & 255
  };
  guint8 *header = member + MEMBER_HEAD + STORED_HEAD;

  if (writer->format == FORMAT_RAW)
    return 0;
  writer->recording.volumes = writer->volumes;
  nd_nifti_build (header, &writer->recording);
  if (writer->format == FORMAT_NIFTI)
    return write_bytes (writer->fd, header, ND_NIFTI_ROOM);
  set_le32 (header + ND_NIFTI_ROOM, crc32 (0, header, ND_NIFTI_ROOM));
  set_le32 (header + ND_NIFTI_ROOM + 4, ND_NIFTI_ROOM);
  return write_bytes (writer->fd, member, MEMBER_SIZE);
}

/* gzFile is not used: where a write fails it reads memory of the caller again
 * when it is closed. 0, or an errno. */
static gint
write_compressed (NdWriter * writer, const guint8 * data, gsize size,
    gint flush)
{
  z_stream *stream = &writer->stream;
  gint status = Z_OK;

  do {
    gint reason = 0;

    if (stream->avail_in == 0) {
      stream->next_in = (guint8 *) data;
      stream->avail_in = MIN (size, CHUNK);
      data += stream->avail_in;
      size -= stream->avail_in;
    }
    status = deflate (stream, size > 0 ? Z_NO_FLUSH : flush);
    if (stream->avail_out == 0 || status == Z_STREAM_END) {
      reason = write_bytes (writer->fd, writer->buffer,
          BUFFER_SIZE - stream->avail_out);
      stream->next_out = writer->buffer;
      stream->avail_out = BUFFER_SIZE;
    }
    if (reason) {
      stream->avail_in = 0;
      return reason;
    }
  } while (size > 0 || stream->avail_in > 0
      || (flush == Z_FINISH && status != Z_STREAM_END));
  return 0;
}

/* 0, or an errno. */
static gint
begin_compressed (NdWriter * writer)
{
  if (!writer->buffer) {
    if (deflateInit2 (&writer->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW,
            MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
      return ENOMEM;
    writer->buffer = g_malloc (BUFFER_SIZE);
  }
  deflateReset (&writer->stream);
  writer->stream.avail_in = 0;
  writer->stream.next_out = writer->buffer;
  writer->stream.avail_out = BUFFER_SIZE;
  return 0;
}

gboolean
nd_writer_begin (NdWriter * writer, const NdRecording * recording,
    GError ** error)
{
  gint reason;

  if (writer->format != FORMAT_RAW
      && !nd_nifti_supports (recording, writer->path, error))
    return FALSE;
  writer->failed = FALSE;
  writer->volumes = 0;
  writer->recording = *recording;
  writer->volume_size = nd_recording_volume_size (recording);
  if (ftruncate (writer->fd, 0) != 0 || lseek (writer->fd, 0, SEEK_SET) < 0)
    return set_write_error (writer, errno, ND_NIFTI_ROOM, error);
  reason = write_header (writer);
  if (!reason && writer->format == FORMAT_NIFTI_GZ)
    reason = begin_compressed (writer);
  if (reason)
    return set_write_error (writer, reason, ND_NIFTI_ROOM, error);
  return TRUE;
}

gboolean
nd_writer_write (NdWriter * writer, gconstpointer data, GError ** error)
{
  const gsize size = writer->volume_size;
  gint reason;

  g_return_val_if_fail (size > 0 && !writer->finished, FALSE);

  reason = writer->format == FORMAT_NIFTI_GZ
      ? write_compressed (writer, data, size, Z_NO_FLUSH)
      : write_bytes (writer->fd, data, size);
  if (reason)
    return set_write_error (writer, reason, size, error);
  writer->volumes++;
  return TRUE;
}

guint64
nd_writer_volumes (NdWriter * writer)
{
  return writer->volumes;
}

const gchar *
nd_writer_part (NdWriter * writer)
{
  return writer->part;
}

gboolean
nd_writer_finish (NdWriter * writer, GError ** error)
{
  gint reason = 0;

  g_return_val_if_fail (!writer->finished, FALSE);

  if (writer->volumes == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" was not written: no "
        "volume came before the end of the stream", writer->path);
    return FALSE;
  }
  if (writer->failed) {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" cannot be "
        "completed: writing failed before; what was written is in \"%s\"",
        writer->path, writer->part);
    return FALSE;
  }
  if (writer->format == FORMAT_NIFTI_GZ)
    reason = write_compressed (writer, NULL, 0, Z_FINISH);
  if (!reason && lseek (writer->fd, 0, SEEK_SET) < 0)
    reason = errno;
  if (!reason)
    reason = write_header (writer);
  /* Some file systems tell only now that the disk is full. */
  if (close (writer->fd) != 0 && !reason)
    reason = errno;
  writer->fd = -1;
  if (reason)
    return set_write_error (writer, reason, writer->volume_size, error);
  if (rename (writer->part, writer->path) != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" is complete but "
        "cannot be named \"%s\": %s", writer->part, writer->path,
        g_strerror (errno));
    return FALSE;
  }
  writer->finished = TRUE;
  return TRUE;
}

void
nd_writer_close (NdWriter * writer)
{
  if (writer->buffer)
    deflateEnd (&writer->stream);
  g_free (writer->buffer);
  if (writer->fd >= 0) {
    close (writer->fd);
    if (writer->volumes == 0)
      unlink (writer->part);
  }
  g_free (writer->path);
  g_free (writer->part);
  g_free (writer);
}
