/* One file, which a target has as its bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void
parse (const guint8 *bytes, gsize n)
{
  g_auto (NdHeader) header = { 0 };
  g_autofree guint8 *copy = g_malloc (n + 1);
  g_autoptr (GError) error = NULL;

  memcpy (copy, bytes, n);
  if (fuzz_parse (&header, copy, n, &error)) {
    if (error || nd_recording_volume_size (&header.recording) == 0
        || header.recording.volumes == 0)
      g_error ("the parser accepted an invalid header");
  } else {
    fuzz_check_error (error);
  }
}

static guint32
read_file (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);

  if (reader)
    return fuzz_read (reader);
  fuzz_check_error (error);
  return 0;
}

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  gint fd = memfd_create ("hostile", MFD_CLOEXEC);
  g_autofree gchar *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  guint32 sum;

  g_assert_cmpint (fd, >=, 0);
  parse (bytes, n);
  g_assert_cmpint (write (fd, bytes, n), ==, (gssize) n);
  sum = read_file (path);
  close (fd);
  return sum;
}
