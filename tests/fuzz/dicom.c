/* DICOM, which is refused after its header is read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicom.h"
#include "tests/fuzz/fuzz.h"

#include "core/error.h"

#include <string.h>

const gchar *const fuzz_name = "dicom";

gboolean
fuzz_parse (NdHeader *header, const guint8 *bytes, gsize n, GError **error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "DICOM is read from a file: %d", nd_dicom_detect (bytes, n));
  return FALSE;
}

static void
append_file (GPtrArray *seeds, const gchar *syntax, guint length,
    const gchar *elements, gsize n)
{
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_set_size (bytes, 128);
  memset (bytes->data, 0, 128);
  g_byte_array_append (bytes, (const guint8 *) "DICM\2\0\x10\0UI", 10);
  g_byte_array_append (bytes, (const guint8[]){ length, 0 }, 2);
  g_byte_array_append (bytes, (const guint8 *) syntax, length);
  g_byte_array_append (bytes, (const guint8 *) elements, n);
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (bytes));
}

void
fuzz_seeds (GPtrArray *seeds)
{
  static const gchar explicit[] = "\x18\0\x63\x10"
                                  "DS\2\0"
                                  "50"
                                  "\x28\0\x10\0"
                                  "US\2\0\2\0"
                                  "\x28\0\x11\0"
                                  "US\2\0\3\0"
                                  "\x28\0\0\1"
                                  "US\2\0\x10\0"
                                  "\x88\0\0\2"
                                  "SQ\0\0\xff\xff\xff\xff"
                                  "\xfe\xff\0\xe0\xff\xff\xff\xff"
                                  "\xfe\xff\r\xe0\0\0\0\0"
                                  "\xfe\xff\xdd\xe0\0\0\0\0"
                                  "\xe0\x7f\x10\0"
                                  "OW\0\0\x0c\0\0\0"
                                  "abcdefghijkl";
  static const gchar implicit[] = "\x28\0\x10\0\2\0\0\0\2\0"
                                  "\x28\0\x11\0\2\0\0\0\3\0"
                                  "\x28\0\0\1\2\0\0\0\x08\0"
                                  "\xe0\x7f\x10\0\x06\0\0\0"
                                  "abcdef";

  append_file (seeds, "1.2.840.10008.1.2.1\0", 20, explicit,
      sizeof (explicit) - 1);
  append_file (seeds, "1.2.840.10008.1.2\0", 18, implicit,
      sizeof (implicit) - 1);
}
