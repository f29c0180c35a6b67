/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndstream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/nderror.h"

#define BUFFER_SIZE (256 * 1024)
#define CHUNK ((gsize) 1 << 30)

/* Deflate makes at most 1032 bytes of one (zlib, "Maximum Compression
 * Factor"). */
#define DEFLATE_MAX_RATIO 1032

/* zlib's largest window, and either header. */
#define ANY_WINDOW (15 + 32)

struct _NdStream
{
  gint fd;
  guint64 size;
  guint64 position;             /* of the next byte of the file */
  const gchar *reason;

  gboolean unpack;
  gboolean ended;               /* nothing more is unpacked */
  gboolean at_member;           /* a further gzip member may begin */
  z_stream z;
  guint8 *buffer;               /* what is unpacked next; NULL: never was */
};

NdStream *
nd_stream_open (const gchar * path, gboolean follow, GError ** error)
{
  g_autoptr (NdStream) stream = g_new0 (NdStream, 1);
  struct stat info;
  gint reason;

  /* Not to wait for the other end of a FIFO. */
  stream->fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK
      | (follow ? 0 : O_NOFOLLOW));
  reason = errno;
  if (stream->fd >= 0 && fstat (stream->fd, &info) != 0) {
    reason = errno;
    close (stream->fd);
    stream->fd = -1;
  }
  if (stream->fd < 0 && reason == ELOOP && !follow) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ, "\"%s\" is a symbolic "
        "link: a file that a header names must lie beside it, put the file "
        "itself there", path);
    return NULL;
  }
  if (stream->fd < 0) {
    g_set_error (error, ND_ERROR, reason == ENOENT ? ND_ERROR_NOT_FOUND :
        ND_ERROR_OPEN_READ, "\"%s\" cannot be opened for reading: %s", path,
        g_strerror (reason));
    return NULL;
  }
  if (!S_ISREG (info.st_mode)) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ, "\"%s\" is a folder or a "
        "device: it must be a file", path);
    return NULL;
  }
  stream->size = info.st_size;
  return g_steal_pointer (&stream);
}

void
nd_stream_close (NdStream * stream)
{
  if (stream->buffer)
    inflateEnd (&stream->z);
  g_free (stream->buffer);
  if (stream->fd >= 0)
    close (stream->fd);
  g_free (stream);
}

guint64
nd_stream_size (NdStream * stream)
{
  return stream->size;
}

guint64
nd_stream_most (NdStream * stream, guint64 offset, gboolean unpack)
{
  guint64 most = stream->size < offset ? 0 : stream->size - offset;

  if (unpack && !g_uint64_checked_mul (&most, most, DEFLATE_MAX_RATIO))
    most = G_MAXUINT64;
  return most;
}

gboolean
nd_stream_is_gzip (NdStream * stream)
{
  guint8 magic[2];

  return pread (stream->fd, magic, 2, 0) == 2
      && magic[0] == 0x1f && magic[1] == 0x8b;
}

void
nd_stream_begin (NdStream * stream, guint64 offset, gboolean unpack)
{
  stream->position = offset;
  stream->unpack = unpack;
  stream->ended = FALSE;
  stream->at_member = FALSE;
  stream->reason = NULL;
  if (!unpack)
    return;
  if (!stream->buffer) {
    if (inflateInit2 (&stream->z, ANY_WINDOW) != Z_OK) {
      stream->reason = "there is no memory to unpack it";
      return;
    }
    stream->buffer = g_malloc (BUFFER_SIZE);
  }
  inflateReset2 (&stream->z, ANY_WINDOW);
  stream->z.avail_in = 0;
}

static gssize
read_file (NdStream * stream, guint8 * data, gsize size)
{
  gsize done = 0;

  while (done < size) {
    const gssize got = pread (stream->fd, data + done, MIN (size - done, CHUNK),
        stream->position);

    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      stream->reason = g_strerror (errno);
      return -1;
    }
    if (got == 0)
      break;
    done += got;
    stream->position += got;
  }
  return done;
}

/* Whether another gzip member follows; anything else is no part of it. */
static gboolean
next_member (NdStream * stream)
{
  z_stream *z = &stream->z;

  if (z->avail_in < 2) {
    const guint left = z->avail_in;
    gssize got;

    if (left > 0)
      stream->buffer[0] = *z->next_in;
    got = read_file (stream, stream->buffer + left, BUFFER_SIZE - left);
    z->next_in = stream->buffer;
    z->avail_in = left + MAX (got, 0);
  }
  return z->avail_in >= 2 && z->next_in[0] == 0x1f && z->next_in[1] == 0x8b
      && inflateReset2 (z, ANY_WINDOW) == Z_OK;
}

static gssize
unpack (NdStream * stream, guint8 * data, gsize size)
{
  z_stream *z = &stream->z;
  gsize done = 0;

  while (!stream->ended) {
    gint status;

    if (stream->at_member) {
      stream->at_member = FALSE;
      if (!next_member (stream)) {
        stream->ended = TRUE;
        break;
      }
    }
    if (z->avail_in == 0) {
      const gssize got = read_file (stream, stream->buffer, BUFFER_SIZE);

      if (got < 0)
        return -1;
      z->next_in = stream->buffer;
      z->avail_in = got;
    }
    z->next_out = data + done;
    z->avail_out = MIN (size - done, CHUNK);
    status = inflate (z, Z_NO_FLUSH);
    done = z->next_out - data;
    if (status == Z_STREAM_END) {
      stream->at_member = TRUE;
    } else if (status == Z_BUF_ERROR && z->avail_in == 0 && done < size) {
      stream->reason = "the compressed data end too early";
      return -1;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      stream->reason = z->msg ? z->msg : "it cannot be unpacked";
      return -1;
    }
    /* Not before the end is known where exactly all was asked for. */
    if (done == size)
      break;
  }
  return done;
}

gssize
nd_stream_read (NdStream * stream, gpointer data, gsize size)
{
  if (stream->reason)
    return -1;
  return stream->unpack ? unpack (stream, data, size) :
      read_file (stream, data, size);
}

const gchar *
nd_stream_reason (NdStream * stream)
{
  return stream->reason;
}

gboolean
nd_stream_skip (NdStream * stream, guint64 n)
{
  g_autofree guint8 *rest = NULL;

  if (!stream->unpack) {
    stream->position += n;
    return TRUE;
  }
  rest = g_malloc (BUFFER_SIZE);
  while (n > 0) {
    const gssize got = nd_stream_read (stream, rest, MIN (n, BUFFER_SIZE));

    if (got <= 0)
      return FALSE;
    n -= got;
  }
  return TRUE;
}
