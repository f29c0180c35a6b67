/* Files left by interrupted writing: .part files, full disks, files of other
 * recordings.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/recordings.h"

#include <unistd.h>

/* The start time of volume @i in nanoseconds. */
static gint64
irregular (guint i)
{
  return i * G_GINT64_CONSTANT (86000000) + i * i % 1234567;
}

/* Unfinished files keep .part; without a volume no file remains. */
static void
test_part (void)
{
  for (guint f = 0; f < G_N_ELEMENTS (recordings); f++) {
    g_autofree gchar *path = file_path (recordings[f].name);
    g_autofree gchar *header = g_strconcat (path, ".part", NULL);
    g_autofree gchar *part = NULL;
    g_autoptr (GError) error = NULL;
    const NdRecording recording = small_recording (ND_UINT8);
    const guint8 data[60] = { 0 };
    NdWriter *writer;

    remove_recording (path);
    writer = nd_writer_open (path, recordings[f].compress, &error);
    part = g_strdup (nd_writer_partial_path (writer));
    g_assert_true (file_exists (part));
    nd_writer_close (writer);
    g_assert_false (file_exists (part));

    writer = nd_writer_open (path, recordings[f].compress, &error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    g_assert_false (nd_writer_finish (writer, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
    nd_writer_close (writer);
    g_assert_false (file_exists (part));
    g_clear_error (&error);

    writer = nd_writer_open (path, recordings[f].compress, &error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    write_volumes (writer, data, 0, 2);
    nd_writer_close (writer);
    g_assert_true (file_exists (part));
    g_assert_false (file_exists (path));
    if (f != RAW) {
      /* The file can be read, with a warning that it is unfinished. */
      g_autoptr (NdReader) reader = nd_reader_open (header, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 2);
      g_assert_nonnull (strstr (nd_reader_warnings (reader)[0],
          "writing of the recording stopped"));
    }
    g_remove (part);
    g_remove (header);
  }
}

static void
test_disk_full (void)
{
  for (guint f = 0; f < G_N_ELEMENTS (recordings); f++) {
    g_autofree gchar *path = file_path (recordings[f].name);
    g_autofree gchar *part = NULL;
    g_autoptr (GError) error = NULL;
    NdRecording recording = small_recording (ND_UINT8);
    const gsize size = 1 << 20;
    g_autofree guint8 *data = g_malloc (size);
    gboolean ok = TRUE;

    remove_recording (path);
    for (gsize i = 0; i < size; i++)
      data[i] = g_test_rand_int ();
    set_shape (&recording, 1024, 1024, 1);
    g_autoptr (NdWriter) writer =
        nd_writer_open (path, recordings[f].compress, &error);
    part = g_strdup (nd_writer_partial_path (writer));
    limit_files (3 * size + size / 2);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    for (guint i = 0; i < 5 && ok; i++)
      ok = nd_writer_write (writer, data, -1, &error);
    limit_files (0);
    g_assert_false (ok);
    g_assert_error (error, ND_ERROR, ND_ERROR_DISK_FULL);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, "1048576 bytes"));
    g_assert_nonnull (strstr (error->message, path));
    g_clear_error (&error);
    g_assert_false (nd_writer_finish (writer, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
    g_assert_false (file_exists (path));
    g_assert_true (file_exists (part));
    g_clear_pointer (&writer, nd_writer_close);
    g_remove (part);
  }
}

/* The disk is still full when the sink stops. */
static void
test_disk_stays_full (void)
{
  static const gchar *const plain[] = { "f.mha", "f.nrrd", "f.nhdr", "f.mhd",
    "f.nii" };
  const gsize size = 1 << 20;
  g_autofree guint8 *data = g_malloc (5 * size);

  for (gsize i = 0; i < 5 * size; i++)
    data[i] = g_test_rand_int ();
  for (guint f = 0; f < G_N_ELEMENTS (plain); f++) {
    g_autofree gchar *path = file_path (plain[f]);
    g_autofree gchar *header = g_strconcat (path, ".part", NULL);
    g_autofree gchar *part = NULL;
    g_autoptr (GError) error = NULL;
    NdRecording recording = small_recording (ND_UINT8);
    gboolean ok = TRUE;

    set_shape (&recording, 1024, 1024, 1);
    g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);
    g_assert_no_error (error);
    part = g_strdup (nd_writer_partial_path (writer));
    limit_files (3 * size + size / 2);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    for (guint i = 0; i < 5 && ok; i++)
      ok = nd_writer_write (writer, data + i * size,
          nd_rate_time (30000, 1001, i), &error);
    g_assert_false (ok);
    g_clear_pointer (&writer, nd_writer_close);
    limit_files (0);
    g_assert_false (file_exists (path));
    g_test_message ("%s", header);
    assert_file (header, &recording, data, 3);
    g_remove (part);
    g_remove (header);
  }
}

/* Volumes that were not packed yet are lost: the header has the number of the
 * others, and all of them can be read. */
static void
test_disk_stays_full_packed (void)
{
  static const gchar *const packed[] = { "p.nii.gz", "p.nrrd", "p.nhdr",
    "p.mha", "p.mhd" };
  const gsize size = 1 << 14;
  const guint n = 400;
  g_autofree guint8 *data = g_malloc (n * size), *read = g_malloc (size);

  for (gsize i = 0; i < n * size; i++)
    data[i] = g_test_rand_int_range (0, 16);
  for (guint f = 0; f < G_N_ELEMENTS (packed); f++) {
    g_autofree gchar *path = file_path (packed[f]);
    g_autofree gchar *header = g_strconcat (path, ".part", NULL);
    g_autofree gchar *part = NULL;
    g_autoptr (GError) error = NULL;
    NdRecording recording = small_recording (ND_UINT8);
    guint64 claimed, done = 0;
    gboolean ok = TRUE;
    g_autofree gchar *number = NULL;

    set_shape (&recording, 128, 128, 1);
    g_autoptr (NdWriter) writer = nd_writer_open (path, TRUE, &error);
    g_assert_no_error (error);
    part = g_strdup (nd_writer_partial_path (writer));
    limit_files (1 << 20);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    for (guint i = 0; i < n && ok; i++)
      ok = nd_writer_write (writer, data + i * size,
          nd_rate_time (30000, 1001, i), &error);
    g_assert_false (ok);
    claimed = nd_writer_volumes (writer);
    number = g_strdup_printf ("after %" G_GUINT64_FORMAT " volumes", claimed);
    g_assert_nonnull (strstr (error->message, number));
    g_clear_error (&error);
    g_clear_pointer (&writer, nd_writer_close);
    limit_files (0);
    g_autoptr (NdReader) reader = nd_reader_open (header, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, claimed);
    while (done < claimed && nd_reader_read (reader, read, &error)) {
      g_assert_cmpmem (read, size, data + done * size, size);
      done++;
    }
    g_test_message ("%s: %u of %u volumes", header, (guint) done,
        (guint) claimed);
    g_assert_no_error (error);
    g_assert_cmpuint (done, ==, claimed);
    g_assert_cmpuint (claimed, >, 40);
    g_remove (part);
    g_remove (header);
  }
}

static void
refuse_path (const gchar *path, gint code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (nd_writer_open (path, FALSE, &error));
  g_assert_error (error, ND_ERROR, code);
  g_assert_nonnull (strstr (error->message, path));
}

static void
test_not_writable (void)
{
  g_autofree gchar *missing = file_path ("missing/x.nii");
  g_autofree gchar *file = file_path ("file");
  g_autofree gchar *below = file_path ("file/x.nii");
  g_autofree gchar *locked = file_path ("locked");
  g_autofree gchar *inside = file_path ("locked/x.nii");
  g_autofree gchar *hdf5 = file_path ("x.h5");
  g_autofree gchar *raw_gz = file_path ("x.raw.GZ");

  refuse_path (missing, ND_ERROR_OPEN_WRITE);
  put_file (file, "", 0);
  refuse_path (below, ND_ERROR_OPEN_WRITE);
  refuse_path (folder, ND_ERROR_OPEN_WRITE);
  refuse_path ("/dev/null", ND_ERROR_OPEN_WRITE);
  refuse_path (hdf5, ND_ERROR_SETTINGS);
  refuse_path (raw_gz, ND_ERROR_SETTINGS);
  if (geteuid () == 0) {
    g_test_message ("mode 0500 is not tested: root can write everywhere");
    return;
  }
  g_assert_cmpint (g_mkdir (locked, 0500), ==, 0);
  refuse_path (inside, ND_ERROR_OPEN_WRITE);
}

/* Samples beside a header are replaced only if they belong to it. */
static void
test_beside (void)
{
  g_autofree gchar *mhd = file_path ("own.mhd");
  g_autofree gchar *raw = file_path ("own.raw");
  const NdRecording recording = small_recording (ND_UINT8);
  g_autoptr (GError) error = NULL;
  const guint8 data[60] = { 0 };

  put_file (raw, "mine", 4);
  g_assert_null (nd_writer_open (mhd, FALSE, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE);
  g_assert_nonnull (strstr (error->message, raw));
  g_clear_error (&error);
  g_remove (raw);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (NdWriter) writer = nd_writer_open (mhd, FALSE, &error);

    g_assert_no_error (error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    write_volumes (writer, data, 0, 2 + i);
    g_assert_true (nd_writer_finish (writer, &error));
  }
  g_autoptr (NdReader) reader = nd_reader_open (mhd, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 3);
}

/* A header that names another file does not own an existing samples file,
 * although the names end alike. */
static void
test_beside_another (void)
{
  static const gchar *const others[] = { "other.raw", "down.raw", "my own.raw",
    "own.raw.gz" };
  g_autofree gchar *mhd = file_path ("own.mhd");
  g_autofree gchar *nhdr = file_path ("own.nhdr");
  g_autofree gchar *raw = file_path ("own.raw");
  const NdRecording recording = small_recording (ND_UINT8);
  g_autoptr (GError) error = NULL;
  guint8 data[120];

  for (guint i = 0; i < sizeof (data); i++)
    data[i] = g_test_rand_int ();
  remove_recording (mhd);
  g_autoptr (NdWriter) writer = nd_writer_open (nhdr, FALSE, &error);
  g_assert_no_error (error);
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  write_volumes (writer, data, 60, 2);
  g_assert_true (nd_writer_finish (writer, &error));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autofree gchar *text = g_strconcat (
        "ObjectType = Image\nNDims = 3\n"
        "DimSize = 2 2 2\nElementType = MET_UCHAR\nElementDataFile = ",
        others[i], "\n", NULL);

    put_file (mhd, text, strlen (text));
    g_assert_null (nd_writer_open (mhd, FALSE, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE);
    g_assert_nonnull (strstr (error->message, raw));
    g_clear_error (&error);
  }
  assert_file (nhdr, &recording, data, 2);
  g_remove (mhd);
  remove_recording (nhdr);
}

/* A second writer of the same file gets an error, and the first is not
 * disturbed. */
static void
test_two_writers (void)
{
  guint8 data[120];

  for (guint i = 0; i < sizeof (data); i++)
    data[i] = g_test_rand_int ();
  for (guint f = 0; f < G_N_ELEMENTS (recordings); f++) {
    g_autofree gchar *path = file_path (recordings[f].name);
    const NdRecording recording = small_recording (ND_UINT8);
    g_autoptr (GError) error = NULL;

    remove_recording (path);
    g_autoptr (NdWriter) first =
        nd_writer_open (path, recordings[f].compress, &error);
    g_assert_no_error (error);
    g_assert_true (nd_writer_begin (first, &recording, &error));
    write_volumes (first, data, 60, 1);
    g_assert_null (nd_writer_open (path, recordings[f].compress, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE);
    g_assert_nonnull (strstr (error->message, "another sink or program"));
    g_assert_nonnull (strstr (error->message, nd_writer_partial_path (first)));
    g_clear_error (&error);
    write_volumes (first, data + 60, 60, 1);
    g_assert_true (nd_writer_finish (first, &error));
    assert_file (path, &recording, data, 2);
    remove_recording (path);
  }
}

/* More volumes arrive than the header has room for, in each format: the header
 * grows for their times, before the samples. */
static void
test_grow (void)
{
  const guint n = 3000;
  const gsize size = 2048;
  g_autofree guint8 *data = g_malloc (n * size);

  for (gsize i = 0; i < n * size; i++)
    data[i] = g_test_rand_int ();
  for (guint f = 0; f < G_N_ELEMENTS (recordings); f++) {
    g_autofree gchar *path = file_path (recordings[f].name);
    NdRecording recording = small_recording (ND_UINT8);
    g_autoptr (GError) error = NULL;

    remove_recording (path);
    recording.rate_n = 0;
    recording.rate_d = 1;
    set_shape (&recording, 128, 16, 1);
    g_autoptr (NdWriter) writer =
        nd_writer_open (path, recordings[f].compress, &error);
    g_assert_no_error (error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    nd_writer_set_source (writer, NULL, 1);
    for (guint i = 0; i < n; i++)
      g_assert_true (nd_writer_write (writer, data + i * size, irregular (i),
          &error));
    g_assert_true (nd_writer_finish (writer, &error));
    g_assert_no_error (error);
    assert_file (path, &recording, data, n);
    if (f != RAW) {
      g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);

      for (guint i = 0; i < n; i++)
        g_assert_cmpint (nd_reader_time (reader, i), ==, irregular (i));
    }
    remove_recording (path);
  }
}

/* A folder takes the final name while the file is written. */
static void
test_name_taken (void)
{
  g_autofree gchar *path = file_path ("taken.nii");
  g_autofree gchar *part = g_strconcat (path, ".part", NULL);
  const NdRecording recording = small_recording (ND_UINT8);
  const guint8 data[120] = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);

  g_assert_no_error (error);
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  write_volumes (writer, data, 60, 2);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  g_assert_false (nd_writer_finish (writer, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
  g_assert_nonnull (strstr (error->message, "cannot be named"));
  g_clear_pointer (&writer, nd_writer_close);
  assert_file (part, &recording, data, 2);
  g_rmdir (path);
  g_remove (part);
}

/* The folder is removed while a file in it is written. */
static void
test_vanished (void)
{
  g_autofree gchar *gone = file_path ("gone");
  const NdRecording recording = small_recording (ND_UINT8);
  const guint8 data[60] = { 0 };

  for (guint f = 0; f < G_N_ELEMENTS (recordings); f++) {
    g_autofree gchar *path = g_build_filename (gone, recordings[f].name, NULL);
    g_autofree gchar *header = g_strconcat (path, ".part", NULL);
    g_autoptr (GError) error = NULL;

    g_mkdir (gone, 0700);
    g_autoptr (NdWriter) writer =
        nd_writer_open (path, recordings[f].compress, &error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    write_volumes (writer, data, 0, 1);
    g_remove (nd_writer_partial_path (writer));
    g_remove (header);
    g_assert_cmpint (g_rmdir (gone), ==, 0);
    write_volumes (writer, data, 0, 1);
    g_assert_false (nd_writer_finish (writer, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, path));
  }
}

/* One warning names what the target does not hold; the reader of the target
 * says so too. Formats that hold all warn of nothing. */
static void
test_lost (void)
{
  static const struct
  {
    const gchar *name, *lost, *not_held;
  } cases[] = {
    { "lost.npy",
        "does not hold the spacing, the origin, the directions, the rate, the "
        "time of the first volume and 2 fields of the recording",
        "spacing, origin, directions, rate, time of the first volume, times of "
        "single volumes, fields" },
    { "lost.tif",
        "does not hold the directions, the time of the first volume and 2 "
        "fields of the recording",
        "directions, time of the first volume, times of single volumes, "
        "fields" },
    { "lost.ome.tif", "does not hold the origin, the directions, the time",
        "directions, time of the first volume, times of single volumes, "
        "fields" },
#ifdef HAVE_ZARR
    { "lost.zarr", "does not hold the directions and 2 fields of the recording",
        "directions, times of single volumes, fields" },
#endif
    { "lost.nii", NULL, NULL },
    { "lost.nrrd", NULL, NULL },
    { "lost.mha", NULL, NULL },
    { "lost.raw", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    NdRecording recording = small_recording (ND_UINT8);
    const gsize size = nd_recording_volume_size (&recording);
    g_autofree gchar *path = file_path (cases[i].name);
    g_autofree guint8 *data = g_malloc0 (3 * size);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);
    g_autoptr (NdMetadata) source = nd_metadata_new (NULL);
    g_autoptr (NdReader) reader = NULL;

    nd_metadata_add (source, "Probe", "linear");
    nd_metadata_add (source, "NIfTI.qform", "0");
    nd_metadata_add_to_volume (source, 1, "State", "good");
    source->origin = 2000000000;
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    nd_writer_set_source (writer, source, 3);
    write_volumes (writer, data, size, 3);
    g_assert_true (nd_writer_finish (writer, &error));
    g_assert_no_error (error);
    if (cases[i].lost) {
      g_test_message ("%s", nd_writer_warning (writer));
      g_assert_nonnull (strstr (nd_writer_warning (writer), path));
      g_assert_nonnull (strstr (nd_writer_warning (writer), cases[i].lost));
    } else {
      g_assert_null (nd_writer_warning (writer));
    }
#ifndef HAVE_TIFF
    if (g_str_has_suffix (path, ".tif"))
      continue;
#endif
    reader = nd_reader_open (path, &recording, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (nd_reader_not_held (reader), ==, cases[i].not_held);
    if (g_str_has_suffix (path, ".zarr"))
      g_assert_cmpint (nd_reader_metadata (reader)->origin, ==, 2000000000);
  }
}

/* Nothing is lost of a recording that has only samples. */
static void
test_nothing_lost (void)
{
  NdRecording recording = small_recording (ND_UINT8);
  const gsize size = nd_recording_volume_size (&recording);
  g_autofree gchar *path = file_path ("plain.npy");
  g_autofree guint8 *data = g_malloc0 (size);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);

  recording.rate_n = 0;
  recording.geometry.known = FALSE;
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  g_assert_true (nd_writer_write (writer, data, 5, &error));
  g_assert_true (nd_writer_finish (writer, &error));
  g_assert_null (nd_writer_warning (writer));
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/writing/part", test_part);
  g_test_add_func ("/writing/disk-full", test_disk_full);
  g_test_add_func ("/writing/disk-stays-full", test_disk_stays_full);
  g_test_add_func ("/writing/disk-stays-full-packed",
      test_disk_stays_full_packed);
  g_test_add_func ("/writing/not-writable", test_not_writable);
  g_test_add_func ("/writing/beside", test_beside);
  g_test_add_func ("/writing/beside-another", test_beside_another);
  g_test_add_func ("/writing/two-writers", test_two_writers);
  g_test_add_func ("/writing/vanished", test_vanished);
  g_test_add_func ("/writing/grow", test_grow);
  g_test_add_func ("/writing/name-taken", test_name_taken);
  g_test_add_func ("/writing/lost", test_lost);
  g_test_add_func ("/writing/nothing-lost", test_nothing_lost);
  status = g_test_run ();
  remove_folder ();
  return status;
}
