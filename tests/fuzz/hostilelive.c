/* Mutates valid streams of messages with a seeded generator. Each mutation is
 * read to its end.
 *
 *   hostile-openigtlink [--seeds FOLDER]
 *
 * --seeds writes the valid streams to FOLDER as the initial corpus of
 * libFuzzer. ND_SEED and ND_MUTATIONS repeat a run or make it longer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/openigtlink.h"

#define VERSIONS 3
#define MUTATIONS 20000

static guint64
number_of (const gchar *name, guint64 otherwise)
{
  const gchar *text = g_getenv (name);

  return text ? g_ascii_strtoull (text, NULL, 10) : otherwise;
}

/* Sizes in messages are big-endian numbers of 1 to 8 bytes. */
static void
mutate (GRand *random, GByteArray *stream)
{
  static const guint8 bytes[] = { 0, 1, 2, 0x7f, 0x80, 0xff };

  for (guint i = g_rand_int_range (random, 1, 6); i > 0; i--) {
    const guint at = g_rand_int_range (random, 0, stream->len);
    const guint most = 1u << g_rand_int_range (random, 0, 4);
    const guint n = MIN (stream->len - at, most);

    switch (g_rand_int_range (random, 0, 4)) {
      case 0:
        stream->data[at] ^= 1 << g_rand_int_range (random, 0, 8);
        break;
      case 1:
        memset (stream->data + at,
            bytes[g_rand_int_range (random, 0, sizeof (bytes))], n);
        break;
      case 2:
        if (stream->len > n)
          g_byte_array_remove_range (stream, at, n);
        break;
      default:
        stream->data[at] = g_rand_int (random);
    }
  }
}

static int
write_seeds (const gchar *folder)
{
  for (guint version = 1; version <= VERSIONS; version++) {
    g_autofree gchar *name = g_strdup_printf ("version%u", version);
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_autoptr (GByteArray) stream = g_byte_array_new ();

    fuzz_openigtlink_seed (version, stream);
    if (!g_file_set_contents (path, (const gchar *) stream->data, stream->len,
            NULL))
      return 1;
  }
  return 0;
}

int
main (int argc, char **argv)
{
  const guint64 n = number_of ("ND_MUTATIONS", MUTATIONS);
  guint32 seed = number_of ("ND_SEED", g_random_int ());
  g_autoptr (GRand) random = NULL;

  if (argc == 3 && strcmp (argv[1], "--seeds") == 0)
    return write_seeds (argv[2]);
  g_print ("ND_SEED=%u\n", seed);
  random = g_rand_new_with_seed (seed);
  for (guint64 i = 0; i < n; i++) {
    g_autoptr (GByteArray) stream = g_byte_array_new ();

    fuzz_openigtlink_seed (1 + i % VERSIONS, stream);
    if (i >= VERSIONS)
      mutate (random, stream);
    LLVMFuzzerTestOneInput (stream->data, stream->len);
  }
  return 0;
}
