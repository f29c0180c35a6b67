/* Mutates valid streams of messages with a seeded generator. Each mutation is
 * read to its end.
 *
 * ND_SEED and ND_MUTATIONS repeat a run or make it longer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
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

int
main (void)
{
  const guint64 n = number_of ("ND_MUTATIONS", MUTATIONS);
  guint32 seed = number_of ("ND_SEED", g_random_int ());
  g_autoptr (GRand) random = NULL;

  g_print ("ND_SEED=%u\n", seed);
  random = g_rand_new_with_seed (seed);
  for (guint64 i = 0; i < n; i++) {
    g_autoptr (GByteArray) stream = g_byte_array_new ();

    fuzz_openigtlink_seed (1 + i % VERSIONS, stream);
    if (i >= VERSIONS)
      mutate (random, stream);
    fuzz_input (stream->data, stream->len);
  }
  return 0;
}
