/* Axes without directions point the same way in all formats.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/files.h"
#include "tests/formats/recordings.h"

/* To the left, posterior and superior: the first sample is 4 to the left, 6 to
 * the posterior and 5 below. */
static const NdGeometry plain = { TRUE, { 0.5, 0.75, 2 }, { -4, -6, -5 },
  { -1, 0, 0, 0, -1, 0, 0, 0, 1 } };

/* Writes one volume, of the geometry of @reader if that is not NULL, and opens
 * the file. @lost: what the warning of the writer must have, or NULL. */
static NdReader *
copy_to (const gchar *name, NdReader *reader, const NdGeometry *geometry,
    const gchar *lost)
{
  g_autofree gchar *path = file_path (name);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);
  NdRecording recording = small_recording (ND_UINT8);
  const gsize size = nd_recording_volume_size (&recording);
  g_autofree guint8 *data = g_malloc0 (size);
  NdReader *copy;

  recording.geometry =
      reader ? nd_reader_recording (reader)->geometry : *geometry;
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  g_assert_true (nd_writer_write (writer, data, -1, &error));
  g_assert_true (nd_writer_finish (writer, &error));
  if (lost)
    g_assert_nonnull (strstr (nd_writer_warning (writer), lost));
  else
    g_assert_null (nd_writer_warning (writer));
  copy = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  return copy;
}

static void
assert_geometry (NdReader *reader, const NdGeometry *wanted)
{
  const NdGeometry *found = &nd_reader_recording (reader)->geometry;

  g_assert_true (found->known);
  for (guint a = 0; a < 3; a++) {
    g_assert_cmpfloat_with_epsilon (found->spacing[a], wanted->spacing[a],
        1e-6);
    g_assert_cmpfloat_with_epsilon (found->origin[a], wanted->origin[a], 1e-6);
  }
  for (guint i = 0; i < 9; i++)
    g_assert_cmpfloat (found->directions[i], ==, wanted->directions[i]);
}

static void
assert_text (const gchar *name, const gchar *words)
{
  g_autofree gchar *path = file_path (name);
  g_autofree gchar *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_test_message ("%s", text);
  g_assert_nonnull (strstr (text, words));
}

/* Copies from one format without directions to another do not turn. */
static void
test_copies (void)
{
  static const gchar *const names[] = {
#ifdef HAVE_TIFF
    "a.tif",
    "a.ome.tif",
#endif
#ifdef HAVE_ZARR
    "a.zarr",
    "a.v2.zarr",
#endif
    "a.mha",
    "a.nii",
  };
  NdGeometry geometry = plain;

  memset (geometry.origin, 0, sizeof (geometry.origin));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (NdReader) reader = copy_to (names[i], NULL, &geometry, NULL);

    for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
      g_autofree gchar *name = g_strdup_printf ("%u%s", i, names[k]);
      g_autofree gchar *last = g_strdup_printf ("%u%u.nrrd", i, k);
      g_autoptr (NdReader) copy = copy_to (name, reader, NULL, NULL);
      g_autoptr (NdReader) end = copy_to (last, copy, NULL, NULL);

      assert_geometry (copy, &geometry);
      assert_geometry (end, &geometry);
    }
  }
}

#ifdef HAVE_TIFF
/* ImageJ counts the origin in pixels, from the first one to the place of 0. */
static void
test_imagej (void)
{
  g_autoptr (NdReader) tiff = copy_to ("i.tif", NULL, &plain, NULL);
  g_autoptr (NdReader) header = copy_to ("i.nhdr", tiff, NULL, NULL);
  g_autofree gchar *path = file_path ("i.tif");
  g_autofree gchar *bytes = NULL;

  assert_geometry (tiff, &plain);
  assert_geometry (header, &plain);
  g_assert_true (g_file_get_contents (path, &bytes, NULL, NULL));
  g_assert_nonnull (strstr (bytes + 528,
      "\nxorigin=-8\nyorigin=-8\nzorigin=2.5\n"));
  g_autoptr (NdReader) ome =
      copy_to ("i.ome.tif", tiff, NULL, "does not hold the origin");
  g_assert_nonnull (ome);
}
#endif

#ifdef HAVE_ZARR
/* An origin is that of the same axes. */
static void
test_origin (void)
{
  g_autoptr (NdReader) zarr = copy_to ("o.zarr", NULL, &plain, NULL);
  g_autoptr (NdReader) header = copy_to ("o.nhdr", zarr, NULL, NULL);

  assert_geometry (zarr, &plain);
  assert_geometry (header, &plain);
  assert_text ("o.zarr/zarr.json", "\"translation\": [0, -5, 6, 4]");
  assert_text ("o.nhdr", "space directions: (0.5,0,0) (0,0.75,0) (0,0,2)\n");
  assert_text ("o.nhdr", "space origin: (4,6,-5)\n");
}

/* Other axes are lost, with a warning. */
static void
test_turned (void)
{
  NdGeometry turned = plain;

  turned.directions[0] = 1;
  g_autoptr (NdReader) zarr =
      copy_to ("t.zarr", NULL, &turned, "does not hold the directions");
  assert_geometry (zarr, &plain);
}
#endif

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/axes/copies", test_copies);
#ifdef HAVE_TIFF
  g_test_add_func ("/axes/imagej", test_imagej);
#endif
#ifdef HAVE_ZARR
  g_test_add_func ("/axes/origin", test_origin);
  g_test_add_func ("/axes/turned", test_turned);
#endif
  status = g_test_run ();
  remove_folder ();
  return status;
}
