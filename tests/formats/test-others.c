/* Recordings of other programs, in the folder recordings of $ND_SHARED: what is
 * found in each is what the program that wrote it, or a peer, finds.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/files.h"

/* NULL, with the test skipped, if the recordings are absent. */
static gchar *
shared_path (const gchar *name)
{
  const gchar *shared = g_getenv ("ND_SHARED");
  g_autofree gchar *path =
      g_build_filename (shared ? shared : "", "recordings", name, NULL);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  g_test_skip ("no folder with recordings, see ND_SHARED");
  return NULL;
}

static NdReader *
open_shared (const gchar *name)
{
  g_autofree gchar *path = shared_path (name);
  g_autoptr (GError) error = NULL;
  NdReader *reader;

  if (!path)
    return NULL;
  reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  return reader;
}

/* Copies a recording into @name, with its fields and times. Returns the
 * path. */
static gchar *
copy_shared (NdReader *reader, const gchar *name)
{
  const NdRecording *recording = nd_reader_recording (reader);
  g_autofree guint8 *data = g_malloc (nd_recording_volume_size (recording));
  g_autofree gchar *path = file_path (name);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);

  g_assert_no_error (error);
  g_assert_true (nd_writer_begin (writer, recording, &error));
  nd_writer_set_source (writer, (NdMetadata *) nd_reader_metadata (reader),
      recording->volumes);
  for (guint64 t = 0; t < recording->volumes; t++) {
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_true (nd_writer_write (writer, data, nd_reader_time (reader, t),
        &error));
  }
  g_assert_true (nd_writer_finish (writer, &error));
  g_assert_true (nd_reader_seek (reader, 0, &error));
  return g_steal_pointer (&path);
}

static gchar *
file_text (const gchar *path)
{
  g_autofree gchar *text = NULL;
  gsize n;

  g_assert_true (g_file_get_contents (path, &text, &n, NULL));
  for (gsize i = 0; i < n; i++)
    text[i] = text[i] == '\0' ? ' ' : text[i];
  return g_steal_pointer (&text);
}

static void
test_complex (void)
{
  g_autoptr (NdReader) reader = open_shared ("complex-npy/o8.npy");
  g_autofree gchar *path = NULL, *text = NULL;

  if (!reader)
    return;
  path = copy_shared (reader, "copy.npy");
  text = file_text (path);
  g_assert_nonnull (strstr (text, "'descr': '<c8'"));
  g_assert_nonnull (strstr (text, "'shape': (6, 3, 4, 5)"));
}

/* ITK and pynrrd. */
static void
test_nrrd_spacings (void)
{
  g_autoptr (NdReader) reader =
      open_shared ("nrrd-spacings-flip/pynrrd_spacings.nrrd");
  const NdGeometry *geometry;

  if (!reader)
    return;
  geometry = &nd_reader_recording (reader)->geometry;
  g_assert_cmpfloat (geometry->spacing[1], ==, 1.5);
  g_assert_cmpfloat (geometry->directions[0], ==, -1);
  g_assert_cmpfloat (geometry->directions[4], ==, -1);
  g_assert_cmpfloat (geometry->directions[8], ==, 1);
}

/* ITK finds a fourth spacing of 0.04. */
static void
test_nrrd_time (void)
{
  g_autoptr (NdReader) reader =
      open_shared ("nrrd-time-spacing/pynrrd_4dn.nrrd");

  if (!reader)
    return;
  g_assert_cmpint (nd_reader_recording (reader)->rate_n, ==, 25);
  g_assert_cmpint (nd_reader_time (reader, 5), ==, 200000000);
}

/* ITK and PLUS read fields in any order, separated by anything white. */
static void
test_metaimage_keys (void)
{
  g_autoptr (NdReader) first =
      open_shared ("metaimage-first-key/first.igs.mha");
  g_autoptr (NdReader) tabs = open_shared ("metaimage-first-key/tabs.mha");

  if (!first || !tabs)
    return;
  g_assert_cmpuint (nd_reader_recording (first)->volumes, ==, 6);
  g_assert_cmpint (nd_reader_time (first, 1), ==, 40000000);
  g_assert_cmpuint (nd_reader_recording (tabs)->shape.size[2], ==, 3);
  g_assert_cmpfloat (nd_reader_recording (tabs)->geometry.spacing[1], ==, 2);
}

/* pynrrd refuses it. ITK shows 352 bytes of a header as samples. */
static void
test_nrrd_of_nifti (void)
{
  g_autofree gchar *path =
      shared_path ("nhdr-nii-shift/BallBinary30x30x30_nifti.nhdr");

  if (path)
    assert_refused (path, ND_ERROR_READ,
        "BallBinary30x30x30.nii.gz\" itself instead");
}

#ifdef HAVE_ZARR
/* zarr-python and ome-zarr-py. */
static void
test_ngff (void)
{
  static const gchar *const names[] = { "z20", "z21", "z22" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *name =
        g_strdup_printf ("ngff-old-versions/%s.zarr", names[i]);
    g_autoptr (NdReader) reader = open_shared (name);
    const NdRecording *recording;
    g_autofree guint16 *data = NULL;
    g_autofree gchar *path = shared_path (name), *first = NULL;
    g_autofree gchar *chunk = NULL;

    if (!reader)
      return;
    recording = nd_reader_recording (reader);
    g_assert_cmpuint (recording->volumes, ==, 6);
    g_assert_cmpuint (recording->shape.components, ==, 2);
    g_assert_cmpuint (recording->shape.size[0], ==, 32);
    g_assert_cmpuint (recording->shape.size[2], ==, 3);
    data = g_malloc (nd_recording_volume_size (recording));
    g_assert_true (nd_reader_read (reader, data, NULL));
    chunk =
        g_build_filename (path, "0", i == 2 ? "0.1.0.0.0" : "0/1/0/0/0", NULL);
    g_assert_true (g_file_get_contents (chunk, &first, NULL, NULL));
    g_assert_cmpmem (data + 1, 2, first, 2);
  }
}
#endif

/* One time is absent, the other is no number. */
static void
test_missing_times (void)
{
  g_autoptr (NdReader) absent =
      open_shared ("igs-one-time-missing/miss.igs.mha");
  g_autoptr (NdReader) none = open_shared ("igs-one-time-missing/nts.igs.mha");

  if (!absent || !none)
    return;
  g_assert_cmpint (nd_reader_metadata (absent)->origin, ==, 10000000000);
  g_assert_cmpint (nd_reader_time (absent, 3), ==, 120000000);
  g_assert_cmpint (nd_reader_time (absent, 4), ==, 160000000);
  g_assert_nonnull (strstr (nd_reader_warnings (absent)[0], "Volume 4 has no"));
  g_assert_cmpuint (nd_reader_metadata (none)->times->len, ==, 6);
  g_assert_nonnull (strstr (nd_reader_warnings (none)[0], "Volume 1 "));
}

/* 3D Slicer: volumes are ordered by phase in per cent, not by time, in every
 * format that has fields, and again in NRRD. */
static void
test_phase (void)
{
  static const gchar *const names[] = { "p.seq.nrrd", "p.igs.nrrd", "p.nhdr",
    "p.mha", "p.nii", "p.nii.gz" };
  g_autoptr (NdReader) reader =
      open_shared ("slicer-phase-index/phase.seq.nrrd");

  for (guint i = 0; reader && i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *path = copy_shared (reader, names[i]), *back = NULL;
    g_autofree gchar *text = NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (NdReader) copy = nd_reader_open (path, NULL, &error);
    const NdMetadata *metadata;
    guint n;

    g_assert_no_error (error);
    metadata = nd_reader_metadata (copy);
    g_assert_cmpstr (nd_metadata_get (metadata, "IndexName"), ==, "phase");
    g_assert_cmpstr (nd_metadata_get (metadata, "IndexUnit"), ==, "%");
    g_assert_cmpstr (nd_metadata_of_volume (metadata, 5, &n)->value, ==, "50");
    if (strstr (path, ".gz"))
      continue;
    back = copy_shared (copy, "back.seq.nrrd");
    text = file_text (back);
    g_assert_nonnull (strstr (text,
        "\nlabels: \"\" \"\" \"\" \"phase\"\n"
        "units: \"\" \"\" \"\" \"%\"\n"));
    g_assert_nonnull (strstr (text,
        "\naxis 3 index type:=numeric\n"
        "axis 3 index values:=0 10 20 30 40 50\n"));
    g_assert_null (strstr (text, "time"));
  }
}

/* nibabel: the vectors are the last axis; the values of the spectrum are
 * 0, 25, ... Hz. */
static void
test_nifti_axes (void)
{
  g_autoptr (NdReader) vector = open_shared ("nifti-vector/vec.nii");
  g_autoptr (NdReader) six = open_shared ("nifti-vector/sitk_v6.nii.gz");
  g_autoptr (NdReader) hz = open_shared ("nifti-hz/hz.nii");
  g_autofree gchar *path = shared_path ("nifti-vector/vec.nii");
  g_autofree gfloat *data = g_new (gfloat, 180);
  g_autofree gchar *bytes = NULL;
  guint n;

  if (!vector || !six || !hz)
    return;
  g_assert_cmpuint (nd_reader_recording (six)->shape.components, ==, 6);
  g_assert_cmpuint (nd_reader_recording (vector)->shape.components, ==, 3);
  g_assert_true (nd_reader_read (vector, data, NULL));
  g_assert_true (g_file_get_contents (path, &bytes, NULL, NULL));
  for (guint k = 0; k < 60; k++) {
    for (guint c = 0; c < 3; c++)
      g_assert_cmpmem (data + 3 * k + c, 4, bytes + 352 + 4 * (60 * c + k), 4);
  }
  g_assert_cmpstr (nd_metadata_of_volume (nd_reader_metadata (hz), 5, &n)
                       ->value,
      ==, "125");
  g_assert_nonnull (strstr (nd_reader_warnings (hz)[0], "hz.nii"));
}

#ifdef HAVE_ZARR
static void
test_zarr_filters (void)
{
  g_autofree gchar *path = shared_path ("zarr-filters/z13.zarr");

  if (path)
    assert_refused (path, ND_ERROR_FORMAT, "mode='r')[:])\" FOLDER stores");
}
#endif

/* The bytes of the header are not counted as samples. */
static void
test_truncated (void)
{
  static const struct
  {
    const gchar *name, *words;
  } cases[] = {
    { "truncated/q.npy",
        "6 volumes of 120 bytes, and there are 670 bytes of samples: 5 whole" },
    { "truncated/trunc.nii",
        "6 volumes of 120 bytes, and there are 620 bytes of samples: 5 whole" },
    { "truncated/trn.nrrd", "bytes of samples: 5 whole volumes" },
    { "truncated/tr.igs.mha", "bytes of samples: 4 whole volumes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = shared_path (cases[i].name);

    if (path)
      assert_refused (path, ND_ERROR_READ, cases[i].words);
  }
}

/* The sums of pydicom's pixel_array: big endian, deflated, planes apart, and
 * frames of one. */
static void
test_dicom (void)
{
  static const struct
  {
    const gchar *name;
    guint64 volumes, sum;
    gsize components;
    gint rate;
  } cases[] = {
    { "dicom-bigendian-deflated/SC_rgb_small_odd_big_endian.dcm", 1, 3477, 3,
        0 },
    { "dicom-bigendian-deflated/image_dfl.dcm", 1, 33322688, 1, 0 },
    { "dicom-advice-loop/uspl.dcm", 6, 1732021, 3, 25 },
    { "dicom-advice-loop/liver_1frame.dcm", 1, 36233, 1, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (NdReader) reader = open_shared (cases[i].name);
    const NdRecording *recording;
    g_autofree guint8 *data = NULL;
    guint64 sum = 0;

    if (!reader)
      return;
    recording = nd_reader_recording (reader);
    g_assert_cmpuint (recording->volumes, ==, cases[i].volumes);
    g_assert_cmpuint (recording->shape.components, ==, cases[i].components);
    g_assert_cmpint (recording->type, ==, ND_UINT8);
    g_assert_cmpint (recording->rate_n, ==, cases[i].rate);
    data = g_malloc (nd_recording_volume_size (recording));
    for (guint64 t = 0; t < recording->volumes; t++) {
      g_assert_true (nd_reader_read (reader, data, NULL));
      for (gsize k = 0; k < nd_recording_volume_size (recording); k++)
        sum += data[k];
    }
    g_assert_cmpuint (sum, ==, cases[i].sum);
  }
}

/* Directions of a copy in a format without them are named. */
static void
test_lost (void)
{
  g_autoptr (NdReader) reader = open_shared ("lost-without-warning/msec.nii");
  g_autofree gchar *path = NULL;
  g_autoptr (NdReader) copy = NULL;

  if (!reader)
    return;
  path = copy_shared (reader, "msec.npy");
  copy = nd_reader_open (path, NULL, NULL);
  g_assert_nonnull (copy);
  g_assert_nonnull (strstr (nd_reader_not_held (copy), "directions"));
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/others/nrrd-spacings", test_nrrd_spacings);
  g_test_add_func ("/others/nrrd-time", test_nrrd_time);
  g_test_add_func ("/others/metaimage-keys", test_metaimage_keys);
  g_test_add_func ("/others/nrrd-of-nifti", test_nrrd_of_nifti);
  g_test_add_func ("/others/complex", test_complex);
  g_test_add_func ("/others/missing-times", test_missing_times);
  g_test_add_func ("/others/phase", test_phase);
  g_test_add_func ("/others/nifti-axes", test_nifti_axes);
  g_test_add_func ("/others/truncated", test_truncated);
  g_test_add_func ("/others/lost", test_lost);
  g_test_add_func ("/others/dicom", test_dicom);
#ifdef HAVE_ZARR
  g_test_add_func ("/others/zarr-filters", test_zarr_filters);
  g_test_add_func ("/others/ngff", test_ngff);
#endif
  status = g_test_run ();
  remove_folder ();
  return status;
}
