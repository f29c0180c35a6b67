/* Packing in parallel: the stream is that of zlib's inflate for all sizes and
 * numbers of threads, writing that fails, and memory that is short.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/packer.h"

#include "core/threads.h"
#include "tests/fuzz/memory.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#define BLOCK ND_PACKER_BLOCK
#define LARGE 1024

typedef struct
{
  guint8 *bytes;
  gsize n, most;
} Stream;

static gint
write_stream (gpointer data, const guint8 *bytes, gsize n)
{
  Stream *stream = data;

  if (stream->n + n > stream->most)
    return ENOSPC;
  memcpy (stream->bytes + stream->n, bytes, n);
  stream->n += n;
  return 0;
}

/* Adds @n bytes in parts of random sizes. */
static gint
add (NdPacker *packer, const guint8 *bytes, gsize n)
{
  gint reason = 0;

  while (n > 0 && !reason) {
    const gsize most = g_test_rand_int_range (1, 3 * BLOCK);
    const gsize part = MIN (n, most);

    reason = nd_packer_add (packer, bytes, part);
    bytes += part;
    n -= part;
  }
  return reason;
}

static void
assert_unpacks (const Stream *stream, const guint8 *bytes, gsize n)
{
  g_autofree guint8 *back = g_malloc (n + 1);
  z_stream z = { .next_in = stream->bytes,
    .avail_in = stream->n,
    .next_out = back,
    .avail_out = n + 1 };

  g_assert_cmpint (inflateInit2 (&z, -15), ==, Z_OK);
  g_assert_cmpint (inflate (&z, Z_FINISH), ==, Z_STREAM_END);
  g_assert_cmpuint (z.avail_in, ==, 0);
  g_assert_cmpmem (back, z.total_out, bytes, n);
  inflateEnd (&z);
}

static guint8 *
make_bytes (guint kind, gsize n)
{
  guint8 *bytes = g_malloc0 (n + 1);

  for (gsize i = 0; i < n && kind > 0; i++)
    bytes[i] = kind == 1 ? (guint) g_test_rand_int () : (i * i >> 9) + (i & 3);
  return bytes;
}

static void
test_sizes (void)
{
  const gsize sizes[] = { 0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK,
    7 * BLOCK + 12345 };

  for (guint i = 0; i < 2 * 3 * G_N_ELEMENTS (sizes); i++) {
    const gboolean gzip = i % 2;
    const gsize n = sizes[i / 6];
    g_autofree guint8 *bytes = make_bytes (i / 2 % 3, n);
    g_autofree guint8 *first = NULL;
    gsize n_first = 0;

    for (guint threads = 1; threads <= 3; threads++) {
      const guint before = nd_threads_enter (nd_threads_start (threads));
      Stream stream = { g_malloc (n + 1024), 0, n + 1024 };
      NdPacker *packer = nd_packer_new (gzip, write_stream, &stream);

      g_assert_nonnull (packer);
      g_assert_cmpint (add (packer, bytes, n), ==, 0);
      g_assert_cmpint (nd_packer_end (packer), ==, 0);
      g_assert_cmpuint (nd_packer_written (packer), ==, n);
      g_assert_cmphex (nd_packer_sum (packer), ==,
          gzip ? crc32_z (0, bytes, n) : adler32_z (1, bytes, n));
      nd_packer_free (packer);
      nd_threads_leave (before);
      assert_unpacks (&stream, bytes, n);
      if (threads > 1)
        g_assert_cmpmem (stream.bytes, stream.n, first, n_first);
      g_free (first);
      first = stream.bytes;
      n_first = stream.n;
    }
  }
}

/* Nothing is written after the error, and what is written can be ended. */
static void
test_full (void)
{
  const gsize n = 20 * BLOCK;
  g_autofree guint8 *bytes = make_bytes (1, n);

  for (guint threads = 1; threads <= 3; threads++) {
    const guint before = nd_threads_enter (nd_threads_start (threads));
    Stream stream = { g_malloc (n), 0, 5 * BLOCK };
    NdPacker *packer = nd_packer_new (TRUE, write_stream, &stream);
    gint reason = add (packer, bytes, n);
    gsize written;

    g_assert_cmpint (reason, ==, ENOSPC);
    g_assert_cmpint (nd_packer_add (packer, bytes, n), ==, ENOSPC);
    nd_packer_stop (packer);
    written = nd_packer_written (packer);
    g_assert_cmpuint (written, ==, 4 * BLOCK);
    g_assert_cmpint (nd_packer_end (packer), ==, 0);
    g_assert_cmphex (nd_packer_sum (packer), ==, crc32_z (0, bytes, written));
    assert_unpacks (&stream, bytes, written);
    nd_packer_free (packer);
    nd_threads_leave (before);
    g_free (stream.bytes);
  }
}

/* Blocks that wait are dropped. */
static void
test_dropped (void)
{
  g_autofree guint8 *bytes = make_bytes (2, 9 * BLOCK);
  const guint before = nd_threads_enter (nd_threads_start (3));

  for (guint i = 0; i < 10; i++) {
    Stream stream = { g_malloc (9 * BLOCK), 0, 9 * BLOCK };
    NdPacker *packer = nd_packer_new (FALSE, write_stream, &stream);

    g_assert_cmpint (nd_packer_add (packer, bytes, i * BLOCK - i / 2), ==, 0);
    nd_packer_free (packer);
    g_free (stream.bytes);
  }
  nd_threads_leave (before);
}

/* Fewer threads, or none: then there is no packer. */
static void
test_no_memory (void)
{
  const guint before = nd_threads_enter (nd_threads_start (2));
  const gsize n = 3 * BLOCK;
  g_autofree guint8 *bytes = make_bytes (2, n);
  guint none = 0, fewer = 0;

  for (guint i = 1;; i++) {
    Stream stream = { g_malloc (n), 0, n };
    NdPacker *packer;
    gboolean failed;

    memory_fail (i, LARGE);
    packer = nd_packer_new (TRUE, write_stream, &stream);
    failed = memory_has_failed ();
    memory_fail (0, 0);
    if (packer) {
      g_assert_cmpint (add (packer, bytes, n), ==, 0);
      g_assert_cmpint (nd_packer_end (packer), ==, 0);
      assert_unpacks (&stream, bytes, n);
      nd_packer_free (packer);
    }
    g_free (stream.bytes);
    if (!failed)
      break;
    none += packer == NULL;
    fewer += packer != NULL;
  }
  nd_threads_leave (before);
  g_test_message ("no packer %u times, fewer threads %u times", none, fewer);
  g_assert_cmpuint (none, >, 0);
  g_assert_cmpuint (fewer, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/packer/sizes", test_sizes);
  g_test_add_func ("/packer/full", test_full);
  g_test_add_func ("/packer/dropped", test_dropped);
  g_test_add_func ("/packer/no-memory", test_no_memory);
  return g_test_run ();
}
