/* Truncated files: refused, or with truncated=keep, their whole volumes are
 * read, with a warning and the same numbers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/dicomfile.h"
#include "tests/formats/recordings.h"

#include <ftw.h>
#include <unistd.h>

#define VOLUMES 6
#define SIZE ((gsize) 40 * 30 * 3)

/* @file has the samples; NULL: the recording itself. */
static const struct
{
  const gchar *name, *file;
  gboolean compress;
} cases[] = {
  { "t.nii" },
  { "t.nii.gz" },
  { "t.nrrd" },
  { "c.nrrd", NULL, TRUE },
  { "t.nhdr", "t.raw" },
  { "c.nhdr", "c.raw.gz", TRUE },
  { "t.mha" },
  { "c.mha", NULL, TRUE },
  { "t.mhd", "t.raw" },
  { "c.mhd", "c.zraw", TRUE },
  { "t.npy" },
  { "r.raw" },
#ifdef HAVE_TIFF
  { "t.tif" },
#endif
};

static NdReader *
open_cut (const gchar *path, gboolean raw, NdTruncated truncated,
    GError **error)
{
  NdRecording hint;

  g_assert_true (nd_recording_init_raw (&hint, "40:30:3", 1, ND_UINT8));
  return nd_reader_open_within (path, raw ? &hint : NULL, 0, truncated, error);
}

/* The whole volumes of a file with the size @size. */
static guint64
read_cut (const gchar *path, gboolean raw, const guint8 *data, GError **error)
{
  g_autofree guint8 *read = g_malloc (SIZE);
  g_autoptr (NdReader) reader = open_cut (path, raw, ND_TRUNCATED_KEEP, error);
  const NdMetadata *metadata;
  guint64 volumes;

  if (!reader)
    return 0;
  volumes = nd_reader_recording (reader)->volumes;
  metadata = nd_reader_metadata (reader);
  g_assert_true (metadata->times->len == 0 || metadata->times->len == volumes);
  for (guint64 v = 0; v < volumes; v++) {
    nd_reader_read (reader, read, error);
    g_assert_no_error (*error);
    g_assert_cmpmem (read, SIZE, data + v * SIZE, SIZE);
  }
  if (volumes < VOLUMES) {
    const gchar *warning = nd_reader_warnings (reader)[0];
    g_autofree gchar *number =
        g_strdup_printf (" %" G_GUINT64_FORMAT " whole", volumes);

    g_test_message ("%s", warning);
    g_assert_nonnull (strstr (warning, "is truncated"));
    g_assert_nonnull (strstr (warning, number));
  } else {
    g_assert_null (nd_reader_warnings (reader)[0]);
  }
  return volumes;
}

static void
test_cut (gconstpointer index)
{
  const guint i = GPOINTER_TO_UINT (index);
  const gboolean raw = g_str_has_suffix (cases[i].name, ".raw");
  g_autofree gchar *path = file_path (cases[i].name);
  g_autofree gchar *file = file_path (cases[i].file ?: cases[i].name);
  g_autofree guint8 *data = g_malloc (VOLUMES * SIZE);
  g_autofree gchar *bytes = NULL;
  NdRecording recording = small_recording (ND_UINT8);
  g_autoptr (GError) error = NULL;
  gsize n, before;
  guint64 found;

  for (gsize s = 0; s < VOLUMES * SIZE; s++)
    data[s] = g_test_rand_int ();
  set_shape (&recording, 40, 30, 3);
  g_autoptr (NdWriter) writer =
      nd_writer_open (path, cases[i].compress, &error);
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  for (guint v = 0; v < VOLUMES; v++)
    nd_writer_write (writer, data + v * SIZE, v * G_GINT64_CONSTANT (100000000),
        &error);
  nd_writer_finish (writer, &error);
  g_assert_no_error (error);
  g_clear_pointer (&writer, nd_writer_close);
  g_assert_cmpuint (read_cut (path, raw, data, &error), ==, VOLUMES);
  g_assert_no_error (error);

  g_assert_true (g_file_get_contents (file, &bytes, &n, NULL));
  before = n;
  for (guint lost = 0; lost < VOLUMES; lost++) {
    /* Random samples do not become smaller. Half a volume is left over; a
     * compressed file may have some bytes more. */
    const gsize cut = n - lost * SIZE - SIZE / 2;

    g_assert_cmpuint (cut, <, before);
    before = cut;
    put_file (file, bytes, cut);
    if (!raw) {
      g_autoptr (NdReader) reader =
          open_cut (path, raw, ND_TRUNCATED_REFUSE, &error);
      g_autofree guint8 *read = g_malloc (SIZE);

      for (guint v = 0; reader && v < VOLUMES && !error; v++)
        nd_reader_read (reader, read, &error);
      g_assert_error (error, ND_ERROR, ND_ERROR_READ);
      g_clear_error (&error);
    }
    found = read_cut (path, raw, data, &error);
    if (lost + 1 < VOLUMES) {
      g_assert_no_error (error);
      /* Directories of TIFF are after the samples. */
      g_assert_cmpuint (found, >=, VOLUMES - 1 - lost);
      g_assert_cmpuint (found, <=, VOLUMES - lost);
    } else if (!g_str_has_suffix (path, ".tif")) {
      g_assert_error (error, ND_ERROR, ND_ERROR_READ);
      g_assert_nonnull (strstr (error->message, raw ? "whole" : "no volume"));
      g_clear_error (&error);
    }
    g_clear_error (&error);
  }
  g_remove (path);
  g_remove (file);
}

/* Files that others wrote. */
static void
test_shared (void)
{
  static const struct
  {
    const gchar *name;
    guint volumes;
  } files[] = { { "q.npy", 5 }, { "tr.igs.mha", 4 }, { "trn.nrrd", 5 },
    { "trunc.nii", 5 } };
  const gchar *shared = g_getenv ("ND_SHARED");

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree gchar *path = g_build_filename (shared ? shared : "",
        "recordings", "truncated", files[i].name, NULL);
    g_autofree gchar *number = g_strdup_printf (": %u whole", files[i].volumes);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) reader = NULL;

    if (!file_exists (path)) {
      g_test_skip ("needs the shared recordings");
      return;
    }
    reader = nd_reader_open (path, NULL, &error);
    g_assert_error (error, ND_ERROR, ND_ERROR_READ);
    g_assert_nonnull (strstr (error->message, number));
    g_clear_error (&error);
    reader = open_cut (path, FALSE, ND_TRUNCATED_KEEP, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==,
        files[i].volumes);
  }
}

/* The whole volumes of @path, whose samples are those of @data. */
static void
assert_kept (const gchar *path, const guint8 *data, gsize size, guint volumes)
{
  g_autofree guint8 *read = g_malloc (size);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader =
      nd_reader_open_within (path, NULL, 0, ND_TRUNCATED_KEEP, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, volumes);
  g_assert_nonnull (strstr (nd_reader_warnings (reader)[0], "is truncated"));
  for (guint v = 0; v < volumes; v++) {
    g_assert_true (nd_reader_read (reader, read, NULL));
    g_assert_cmpmem (read, size, data + v * size, size);
  }
}

#ifdef HAVE_ZARR
static int
remove_entry (const char *path, const struct stat *info, int kind,
    struct FTW *ftw)
{
  return remove (path);
}

/* The file of a volume is cut off. */
static void
test_zarr (void)
{
  g_autofree gchar *path = file_path ("t.zarr");
  g_autofree gchar *shard = g_build_filename (path, "0/c/3/0/0/0", NULL);
  g_autofree guint8 *data = g_malloc (VOLUMES * SIZE);
  g_autofree gchar *bytes = NULL;
  NdRecording recording = small_recording (ND_UINT8);
  g_autoptr (GError) error = NULL;
  gsize n;

  for (gsize s = 0; s < VOLUMES * SIZE; s++)
    data[s] = g_test_rand_int ();
  set_shape (&recording, 40, 30, 3);
  for (guint compress = 0; compress < 2; compress++) {
    g_autoptr (NdWriter) writer = nd_writer_open (path, compress, &error);

    g_assert_true (nd_writer_begin (writer, &recording, &error));
    write_volumes (writer, data, SIZE, VOLUMES);
    g_assert_true (nd_writer_finish (writer, &error));
    g_assert_true (g_file_get_contents (shard, &bytes, &n, NULL));
    put_file (shard, bytes, n / 2);
    g_clear_pointer (&bytes, g_free);
    assert_kept (path, data, SIZE, 3);
    nftw (path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  }
}
#endif

/* Frames over time, plain and in fragments of RLE. */
static void
test_dicom (void)
{
  static const DicomPicture grey = { "MONOCHROME2", 1, 0, 8, 0, 0, 0 };
  g_autofree gchar *path = file_path ("t.dcm");
  guint8 data[VOLUMES * 8];

  for (guint i = 0; i < sizeof (data); i++)
    data[i] = g_test_rand_int ();
  for (guint packed = 0; packed < 2; packed++) {
    DicomFile file = dicom_new (packed ? RLE : EXPLICIT);

    dicom_text (&file, 0x00181063, "DS", "40");
    dicom_text (&file, 0x00280008, "IS", "6");
    dicom_picture (&file, &grey);
    dicom_head (&file, 0x7fe00010, "OB",
        packed ? UNKNOWN_LENGTH : sizeof (data));
    if (packed)
      dicom_head (&file, 0xfffee000, "", 0);
    for (guint v = 0; v < VOLUMES; v++) {
      guint8 head[64] = { 1, 0, 0, 0, 64 }, run = 7;

      if (packed) {
        dicom_head (&file, 0xfffee000, "", sizeof (head) + 1 + 8 + 1);
        g_byte_array_append (file.bytes, head, sizeof (head));
        g_byte_array_append (file.bytes, &run, 1);
      }
      g_byte_array_append (file.bytes, data + v * 8, 8);
      if (packed)
        g_byte_array_append (file.bytes, &run, 1);
    }
    put_file (path, file.bytes->data,
        file.bytes->len - (packed ? 2 * 82 : 2 * 8) - 3);
    assert_kept (path, data, 8, VOLUMES - 3);
    g_byte_array_unref (file.bytes);
  }
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *name = g_strconcat ("/truncated/", cases[i].name, NULL);

    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_cut);
  }
#ifdef HAVE_ZARR
  g_test_add_func ("/truncated/zarr", test_zarr);
#endif
  g_test_add_func ("/truncated/dicom", test_dicom);
  g_test_add_func ("/truncated/shared", test_shared);
  status = g_test_run ();
  remove_folder ();
  return status;
}
