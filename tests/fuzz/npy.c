/* NumPy's .npy, from the magic to the last sample, and .npz, stored and
 * deflated.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/npy.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include <string.h>
#include <zlib.h>

const gchar *const fuzz_name = "npy";

gboolean
fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error)
{
  return nd_npy_parse (header, bytes, n, "npy", error);
}

static void
append_array (GPtrArray *seeds, guint8 version, const gchar *dictionary,
    gsize samples)
{
  GByteArray *bytes = g_byte_array_new ();
  const guint8 begin[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', version, 0,
    strlen (dictionary), 0, 0, 0 };

  g_byte_array_append (bytes, begin, version == 1 ? 10 : 12);
  g_byte_array_append (bytes, (const guint8 *) dictionary, strlen (dictionary));
  for (gsize i = 0; i < samples; i++) {
    const guint8 byte = i;

    g_byte_array_append (bytes, &byte, 1);
  }
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (bytes));
}

static void
append (GByteArray *bytes, guint64 number, guint n)
{
  for (guint i = 0; i < n; i++) {
    const guint8 byte = i < 8 ? number >> (8 * i) : 0;

    g_byte_array_append (bytes, &byte, 1);
  }
}

/* The fields that a local header and the directory have in common, up to the
 * length of the name. */
static void
append_entry (GByteArray *zip, guint method, guint32 sum, gsize packed, gsize n)
{
  append (zip, 20, 2);
  append (zip, 0, 2);
  append (zip, method, 2);
  append (zip, 0, 4);
  append (zip, sum, 4);
  append (zip, packed, 4);
  append (zip, n, 4);
  append (zip, 5, 2);
}

/* An archive with the array @npy, twice. */
static void
append_archive (GPtrArray *seeds, GBytes *npy, gboolean deflated)
{
  GByteArray *zip = g_byte_array_new (), *directory = g_byte_array_new ();
  gsize n;
  const guint8 *bytes = g_bytes_get_data (npy, &n);
  const guint32 sum = crc32 (crc32 (0, NULL, 0), bytes, n);
  guint8 packed[2048];
  z_stream stream = { .next_in = (guint8 *) bytes,
    .avail_in = n,
    .next_out = packed,
    .avail_out = sizeof (packed) };
  const guint method = deflated ? 8 : 0;
  gsize size = n, length;

  g_assert_cmpuint (n, <, sizeof (packed) / 2);
  deflateInit2 (&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  deflate (&stream, Z_FINISH);
  if (deflated)
    size = sizeof (packed) - stream.avail_out;
  else
    memcpy (packed, bytes, n);
  deflateEnd (&stream);
  for (guint i = 0; i < 2; i++) {
    const gsize at = zip->len;

    append (zip, 0x04034b50, 4);
    append_entry (zip, method, sum, size, n);
    append (zip, 0, 2);
    g_byte_array_append (zip, (const guint8 *) (i ? "b.npy" : "a.npy"), 5);
    g_byte_array_append (zip, packed, size);
    append (directory, 0x02014b50, 4);
    append (directory, 20, 2);
    append_entry (directory, method, sum, size, n);
    append (directory, 0, 12);
    append (directory, at, 4);
    g_byte_array_append (directory, (const guint8 *) (i ? "b.npy" : "a.npy"),
        5);
  }
  length = zip->len;
  g_byte_array_append (zip, directory->data, directory->len);
  append (zip, 0x06054b50, 4);
  append (zip, 0, 4);
  append (zip, 2, 2);
  append (zip, 2, 2);
  append (zip, directory->len, 4);
  append (zip, length, 4);
  append (zip, 0, 2);
  g_byte_array_unref (directory);
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (zip));
}

void
fuzz_seeds (GPtrArray *seeds)
{
  seeds_append_written (seeds, ".npy", FALSE);
  append_array (seeds, 1,
      "{'descr': '>u2', 'fortran_order': True, 'shape': (3, 4, 5), }\n", 120);
  append_array (seeds, 2,
      "{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3), }\n", 96);
  append_array (seeds, 3,
      "{'descr': '<i8', 'fortran_order': True, 'shape': (1, 2, 2, 2, 2), }\n",
      128);
  append_archive (seeds, seeds->pdata[0], FALSE);
  append_archive (seeds, seeds->pdata[0], TRUE);
  append_archive (seeds, seeds->pdata[1], TRUE);
}
