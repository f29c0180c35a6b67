/* HDF5 of Imaris, BigDataViewer and USTB, made by the library of HDF5.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/files.h"
#include "tests/formats/hdf5made.h"

#include <stdio.h>

static NdReader *
open_made (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  NdReader *reader = nd_reader_open (path, NULL, &error);

  g_assert_no_error (error);
  return reader;
}

static void
assert_values (NdReader *reader, const guint *times)
{
  guint16 samples[2 * MADE_X * MADE_Y * MADE_Z];
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (nd_recording_volume_size (nd_reader_recording (reader)), ==,
      sizeof (samples));
  for (guint t = 0; t < 3; t++) {
    g_assert_true (nd_reader_read (reader, samples, &error));
    g_assert_no_error (error);
    for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
      g_assert_cmpuint (samples[i], ==,
          made_value (times[t], i % 2, i / 2 / MADE_X / MADE_Y,
              i / 2 / MADE_X % MADE_Y, i / 2 % MADE_X));
  }
  g_assert_true (nd_reader_seek (reader, 1, &error));
  g_assert_true (nd_reader_read (reader, samples, &error));
  g_assert_cmpuint (samples[1], ==, made_value (times[1], 1, 0, 0, 0));
}

/* Padded arrays are cropped; times and places are those of the file. */
static void
test_imaris (gconstpointer layout)
{
  static const guint times[] = { 0, 1, 2 };
  g_autofree gchar *path = file_path ("a.ims");
  g_autoptr (NdReader) reader = NULL;
  const NdRecording *recording;

  made_imaris (path, GPOINTER_TO_UINT (layout));
  reader = open_made (path);
  recording = nd_reader_recording (reader);
  g_assert_cmpstr (nd_reader_format (reader), ==, "Imaris, uint16");
  g_assert_cmpuint (recording->volumes, ==, 3);
  g_assert_cmpuint (recording->shape.components, ==, 2);
  g_assert_cmpuint (recording->shape.size[0], ==, MADE_X);
  g_assert_cmpfloat_with_epsilon (recording->geometry.spacing[0], 0.0005, 1e-9);
  g_assert_cmpfloat_with_epsilon (recording->geometry.spacing[2], 0.002, 1e-9);
  g_assert_cmpfloat_with_epsilon (recording->geometry.origin[0], -0.01025,
      1e-9);
  g_assert_cmpfloat_with_epsilon (recording->geometry.origin[1], 0.00175, 1e-9);
  g_assert_cmpint (recording->rate_n, ==, 4);
  g_assert_cmpint (recording->rate_d, ==, 1);
  assert_values (reader, times);
}

/* Attributes may have any order. A year without nanoseconds is no time. */
static void
test_times (gconstpointer year)
{
  const guint n = 400;
  g_autofree gchar *path = file_path ("times.ims");
  g_autoptr (NdReader) reader = NULL;
  static const hsize_t sizes[] = { 1, 1, 1 };
  const hid_t file = made_file (path);
  gchar name[100];
  hid_t group;

  for (guint t = 0; t < n; t++) {
    g_snprintf (name, sizeof (name),
        "DataSet/ResolutionLevel 0/TimePoint %u/Channel 0/Data", t);
    made_array (file, name, MADE_PLAIN, 3, sizes, H5T_STD_U8LE,
        H5T_NATIVE_UINT8, NULL);
  }
  group = made_group (file, "DataSetInfo/TimeInfo");
  for (guint t = n; t-- > 0;) {
    g_autofree gchar *text = g_strdup_printf ("%s-05-12 10:%02u:%02u.000",
        (const gchar *) year, t / 60, t % 60);

    g_snprintf (name, sizeof (name), "TimePoint%u", t + 1);
    made_letters (group, name, text);
  }
  H5Gclose (group);
  H5Fclose (file);
  reader = open_made (path);
  g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, n);
  g_assert_cmpuint (g_strv_length ((gchar **) nd_reader_warnings (reader)), ==,
      0);
  g_assert_cmpint (nd_reader_recording (reader)->rate_n, ==,
      strcmp (year, "2009") == 0 ? 1 : 0);
}

/* Samples are without sign; a time point that lacks and a set-up of another
 * size are said; .xml has the spacing. */
static void
test_bigdataviewer (gconstpointer layout)
{
  static const guint times[] = { 1, 2, 4 };
  static const gchar xml[] =
      "<SpimData><SequenceDescription><ViewSetups><ViewSetup><id>0</id>"
      "<size>5 4 3</size><voxelSize><unit>\xc2\xb5m</unit>"
      "<size>0.3 0.4 2</size></voxelSize></ViewSetup></ViewSetups>"
      "</SequenceDescription></SpimData>";
  g_autofree gchar *path = file_path ("b.h5");
  g_autofree gchar *beside = file_path ("b.xml");
  g_autoptr (NdReader) reader = NULL, described = NULL;
  const gchar *const *warnings;

  made_bigdataviewer (path, GPOINTER_TO_UINT (layout));
  reader = open_made (path);
  assert_values (reader, times);
  warnings = nd_reader_warnings (reader);
  g_assert_cmpuint (g_strv_length ((gchar **) warnings), ==, 3);
  g_assert_nonnull (strstr (warnings[0], "1 of the 3 channels or set-ups"));
  g_assert_nonnull (strstr (warnings[1], "lacks 1 of its time points"));
  g_assert_nonnull (strstr (warnings[2], "b.xml"));
  g_assert_false (nd_reader_recording (reader)->geometry.known);

  put_file (beside, xml, strlen (xml));
  described = open_made (path);
  g_assert_cmpfloat_with_epsilon (nd_reader_recording (described)
                                      ->geometry.spacing[1],
      0.0004, 1e-9);
  remove (beside);
}

/* Real and imaginary parts become components; a scan has two axes. */
static void
test_uff (gconstpointer layout)
{
  g_autofree gchar *path = file_path ("c.uff");
  g_autoptr (NdReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  const NdRecording *recording;
  gfloat samples[2 * MADE_X * MADE_Y];

  made_uff (path, GPOINTER_TO_UINT (layout));
  reader = open_made (path);
  recording = nd_reader_recording (reader);
  g_assert_cmpuint (recording->volumes, ==, 2);
  g_assert_cmpuint (recording->shape.components, ==, 2);
  g_assert_cmpuint (recording->shape.size[0], ==, MADE_X);
  g_assert_cmpuint (recording->shape.size[1], ==, MADE_Y);
  g_assert_cmpfloat_with_epsilon (recording->geometry.spacing[0], 0.1, 1e-4);
  g_assert_cmpfloat_with_epsilon (recording->geometry.spacing[1], 0.5, 1e-4);
  for (guint t = 0; t < 2; t++) {
    g_assert_true (nd_reader_read (reader, samples, &error));
    for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
      g_assert_cmpfloat (samples[i], ==,
          t * MADE_X * MADE_Y + i / 2 + (i % 2 ? 0.5f : 0));
  }
}

/* Chunks that nobody wrote have the fill value. */
static void
test_absent_chunks (void)
{
  static const hsize_t sizes[] = { MADE_Z, MADE_Y, MADE_X };
  g_autofree gchar *path = file_path ("absent.h5");
  g_autoptr (NdReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  const hid_t file = made_file (path);
  guint16 samples[MADE_X * MADE_Y * MADE_Z];

  made_array (file, "t00000/s00/0/cells", MADE_CHUNKS, 3, sizes, H5T_STD_U16LE,
      H5T_NATIVE_UINT16, NULL);
  H5Gclose (made_group (file, "s00"));
  H5Fclose (file);
  reader = open_made (path);
  memset (samples, 1, sizeof (samples));
  g_assert_true (nd_reader_read (reader, samples, &error));
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    g_assert_cmpuint (samples[i], ==, 0);
}

/* Bytes that are others: of sums, of packed samples, of headers. */
static void
test_damaged (void)
{
  g_autofree gchar *path = file_path ("damaged.ims");
  g_autofree gchar *bytes = NULL;
  guint refused = 0;
  gsize n;

  made_imaris (path, MADE_PACKED);
  g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
  for (gsize i = 8; i < n; i += 397) {
    g_autoptr (NdReader) reader = NULL;
    guint16 samples[2 * MADE_X * MADE_Y * MADE_Z];

    bytes[i] ^= 0x55;
    put_file (path, bytes, n);
    bytes[i] ^= 0x55;
    reader = nd_reader_open (path, NULL, NULL);
    for (guint t = 0; t < 3 && reader; t++) {
      g_autoptr (GError) error = NULL;

      if (!nd_reader_read (reader, samples, &error)) {
        g_assert_error (error, ND_ERROR, ND_ERROR_READ);
        refused++;
        break;
      }
    }
  }
  g_assert_cmpuint (refused, >, 0);
  put_file (path, bytes, 100);
  assert_refused (path, ND_ERROR_FORMAT, "but not of Imaris");
}

/* Small files that name very much. */
static void
test_many (void)
{
  static const hsize_t sizes[] = { 64, 128, 257 };
  g_autofree gchar *path = file_path ("many.h5");
  hid_t file = made_file (path);
  gchar name[20];

  made_array (file, "t00000/s00/0/cells", MADE_TINY, 3, sizes, H5T_STD_U8LE,
      H5T_NATIVE_UINT8, NULL);
  H5Gclose (made_group (file, "s00"));
  H5Fclose (file);
  assert_refused (path, ND_ERROR_FORMAT, "million chunks");
  file = made_file (path);
  for (guint s = 0; s <= 1024; s++) {
    g_snprintf (name, sizeof (name), "s%02u", s);
    H5Gclose (made_group (file, name));
  }
  made_array (file, "t00000/s00/0/cells", MADE_PLAIN, 3, sizes, H5T_STD_U8LE,
      H5T_NATIVE_UINT8, NULL);
  H5Fclose (file);
  assert_refused (path, ND_ERROR_FORMAT, "1024 channels");
}

static void
test_others (void)
{
  g_autofree gchar *path = file_path ("other.h5");
  hid_t file;

  made_bigdataviewer (path, MADE_OTHER);
  assert_refused (path, ND_ERROR_FORMAT, "h5repack -f GZIP=4");
  file = made_file (path);
  H5Gclose (made_group (file, "minc-2.0/image"));
  H5Fclose (file);
  assert_refused (path, ND_ERROR_FORMAT, "nibabel.load");
  file = made_file (path);
  H5Gclose (made_group (file, "exchange/data"));
  H5Fclose (file);
  assert_refused (path, ND_ERROR_FORMAT, "h5py.File");
}

int
main (int argc, char **argv)
{
  static const gchar *const names[] = { "plain", "chunks", "packed", "large" };
  int failed;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gpointer layout = GUINT_TO_POINTER (i);
    g_autofree gchar *imaris = g_strconcat ("/hdf5/imaris/", names[i], NULL);
    g_autofree gchar *bdv = g_strconcat ("/hdf5/bdv/", names[i], NULL);
    g_autofree gchar *uff = g_strconcat ("/hdf5/uff/", names[i], NULL);

    g_test_add_data_func (imaris, layout, test_imaris);
    g_test_add_data_func (bdv, layout, test_bigdataviewer);
    /* Chunks of three axes. */
    if (i != MADE_CHUNKS && i != MADE_PACKED)
      g_test_add_data_func (uff, layout, test_uff);
  }
  g_test_add_data_func ("/hdf5/times", "2009", test_times);
  g_test_add_data_func ("/hdf5/times/far", "2300", test_times);
  g_test_add_data_func ("/hdf5/times/before", "-100", test_times);
  g_test_add_func ("/hdf5/absent-chunks", test_absent_chunks);
  g_test_add_func ("/hdf5/damaged", test_damaged);
  g_test_add_func ("/hdf5/many", test_many);
  g_test_add_func ("/hdf5/others", test_others);
  failed = g_test_run ();
  remove_folder ();
  return failed;
}
