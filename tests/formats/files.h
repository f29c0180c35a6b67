/* Helpers that write files for the tests of formats/ and check the result of
 * reading them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/error.h"
#include "formats/recording.h"
#include "tests/folder.h"

#include <glib.h>
#include <string.h>
#include <zlib.h>

/* Writes @text, followed by bytes with the samples 0, 1, 2, … */
static inline void
put_text (const gchar *path, const gchar *text, gsize samples)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) text, strlen (text));
  for (gsize i = 0; i < samples; i++) {
    const guint8 sample = i;

    g_byte_array_append (bytes, &sample, 1);
  }
  put_file (path, bytes->data, bytes->len);
}

static inline void
put_gzip (const gchar *path, gconstpointer bytes, gsize n)
{
  gzFile file = gzopen (path, "wb6");

  g_assert_cmpint (gzwrite (file, bytes, n), ==, (gint) n);
  g_assert_cmpint (gzclose (file), ==, Z_OK);
}

/* Opening must fail with @code, and the message must contain @words. */
static inline void
assert_refused (const gchar *path, gint code, const gchar *words)
{
  g_autoptr (GError) error = NULL;
  NdReader *reader = nd_reader_open (path, NULL, &error);

  g_assert_null (reader);
  g_assert_error (error, ND_ERROR, code);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, words));
  g_assert_nonnull (strstr (error->message, path));
}

/* Like put_text(), for a file that must be refused. */
static inline void
refuse_text (const gchar *text, gsize samples, gint code, const gchar *words)
{
  g_autofree gchar *path = file_path ("bad");

  put_text (path, text, samples);
  assert_refused (path, code, words);
}

/* Like put_text(), for a file that must be readable. */
static inline NdReader *
open_text (const gchar *text, gsize samples)
{
  g_autofree gchar *path = file_path ("good");
  g_autoptr (GError) error = NULL;
  NdReader *reader;

  put_text (path, text, samples);
  reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  return reader;
}

/* Reads all volumes: bytes @first, first + 1, ... for up to @n bytes. */
static inline void
assert_counts (NdReader *reader, guint8 first, gsize n)
{
  const gsize size = nd_recording_volume_size (nd_reader_recording (reader));
  g_autofree guint8 *data = g_malloc (size);
  g_autoptr (GError) error = NULL;

  for (gsize done = 0; done < n; done += size) {
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_no_error (error);
    for (gsize i = 0; i < size; i++)
      g_assert_cmpuint (data[i], ==, first + done + i);
  }
}
