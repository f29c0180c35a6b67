/* Helpers that write recordings in every format and compare them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/error.h"
#include "formats/rate.h"
#include "formats/recording.h"
#include "tests/folder.h"

#include <string.h>

/* Every way to write one. */
static const struct
{
  const gchar *name;
  gboolean compress;
} recordings[] = {
  { "t.nii", FALSE },
  { "t.nii.gz", FALSE },
  { "t.raw", FALSE },
  { "t.nrrd", FALSE },
  { "c.nrrd", TRUE },
  { "t.seq.nrrd", FALSE },
  { "t.igs.nrrd", FALSE },
  { "dn.nhdr", FALSE },
  { "cn.nhdr", TRUE },
  { "t.mha", FALSE },
  { "c.igs.mha", TRUE },
  { "dm.mhd", FALSE },
  { "cm.mhd", TRUE },
};

#define RAW 2
#define IN_NIFTI 2 /* only the first volumes */

/* Also for the file of samples beside the header. */
static inline void
remove_recording (const gchar *path)
{
  static const gchar *const endings[] = { ".raw", ".raw.gz", ".zraw" };
  const gchar *dot = strrchr (path, '.');

  g_remove (path);
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree gchar *samples =
        g_strdup_printf ("%.*s%s", (gint) (dot - path), path, endings[i]);

    if (strcmp (dot, ".nhdr") == 0 || strcmp (dot, ".mhd") == 0)
      g_remove (samples);
  }
}

static inline void
set_shape (NdRecording *recording, gsize x, gsize y, gsize z)
{
  recording->shape.components = 1;
  recording->shape.size[0] = x;
  recording->shape.size[1] = y;
  recording->shape.size[2] = z;
}

static inline NdRecording
small_recording (NdSampleType type)
{
  static const NdGeometry geometry = { TRUE, { 0.5, 0.75, 2 }, { -10, 20.5, 3 },
    { 0, 1, 0, -1, 0, 0, 0, 0, 1 } };
  NdRecording recording = { 0 };

  recording.type = type;
  recording.rate_n = 30000;
  recording.rate_d = 1001;
  recording.responses = 1;
  recording.geometry = geometry;
  set_shape (&recording, 5, 4, 3);
  return recording;
}

static inline void
write_volumes (NdWriter *writer, const guint8 *data, gsize size, guint n)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++) {
    nd_writer_write (writer, data + i * size, nd_rate_time (30000, 1001, i),
        &error);
    g_assert_no_error (error);
  }
}

/* Reads the recording back and compares it bit by bit. */
static inline void
assert_file (const gchar *path, const NdRecording *recording,
    const guint8 *data, guint n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = nd_reader_open (path, recording, &error);
  const gsize size = nd_recording_volume_size (recording);
  g_autofree guint8 *read = g_malloc (size);
  const NdRecording *found;

  g_assert_no_error (error);
  found = nd_reader_recording (reader);
  g_assert_cmpint (found->type, ==, recording->type);
  g_assert_cmpuint (found->responses, ==, recording->responses);
  g_assert_cmpuint (found->volumes, ==, n);
  g_assert_cmpmem (&found->shape, sizeof (NdShape), &recording->shape,
      sizeof (NdShape));
  for (guint i = 0; i < n; i++) {
    nd_reader_read (reader, read, &error);
    g_assert_no_error (error);
    g_assert_cmpmem (read, size, data + i * size, size);
  }
}
