/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/output.h"

#include "formats/packer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MOVE_SIZE ((gsize) 4 << 20)
#define CHUNK ((gsize) 1 << 30)
#define BLOCK ((gsize) 64 * 1024) /* a multiple of the file system's block */

/* Blocks that are not compressed. */
#define BLOCK_HEAD_SIZE 5
#define STORED_MAX 65535

static const guint8 gzip_head[] = { 0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0,
  255 };
static const guint8 zlib_head[] = { 0x78, 0x01 };

struct _NdOutput
{
  NdPart part;
  NdPacking packing;
  gsize room;
  guint64 size;
  NdPacker *packer; /* NULL before the first samples */
  gsize stored;     /* bytes of the header in the gzip stream */
  guint32 stored_sum;
  guint64 tail; /* size of the samples before the sum after them; 0: none yet */
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
  gint reason;

  g_clear_pointer (&output->packer, nd_packer_free);
  reason = nd_part_close (&output->part);
  g_free (output);
  return reason;
}

static gint
output_write_bytes (gint fd, const guint8 *data, gsize size, guint64 at)
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

/* Called by threads of the packer, one at a time. */
static gint
output_append (gpointer data_of, const guint8 *data, gsize size)
{
  NdOutput *output = data_of;
  const gint reason = output_write_bytes (output->part.fd, data, size,
      output->room + output->size);

  if (!reason)
    output->size += size;
  return reason;
}

gint
nd_output_begin (NdOutput *output, gsize room)
{
  g_clear_pointer (&output->packer, nd_packer_free);
  output->room = room;
  output->size = output->tail = 0;
  return ftruncate (output->part.fd, 0) == 0 ? 0 : errno;
}

/* Begins the stream, unless the header did. Returns 0 or an errno. */
static gint
begin_packing (NdOutput *output)
{
  const gboolean gzip = output->packing == ND_PACKING_GZIP;

  if (output->packer)
    return 0;
  output->packer = nd_packer_new (gzip, output_append, output);
  if (!output->packer)
    return ENOMEM;
  return output->stored > 0 ? 0
      : gzip ? output_append (output, gzip_head, sizeof (gzip_head))
             : output_append (output, zlib_head, sizeof (zlib_head));
}

gint
nd_output_write (NdOutput *output, gconstpointer data, gsize size)
{
  gint reason;

  if (output->packing == ND_PACKING_NONE)
    return output_append (output, data, size);
  reason = begin_packing (output);
  return reason ? reason : nd_packer_add (output->packer, data, size);
}

guint64
nd_output_stop (NdOutput *output)
{
  if (output->packing == ND_PACKING_NONE)
    return output->size;
  if (!output->packer)
    return 0;
  nd_packer_stop (output->packer);
  return nd_packer_written (output->packer);
}

/* The sums and sizes that end the stream. */
static gint
write_tail (NdOutput *output)
{
  const guint64 written = nd_packer_written (output->packer);
  const guint32 sum = nd_packer_sum (output->packer);
  const guint32 zlib = GUINT32_TO_BE (sum);
  const guint32 gzip[] = {
    GUINT32_TO_LE (crc32_combine (output->stored_sum, sum, written)),
    GUINT32_TO_LE ((guint32) (output->stored + written))
  };

  output->size = output->tail;
  return output->packing == ND_PACKING_GZIP
      ? output_append (output, (const guint8 *) gzip, sizeof (gzip))
      : output_append (output, (const guint8 *) &zlib, sizeof (zlib));
}

gint
nd_output_end (NdOutput *output)
{
  gint reason;

  if (output->packing == ND_PACKING_NONE || output->tail > 0)
    return 0;
  reason = begin_packing (output);
  if (!reason)
    reason = nd_packer_end (output->packer);
  if (reason)
    return reason;
  output->tail = output->size;
  return write_tail (output);
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
output_move (NdOutput *output, gsize by)
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
    reason = output_write_bytes (output->part.fd, bytes, n, at + by);
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
  reason = output_move (output, by);
  if (!reason)
    output->room += by;
  return reason;
}

gint
nd_output_write_header (NdOutput *output, gconstpointer header, gsize size)
{
  const gint reason = output_write_bytes (output->part.fd, header, size, 0);

  /* The sum is also of the header. */
  return reason || output->stored == 0 || output->tail == 0
      ? reason
      : write_tail (output);
}

void
nd_output_store (NdOutput *output, GByteArray *bytes, const guint8 *header,
    gsize n)
{
  output->stored = n;
  output->stored_sum = crc32_z (0, header, n);
  g_byte_array_append (bytes, gzip_head, sizeof (gzip_head));
  while (n > 0) {
    const gsize size = MIN (n, STORED_MAX);
    const guint8 head[BLOCK_HEAD_SIZE] = { 0, size, size >> 8, ~size,
      (guint16) ~size >> 8 };

    g_byte_array_append (bytes, head, BLOCK_HEAD_SIZE);
    g_byte_array_append (bytes, header, size);
    header += size;
    n -= size;
  }
}

gsize
nd_output_stored_size (gsize n)
{
  return sizeof (gzip_head)
      + (n + STORED_MAX - 1) / STORED_MAX * BLOCK_HEAD_SIZE + n;
}
