/* Helpers that compare what is read with numbers of a test.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tests/formats/files.h"

#include <math.h>

static inline NdReader *
open_file (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  NdReader *reader = nd_reader_open (path, NULL, &error);

  g_assert_no_error (error);
  return reader;
}

/* The recording must have @volumes of x, y, z samples of @components. */
static inline void
assert_size (NdReader *reader, guint64 volumes, gsize z, gsize y, gsize x,
    gsize components)
{
  const NdRecording *recording = nd_reader_recording (reader);

  g_assert_cmpuint (recording->volumes, ==, volumes);
  g_assert_cmpuint (recording->shape.size[2], ==, z);
  g_assert_cmpuint (recording->shape.size[1], ==, y);
  g_assert_cmpuint (recording->shape.size[0], ==, x);
  g_assert_cmpuint (recording->shape.components, ==, components);
}

/* Reads the next volume as numbers. */
static inline gdouble *
read_numbers (NdReader *reader, gsize *n)
{
  const NdRecording *recording = nd_reader_recording (reader);
  const gsize size = nd_recording_volume_size (recording);
  const NdStored plain = { .type = nd_stored_of (recording->type) };
  g_autofree guint8 *data = g_malloc (size);
  g_autoptr (GError) error = NULL;
  gdouble *numbers;

  *n = size / nd_sample_size (recording->type);
  numbers = g_new (gdouble, *n);
  g_assert_true (nd_reader_read (reader, data, &error));
  g_assert_no_error (error);
  for (gsize i = 0; i < *n; i++) {
    const guint8 *at = data + i * nd_sample_size (recording->type);

    switch (plain.type) {
      case ND_STORED_UINT8:
        numbers[i] = *at;
        break;
      case ND_STORED_INT8:
        numbers[i] = (gint8) *at;
        break;
      case ND_STORED_UINT16:
        numbers[i] = *(const guint16 *) at;
        break;
      case ND_STORED_INT16:
        numbers[i] = *(const gint16 *) at;
        break;
      case ND_STORED_UINT32:
        numbers[i] = *(const guint32 *) at;
        break;
      case ND_STORED_INT32:
        numbers[i] = *(const gint32 *) at;
        break;
      case ND_STORED_FLOAT64:
        numbers[i] = *(const gdouble *) at;
        break;
      default:
        g_assert_cmpint (plain.type, ==, ND_STORED_FLOAT32);
        numbers[i] = *(const gfloat *) at;
    }
  }
  return numbers;
}

/* Sample @i of the next volume. */
static inline gdouble
read_number (NdReader *reader, gsize i)
{
  gsize n;
  g_autofree gdouble *numbers = read_numbers (reader, &n);

  g_assert_cmpuint (i, <, n);
  return numbers[i];
}

static inline gboolean
warns_of (NdReader *reader, const gchar *words)
{
  const gchar *const *warnings = nd_reader_warnings (reader);

  for (guint i = 0; warnings[i]; i++) {
    if (strstr (warnings[i], words))
      return TRUE;
  }
  return FALSE;
}

/* The file of the shared recordings, or NULL with a message. */
static inline gchar *
shared_file (const gchar *name)
{
  gchar *path = g_build_filename (g_getenv ("ND_SHARED") ?: "/", "recordings",
      name, NULL);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return path;
  g_test_message ("without %s", path);
  g_free (path);
  return NULL;
}
