/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/seeds.h"

#include "formats/recording.h"

#include <glib/gstdio.h>

static NdRecording
make_recording (guint i)
{
  static const NdSampleType types[] = { ND_UINT8, ND_INT16, ND_FLOAT32,
    ND_UINT16 };
  NdRecording recording = { .type = types[i % 4],
    .shape = { i == 2 ? 2 : 1, { 5, 4, i == 1 ? 1 : 3 } },
    .rate_n = i == 3 ? 0 : 30000,
    .rate_d = i == 3 ? 1 : 1001,
    .responses = 1,
    .geometry = { TRUE, { 0.5, 0.75, 2 }, { -10, 20.5, 3 },
        { 0, 1, 0, -1, 0, 0, 0, 0, 1 } } };

  return recording;
}

static NdMetadata *
make_metadata (void)
{
  NdMetadata *metadata = nd_metadata_new (NULL);

  nd_metadata_add (metadata, "UltrasoundImageOrientation", "MF");
  nd_metadata_add (metadata, "NIfTI.extension.4", "PGFmbmkvPgAA");
  nd_metadata_add (metadata, "NRRD.content", "a heart");
  metadata->origin = G_GINT64_CONSTANT (232542071000);
  for (guint i = 0; i < 3; i++) {
    const gint64 time = i * i * G_GINT64_CONSTANT (86000000);

    nd_list_add (metadata->times, time);
    nd_metadata_add_to_volume (metadata, i, "ProbeToTrackerTransform",
        "1 0 0 4 0 1 0 5 0 0 1 6 0 0 0 1");
  }
  return metadata;
}

void
seeds_append_written (GPtrArray *seeds, const gchar *ending, gboolean compress)
{
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-seeds-XXXXXX", NULL);
  g_autofree gchar *name = g_strconcat ("seed", ending, NULL);
  g_autofree gchar *path = g_build_filename (folder, name, NULL);

  for (guint i = 0; i < 4; i++) {
    const NdRecording recording = make_recording (i);
    const gsize size = nd_recording_volume_size (&recording);
    g_autofree guint8 *volume = g_malloc (size);
    g_autoptr (NdMetadata) metadata = make_metadata ();
    g_autoptr (GError) error = NULL;
    g_autoptr (NdWriter) writer = nd_writer_open (path, compress, &error);
    gchar *bytes;
    gsize n;

    g_assert_no_error (error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    nd_writer_set_source (writer, i == 0 ? NULL : metadata, 3);
    for (guint v = 0; v < 3; v++) {
      for (gsize b = 0; b < size; b++)
        volume[b] = b + v;
      g_assert_true (nd_writer_write (writer, volume,
          g_array_index (metadata->times, gint64, v), &error));
    }
    g_assert_true (nd_writer_finish (writer, &error));
    g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
    g_ptr_array_add (seeds, g_bytes_new_take (bytes, n));
    g_remove (path);
  }
  g_rmdir (folder);
}

void
seeds_append_text (GPtrArray *seeds, const gchar *text, gsize samples)
{
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) text, strlen (text));
  for (gsize i = 0; i < samples; i++) {
    const guint8 byte = i;

    g_byte_array_append (bytes, &byte, 1);
  }
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (bytes));
}
