/* Recordings through the library: written volumes are read again in any order,
 * with rate, geometry and fields, and wrong calls are errors.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <ndconv/ndconv.h>
#include <string.h>
#include <unistd.h>

#define VOLUMES 5

static gchar *folder;

static gchar *
in_folder (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
expect (GError **error, NdError code, const gchar *text)
{
  g_assert_error (*error, ND_ERROR, (gint) code);
  g_assert_nonnull (strstr ((*error)->message, text));
  g_clear_error (error);
}

/* VOLUMES volumes of random bytes. */
static guint8 *
fill (const NdArray *array, GRand *r)
{
  const gsize n = array->strides[3] * VOLUMES;
  guint8 *bytes = g_malloc (n);

  for (gsize i = 0; i < n; i++)
    /* No NaN in float32. */
    bytes[i] = g_rand_int_range (r, 0, 100);
  return bytes;
}

static void
write_all (const gchar *path, const NdArray *array, const guint8 *bytes,
    const NdRecordingReader *like, gboolean compress)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdRecordingWriter) writer =
      nd_recording_writer_new (path, array, like, compress, &error);

  g_assert_no_error (error);
  for (guint t = 0; t < VOLUMES; t++) {
    g_assert_true (nd_recording_writer_write (writer,
        bytes + t * array->strides[3], &error));
    g_assert_no_error (error);
  }
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_true (nd_recording_writer_finish (writer, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
check_all (NdRecordingReader *reader, const NdArray *array, const guint8 *bytes,
    GRand *r)
{
  const gsize size = array->strides[3];
  g_autofree guint8 *volume = g_malloc (size);
  g_autoptr (GError) error = NULL;
  NdArray found;

  nd_recording_reader_init_array (reader, &found);
  g_assert_cmpstr (found.type, ==, array->type);
  g_assert_cmpuint (found.components, ==, array->components);
  g_assert_cmpuint (found.responses, ==, array->responses);
  for (guint a = 0; a < 4; a++) {
    g_assert_cmpuint (found.size[a], ==, array->size[a]);
    g_assert_cmpint (found.strides[a], ==, array->strides[a]);
  }
  for (guint i = 0; i < 4 * VOLUMES; i++) {
    const guint t = i < VOLUMES ? i : (guint) g_rand_int_range (r, 0, VOLUMES);

    g_assert_true (nd_recording_reader_read (reader, t, volume, &error));
    g_assert_no_error (error);
    g_assert_cmpmem (volume, size, bytes + t * size, size);
  }
  g_assert_false (nd_recording_reader_read (reader, VOLUMES, volume, &error));
  expect (&error, ND_ERROR_SETTINGS, "Volume 5");
}

static void
test_round_trip (void)
{
  static const struct
  {
    const gchar *name, *type;
    gsize components, responses;
    gboolean compress;
  } cases[] = {
    { "a.nii", "int16", 1, 1, FALSE },
    { "a.nii.gz", "float32", 2, 1, FALSE },
    { "a.nrrd", "uint8", 3, 1, FALSE },
    { "b.nrrd", "uint16", 1, 2, TRUE },
    { "a.nhdr", "int32", 1, 1, TRUE },
    { "a.mha", "float32", 1, 1, TRUE },
    { "a.mhd", "int8", 1, 1, FALSE },
    { "a.npy", "float16", 1, 1, FALSE },
    { "d.raw", "uint16", 2, 1, FALSE },
  };
  const gsize size[4] = { 7, 6, 3, VOLUMES };
  const guint32 seed = g_test_rand_int ();
  g_autoptr (GRand) r = g_rand_new_with_seed (seed);

  g_test_message ("seed %u", seed);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gboolean raw = g_str_has_suffix (cases[i].name, ".raw");
    g_autofree gchar *path = in_folder (cases[i].name);
    g_autofree guint8 *bytes = NULL;
    g_autoptr (NdRecordingReader) reader = NULL;
    g_autoptr (GError) error = NULL;
    NdArray array;
    gint n, d;

    g_test_message ("%s", cases[i].name);
    nd_array_init (&array, NULL, cases[i].type, cases[i].components, size);
    array.responses = cases[i].responses;
    array.strides[3] *= cases[i].responses;
    bytes = fill (&array, r);
    write_all (path, &array, bytes, NULL, cases[i].compress);
    reader = nd_recording_reader_new (path, raw ? &array : NULL, 0, 0, FALSE,
        &error);
    g_assert_no_error (error);
    g_assert_cmpint (nd_recording_reader_is_seekable (reader), ==,
        !cases[i].compress && !g_str_has_suffix (path, ".gz"));
    g_assert_false (nd_recording_reader_get_rate (reader, &n, &d));
    g_assert_null (*nd_recording_reader_get_warnings (reader));
    check_all (reader, &array, bytes, r);
  }
}

/* Rate and geometry of the recording that an output is like. */
static void
test_like (void)
{
  static const gchar header[] =
      "NRRD0005\ntype: uint8\ndimension: 4\nsizes: 4 3 2 5\n"
      "space: right-anterior-superior\n"
      "space directions: (0,2,0) (3,0,0) (0,0,4) none\n"
      "space origin: (5,6,7)\nkinds: domain domain domain time\n"
      "spacings: nan nan nan 0.05\nencoding: raw\n\n";
  const gsize size[4] = { 4, 3, 2, VOLUMES };
  g_autofree gchar *source = in_folder ("like.nrrd"),
                   *path = in_folder ("out.nii");
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  g_autoptr (GString) file = g_string_new (header);
  g_autoptr (NdRecordingReader) like = NULL, reader = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *bytes = NULL;
  gdouble spacing[3], origin[3], directions[9];
  NdArray array;
  gint n, d;

  g_string_set_size (file, strlen (header) + 4 * 3 * 2 * VOLUMES);
  memset (file->str + strlen (header), 1, 4 * 3 * 2 * VOLUMES);
  g_assert_true (g_file_set_contents (source, file->str, (gssize) file->len,
      &error));
  like = nd_recording_reader_new (source, NULL, 0, 0, FALSE, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (nd_recording_reader_get_format (like),
      "NRRD"));
  nd_array_init (&array, NULL, "float32", 1, size);
  bytes = fill (&array, r);
  write_all (path, &array, bytes, like, FALSE);
  reader = nd_recording_reader_new (path, NULL, 0, 0, FALSE, &error);
  g_assert_no_error (error);
  check_all (reader, &array, bytes, r);
  g_assert_true (nd_recording_reader_get_rate (reader, &n, &d));
  g_assert_cmpint (n, ==, 20 * d);
  g_assert_true (nd_recording_reader_get_geometry (reader, spacing, origin,
      directions));
  g_assert_cmpfloat_with_epsilon (spacing[0], 2, 1e-5);
  g_assert_cmpfloat_with_epsilon (spacing[1], 3, 1e-5);
  g_assert_cmpfloat_with_epsilon (origin[2], 7, 1e-5);
  g_assert_cmpfloat_with_epsilon (directions[3], 1, 1e-5);
  g_assert_true (nd_recording_reader_get_geometry (reader, NULL, NULL, NULL));
}

static void
test_errors (void)
{
  const gsize size[4] = { 4, 3, 2, VOLUMES };
  g_autofree gchar *raw = in_folder ("c.raw"), *none = in_folder ("none.nii"),
                   *cut = in_folder ("cut.nii"), *hdf5 = in_folder ("c.h5"),
                   *empty = in_folder ("empty.nii");
  g_autofree guint8 *bytes = NULL;
  g_autofree gchar *content = NULL;
  g_autoptr (GRand) r = g_rand_new_with_seed (2);
  g_autoptr (NdRecordingReader) reader = NULL;
  g_autoptr (NdRecordingWriter) writer = NULL;
  g_autoptr (GError) error = NULL;
  NdArray array;
  gsize n;

  g_assert_null (nd_recording_reader_new (none, NULL, 0, 0, FALSE, &error));
  expect (&error, ND_ERROR_NOT_FOUND, "none.nii");
  nd_array_init (&array, NULL, "uint8", 1, size);
  bytes = fill (&array, r);
  write_all (raw, &array, bytes, NULL, FALSE);
  g_assert_null (nd_recording_reader_new (raw, NULL, 0, 0, FALSE, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
  g_clear_error (&error);
  g_assert_null (nd_recording_reader_new (raw, &array, 1, 0, FALSE, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  g_clear_error (&error);
  array.type = "int64";
  g_assert_null (nd_recording_reader_new (raw, &array, 0, 0, FALSE, &error));
  expect (&error, ND_ERROR_SETTINGS, "raw has samples of the type int64");
  g_assert_null (nd_recording_writer_new (raw, &array, NULL, FALSE, &error));
  expect (&error, ND_ERROR_SETTINGS, "int64");
  array.type = "uint8";
  g_assert_null (nd_recording_writer_new (hdf5, &array, NULL, FALSE, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
  g_clear_error (&error);

  /* A file that is cut while it is read. */
  write_all (cut, &array, bytes, NULL, FALSE);
  reader = nd_recording_reader_new (cut, NULL, 0, 0, FALSE, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (cut, &content, &n, &error));
  g_assert_cmpint (truncate (cut, (off_t) n - 1), ==, 0);
  g_assert_false (nd_recording_reader_read (reader, VOLUMES - 1, bytes,
      &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  g_clear_error (&error);
  g_assert_true (nd_recording_reader_read (reader, 0, bytes, &error));
  g_assert_no_error (error);

  writer = nd_recording_writer_new (empty, &array, NULL, FALSE, &error);
  g_assert_no_error (error);
  g_assert_false (nd_recording_writer_finish (writer, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  const gchar *name;
  GDir *files;
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("ndconv-XXXXXX", &error);
  g_assert_no_error (error);
  g_test_add_func ("/recording/round-trip", test_round_trip);
  g_test_add_func ("/recording/like", test_like);
  g_test_add_func ("/recording/errors", test_errors);
  status = g_test_run ();
  files = g_dir_open (folder, 0, NULL);
  while ((name = g_dir_read_name (files)) != NULL) {
    g_autofree gchar *path = in_folder (name);

    g_unlink (path);
  }
  g_dir_close (files);
  g_rmdir (folder);
  g_free (folder);
  return status;
}
