/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/input.h"

#include "core/part.h"
#include "core/written.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_SIZE (256 * 1024)
#define CHUNK ((gsize) 1 << 30)
#define SKIPPED (32 * 1024)

/* One byte of deflate data makes at most 1032 bytes (zlib, "Maximum Compression
 * Factor"). */
#define DEFLATE_MAX_RATIO 1032

/* zlib's largest window, for a zlib or a gzip header, and for neither. */
#define ANY_WINDOW (15 + 32)
#define BARE_WINDOW (-15)

struct _NdInput
{
  gint fd; /* -1: @source */
  NdSource source;
  guint64 size;
  guint64 position; /* of the next byte in the file */
  const gchar *reason;

  gboolean unpack;
  gboolean bare; /* the deflate data have no frame with a check sum: */
  gboolean unchecked;
  guint32 sum, wanted_sum;
  gboolean ended;     /* the compressed data has ended */
  gboolean at_member; /* another gzip member may begin */
  z_stream z;
  guint8 *buffer; /* compressed bytes; NULL: unused */
};

NdInput *
nd_input_new (const NdSource *source)
{
  NdInput *input = g_new0 (NdInput, 1);

  input->fd = -1;
  input->source = *source;
  input->size = source->size;
  return input;
}

NdInput *
nd_input_open (const gchar *path, gboolean follow, GError **error)
{
  guint64 size;
  const gint fd = nd_file_open (path, follow, &size, error);
  NdInput *input;

  if (fd < 0)
    return NULL;
  input = g_new0 (NdInput, 1);
  input->fd = fd;
  input->size = size;
  return input;
}

void
nd_input_close (NdInput *input)
{
  if (input->buffer)
    inflateEnd (&input->z);
  g_free (input->buffer);
  if (input->fd >= 0)
    close (input->fd);
  g_free (input);
}

guint64
nd_input_size (NdInput *input)
{
  return input->size;
}

guint64
nd_input_most (NdInput *input, guint64 offset, gboolean unpack)
{
  guint64 most = input->size < offset ? 0 : input->size - offset;

  if (unpack && !g_uint64_checked_mul (&most, most, DEFLATE_MAX_RATIO))
    most = G_MAXUINT64;
  return most;
}

/* -1 with the reason. */
static gssize
input_read_at (NdInput *input, guint64 offset, guint8 *data, gsize size)
{
  gssize got;

  if (input->fd < 0)
    return input->source.read (input->source.data, offset, data, size,
        &input->reason);
  got = nd_file_read (input->fd, offset, data, size);
  if (got < 0)
    input->reason = g_strerror (errno);
  return got;
}

static gboolean
is_gzip_at (NdInput *input, guint64 offset)
{
  guint8 magic[2];

  return input_read_at (input, offset, magic, 2) == 2 && magic[0] == 0x1f
      && magic[1] == 0x8b;
}

gboolean
nd_input_is_gzip (NdInput *input)
{
  return is_gzip_at (input, 0);
}

guint32
nd_input_gzip_states (NdInput *input, guint64 offset)
{
  guint32 size;

  if (input->size < offset + sizeof (size) || !is_gzip_at (input, offset)
      || input_read_at (input, input->size - sizeof (size), (guint8 *) &size,
             sizeof (size))
          != sizeof (size))
    return 0;
  return GUINT32_FROM_LE (size);
}

static void
input_begin (NdInput *input, guint64 offset, gboolean unpack, gint window)
{
  input->position = offset;
  input->bare = input->unchecked = FALSE;
  input->unpack = unpack;
  input->ended = FALSE;
  input->at_member = FALSE;
  input->reason = NULL;
  if (!unpack)
    return;
  if (!input->buffer) {
    input->buffer = g_try_malloc (BUFFER_SIZE);
    if (!input->buffer || inflateInit2 (&input->z, window) != Z_OK) {
      g_clear_pointer (&input->buffer, g_free);
      input->reason = "there is no memory to unpack it";
      return;
    }
  }
  inflateReset2 (&input->z, window);
  input->z.avail_in = 0;
}

void
nd_input_begin (NdInput *input, guint64 offset, gboolean unpack)
{
  input_begin (input, offset, unpack, ANY_WINDOW);
}

void
nd_input_begin_bare (NdInput *input, guint64 offset, guint32 sum)
{
  input_begin (input, offset, TRUE, BARE_WINDOW);
  input->bare = TRUE;
  input->sum = crc32 (0, NULL, 0);
  input->wanted_sum = sum;
}

void
nd_input_begin_deflate (NdInput *input, guint64 offset)
{
  nd_input_begin_bare (input, offset, 0);
  input->unchecked = TRUE;
}

static gssize
input_read_file (NdInput *input, guint8 *data, gsize size)
{
  gsize done = 0;

  while (done < size) {
    const gssize got = input_read_at (input, input->position, data + done,
        MIN (size - done, CHUNK));

    if (got < 0)
      return -1;
    if (got == 0)
      break;
    done += got;
    input->position += got;
  }
  return done;
}

/* TRUE if another gzip member follows; other bytes are ignored. */
static gboolean
next_member (NdInput *input)
{
  z_stream *z = &input->z;

  if (z->avail_in < 2) {
    const guint left = z->avail_in;
    gssize got;

    if (left > 0)
      input->buffer[0] = *z->next_in;
    got = input_read_file (input, input->buffer + left, BUFFER_SIZE - left);
    z->next_in = input->buffer;
    z->avail_in = left + MAX (got, 0);
  }
  return z->avail_in >= 2 && z->next_in[0] == 0x1f && z->next_in[1] == 0x8b
      && inflateReset2 (z, ANY_WINDOW) == Z_OK;
}

/* Adds the unpacked bytes to the check sum. FALSE if the sum is wrong at the
 * end of the data. */
static gboolean
check_bare (NdInput *input, const guint8 *data, gsize n)
{
  input->sum = crc32_z (input->sum, data, n);
  if (!input->ended || input->unchecked || input->sum == input->wanted_sum)
    return TRUE;
  input->reason = "its check sum is wrong";
  return FALSE;
}

static gssize
input_unpack (NdInput *input, guint8 *data, gsize size)
{
  z_stream *z = &input->z;
  gsize done = 0;

  while (!input->ended) {
    gint status;

    if (input->at_member) {
      input->at_member = FALSE;
      if (!next_member (input)) {
        input->ended = TRUE;
        break;
      }
    }
    if (z->avail_in == 0) {
      const gssize got = input_read_file (input, input->buffer, BUFFER_SIZE);

      if (got < 0)
        return -1;
      z->next_in = input->buffer;
      z->avail_in = got;
    }
    z->next_out = data + done;
    z->avail_out = MIN (size - done, CHUNK);
    status = inflate (z, Z_NO_FLUSH);
    nd_written (data + done, z->next_out - (data + done));
    done = z->next_out - data;
    if (status == Z_STREAM_END) {
      input->at_member = !input->bare;
      input->ended = input->bare;
    } else if (status == Z_BUF_ERROR && z->avail_in == 0 && done < size) {
      input->reason = "the compressed data end too early";
      return -1;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      input->reason = z->msg ? z->msg : "it cannot be unpacked";
      return -1;
    }
    /* Checked after the status, so that the end of the data is noticed even if
     * the caller asked for exactly all bytes. */
    if (done == size)
      break;
  }
  return input->bare && !check_bare (input, data, done) ? -1 : (gssize) done;
}

gssize
nd_input_read (NdInput *input, gpointer data, gsize size)
{
  if (input->reason)
    return -1;
  return input->unpack ? input_unpack (input, data, size)
                       : input_read_file (input, data, size);
}

const gchar *
nd_input_reason (NdInput *input)
{
  return input->reason;
}

gboolean
nd_input_skip (NdInput *input, guint64 n)
{
  guint8 rest[SKIPPED];

  if (!input->unpack) {
    input->position += n;
    return TRUE;
  }
  while (n > 0) {
    const gssize got = nd_input_read (input, rest, MIN (n, SKIPPED));

    if (got <= 0)
      return FALSE;
    n -= got;
  }
  return TRUE;
}
