/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarrchunks.h"

#include <blosc.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BLOSC_LEVEL 5
#define ZSTD_LEVEL 1

/* The polynomial of CRC-32C with its bits reversed. */
#define SUM_POLYNOMIAL 0x82f63b78u

/* The largest ratio of zlib. */
#define DEFLATE_MAX_RATIO 1032

#define ANY_WINDOW (15 + 32)

/* Blocks of blosc, of which it keeps three. Its own choice is below 8 MiB, and
 * not above the size of the chunk. */
#define BLOCK_MAX (8 << 20)

guint32
nd_zarr_add_to_sum (guint32 sum, const guint8 *bytes, gsize n)
{
  sum = ~sum;
  for (gsize i = 0; i < n; i++) {
    sum ^= bytes[i];
    for (guint bit = 0; bit < 8; bit++)
      sum = sum >> 1 ^ (sum & 1 ? SUM_POLYNOMIAL : 0);
  }
  return ~sum;
}

guint32
nd_zarr_sum (const guint8 *bytes, gsize n)
{
  return nd_zarr_add_to_sum (0, bytes, n);
}

static const gchar *
unpack_zlib (const guint8 *packed, gsize n, guint8 *chunk, gsize size)
{
  z_stream stream = { .next_in = (guint8 *) packed,
    .avail_in = n,
    .next_out = chunk,
    .avail_out = size };
  gboolean ok;

  if (inflateInit2 (&stream, ANY_WINDOW) != Z_OK)
    return "there is no memory to decompress it";
  ok = inflate (&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd (&stream);
  return ok ? NULL : "a chunk is damaged (gzip)";
}

static gsize
block_bytes (const guint8 *packed)
{
  guint32 bytes;

  memcpy (&bytes, packed + 8, sizeof (bytes));
  return GUINT32_FROM_LE (bytes);
}

gsize
nd_zarr_work_bytes (NdZarrPacking packing, const guint8 *packed)
{
  /* packed[3] is the size of a sample. */
  return packing == ND_ZARR_BLOSC
      ? 3 * block_bytes (packed) + 8 * (gsize) packed[3] + 64
      : 0;
}

gboolean
nd_zarr_can_be (NdZarrPacking packing, const guint8 *packed, gsize n,
    gsize size)
{
  unsigned long long frame;
  size_t bytes;

  switch (packing) {
    case ND_ZARR_ZLIB:
      return size / DEFLATE_MAX_RATIO <= n;
    case ND_ZARR_ZSTD:
      frame = ZSTD_getFrameContentSize (packed, n);
      return frame == size || frame == ZSTD_CONTENTSIZE_UNKNOWN;
    case ND_ZARR_BLOSC:
      return n >= BLOSC_MIN_HEADER_LENGTH
          && blosc_cbuffer_validate (packed, n, &bytes) >= 0 && bytes == size
          && block_bytes (packed) <= MIN (size, MAX (BLOCK_MAX, size / 3));
    case ND_ZARR_NONE:
    default:
      return n == size;
  }
}

/* The chunk is cleared first, so that it has no old memory whatever a library
 * leaves out. */
const gchar *
nd_zarr_unpack (NdZarrPacking packing, const guint8 *packed, gsize n,
    guint8 *chunk, gsize size)
{
  memset (chunk, 0, size);
  switch (packing) {
    case ND_ZARR_ZLIB:
      return unpack_zlib (packed, n, chunk, size);
    case ND_ZARR_ZSTD:
      return ZSTD_decompress (chunk, size, packed, n) == size
          ? NULL
          : "a chunk is damaged (Zstandard)";
    case ND_ZARR_BLOSC:
      return blosc_decompress_ctx (packed, chunk, size, 1) == (gint) size
          ? NULL
          : "a chunk is damaged (blosc)";
    case ND_ZARR_NONE:
    default:
      memcpy (chunk, packed, MIN (size, n));
      return NULL;
  }
}

gsize
nd_zarr_pack_most (NdZarrPacking packing, gsize size)
{
  return packing == ND_ZARR_ZSTD ? ZSTD_compressBound (size)
                                 : size + BLOSC_MAX_OVERHEAD;
}

gsize
nd_zarr_pack (NdZarrPacking packing, const guint8 *chunk, gsize size,
    gsize width, guint8 *packed, gsize most)
{
  gsize n;

  if (packing == ND_ZARR_ZSTD) {
    n = ZSTD_compress (packed, most, chunk, size, ZSTD_LEVEL);
    return ZSTD_isError (n) ? 0 : n;
  }
  if (packing == ND_ZARR_BLOSC)
    return MAX (blosc_compress_ctx (BLOSC_LEVEL, BLOSC_SHUFFLE, width, size,
                    chunk, packed, most, "lz4", 0, 1),
        0);
  memcpy (packed, chunk, size);
  return size;
}

gint
nd_zarr_open_file (gint folder, const gchar *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);
  struct stat info;
  gint at = folder;

  for (guint i = 0; parts[i]; i++) {
    /* NONBLOCK, because a pipe would wait for a writer. */
    const gint next = openat (at, parts[i],
        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            | (parts[i + 1] ? O_DIRECTORY : 0));

    if (at != folder)
      close (at);
    if (next < 0)
      return -1;
    at = next;
  }
  if (fstat (at, &info) == 0 && S_ISREG (info.st_mode))
    return at;
  if (at != folder)
    close (at);
  errno = EISDIR;
  return -1;
}

gboolean
nd_zarr_read_at (gint file, guint8 *bytes, gsize n, guint64 offset)
{
  while (n > 0) {
    const gssize got = pread (file, bytes, n, offset);

    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return FALSE;
    bytes += got;
    n -= got;
    offset += got;
  }
  return TRUE;
}

gchar *
nd_zarr_file_name (const NdZarrArray *array, const guint64 *numbers)
{
  GString *name = g_string_new (array->prefixed ? "c" : NULL);

  for (guint i = 0; i < array->rank; i++) {
    if (i > 0 || array->prefixed)
      g_string_append_c (name, array->separator);
    g_string_append_printf (name, "%" G_GUINT64_FORMAT, numbers[i]);
  }
  return g_string_free (name, FALSE);
}

gsize
nd_zarr_chunk_size (const NdZarrArray *array)
{
  gsize bytes = nd_stored_size (array->type);

  for (guint i = 0; i < array->rank; i++)
    bytes *= array->chunk[i];
  return bytes;
}

guint64
nd_zarr_shard_chunks (const NdZarrArray *array)
{
  guint64 n = 1;

  for (guint i = 0; i < array->rank; i++) {
    if (!g_uint64_checked_mul (&n, n, array->shard[i] / array->chunk[i]))
      return G_MAXUINT64;
  }
  return n;
}
