/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/output.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_SIZE (256 * 1024)
#define MOVE_SIZE ((gsize) 4 << 20)
#define CHUNK ((gsize) 1 << 30)
#define BLOCK ((gsize) 64 * 1024) /* a multiple of the file system's block */

/* Level 1 is fast enough for live volumes (80 to 110 MB/s on one core). Levels
 * 2 to 9 compress speckle at most 2 % better. */
#define LEVEL 1

/* zlib's largest window with a zlib or a gzip header, and its default memory
 * level. */
#define ZLIB_WINDOW 15
#define GZIP_WINDOW (15 + 16)
#define MEMORY_LEVEL 8

/* Sizes in a gzip member of stored blocks. */
#define HEAD_SIZE 10
#define BLOCK_HEAD_SIZE 5
#define STORED_MAX 65535
#define TAIL_SIZE 8

struct _NdOutput
{
  NdPart part;
  NdPacking packing;
  gsize room;
  guint64 size;
  z_stream stream;
  guint8 *buffer; /* output of the stream; NULL: no stream */
};

gint
nd_output_open (NdOutput **output, const gchar *path, NdPacking packing)
{
  NdPart part;
  const gint reason = nd_part_create (&part, path);

  if (reason)
    return reason;
  *output = g_new0 (NdOutput, 1);
  (*output)->part = part;
  (*output)->packing = packing;
  return 0;
}

const NdPart *
nd_output_part (NdOutput *output)
{
  return &output->part;
}

gint
nd_output_close (NdOutput *output)
{
  const gint reason = nd_part_close (&output->part);

  if (output->buffer)
    deflateEnd (&output->stream);
  g_free (output->buffer);
  g_free (output);
  return reason;
}

static gint
write_bytes (gint fd, const guint8 *data, gsize size, guint64 at)
{
  while (size > 0) {
    const gssize done = pwrite (fd, data, MIN (size, CHUNK), at);

    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return done < 0 ? errno : EIO;
    data += done;
    size -= done;
    at += done;
  }
  return 0;
}

static gint
append (NdOutput *output, const guint8 *data, gsize size)
{
  const gint reason =
      write_bytes (output->part.fd, data, size, output->room + output->size);

  if (!reason)
    output->size += size;
  return reason;
}

gint
nd_output_begin (NdOutput *output, gsize room)
{
  output->room = room;
  output->size = 0;
  if (ftruncate (output->part.fd, 0) != 0)
    return errno;
  if (output->packing == ND_PACKING_NONE)
    return 0;
  if (!output->buffer) {
    if (deflateInit2 (&output->stream, LEVEL, Z_DEFLATED,
            output->packing == ND_PACKING_GZIP ? GZIP_WINDOW : ZLIB_WINDOW,
            MEMORY_LEVEL, Z_DEFAULT_STRATEGY)
        != Z_OK)
      return ENOMEM;
    output->buffer = g_malloc (BUFFER_SIZE);
  }
  deflateReset (&output->stream);
  output->stream.avail_in = 0;
  output->stream.next_out = output->buffer;
  output->stream.avail_out = BUFFER_SIZE;
  return 0;
}

/* Not gzFile: after a failed write, gzclose() reads the caller's memory
 * again. */
static gint
pack (NdOutput *output, const guint8 *data, gsize size, gint flush)
{
  z_stream *stream = &output->stream;
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
      reason = append (output, output->buffer, BUFFER_SIZE - stream->avail_out);
      stream->next_out = output->buffer;
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

gint
nd_output_write (NdOutput *output, gconstpointer data, gsize size)
{
  return output->packing == ND_PACKING_NONE
      ? append (output, data, size)
      : pack (output, data, size, Z_NO_FLUSH);
}

gint
nd_output_end (NdOutput *output)
{
  return output->buffer ? pack (output, (const guint8 *) "", 0, Z_FINISH) : 0;
}

guint64
nd_output_size (NdOutput *output)
{
  return output->size;
}

gsize
nd_output_room (NdOutput *output)
{
  return output->room;
}

/* Moves the samples, from the last byte to the first, so that none is
 * overwritten unread. Allocates the space first. */
static gint
move (NdOutput *output, gsize by)
{
  g_autofree guint8 *bytes = g_malloc (MOVE_SIZE);
  guint64 left = output->size;
  gint reason = posix_fallocate (output->part.fd, output->room + left, by);

  while (!reason && left > 0) {
    const gsize n = MIN (left, MOVE_SIZE);
    const guint64 at = output->room + left - n;
    gsize done = 0;

    while (done < n) {
      const gssize got =
          pread (output->part.fd, bytes + done, n - done, at + done);

      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        return got < 0 ? errno : EIO;
      done = MIN (done + got, n); /* avoids a false warning of GCC 13 */
    }
    reason = write_bytes (output->part.fd, bytes, n, at + by);
    left -= n;
  }
  return reason;
}

gint
nd_output_grow (NdOutput *output, gsize room, gboolean exactly)
{
  gsize by = room - output->room;
  gint reason;

  if (!exactly) {
    by = (by + BLOCK - 1) / BLOCK * BLOCK;
    if (fallocate (output->part.fd, FALLOC_FL_INSERT_RANGE, 0, by) == 0) {
      output->room += by;
      return 0;
    }
  }
  reason = move (output, by);
  if (!reason)
    output->room += by;
  return reason;
}

gint
nd_output_write_header (NdOutput *output, gconstpointer header, gsize size)
{
  return write_bytes (output->part.fd, header, size, 0);
}

static void
append_number (GByteArray *bytes, guint32 number, guint n)
{
  for (guint i = 0; i < n; i++) {
    const guint8 byte = number >> (8 * i);

    g_byte_array_append (bytes, &byte, 1);
  }
}

void
nd_output_store (GByteArray *member, const guint8 *bytes, gsize n)
{
  static const guint8 head[HEAD_SIZE] = { 0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0,
    0, 255 };
  const guint32 sum = crc32 (crc32 (0, NULL, 0), bytes, n);
  gsize done = 0;

  g_byte_array_append (member, head, sizeof (head));
  do {
    const gsize n_stored = MIN (n - done, STORED_MAX);

    append_number (member, done + n_stored == n, 1);
    append_number (member, n_stored, 2);
    append_number (member, ~n_stored, 2);
    g_byte_array_append (member, bytes + done, n_stored);
    done += n_stored;
  } while (done < n);
  append_number (member, sum, 4);
  append_number (member, n, 4);
}

gsize
nd_output_stored_size (gsize n)
{
  const gsize blocks = n == 0 ? 1 : (n + STORED_MAX - 1) / STORED_MAX;

  return HEAD_SIZE + blocks * BLOCK_HEAD_SIZE + n + TAIL_SIZE;
}
