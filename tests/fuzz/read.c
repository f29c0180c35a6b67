/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/fuzz.h"

#include "core/error.h"
#include "core/written.h"

#include <string.h>
#include <zlib.h>

void
fuzz_check_error (const GError *error)
{
  if (!error || error->domain != ND_ERROR || strlen (error->message) < 10)
    g_error ("an error without a message");
}

guint32
fuzz_sum (guint32 sum, gconstpointer bytes, gsize n)
{
#if __has_feature(memory_sanitizer)
  __msan_check_mem_is_initialized (bytes, n);
#endif
  return crc32_z (sum, bytes, n);
}

guint32
fuzz_read (NdReader *reader)
{
  const NdRecording *recording = nd_reader_recording (reader);
  const gsize size = nd_recording_volume_size (recording);
  g_autofree gchar *fields = nd_metadata_to_text (nd_reader_metadata (reader));
  g_autofree guint8 *volume = g_malloc (size);
  g_autoptr (GError) error = NULL;
  guint32 sum = fuzz_sum (0, fields, strlen (fields));

  for (guint64 i = 0; i < MIN (recording->volumes, FUZZ_VOLUMES); i++) {
    nd_unwritten (volume, size);
    if (!nd_reader_read (reader, volume, &error)) {
      fuzz_check_error (error);
      return sum;
    }
    sum = fuzz_sum (sum, volume, size);
    if (nd_reader_time (reader, i) > nd_reader_time (reader, i + 1))
      g_error ("times descend");
  }
  /* The last volume, if it can be read. */
  if (!nd_reader_seekable (reader))
    return sum;
  nd_unwritten (volume, size);
  if (!nd_reader_seek (reader, recording->volumes - 1, &error)
      || !nd_reader_read (reader, volume, &error)) {
    fuzz_check_error (error);
    return sum;
  }
  return fuzz_sum (sum, volume, size);
}
