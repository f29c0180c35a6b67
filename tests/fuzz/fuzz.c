/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/fuzz.h"

#include "core/error.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void
check_error (const GError *error)
{
  if (!error || error->domain != ND_ERROR || strlen (error->message) < 10)
    g_error ("an error without a message");
}

static void
parse (const guint8 *bytes, gsize n)
{
  g_auto (NdHeader) header = { 0 };
  g_autoptr (GError) error = NULL;

  if (fuzz_parse (&header, bytes, n, &error)) {
    if (error || nd_recording_volume_size (&header.recording) == 0
        || header.recording.volumes == 0)
      g_error ("the parser accepted an invalid header");
  } else {
    check_error (error);
  }
}

static void
read_file (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  const NdRecording *recording;
  g_autofree guint8 *volume = NULL;

  if (!reader) {
    check_error (error);
    return;
  }
  recording = nd_reader_recording (reader);
  volume = g_malloc (nd_recording_volume_size (recording));
  for (guint64 i = 0; i < MIN (recording->volumes, FUZZ_VOLUMES); i++) {
    if (!nd_reader_read (reader, volume, &error)) {
      check_error (error);
      return;
    }
    if (nd_reader_time (reader, i) > nd_reader_time (reader, i + 1))
      g_error ("times descend");
  }
  /* The last volume, if it can be read. */
  if (nd_reader_seekable (reader)
      && (!nd_reader_seek (reader, recording->volumes - 1, &error)
          || !nd_reader_read (reader, volume, &error)))
    check_error (error);
}

void
fuzz_file (const guint8 *bytes, gsize n)
{
  gint fd = memfd_create ("hostile", MFD_CLOEXEC);
  g_autofree gchar *path = g_strdup_printf ("/proc/self/fd/%d", fd);

  g_assert_cmpint (fd, >=, 0);
  parse (bytes, n);
  g_assert_cmpint (write (fd, bytes, n), ==, (gssize) n);
  read_file (path);
  close (fd);
}

int
LLVMFuzzerTestOneInput (const guint8 *bytes, size_t n)
{
  fuzz_file (bytes, n);
  return 0;
}
