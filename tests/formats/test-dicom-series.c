/* A series of DICOM in a folder.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/stored.h"
#include "tests/formats/dicomfile.h"
#include "tests/formats/dicomgrey.h"
#include "tests/formats/samples.h"

#include <glib/gstdio.h>

#define SLICES 3
#define VOLUMES 2

typedef struct
{
  const gchar *series, *orientation, *slope;
  guint slice, volume, value;
  gdouble z, trigger;
} Made;

/* All its samples have the value. */
static void
make_file (const gchar *path, const Made *made)
{
  DicomFile file = dicom_new (EXPLICIT);
  gchar text[64];

  g_snprintf (text, sizeof (text), "%g", made->trigger);
  dicom_text (&file, 0x00181060, "DS", text);
  dicom_text (&file, 0x0020000e, "UI", made->series);
  g_snprintf (text, sizeof (text), "1\\2\\%g", made->z);
  dicom_text (&file, 0x00200032, "DS", text);
  dicom_text (&file, 0x00200037, "DS", made->orientation);
  dicom_picture (&file, &grey);
  dicom_text (&file, 0x00280030, "DS", "0.5\\0.25");
  if (made->slope) {
    dicom_text (&file, 0x00281052, "DS", "0");
    dicom_text (&file, 0x00281053, "DS", made->slope);
  }
  dicom_head (&file, 0x7fe00010, "OB", 8);
  for (guint i = 0; i < 8; i++)
    dicom_append (&file, made->value, 1);
  put_dicom (&file, path);
}

/* Slices 2.5 mm apart, volumes 40 ms; names do not tell the order. Returns the
 * folder. */
static gchar *
make_series (const gchar *slope)
{
  gchar *path = file_path ("series");

  g_mkdir (path, 0700);
  for (guint i = 0; i < SLICES * VOLUMES; i++) {
    const guint z = i % SLICES, t = i / SLICES;
    const Made made = { "1.2", "1\\0\\0\\0\\1\\0", i == 1 ? slope : NULL, z, t,
      100 * t + 10 * z + 1, 5 - 2.5 * z, 15 + 40.0 * t };
    g_autofree gchar *name = g_strdup_printf ("%s/%u", path, (7 * i) % 31);

    make_file (name, &made);
  }
  return path;
}

static void
remove_series (gchar *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (folder))) {
    g_autofree gchar *file = g_build_filename (path, name, NULL);

    g_remove (file);
  }
  g_rmdir (path);
  g_free (path);
}

/* Slices by their places, volumes by the trigger; other files do not count. */
static void
test_series (void)
{
  gchar *path = make_series (NULL);
  g_autofree gchar *text = g_build_filename (path, "notes.txt", NULL);
  g_autofree gchar *other = g_build_filename (path, "other", NULL);
  const Made scout = { "1.3", "1\\0\\0\\0\\1\\0", NULL, 0, 0, 9, 0, 0 };
  g_autoptr (NdReader) reader = NULL;
  const NdRecording *recording;
  guint8 samples[SLICES * 8];

  put_file (text, "notes", 5);
  make_file (other, &scout);
  reader = open_file (path);
  recording = nd_reader_recording (reader);
  assert_size (reader, VOLUMES, SLICES, 2, 4, 1);
  g_assert_cmpuint (g_strv_length ((gchar **) nd_reader_warnings (reader)), ==,
      1);
  g_assert_nonnull (strstr (nd_reader_warnings (reader)[0],
      "1 files of others"));
  g_assert_cmpfloat (recording->geometry.spacing[0], ==, 0.25);
  g_assert_cmpfloat (recording->geometry.spacing[1], ==, 0.5);
  g_assert_cmpfloat (recording->geometry.spacing[2], ==, 2.5);
  g_assert_cmpfloat (recording->geometry.origin[0], ==, -1);
  g_assert_cmpfloat (recording->geometry.origin[2], ==, 0);
  g_assert_cmpint (recording->rate_n, ==, 25);
  g_assert_cmpint (nd_reader_metadata (reader)->origin, ==, 15000000);
  for (guint t = VOLUMES; t-- > 0;) {
    g_assert_true (nd_reader_seek (reader, t, NULL));
    g_assert_true (nd_reader_read (reader, samples, NULL));
    for (guint i = 0; i < sizeof (samples); i++)
      g_assert_cmpuint (samples[i], ==,
          100 * t + 10 * (SLICES - 1 - i / 8) + 1);
  }
  remove_series (path);
}

/* One file is scaled: all become float32. */
static void
test_scaled (void)
{
  gchar *path = make_series ("0.5");
  g_autoptr (NdReader) reader = open_file (path);
  gfloat samples[SLICES * 8];

  g_assert_cmpint (nd_reader_recording (reader)->type, ==, ND_FLOAT32);
  g_assert_true (nd_reader_read (reader, samples, NULL));
  g_assert_cmpfloat (samples[0], ==, 21);
  g_assert_cmpfloat (samples[8], ==, 5.5);
  remove_series (path);
}

static void
test_gaps (void)
{
  gchar *path = make_series (NULL);
  gchar *extra = g_build_filename (path, "extra", NULL);
  Made made = { "1.2", "1\\0\\0\\0\\1\\0", NULL, 0, 0, 9, 12.5, 0 };
  NdReader *reader;

  make_file (extra, &made);
  assert_refused (path, ND_ERROR_FORMAT, "files for the slice");
  remove_series (path);

  /* The scan was stopped within its last volume. */
  path = make_series (NULL);
  g_free (extra);
  extra = g_strdup_printf ("%s/%u", path, 7 * (VOLUMES * SLICES - 1) % 31);
  g_remove (extra);
  reader = nd_reader_open_within (path, NULL, 0, ND_TRUNCATED_KEEP, NULL);
  assert_size (reader, VOLUMES - 1, SLICES, 2, 4, 1);
  g_assert_nonnull (strstr (nd_reader_warnings (reader)[0], "whole volumes"));
  nd_reader_close (reader);
  remove_series (path);

  path = make_series (NULL);
  for (guint t = 0; t < VOLUMES; t++) {
    g_autofree gchar *name = g_strdup_printf ("%s/far%u", path, t);

    made.trigger = 15 + 40 * t;
    make_file (name, &made);
  }
  reader = open_file (path);
  assert_size (reader, VOLUMES, SLICES + 1, 2, 4, 1);
  g_assert_nonnull (strstr (nd_reader_warnings (reader)[0], "2.5 to 7.5 mm"));
  nd_reader_close (reader);
  made.orientation = "0\\1\\0\\0\\0\\1";
  make_file (extra, &made);
  assert_refused (path, ND_ERROR_FORMAT, "another size or orientation");
  g_free (extra);
  remove_series (path);
}

/* A folder without pictures; a file that is replaced while it is read. */
static void
test_refused (void)
{
  gchar *path = file_path ("series");
  g_autofree gchar *first = NULL;
  g_autoptr (NdReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  guint8 samples[SLICES * 8];

  g_mkdir (path, 0700);
  assert_refused (path, ND_ERROR_OPEN_READ, "img_0001.tif");
  remove_series (path);
  path = make_series (NULL);
  first = g_build_filename (path, "0", NULL);
  reader = open_file (path);
  put_file (first, "short", 5);
  g_assert_false (nd_reader_read (reader, samples, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  remove_series (path);
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/series/places", test_series);
  g_test_add_func ("/series/scaled", test_scaled);
  g_test_add_func ("/series/gaps", test_gaps);
  g_test_add_func ("/series/refused", test_refused);
  status = g_test_run ();
  remove_folder ();
  return status;
}
