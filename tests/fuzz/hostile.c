/* Mutates valid inputs of a target with a seeded generator. Each mutation is
 * read or refused, with no more memory than its size justifies. It is read
 * twice, with another byte in all new and old memory: a reader that hands out a
 * byte that it did not write reads differently.
 *
 *   hostile-TARGET [FILE...]
 *
 * With files it reads these twice. The variables ND_SEED and ND_MUTATIONS
 * repeat a run or make it longer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MUTATIONS 5000

/* The memory limit: buffers and tables of fixed size; for each byte of the
 * file, several times the text of a header; and the samples that compressed
 * bytes can expand to, up to four times as wide. */
#ifndef MEMORY_FIXED
#define MEMORY_FIXED (3 << 20)
#endif
#define MEMORY_A_BYTE (64 + 4 * 1032)

static const gchar *const numbers[] = {
  "0",
  "-1",
  "1",
  "2",
  "3",
  "65536",
  "2147483647",
  "2147483648",
  "4294967296",
  "4294967297",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551615",
  "99999999999999999999999",
  "-9223372036854775808",
  "1e308",
  "1e-308",
  "nan",
  "inf",
  "0x10",
  "1.5",
  "",
  " ",
  "1 1",
  "+1",
  "1e5",
};

static const gchar *const words[] = {
  "../../../etc/passwd",
  "/etc/passwd",
  "/dev/zero",
  "/dev/stdin",
  ".",
  "..",
  "/proc/self/mem",
  "%s%s%s%n",
  "%d",
  "%099999d",
  "%d%d",
  "%5d",
  "LIST",
  "LIST 1",
  "LOCAL",
  "none",
  "list",
  "domain",
  "vector",
  "time",
  "raw",
  "gzip",
  "True",
  "False",
  "big",
  "little",
  "()",
  "(1,0,0)",
  "(1,0)",
  "((",
  "\"",
  "\\",
  "\n\n",
  "\n",
  "\r\n",
  ":=",
  ": ",
  "=",
  " = ",
  "#",
  "Seq_Frame",
  "0000",
  "Seq_Frame99999999999999999999_Timestamp = 1\n",
  "axis 3 item 18446744073709551615 x:=1\n",
  "axis 3 index values:=\n",
  "dimension: 16\n",
  "NDims = 10\n",
  "HeaderSize = -1\n",
  "byte skip: -1\n",
  "line skip: 99999999\n",
  "encoding: gzip\n",
  "CompressedData = True\n",
  "MET_DOUBLE",
  "double",
  "int64",
  "NRRD0004\n",
  "ObjectType = Image\n",
};

#define PICK(random, list) \
  list[g_rand_int_range (random, 0, G_N_ELEMENTS (list))]

static void
splice (GByteArray *bytes, guint at, guint removed, gconstpointer inserted,
    guint n)
{
  g_autofree guint8 *rest =
      g_memdup2 (bytes->data + at + removed, bytes->len - at - removed);
  const guint n_rest = bytes->len - at - removed;

  g_byte_array_set_size (bytes, at);
  g_byte_array_append (bytes, inserted, n);
  g_byte_array_append (bytes, rest, n_rest);
}

/* Mostly near the beginning, in the header. */
static guint
pick_place (GRand *random, const GByteArray *bytes)
{
  const guint most =
      g_rand_boolean (random) ? bytes->len : MIN (bytes->len, 700);

  return g_rand_int_range (random, 0, MAX (most, 1));
}

static void
mutate_number (GRand *random, GByteArray *bytes)
{
  guint at = pick_place (random, bytes), n = 0;
  const gchar *number = PICK (random, numbers);

  while (at < bytes->len && !g_ascii_isdigit (bytes->data[at]))
    at++;
  while (at + n < bytes->len && g_ascii_isdigit (bytes->data[at + n]))
    n++;
  splice (bytes, at, n, number, strlen (number));
}

static void
mutate_word (GRand *random, GByteArray *bytes)
{
  guint at = pick_place (random, bytes), n = 0;
  const gchar *word = PICK (random, words);

  while (at < bytes->len && g_rand_boolean (random) && bytes->data[at] != ' ')
    at++;
  while (at + n < bytes->len && g_rand_boolean (random)
      && bytes->data[at + n] != '\n')
    n++;
  splice (bytes, at, n, word, strlen (word));
}

/* Replaces an integer of a binary header by an extreme value. */
static void
mutate_binary (GRand *random, GByteArray *bytes)
{
  static const guint64 extremes[] = { 0, 1, 0x7f, 0xff, 0x7fff, 0x8000, 0xffff,
    0x7fffffff, 0x80000000, 0xffffffff, G_MAXINT64, G_MAXUINT64,
    (guint64) 1 << 63, (guint64) 1 << 32, 0x7ff0000000000000, 0x7f800000 };
  const guint width = 1 << g_rand_int_range (random, 0, 4);
  const guint64 number = PICK (random, extremes);
  const guint at = pick_place (random, bytes) & ~(width - 1);

  if (at + width <= bytes->len)
    memcpy (bytes->data + at, &number, width);
}

static void
mutate_block (GRand *random, GByteArray *bytes)
{
  const guint at = pick_place (random, bytes);
  const guint n = g_rand_int_range (random, 0, MIN (bytes->len - at, 300) + 1);
  g_autofree guint8 *block = g_memdup2 (bytes->data + at, n);
  g_autofree guint8 *line = NULL;
  guint length;

  switch (g_rand_int_range (random, 0, 4)) {
    case 0: /* removed */
      splice (bytes, at, n, "", 0);
      break;
    case 1: /* duplicated */
      splice (bytes, at, 0, block, n);
      break;
    case 2: /* a line without end */
      length = 1 << g_rand_int_range (random, 4, 17);
      line = g_malloc (length);
      memset (line, g_rand_boolean (random) ? 'x' : '9', length);
      splice (bytes, at, 0, line, length);
      break;
    default: /* the end of the file */
      g_byte_array_set_size (bytes, at);
      break;
  }
}

static void
mutate_once (GRand *random, GByteArray *bytes)
{
  guint at;

  if (bytes->len == 0)
    return;
  at = pick_place (random, bytes);
  switch (g_rand_int_range (random, 0, 7)) {
    case 0:
      bytes->data[at] ^= 1 << g_rand_int_range (random, 0, 8);
      break;
    case 1:
      bytes->data[at] = g_rand_int (random);
      break;
    case 2:
      mutate_binary (random, bytes);
      break;
    case 3:
      mutate_block (random, bytes);
      break;
    case 4:
      mutate_word (random, bytes);
      break;
    default:
      mutate_number (random, bytes);
      break;
  }
}

/* Compressed data are changed as often as the gzip frame. */
static GByteArray *
unpack (const guint8 *packed, gsize n)
{
  GByteArray *bytes = g_byte_array_new ();
  z_stream stream = { .next_in = (guint8 *) packed, .avail_in = n };
  guint8 buffer[4096];
  gint status;

  inflateInit2 (&stream, 15 + 32);
  do {
    stream.next_out = buffer;
    stream.avail_out = sizeof (buffer);
    status = inflate (&stream, Z_SYNC_FLUSH);
    g_byte_array_append (bytes, buffer, sizeof (buffer) - stream.avail_out);
    if (status == Z_STREAM_END && stream.avail_in > 0)
      status = inflateReset (&stream);
  } while (status == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0));
  inflateEnd (&stream);
  return bytes;
}

static void
pack (GByteArray *bytes)
{
  const gsize most = compressBound (bytes->len) + 64;
  g_autofree guint8 *packed = g_malloc (most);
  z_stream stream = { .next_in = bytes->data,
    .avail_in = bytes->len,
    .next_out = packed,
    .avail_out = most };

  deflateInit2 (&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  deflate (&stream, Z_FINISH);
  g_byte_array_set_size (bytes, 0);
  g_byte_array_append (bytes, packed, most - stream.avail_out);
  deflateEnd (&stream);
}

static GByteArray *
mutate (GRand *random, GBytes *seed)
{
  gsize n;
  const guint8 *data = g_bytes_get_data (seed, &n);
  const gboolean within =
      n > 2 && data[0] == 0x1f && data[1] == 0x8b && g_rand_boolean (random);
  GByteArray *bytes = within ? unpack (data, n) : g_byte_array_new ();
  guint times = g_rand_int_range (random, 1, 5);

  if (!within)
    g_byte_array_append (bytes, data, n);
  while (times-- > 0)
    mutate_once (random, bytes);
  if (within)
    pack (bytes);
  return bytes;
}

static guint
from_environment (const gchar *name, guint otherwise)
{
  const gchar *value = g_getenv (name);

  return value ? g_ascii_strtoull (value, NULL, 10) : otherwise;
}

/* @name is for messages. */
static void
read_twice (const guint8 *bytes, gsize n, const gchar *name, guint i)
{
  guint32 first, second;

  memory_fill (0x55);
  first = fuzz_input (bytes, n);
  memory_fill (0xc3);
  second = fuzz_input (bytes, n);
  if (first != second)
    g_error ("%s %u: memory that was not written was read", name, i);
}

static int
read_files (gchar **names)
{
  for (guint i = 0; names[i]; i++) {
    g_autofree gchar *bytes = NULL;
    gsize n;

    g_assert_true (g_file_get_contents (names[i], &bytes, &n, NULL));
    read_twice ((const guint8 *) bytes, n, names[i], i);
  }
  return EXIT_SUCCESS;
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) seeds =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  const guint seed = from_environment ("ND_SEED", g_random_int ());
  const guint n = from_environment ("ND_MUTATIONS", MUTATIONS);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  gsize most = 0;

  if (argc > 1)
    return read_files (argv + 1);
  fuzz_seeds (seeds);
  g_print ("%s: %u mutations of %u inputs, ND_SEED=%u\n", fuzz_name, n,
      seeds->len, seed);
  for (guint i = 0; i < seeds->len; i++) {
    gsize length;
    const guint8 *bytes = g_bytes_get_data (seeds->pdata[i], &length);

    read_twice (bytes, length, "input", i);
  }
  for (guint i = 0; i < n; i++) {
    g_autoptr (GByteArray) bytes =
        mutate (random, seeds->pdata[i % seeds->len]);
    gsize used;

    memory_begin ();
    read_twice (bytes->data, bytes->len, "mutation", i);
    used = memory_most ();
    most = MAX (most, used);
    if (used > MEMORY_FIXED + MEMORY_A_BYTE * (gsize) bytes->len)
      g_error ("mutation %u: %" G_GSIZE_FORMAT " bytes of memory for a file of "
               "%u bytes",
          i, used, bytes->len);
  }
  g_print ("at most %" G_GSIZE_FORMAT " bytes of memory\n", most);
  return EXIT_SUCCESS;
}
