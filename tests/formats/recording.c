/* Writing, and reading it again: every type, format and size; counts, full
 * disks, names.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndfiles.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include "formats/ndnifti.h"
#include "formats/ndrate.h"

static const struct
{
  const gchar *name;
  gboolean compress;
} names[] = {
  {"t.nii", FALSE}, {"t.nii.gz", FALSE}, {"t.raw", FALSE},
  {"t.nrrd", FALSE}, {"c.nrrd", TRUE}, {"t.seq.nrrd", FALSE},
  {"t.igs.nrrd", FALSE}, {"dn.nhdr", FALSE}, {"cn.nhdr", TRUE},
  {"t.mha", FALSE}, {"c.igs.mha", TRUE}, {"dm.mhd", FALSE}, {"cm.mhd", TRUE},
};

#define RAW 2
#define IN_NIFTI 2              /* the first so many */

/* With the samples beside it. */
static void
remove_recording (const gchar * path)
{
  static const gchar *const endings[] = { ".raw", ".raw.gz", ".zraw" };
  const gchar *dot = strrchr (path, '.');

  g_remove (path);
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree gchar *samples = g_strdup_printf ("%.*s%s", (gint) (dot - path),
        path, endings[i]);

    if (strcmp (dot, ".nhdr") == 0 || strcmp (dot, ".mhd") == 0)
      g_remove (samples);
  }
}

static void
set_shape (NdRecording * recording, gsize x, gsize y, gsize z)
{
  recording->shape.components = 1;
  recording->shape.size[0] = x;
  recording->shape.size[1] = y;
  recording->shape.size[2] = z;
}

static NdRecording
small_recording (NdSampleType type)
{
  static const NdGeometry geometry = {
    TRUE, {0.5, 0.75, 2}, {-10, 20.5, 3}, {0, 1, 0, -1, 0, 0, 0, 0, 1}
  };
  NdRecording recording = { 0 };

  recording.type = type;
  recording.rate_n = 30000;
  recording.rate_d = 1001;
  recording.responses = 1;
  recording.geometry = geometry;
  set_shape (&recording, 5, 4, 3);
  return recording;
}

static void
write_volumes (NdWriter * writer, const guint8 * data, gsize size, guint n)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++) {
    nd_writer_write (writer, data + i * size, nd_rate_time (30000, 1001, i),
        &error);
    g_assert_no_error (error);
  }
}

/* Reads everything back, and compares bit by bit. */
static void
assert_file (const gchar * path, const NdRecording * recording,
    const guint8 * data, guint n)
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

static void
round_trip (const gchar * name, gboolean compress,
    const NdRecording * recording, guint n)
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
  part = g_strdup (nd_writer_part (writer));
  g_assert_true (g_str_has_suffix (part, ".part"));
  g_assert_true (g_file_test (part, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_true (nd_writer_finish (writer, &error));
  g_assert_false (g_file_test (part, G_FILE_TEST_EXISTS));
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
  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    for (guint type = 0; type < ND_SAMPLE_TYPES; type++) {
      NdRecording recording = small_recording (type);

      for (guint n = 1; n <= 7; n += 3)
        round_trip (names[f].name, names[f].compress, &recording, n);
      recording.shape.size[2] = 1;
      recording.geometry.known = FALSE;
      round_trip (names[f].name, names[f].compress, &recording, 3);
      recording.shape.size[0] = recording.shape.size[1] = 1;
      round_trip (names[f].name, names[f].compress, &recording, 2);
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
  } in_nifti[] = {
    {ND_FLOAT32, 2}, {ND_UINT8, 3}, {ND_UINT8, 4}
  };
  NdRecording recording = small_recording (ND_FLOAT32);

  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    for (guint i = 0; i < G_N_ELEMENTS (in_nifti); i++) {
      recording.type = in_nifti[i].type;
      recording.shape.components = in_nifti[i].components;
      round_trip (names[f].name, names[f].compress, &recording, 3);
    }
  }
  recording.type = ND_INT16;
  recording.shape.components = 5;
  recording.responses = 6;
  round_trip ("bank.raw", FALSE, &recording, 3);
  round_trip ("bank.nrrd", FALSE, &recording, 3);
  recording.responses = 1;
  for (guint f = IN_NIFTI; f < G_N_ELEMENTS (names); f++)
    round_trip (names[f].name, names[f].compress, &recording, 3);
}

/* What NIfTI cannot hold, with the way out. */
static void
test_unsupported (void)
{
  for (guint f = 0; f < IN_NIFTI; f++) {
    g_autofree gchar *path = file_path (names[f].name);
    g_autoptr (GError) error = NULL;
    g_autoptr (NdWriter) writer =
        nd_writer_open (path, names[f].compress, &error);
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

/* Sizes or counts beyond int16 make it NIfTI-2, also when that is known only
 * at the end. */
static void
test_nifti_2 (void)
{
  NdRecording recording = small_recording (ND_UINT8);

  for (guint f = 0; f < IN_NIFTI; f++) {
    g_autofree gchar *path = file_path (names[f].name);
    guint8 first[4];
    gzFile file;

    for (guint big = 0; big < 2; big++) {
      const guint n = big ? 32768 : 32767;

      set_shape (&recording, 2, 1, 1);
      round_trip (names[f].name, names[f].compress, &recording, n);
      file = gzopen (path, "rb");
      g_assert_cmpint (gzread (file, first, 4), ==, 4);
      gzclose (file);
      g_assert_cmpint (first[0] | first[1] | first[2] | first[3], ==, big ?
          (540 & 255) | (540 >> 8) : (348 & 255) | (348 >> 8));
    }
    set_shape (&recording, 40000, 2, 1);
    round_trip (names[f].name, names[f].compress, &recording, 2);
  }
}

/* A writer that begins again forgets what it has. */
static void
test_begin_again (void)
{
  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *path = file_path (names[f].name);
    g_autoptr (GError) error = NULL;
    NdRecording recording = small_recording (ND_INT16);
    g_autofree guint8 *data = g_malloc0 (1000);
    g_autoptr (NdWriter) writer =
        nd_writer_open (path, names[f].compress, &error);

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

/* Unfinished files keep .part; without a volume nothing is left. */
static void
test_part (void)
{
  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *path = file_path (names[f].name);
    g_autofree gchar *header = g_strconcat (path, ".part", NULL);
    g_autofree gchar *part = NULL;
    g_autoptr (GError) error = NULL;
    const NdRecording recording = small_recording (ND_UINT8);
    const guint8 data[60] = { 0 };
    NdWriter *writer;

    remove_recording (path);
    writer = nd_writer_open (path, names[f].compress, &error);
    part = g_strdup (nd_writer_part (writer));
    g_assert_true (g_file_test (part, G_FILE_TEST_EXISTS));
    nd_writer_close (writer);
    g_assert_false (g_file_test (part, G_FILE_TEST_EXISTS));

    writer = nd_writer_open (path, names[f].compress, &error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    g_assert_false (nd_writer_finish (writer, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
    nd_writer_close (writer);
    g_assert_false (g_file_test (part, G_FILE_TEST_EXISTS));
    g_clear_error (&error);

    writer = nd_writer_open (path, names[f].compress, &error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    write_volumes (writer, data, 0, 2);
    nd_writer_close (writer);
    g_assert_true (g_file_test (part, G_FILE_TEST_EXISTS));
    g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    if (f != RAW) {
      /* It can be read, and says what it is. */
      g_autoptr (NdReader) reader = nd_reader_open (header, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 2);
      g_assert_nonnull (strstr (nd_reader_warnings (reader)[0],
              "not finished"));
    }
    g_remove (part);
    g_remove (header);
  }
}

/* A file size limit stands for a full disk: EFBIG in place of ENOSPC. */
static void
test_disk_full (void)
{
  struct rlimit before, limit;

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *path = file_path (names[f].name);
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
        nd_writer_open (path, names[f].compress, &error);
    part = g_strdup (nd_writer_part (writer));
    limit = before;
    limit.rlim_cur = 3 * size + size / 2;
    g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    for (guint i = 0; i < 5 && ok; i++)
      ok = nd_writer_write (writer, data, -1, &error);
    g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false (ok);
    g_assert_error (error, ND_ERROR, ND_ERROR_NO_SPACE);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, "1048576 bytes"));
    g_assert_nonnull (strstr (error->message, path));
    g_clear_error (&error);
    g_assert_false (nd_writer_finish (writer, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
    g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    g_assert_true (g_file_test (part, G_FILE_TEST_EXISTS));
    g_clear_pointer (&writer, nd_writer_close);
    g_remove (part);
  }
}

/* The disk is full still when the sink stops. */
static void
test_disk_stays_full (void)
{
  static const gchar *const plain[] = { "f.mha", "f.nrrd", "f.nhdr", "f.mhd",
    "f.nii"
  };
  const gsize size = 1 << 20;
  g_autofree guint8 *data = g_malloc (5 * size);
  struct rlimit before, limit;

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  limit = before;
  limit.rlim_cur = 3 * size + size / 2;
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
    part = g_strdup (nd_writer_part (writer));
    g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    for (guint i = 0; i < 5 && ok; i++)
      ok = nd_writer_write (writer, data + i * size,
          nd_rate_time (30000, 1001, i), &error);
    g_assert_false (ok);
    g_clear_pointer (&writer, nd_writer_close);
    g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    g_test_message ("%s", header);
    assert_file (header, &recording, data, 3);
    g_remove (part);
    g_remove (header);
  }
}

/* What deflate had not given yet is lost: the part is read up to there, and
 * nothing else than what was written comes of it. */
static void
test_disk_stays_full_packed (void)
{
  static const gchar *const packed[] = { "p.nii.gz", "p.nrrd", "p.nhdr",
    "p.mha", "p.mhd"
  };
  const gsize size = 1 << 14;
  const guint n = 400;
  g_autofree guint8 *data = g_malloc (n * size), *read = g_malloc (size);
  struct rlimit before, limit;

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  limit = before;
  limit.rlim_cur = 1 << 20;
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

    set_shape (&recording, 128, 128, 1);
    g_autoptr (NdWriter) writer = nd_writer_open (path, TRUE, &error);
    g_assert_no_error (error);
    part = g_strdup (nd_writer_part (writer));
    g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    for (guint i = 0; i < n && ok; i++)
      ok = nd_writer_write (writer, data + i * size,
          nd_rate_time (30000, 1001, i), &error);
    g_assert_false (ok);
    g_clear_error (&error);
    claimed = nd_writer_volumes (writer);
    g_clear_pointer (&writer, nd_writer_close);
    g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
    g_autoptr (NdReader) reader = nd_reader_open (header, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, claimed);
    while (done < claimed && nd_reader_read (reader, read, &error)) {
      g_assert_cmpmem (read, size, data + done * size, size);
      done++;
    }
    g_test_message ("%s: %u of %u volumes", header, (guint) done,
        (guint) claimed);
    g_assert_cmpuint (done, >, claimed / 2);
    if (done < claimed)
      g_assert_error (error, ND_ERROR, ND_ERROR_READ);
    g_remove (part);
    g_remove (header);
  }
}

static void
refuse_path (const gchar * path, gint code)
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
  g_autofree gchar *tiff = file_path ("x.tiff");
  g_autofree gchar *raw_gz = file_path ("x.raw.GZ");

  refuse_path (missing, ND_ERROR_OPEN_WRITE);
  put_file (file, "", 0);
  refuse_path (below, ND_ERROR_OPEN_WRITE);
  refuse_path (folder, ND_ERROR_OPEN_WRITE);
  refuse_path ("/dev/null", ND_ERROR_OPEN_WRITE);
  refuse_path (tiff, ND_ERROR_SETTINGS);
  refuse_path (raw_gz, ND_ERROR_SETTINGS);
  if (geteuid () == 0) {
    g_test_message ("root may write everywhere: mode 0500 is not tried");
    return;
  }
  g_assert_cmpint (g_mkdir (locked, 0500), ==, 0);
  refuse_path (inside, ND_ERROR_OPEN_WRITE);
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

/* The real recordings: what this room reads, writes and reads is the same. */
static NdMetadata *
make_source (guint volumes)
{
  NdMetadata *source = nd_metadata_new ();

  nd_metadata_add (source, "UltrasoundImageOrientation", "MF");
  nd_metadata_add (source, "with spaces", "a \\ and\ta \"b\" = c");
  source->origin = G_GINT64_CONSTANT (1700000000123456789);
  for (guint i = 0; i < volumes; i++) {
    const gint64 time = i * G_GINT64_CONSTANT (86000000) + i * i % 1234567;
    g_autofree gchar *text = g_strdup_printf ("1 0 0 %u", i);

    g_array_append_val (source->times, time);
    nd_metadata_add_to_volume (source, i, "ProbeToTrackerTransform", text);
    if (i % 3 == 0)
      nd_metadata_add_to_volume (source, i, "ImageStatus", "OK");
  }
  return source;
}

/* Times and fields of volumes, of every second one, in every format; where
 * more volumes come than were expected, the header grows. */
static void
test_fields (void)
{
  const guint volumes = 3000;
  g_autoptr (NdMetadata) source = make_source (volumes);

  for (guint f = 0; f < 2 * G_N_ELEMENTS (names); f++) {
    const gchar *name = names[f / 2].name;
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
    g_autoptr (NdWriter) writer = nd_writer_open (path, names[f / 2].compress,
        &error);
    g_assert_no_error (error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    nd_writer_set_source (writer, source, f % 2 ? 3 : volumes);
    for (guint i = 0; i < volumes; i += 2) {
      memset (data, i, sizeof (data));
      g_assert_true (nd_writer_write (writer, data, g_array_index
              (source->times, gint64, i), &error));
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
    g_assert_cmpstr (nd_metadata_get (found, "UltrasoundImageOrientation"),
        ==, "MF");
    g_assert_cmpstr (nd_metadata_get (found, meta ? "with_spaces" :
            "with spaces"), ==, meta ? "a \\ and a \"b\" = c" :
        "a \\ and\ta \"b\" = c");
    for (guint i = 0; i < volumes / 2; i++) {
      guint n, n_source;
      const NdField *fields = nd_metadata_of_volume (found, i, &n);
      const NdField *expected = nd_metadata_of_volume (source, 2 * i,
          &n_source);

      g_assert_cmpint (nd_reader_time (reader, i), ==, g_array_index
          (source->times, gint64, 2 * i));
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

/* A stream that may be endless gets as much room as is read again. */
static void
test_many_expected (void)
{
  static const gchar *const endings[] = { "nii", "nii.gz", "nrrd", "mha" };
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
    assert_file (path, &recording, (const guint8[120]) { 0 }, 2);
    g_remove (path);
  }
}

/* As a string of ASCII, and back; what is no such string is refused. */
static void
test_metadata_text (void)
{
  static const gchar *const wrong[] = { "x", "o\n", "o 1", "t x\n", "f a\n",
    "f a b\\\n", "v 1 a\n", "v -1 a b\n", "v 1\n", "z 1\n", "\n"
  };
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

/* What MetaImage's readers cannot take is left out, and that is said. */
static void
test_long_fields (void)
{
  g_autofree gchar *path = file_path ("long.mha");
  g_autofree gchar *value = g_strnfill (1000, 'x');
  g_autoptr (NdMetadata) source = nd_metadata_new ();
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
  g_assert_nonnull (strstr (nd_writer_warning (writer), "1 fields"));
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (nd_metadata_get (nd_reader_metadata (reader), "long"));
}

/* Samples beside a header replace its own only. */
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

/* A header that names another file does not own the samples that lie there,
 * though the name it has may end as theirs does. */
static void
test_beside_another (void)
{
  static const gchar *const others[] = { "other.raw", "down.raw", "my own.raw",
    "own.raw.gz"
  };
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
    g_autofree gchar *text = g_strconcat ("ObjectType = Image\nNDims = 3\n"
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

/* A link beside a header may lead anywhere: none is read, whatever it leads to
 * and however the header names it. The header itself may be a link. */
static void
test_links (void)
{
  static const gchar *const headers[] = {
    "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n"
        "data file: ",
    "NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\n" "ElementDataFile = "
  };
  static const gchar *const named[] = { "link1.raw", "LIST 3\nlink1.raw",
    "link%d.raw 1 1 1 3"
  };
  g_autofree gchar *target = file_path ("target.raw");
  g_autofree gchar *link = file_path ("link1.raw");
  g_autofree gchar *nowhere = file_path ("nowhere");
  g_autofree gchar *path = file_path ("links.header");
  g_autofree gchar *alias = file_path ("alias.header");
  const gchar *const leads[] = { target, "/etc/passwd", "/dev/zero", nowhere,
    folder
  };
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

/* Who comes second is told so, and takes nothing from the first. */
static void
test_two_writers (void)
{
  guint8 data[120];

  for (guint i = 0; i < sizeof (data); i++)
    data[i] = g_test_rand_int ();
  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *path = file_path (names[f].name);
    const NdRecording recording = small_recording (ND_UINT8);
    g_autoptr (GError) error = NULL;

    remove_recording (path);
    g_autoptr (NdWriter) first = nd_writer_open (path, names[f].compress,
        &error);
    g_assert_no_error (error);
    g_assert_true (nd_writer_begin (first, &recording, &error));
    write_volumes (first, data, 60, 1);
    g_assert_null (nd_writer_open (path, names[f].compress, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE);
    g_assert_nonnull (strstr (error->message, "another sink or program"));
    g_assert_nonnull (strstr (error->message, nd_writer_part (first)));
    g_clear_error (&error);
    write_volumes (first, data + 60, 60, 1);
    g_assert_true (nd_writer_finish (first, &error));
    assert_file (path, &recording, data, 2);
    remove_recording (path);
  }
}

/* The folder goes away while a file in it is written. */
static void
test_vanished (void)
{
  g_autofree gchar *gone = file_path ("gone");
  const NdRecording recording = small_recording (ND_UINT8);
  const guint8 data[60] = { 0 };

  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *path = g_build_filename (gone, names[f].name, NULL);
    g_autofree gchar *header = g_strconcat (path, ".part", NULL);
    g_autoptr (GError) error = NULL;

    g_mkdir (gone, 0700);
    g_autoptr (NdWriter) writer = nd_writer_open (path, names[f].compress,
        &error);
    g_assert_true (nd_writer_begin (writer, &recording, &error));
    write_volumes (writer, data, 0, 1);
    g_remove (nd_writer_part (writer));
    g_remove (header);
    g_assert_cmpint (g_rmdir (gone), ==, 0);
    write_volumes (writer, data, 0, 1);
    g_assert_false (nd_writer_finish (writer, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_WRITE);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, path));
  }
}

static void
test_shared (gconstpointer name)
{
  const gchar *shared = g_getenv ("ND_SHARED");
  g_autofree gchar *path = g_build_filename (shared ? shared : "", "data",
      name, NULL);
  g_autofree gchar *copy = file_path ("copy.nii.gz");
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *data = NULL, *again = NULL;
  NdRecording recording;
  gsize size;

  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
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
  files_begin ();
  g_test_add_func ("/recording/round-trips", test_round_trips);
  g_test_add_func ("/recording/components", test_components);
  g_test_add_func ("/recording/unsupported", test_unsupported);
  g_test_add_func ("/recording/nifti-2", test_nifti_2);
  g_test_add_func ("/recording/begin-again", test_begin_again);
  g_test_add_func ("/recording/part", test_part);
  g_test_add_func ("/recording/disk-full", test_disk_full);
  g_test_add_func ("/recording/disk-stays-full", test_disk_stays_full);
  g_test_add_func ("/recording/disk-stays-full-packed",
      test_disk_stays_full_packed);
  g_test_add_func ("/recording/not-writable", test_not_writable);
  g_test_add_func ("/recording/fields", test_fields);
  g_test_add_func ("/recording/many-expected", test_many_expected);
  g_test_add_func ("/recording/metadata-text", test_metadata_text);
  g_test_add_func ("/recording/long-fields", test_long_fields);
  g_test_add_func ("/recording/beside", test_beside);
  g_test_add_func ("/recording/beside-another", test_beside_another);
  g_test_add_func ("/recording/links", test_links);
  g_test_add_func ("/recording/two-writers", test_two_writers);
  g_test_add_func ("/recording/vanished", test_vanished);
  g_test_add_func ("/recording/raw-sizes", test_raw_sizes);
  g_test_add_func ("/recording/not-readable", test_not_readable);
  g_test_add_data_func ("/recording/shared/greedy_img4d",
      "greedy_img4d.nii.gz", test_shared);
  g_test_add_data_func ("/recording/shared/sct_fmri", "sct_fmri.nii.gz",
      test_shared);
  status = g_test_run ();
  files_end ();
  return status;
}
