/* OME-Zarr, as folders.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarr.h"
#include "formats/zarrmetadata.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include "core/error.h"

const gchar *const fuzz_name = "zarr";

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  NdZarrArray array;
  g_auto (NdZarrImage) image = { NULL };
  g_autofree gchar *folder = NULL;
  guint32 sum = 0;

  for (guint version = 2; version <= 3; version++) {
    nd_zarr_array_parse (&array, (const gchar *) bytes, n, version, NULL);
    nd_zarr_image_clear (&image);
    nd_zarr_image_parse (&image, (const gchar *) bytes, n, version, NULL);
  }
  folder = fuzz_folder_make (bytes, n);
  if (nd_zarr_detect (folder))
    sum = fuzz_folder_read (folder);
  fuzz_folder_remove (folder);
  return sum;
}

static void
append_written (GPtrArray *seeds, const gchar *name, gboolean compress)
{
  const NdRecording recording = { .type = ND_INT16,
    .shape = { 2, { 5, 4, 3 } },
    .rate_n = 20,
    .rate_d = 1,
    .responses = 1,
    .geometry = {
        TRUE, { 1, 2, 3 }, { 4, 5, 6 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } } };
  const gsize size = nd_recording_volume_size (&recording);
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-seeds-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  g_autofree guint8 *volume = g_malloc0 (size);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdWriter) writer = nd_writer_open (path, compress, &error);

  g_assert_no_error (error);
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  for (guint v = 0; v < 2; v++) {
    volume[v] = 7;
    g_assert_true (nd_writer_write (writer, volume, -1, &error));
  }
  g_assert_true (nd_writer_finish (writer, &error));
  g_ptr_array_add (seeds, fuzz_folder_pack (path));
  fuzz_folder_remove (folder);
}

void
fuzz_seeds (GPtrArray *seeds)
{
  append_written (seeds, "a.zarr", FALSE);
  append_written (seeds, "a.zarr", TRUE);
  append_written (seeds, "a.v2.zarr", FALSE);
  append_written (seeds, "a.v2.zarr", TRUE);
}
