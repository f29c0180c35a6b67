/* Writing and reading: every type, format and size; counts, times, fields; and
 * files that cannot be read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/convert.h"
#include "tests/formats/files.h"
#include "tests/formats/recordings.h"

#include <unistd.h>

static void
round_trip (const gchar *name, gboolean compress, const NdRecording *recording,
    guint n)
{
  g_autofree gchar *path = file_path (name);
  g_autofree gchar *part = NULL;
  g_autoptr (GError) error = NULL;
  const gsize size = nd_recording_volume_size (recording);
  g_autofree guint8 *data = g_malloc (size * n);

  for (gsize i = 0; i < size * n; i++)
    data[i] = g_test_rand_int ();
  remove_recording (path);
  g_autoptr (NdWriter) writer = nd_writer_open (path, compress, &error);
  g_assert_no_error (error);
  g_assert_true (nd_writer_begin (writer, recording, &error));
  write_volumes (writer, data, size, n);
  g_assert_cmpuint (nd_writer_volumes (writer), ==, n);
  part = g_strdup (nd_writer_partial_path (writer));
  g_assert_true (g_str_has_suffix (part, ".part"));
  g_assert_true (file_exists (part));
  g_assert_false (file_exists (path));
  g_assert_true (nd_writer_finish (writer, &error));
  g_assert_false (file_exists (part));
  assert_file (path, recording, data, n);
  if (!g_str_has_suffix (name, ".raw")) {
    g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
    const NdRecording *found = nd_reader_recording (reader);

    if (n > 1) {
      g_assert_cmpint (found->rate_n, >, 0);
      g_assert_cmpfloat_with_epsilon ((gdouble) found->rate_d / found->rate_n,
          (gdouble) recording->rate_d / recording->rate_n, 1e-8);
    }
    if (recording->geometry.known) {
      g_assert_cmpmem (&found->geometry, sizeof (NdGeometry),
          &recording->geometry, sizeof (NdGeometry));
    }
  }
}

static void
test_round_trips (void)
{
  for (guint f = 0; f < G_N_ELEMENTS (recordings); f++) {
    for (guint type = 0; type < ND_SAMPLE_TYPES; type++) {
      NdRecording recording = small_recording (type);

      for (guint n = 1; n <= 7; n += 3)
        round_trip (recordings[f].name, recordings[f].compress, &recording, n);
      recording.shape.size[2] = 1;
      recording.geometry.known = FALSE;
      round_trip (recordings[f].name, recordings[f].compress, &recording, 3);
      recording.shape.size[0] = recording.shape.size[1] = 1;
      round_trip (recordings[f].name, recordings[f].compress, &recording, 2);
    }
  }
}

static void
test_components (void)
{
  static const struct
  {
    NdSampleType type;
    gsize components;
  } in_nifti[] = { { ND_FLOAT32, 2 }, { ND_UINT8, 3 }, { ND_UINT8, 4 } };
  NdRecording recording = small_recording (ND_FLOAT32);

  for (guint f = 0; f < G_N_ELEMENTS (recordings); f++) {
    for (guint i = 0; i < G_N_ELEMENTS (in_nifti); i++) {
      recording.type = in_nifti[i].type;
      recording.shape.components = in_nifti[i].components;
      round_trip (recordings[f].name, recordings[f].compress, &recording, 3);
    }
  }
  recording.type = ND_INT16;
  recording.shape.components = 5;
  recording.responses = 6;
  round_trip ("bank.raw", FALSE, &recording, 3);
  round_trip ("bank.nrrd", FALSE, &recording, 3);
  recording.responses = 1;
  for (guint f = IN_NIFTI; f < G_N_ELEMENTS (recordings); f++)
    round_trip (recordings[f].name, recordings[f].compress, &recording, 3);
}

/* Other types of streams are written and read as they are. */
static void
test_other_types (void)
{
  static const NdSampleType types[] = { ND_INT8, ND_INT32, ND_UINT32,
    ND_FLOAT16, ND_FLOAT64 };
  static const gchar *const names[] = { "o.nii", "o.nii.gz", "o.nrrd", "o.mha",
    "o.mhd", "o.tif", "o.npy", "o.raw" };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++) {
    for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
      NdRecording recording = small_recording (types[t]);
      g_autofree gchar *path = file_path (names[f]);
      g_autoptr (GError) error = NULL;
      g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);
      g_autoptr (NdReader) reader = NULL;
      const gsize size = nd_recording_volume_size (&recording);
      g_autofree guint8 *data = g_malloc (size), *got = g_malloc (size);

      g_assert_no_error (error);
      if (types[t] == ND_FLOAT16 && f < 6) {
        g_assert_false (nd_writer_begin (writer, &recording, &error));
        g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
        g_assert_nonnull (strstr (error->message, ".npy"));
        continue;
      }
      for (gsize i = 0; i < size; i++)
        data[i] = g_test_rand_int_range (0, 100);
      g_assert_true (nd_writer_begin (writer, &recording, &error));
      write_volumes (writer, data, size, 1);
      g_assert_true (nd_writer_finish (writer, &error));
      reader = nd_reader_open (path, &recording, &error);
      g_assert_no_error (error);
      g_assert_cmpint (nd_reader_recording (reader)->type, ==, types[t]);
      g_assert_null (nd_reader_warnings (reader)[0]);
      g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 1);
      g_assert_true (nd_reader_read (reader, got, &error));
      g_assert_cmpmem (got, size, data, size);
      remove_recording (path);
    }
  }
}

/* NIfTI refuses volumes that it cannot store; the error suggests a format. */
static void
test_unsupported (void)
{
  for (guint f = 0; f < IN_NIFTI; f++) {
    g_autofree gchar *path = file_path (recordings[f].name);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdWriter) writer =
        nd_writer_open (path, recordings[f].compress, &error);
    NdRecording recording = small_recording (ND_INT16);

    g_assert_no_error (error);
    recording.responses = 2;
    g_assert_false (nd_writer_begin (writer, &recording, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
    g_assert_nonnull (strstr (error->message, ".raw"));
    g_clear_error (&error);
    recording.responses = 1;
    recording.shape.components = 2;
    g_assert_false (nd_writer_begin (writer, &recording, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
    g_assert_nonnull (strstr (error->message, "2 components of int16"));
  }
}

/* Sizes or counts beyond int16 require NIfTI-2, also if they are known only at
 * the end. */
static void
test_nifti_2 (void)
{
  NdRecording recording = small_recording (ND_UINT8);

  for (guint f = 0; f < IN_NIFTI; f++) {
    g_autofree gchar *path = file_path (recordings[f].name);
    guint8 first[4];
    gzFile file;

    for (guint big = 0; big < 2; big++) {
      const guint n = big ? 32768 : 32767;

      set_shape (&recording, 2, 1, 1);
      round_trip (recordings[f].name, recordings[f].compress, &recording, n);
      file = gzopen (path, "rb");
      g_assert_cmpint (gzread (file, first, 4), ==, 4);
      gzclose (file);
      g_assert_cmpint (first[0] | first[1] | first[2] | first[3], ==,
          big ? (540 & 255) | (540 >> 8) : (348 & 255) | (348 >> 8));
    }
    set_shape (&recording, 40000, 2, 1);
    round_trip (recordings[f].name, recordings[f].compress, &recording, 2);
  }
}

/* A writer that starts again forgets the previous recording. */
static void
test_begin_again (void)
{
  for (guint f = 0; f < G_N_ELEMENTS (recordings); f++) {
    g_autofree gchar *path = file_path (recordings[f].name);
    g_autoptr (GError) error = NULL;
    NdRecording recording = small_recording (ND_INT16);
    g_autofree guint8 *data = g_malloc0 (1000);
    g_autoptr (NdWriter) writer =
        nd_writer_open (path, recordings[f].compress, &error);

    g_assert_true (nd_writer_begin (writer, &recording, &error));
    write_volumes (writer, data, 120, 5);
    for (guint i = 0; i < 1000; i++)
      data[i] = i;
    recording.type = ND_UINT8;
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    write_volumes (writer, data, 60, 2);
    g_assert_true (nd_writer_finish (writer, &error));
    assert_file (path, &recording, data, 2);
  }
}

static void
test_raw_sizes (void)
{
  g_autofree gchar *path = file_path ("sizes.raw");
  g_autoptr (GError) error = NULL;
  NdRecording hint = small_recording (ND_INT16);
  NdReader *reader;
  const guint8 data[361] = { 0 };

  put_file (path, data, 361);
  g_assert_null (nd_reader_open (path, &hint, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  g_assert_nonnull (strstr (error->message, "361 bytes"));
  g_assert_nonnull (strstr (error->message, "120 bytes"));
  g_clear_error (&error);
  put_file (path, data, 0);
  g_assert_null (nd_reader_open (path, &hint, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  g_clear_error (&error);
  hint.shape.size[0] = hint.shape.size[1] = (gsize) 1 << 40;
  put_file (path, data, 360);
  g_assert_null (nd_reader_open (path, &hint, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
  g_clear_error (&error);
  hint = small_recording (ND_INT16);
  reader = nd_reader_open (path, &hint, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 3);
  nd_reader_close (reader);
}

static void
test_not_readable (void)
{
  g_autofree gchar *missing = file_path ("missing.nii");

  assert_refused (missing, ND_ERROR_NOT_FOUND, "cannot be opened");
  assert_refused (folder, ND_ERROR_OPEN_READ, "folder");
  assert_refused ("/dev/null", ND_ERROR_OPEN_READ, "device");
}

static NdMetadata *
make_source (guint volumes)
{
  NdMetadata *source = nd_metadata_new (NULL);

  nd_metadata_add (source, "UltrasoundImageOrientation", "MF");
  nd_metadata_add (source, "with spaces", "a \\ and\ta \"b\" = c");
  source->origin = G_GINT64_CONSTANT (1700000000123456789);
  for (guint i = 0; i < volumes; i++) {
    const gint64 time = i * G_GINT64_CONSTANT (86000000) + i * i % 1234567;
    g_autofree gchar *text = g_strdup_printf ("1 0 0 %u", i);

    nd_list_add (source->times, time);
    nd_metadata_add_to_volume (source, i, "ProbeToTrackerTransform", text);
    if (i % 3 == 0)
      nd_metadata_add_to_volume (source, i, "ImageStatus", "OK");
  }
  return source;
}

/* Times and fields of all volumes or every second one, in every format, also if
 * more volumes arrive than expected. */
static void
test_fields (void)
{
  const guint volumes = 3000;
  g_autoptr (NdMetadata) source = make_source (volumes);

  for (guint f = 0; f < 2 * G_N_ELEMENTS (recordings); f++) {
    const gchar *name = recordings[f / 2].name;
    g_autofree gchar *path = file_path (name);
    g_autoptr (GError) error = NULL;
    NdRecording recording = small_recording (ND_UINT8);
    const gboolean meta = strstr (name, ".mh") != NULL;
    const NdMetadata *found;
    guint8 data[60] = { 0 }, again[60];

    if (f / 2 == RAW)
      continue;
    recording.rate_n = 0;
    recording.rate_d = 1;
    g_autoptr (NdWriter) writer =
        nd_writer_open (path, recordings[f / 2].compress, &error);
    g_assert_no_error (error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    nd_writer_set_source (writer, source, f % 2 ? 3 : volumes);
    for (guint i = 0; i < volumes; i += 2) {
      memset (data, i, sizeof (data));
      g_assert_true (nd_writer_write (writer, data,
          g_array_index (source->times, gint64, i), &error));
    }
    g_assert_true (nd_writer_finish (writer, &error));
    g_assert_no_error (error);
    g_assert_null (nd_writer_warning (writer));

    g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
    g_assert_no_error (error);
    g_assert_null (nd_reader_warnings (reader)[0]);
    found = nd_reader_metadata (reader);
    g_assert_cmpint (found->origin, ==, source->origin);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, volumes / 2);
    g_assert_cmpstr (nd_metadata_get (found, "UltrasoundImageOrientation"), ==,
        "MF");
    g_assert_cmpstr (nd_metadata_get (found,
                         meta ? "with_spaces" : "with spaces"),
        ==, meta ? "a \\ and a \"b\" = c" : "a \\ and\ta \"b\" = c");
    for (guint i = 0; i < volumes / 2; i++) {
      guint n, n_source;
      const NdField *fields = nd_metadata_of_volume (found, i, &n);
      const NdField *expected =
          nd_metadata_of_volume (source, 2 * i, &n_source);

      g_assert_cmpint (nd_reader_time (reader, i), ==,
          g_array_index (source->times, gint64, 2 * i));
      g_assert_cmpuint (n, ==, n_source);
      for (guint k = 0; k < n; k++) {
        g_assert_cmpstr (fields[k].key, ==, expected[k].key);
        g_assert_cmpstr (fields[k].value, ==, expected[k].value);
      }
      g_assert_true (nd_reader_read (reader, again, &error));
      memset (data, 2 * i, sizeof (data));
      g_assert_cmpmem (again, sizeof (again), data, sizeof (data));
    }
  }
}

/* A stream that may be endless gets as much room as the reader accepts. */
static void
test_many_expected (void)
{
  static const gchar *const endings[] = { "nii", "nii.gz", "nrrd" };
  const guint8 data[60] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree gchar *name = g_strconcat ("many.", endings[i], NULL);
    g_autofree gchar *path = file_path (name);
    NdRecording recording = small_recording (ND_UINT8);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);

    recording.rate_n = 0;
    recording.rate_d = 1;
    g_assert_no_error (error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    nd_writer_set_source (writer, NULL, G_MAXUINT64);
    write_volumes (writer, data, 0, 2);
    g_assert_true (nd_writer_finish (writer, &error));
    g_assert_no_error (error);
    assert_file (path, &recording, (const guint8[120]){ 0 }, 2);
    g_remove (path);
  }
}

/* Strings survive as ASCII; other strings are refused. */
static void
test_metadata_text (void)
{
  static const gchar *const wrong[] = { "x", "o\n", "o 1", "t x\n", "f a\n",
    "f a b\\\n", "v 1 a\n", "v -1 a b\n", "v 1\n", "z 1\n", "\n" };
  g_autoptr (NdMetadata) source = make_source (50);
  g_autofree gchar *text = NULL, *again = NULL;

  nd_metadata_add (source, "a key\n with \\ all", "\xff\xfe\n\\n \"\t");
  nd_metadata_add (source, "empty", "");
  text = nd_metadata_to_text (source);
  g_assert_true (g_str_is_ascii (text));
  g_autoptr (NdMetadata) found = nd_metadata_from_text (text);
  g_assert_nonnull (found);
  g_assert_cmpstr (nd_metadata_get (found, "a key\n with \\ all"), ==,
      "\xff\xfe\n\\n \"\t");
  g_assert_cmpstr (nd_metadata_get (found, "empty"), ==, "");
  g_assert_cmpint (found->origin, ==, source->origin);
  g_assert_cmpmem (found->times->data, 8 * found->times->len,
      source->times->data, 8 * source->times->len);
  again = nd_metadata_to_text (found);
  g_assert_cmpstr (again, ==, text);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_null (nd_metadata_from_text (wrong[i]));
}

/* Fields that readers of MetaImage cannot accept are left out with a
 * warning. */
static void
test_long_fields (void)
{
  g_autofree gchar *path = file_path ("long.mha");
  g_autofree gchar *value = g_strnfill (1000, 'x');
  g_autoptr (NdMetadata) source = nd_metadata_new (NULL);
  const NdRecording recording = small_recording (ND_UINT8);
  g_autoptr (GError) error = NULL;
  const guint8 data[60] = { 0 };

  nd_metadata_add (source, "long", value);
  nd_metadata_add (source, "NDims", "7");
  g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  nd_writer_set_source (writer, source, 0);
  write_volumes (writer, data, 0, 2);
  g_assert_true (nd_writer_finish (writer, &error));
  g_assert_nonnull (strstr (nd_writer_warning (writer), "1 field"));
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (nd_metadata_get (nd_reader_metadata (reader), "long"));
}

/* A link beside a header may lead anywhere, so data files must not be links,
 * whatever they lead to and however the header names them. The header itself
 * may be a link. */
static void
test_links (void)
{
  static const gchar *const headers[] = {
    "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n"
    "data file: ",
    "NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\n"
    "ElementDataFile = "
  };
  static const gchar *const named[] = { "link1.raw", "LIST 3\nlink1.raw",
    "link%d.raw 1 1 1 3" };
  g_autofree gchar *target = file_path ("target.raw");
  g_autofree gchar *link = file_path ("link1.raw");
  g_autofree gchar *nowhere = file_path ("nowhere");
  g_autofree gchar *path = file_path ("links.header");
  g_autofree gchar *alias = file_path ("alias.header");
  const gchar *const leads[] = { target, "/etc/passwd", "/dev/zero", nowhere,
    folder };
  g_autoptr (GError) error = NULL;

  put_file (target, "01234567", 8);
  g_assert_cmpint (symlink (path, alias), ==, 0);
  for (guint h = 0; h < 2; h++) {
    g_autofree gchar *good = g_strconcat (headers[h], "target.raw\n", NULL);

    for (guint n = 0; n < G_N_ELEMENTS (named) - h; n++) {
      g_autofree gchar *text = g_strconcat (headers[h], named[n], "\n", NULL);

      put_file (path, text, strlen (text));
      for (guint i = 0; i < G_N_ELEMENTS (leads); i++) {
        g_assert_cmpint (symlink (leads[i], link), ==, 0);
        g_assert_null (nd_reader_open (path, NULL, &error));
        g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_READ);
        g_assert_nonnull (strstr (error->message, link));
        g_assert_nonnull (strstr (error->message, "symbolic link"));
        g_clear_error (&error);
        g_remove (link);
      }
    }
    put_file (path, good, strlen (good));
    g_autoptr (NdReader) reader = nd_reader_open (alias, NULL, &error);
    g_assert_no_error (error);
  }
}

/* The real recordings are equal after reading, writing and reading. */
static void
test_shared (gconstpointer name)
{
  const gchar *shared = g_getenv ("ND_SHARED");
  g_autofree gchar *path =
      g_build_filename (shared ? shared : "", "data", name, NULL);
  g_autofree gchar *copy = file_path ("copy.nii.gz");
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *data = NULL, *again = NULL;
  NdRecording recording;
  gsize size;

  if (!file_exists (path)) {
    g_test_skip ("no folder with recordings, see ND_SHARED");
    return;
  }
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  recording = *nd_reader_recording (reader);
  size = nd_recording_volume_size (&recording);
  data = g_malloc (size);
  again = g_malloc (size);
  g_autoptr (NdWriter) writer = nd_writer_open (copy, FALSE, &error);
  g_assert_true (nd_writer_begin (writer, &recording, &error));
  for (guint64 t = 0; t < recording.volumes; t++) {
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_true (nd_writer_write (writer, data, -1, &error));
  }
  g_assert_true (nd_writer_finish (writer, &error));
  g_clear_pointer (&reader, nd_reader_close);

  reader = nd_reader_open (path, NULL, &error);
  g_autoptr (NdReader) written = nd_reader_open (copy, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (nd_reader_recording (written)->rate_n, ==, recording.rate_n);
  g_assert_cmpint (nd_reader_recording (written)->rate_d, ==, recording.rate_d);
  g_assert_cmpuint (nd_reader_recording (written)->volumes, ==,
      recording.volumes);
  g_assert_cmpmem (&nd_reader_recording (written)->geometry,
      sizeof (NdGeometry), &recording.geometry, sizeof (NdGeometry));
  for (guint64 t = 0; t < recording.volumes; t++) {
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_true (nd_reader_read (written, again, &error));
    g_assert_cmpmem (data, size, again, size);
  }
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/recording/round-trips", test_round_trips);
  g_test_add_func ("/recording/components", test_components);
  g_test_add_func ("/recording/other-types", test_other_types);
  g_test_add_func ("/recording/unsupported", test_unsupported);
  g_test_add_func ("/recording/nifti-2", test_nifti_2);
  g_test_add_func ("/recording/begin-again", test_begin_again);
  g_test_add_func ("/recording/fields", test_fields);
  g_test_add_func ("/recording/many-expected", test_many_expected);
  g_test_add_func ("/recording/metadata-text", test_metadata_text);
  g_test_add_func ("/recording/long-fields", test_long_fields);
  g_test_add_func ("/recording/links", test_links);
  g_test_add_func ("/recording/raw-sizes", test_raw_sizes);
  g_test_add_func ("/recording/not-readable", test_not_readable);
  g_test_add_data_func ("/recording/shared/greedy_img4d", "greedy_img4d.nii.gz",
      test_shared);
  g_test_add_data_func ("/recording/shared/sct_fmri", "sct_fmri.nii.gz",
      test_shared);
  status = g_test_run ();
  remove_folder ();
  return status;
}
