/* NumPy's .npy, from the magic to the last sample.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/npy.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include <string.h>

const gchar *const fuzz_name = "npy";

gboolean
fuzz_parse (NdHeader *header, const guint8 *bytes, gsize n, GError **error)
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
}
