/* Reading NRRD: axes, geometry, times, files, and refused files.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/files.h"

#include <unistd.h>

#define HEAD                                              \
  "NRRD0004\ntype: uchar\ndimension: 4\nsizes: 2 3 2 3\n" \
  "encoding: raw\n"
#define SAMPLES 36

static void
test_axes (void)
{
  static const struct
  {
    const gchar *sizes, *more;
    gsize x, y, z, components, volumes;
    guint responses;
  } cases[] = {
    { "3\nsizes: 2 3 4", "", 2, 3, 4, 1, 1, 1 },
    { "2\nsizes: 4 6", "", 4, 6, 1, 1, 1, 1 },
    { "4\nsizes: 2 3 2 2", "", 2, 3, 2, 1, 2, 1 },
    { "4\nsizes: 2 3 2 2", "kinds: domain domain domain list\n", 2, 3, 2, 1, 2,
        1 },
    { "3\nsizes: 2 3 4", "kinds: space space time\n", 2, 3, 1, 1, 4, 1 },
    { "4\nsizes: 2 3 2 2", "kinds: complex domain domain domain\n", 3, 2, 2, 2,
        1, 1 },
    { "4\nsizes: 3 2 2 2", "kinds: RGB-color domain domain list\n", 2, 2, 1, 3,
        2, 1 },
    { "4\nsizes: 2 3 2 2", "kinds: domain domain domain vector\n", 2, 3, 2, 1,
        1, 2 },
    { "4\nsizes: 2 3 2 2",
        "kinds: ??? domain domain domain\nspace "
        "dimension: 3\nspace directions: none (1,0,0) (0,1,0) (0,0,1)\n",
        3, 2, 2, 2, 1, 1 },
    { "4\nsizes: 2 3 2 2",
        "space: LPS\nspace directions: (1,0,0) (0,1,0) "
        "(0,0,1) none\n",
        2, 3, 2, 1, 2, 1 },
    /* 3D Slicer's files with time first, in both spellings. */
    { "4\nsizes: 2 3 2 2", "kinds: list domain domain domain\n", 3, 2, 2, 1, 2,
        1 },
    { "4\nsizes: 2 3 2 2",
        "kinds: vector domain domain domain\n"
        "DataNodeClassName:=vtkMRMLScalarVolumeNode\naxis 0 index values:=0 "
        "1\n",
        3, 2, 2, 1, 2, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text =
        g_strconcat ("NRRD0005\ntype: uint8\ndimension: ", cases[i].sizes,
            "\nencoding: raw\n", cases[i].more, "\n", NULL);
    g_autoptr (NdReader) reader = open_text (text, 24);
    const NdRecording *recording = nd_reader_recording (reader);

    g_test_message ("%s", text);
    g_assert_cmpuint (recording->shape.size[0], ==, cases[i].x);
    g_assert_cmpuint (recording->shape.size[1], ==, cases[i].y);
    g_assert_cmpuint (recording->shape.size[2], ==, cases[i].z);
    g_assert_cmpuint (recording->shape.components, ==, cases[i].components);
    g_assert_cmpuint (recording->volumes, ==, cases[i].volumes);
    g_assert_cmpuint (recording->responses, ==, cases[i].responses);
  }
}

/* 3 times of 12 samples: sample s of time t is at 3 s + t. */
static void
test_time_first (void)
{
  g_autoptr (NdReader) reader = open_text (
      "NRRD0004\ntype: uchar\n"
      "dimension: 4\nsizes: 3 2 3 2\nkinds: list domain domain domain\n"
      "encoding: raw\n\n",
      SAMPLES);
  g_autoptr (GError) error = NULL;
  static const guint order[] = { 0, 1, 2, 1, 0 };
  guint8 data[12];

  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    g_assert_true (nd_reader_seek (reader, order[i], &error));
    g_assert_true (nd_reader_read (reader, data, &error));
    for (guint s = 0; s < 12; s++)
      g_assert_cmpuint (data[s], ==, 3 * s + order[i]);
  }
}

/* Three volumes of 100 MiB do not fit in memory together, so the (sparse) file
 * is read twice. Much larger files are refused, with a hint how to convert
 * them. */
static void
test_time_first_large (void)
{
#ifdef __SANITIZE_ADDRESS__
  g_test_skip ("too slow under the sanitizer");
#else
  const gchar *header =
      "NRRD0004\ntype: uchar\ndimension: 4\nsizes: 3 1024 "
      "1024 100\nkinds: list domain domain domain\nencoding: raw\n\n";
  const gsize n = 100 << 20;
  g_autofree gchar *path = file_path ("large.nrrd");
  g_autofree guint8 *data = g_malloc (n);
  g_autoptr (GError) error = NULL;
  FILE *file = g_fopen (path, "wb");

  fputs (header, file);
  g_assert_cmpint (ftruncate (fileno (file), strlen (header) + 3 * n), ==, 0);
  for (guint8 t = 0; t < 3; t++) {
    const guint8 sample = 7 + t;

    g_assert_cmpint (pwrite (fileno (file), &sample, 1,
                         strlen (header) + 3 * (n - 1) + t),
        ==, 1);
  }
  fclose (file);
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  for (guint t = 0; t < 3; t++) {
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_cmpuint (data[0], ==, 0);
    g_assert_cmpuint (data[n - 1], ==, 7 + t);
  }

  header = "NRRD0004\ntype: uchar\ndimension: 4\nsizes: 200 1024 1024 100\n"
           "kinds: list domain domain domain\nencoding: raw\n\n";
  file = g_fopen (path, "wb");
  fputs (header, file);
  g_assert_cmpint (ftruncate (fileno (file), strlen (header) + 200 * n), ==, 0);
  fclose (file);
  assert_refused (path, ND_ERROR_FORMAT, "unu permute -p 1 2 3 0");
#endif
}

/* Times with few digits could be explained by simpler rates than the right
 * one. */
static void
test_rate (void)
{
  static const struct
  {
    const gchar *lines;
    gint n, d;
  } cases[] = {
    { "axis 3 index values:=0 1.13 2.26\n", 100, 113 },
    { "axis 3 index values:=0 0.03 0.07\n"
      "spacings: nan nan nan 0.033333333333333333\n",
        30, 1 },
    { "axis 3 index values:=0 1.13 2.26\nspacings: nan nan nan 7\n", 100, 113 },
    { "axis 3 index values:=0 1 4\nspacings: nan nan nan 1\n", 0, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = g_strconcat (
        "NRRD0004\ntype: uchar\ndimension: "
        "4\nsizes: 2 2 2 3\nkinds: domain domain domain time\nencoding: raw\n",
        cases[i].lines, "\n", NULL);
    g_autoptr (NdReader) reader = open_text (text, 24);
    const NdRecording *recording = nd_reader_recording (reader);

    g_assert_cmpint (recording->rate_n, ==, cases[i].n);
    g_assert_cmpint (recording->rate_d, ==, cases[i].d);
  }
}

static void
test_geometry (void)
{
  static const struct
  {
    const gchar *space;
    gdouble sign[3];
  } cases[] = {
    { "space: right-anterior-superior", { 1, 1, 1 } },
    { "space: RAS", { 1, 1, 1 } },
    { "space: left-anterior-superior", { -1, 1, 1 } },
    { "space: left-posterior-superior", { -1, -1, 1 } },
    { "space dimension: 3", { -1, -1, 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = g_strconcat (HEAD, cases[i].space,
        "\nspace "
        "directions: (0,0.5,0) (-0.75,0,0) (0,0,2) none\nspace origin: "
        "(1, 2, 3)\nspace units: \"mm\" \"mm\" \"mm\"\n\n",
        NULL);
    g_autoptr (NdReader) reader = open_text (text, SAMPLES);
    const NdGeometry *geometry = &nd_reader_recording (reader)->geometry;
    const gdouble *sign = cases[i].sign;

    g_assert_true (geometry->known);
    g_assert_cmpfloat (geometry->spacing[0], ==, 0.5);
    g_assert_cmpfloat (geometry->spacing[1], ==, 0.75);
    g_assert_cmpfloat (geometry->spacing[2], ==, 2);
    g_assert_cmpfloat (geometry->directions[3], ==, sign[1]);
    g_assert_cmpfloat (geometry->directions[1], ==, -sign[0]);
    g_assert_cmpfloat (geometry->directions[8], ==, sign[2]);
    for (guint a = 0; a < 3; a++)
      g_assert_cmpfloat (geometry->origin[a], ==, sign[a] * (a + 1));
  }
  {
    g_autoptr (NdReader) reader =
        open_text (HEAD "spacings: 0.5 0.5 2 0.04\n"
                        "units: \"cm\" \"cm\" \"cm\" \"s\"\n\n",
            SAMPLES);
    const NdRecording *recording = nd_reader_recording (reader);

    g_assert_cmpfloat (recording->geometry.spacing[2], ==, 20);
    g_assert_cmpint (recording->rate_n, ==, 25);
  }
}

/* A fourth dimension of the space is time. The third axis of a frame is
 * perpendicular to the other two. */
static void
test_directions (void)
{
  g_autoptr (NdReader) reader = open_text (HEAD
      "space: left-posterior-superior-time\nspace directions: (1,0,0,0) "
      "(0,1,0,0) (0,0,2,0) (0,0,0,0.04)\n\n",
      SAMPLES);
  const NdRecording *recording = nd_reader_recording (reader);
  const gdouble *d;

  g_assert_cmpuint (recording->volumes, ==, 3);
  g_assert_cmpint (recording->rate_n, ==, 25);
  g_assert_cmpint (recording->rate_d, ==, 1);
  g_assert_cmpfloat (recording->geometry.spacing[2], ==, 2);
  g_clear_pointer (&reader, nd_reader_close);

  reader = open_text ("NRRD0004\ntype: uchar\ndimension: 3\nsizes: 3 4 3\n"
                      "encoding: raw\nkinds: domain domain list\nspace: RAS\n"
                      "space directions: (0,2,0) (0,0,3) none\n\n",
      SAMPLES);
  d = nd_reader_recording (reader)->geometry.directions;
  g_assert_cmpfloat (d[2], ==, 1);
  g_assert_cmpfloat (d[5], ==, 0);
  g_assert_cmpfloat (d[8], ==, 0);
}

static void
test_times (void)
{
  static const struct
  {
    const gchar *values, *warning;
  } wrong[] = { { "0 2 1", "earlier" }, { "0 1", "2 values for 3" },
    { "0 x y", "have no time" } };
  g_autoptr (NdReader) reader = open_text (HEAD
      "kinds: domain domain domain list\nlabels: \"\" \"\" \"\" \"time\"\n"
      "units: \"\" \"\" \"\" \"ms\"\nkey:=a\\nb\\\\c\n"
      "axis 3 index type:=numeric\naxis 3 index values:=18.5 55.75 93\n"
      "axis 3 item 0001 AcquisitionTime:=later\n\n",
      SAMPLES);
  const NdMetadata *metadata = nd_reader_metadata (reader);
  const NdField *fields;
  guint n;

  g_assert_cmpint (metadata->origin, ==, 18500000);
  g_assert_cmpint (nd_reader_time (reader, 1), ==, 37250000);
  g_assert_cmpint (nd_reader_time (reader, 2), ==, 74500000);
  g_assert_cmpint (nd_reader_recording (reader)->rate_n, >, 0);
  g_assert_cmpstr (nd_metadata_get (metadata, "key"), ==, "a\nb\\c");
  fields = nd_metadata_of_volume (metadata, 1, &n);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpstr (fields->key, ==, "AcquisitionTime");
  g_assert_cmpstr (fields->value, ==, "later");
  g_clear_pointer (&reader, nd_reader_close);

  /* Fields that are not times are kept as fields. */
  reader = open_text (HEAD "axis 3 index values:=a b%20c 3\n\n", SAMPLES);
  metadata = nd_reader_metadata (reader);
  g_assert_cmpuint (metadata->times->len, ==, 0);
  g_assert_cmpstr (nd_metadata_of_volume (metadata, 1, &n)->value, ==, "b%20c");
  g_clear_pointer (&reader, nd_reader_close);

  reader = open_text (HEAD "labels: \"\" \"\" \"\" \"time\"\n"
                           "axis 3 index values:=4 nan 5\n\n",
      SAMPLES);
  g_assert_cmpint (nd_reader_time (reader, 1), ==, 500000000);
  g_assert_nonnull (strstr (nd_reader_warnings (reader)[0], "Volume 1 has"));

  /* Times that run backwards are ignored completely, with a warning. */
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree gchar *text =
        g_strconcat (HEAD "labels: \"\" \"\" \"\" "
                          "\"time\"\naxis 3 index values:=",
            wrong[i].values, "\n\n", NULL);

    g_clear_pointer (&reader, nd_reader_close);
    reader = open_text (text, SAMPLES);
    g_assert_cmpuint (nd_reader_metadata (reader)->times->len, ==, 0);
    g_assert_nonnull (strstr (nd_reader_warnings (reader)[0],
        wrong[i].warning));
  }
}

/* A header must end, however long its file is. */
static void
test_endless (void)
{
  g_autofree gchar *path = file_path ("endless.nrrd");

  put_text (path, "NRRD0004\ntype: uchar\n", 0);
  g_assert_cmpint (truncate (path, 100 << 20), ==, 0);
  assert_refused (path, ND_ERROR_FORMAT, "no end within 64 MiB");
}

/* Fields without a place in the stream, in either spelling, are kept unless
 * they carry no information. */
static void
test_kept (void)
{
  static const gchar *const lines[] = { "sample units: \"dB\"\n",
    "sampleunits: \"dB\"\n" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree gchar *text = g_strconcat (HEAD "content: a heart \n"
                                               "old max: 5\noldmax: 5\n",
        lines[i], "\n", NULL);
    g_autoptr (NdReader) reader = open_text (text, SAMPLES);
    const NdMetadata *metadata = nd_reader_metadata (reader);

    g_assert_cmpuint (metadata->fields->len, ==, 2);
    g_assert_cmpstr (nd_metadata_get (metadata, "NRRD.content"), ==, "a heart");
    g_assert_cmpstr (nd_metadata_get (metadata, "NRRD.sample units"), ==,
        "\"dB\"");
  }
}

static void
assert_samples (const gchar *header)
{
  g_autoptr (NdReader) reader = open_text (header, 0);

  assert_counts (reader, 0, SAMPLES);
}

/* Samples in other files: one file, several by number or by name, each with
 * complete axes or a section of the last axis; after skipped lines and bytes;
 * compressed. */
static void
test_files (void)
{
  guint8 samples[SAMPLES + 8];
  g_autofree gchar *one = file_path ("one.raw");
  g_autofree gchar *gz = file_path ("one.raw.gz");
  g_autofree gchar *skipped = file_path ("skipped.raw");
  g_autofree gchar *absolute =
      g_strconcat (HEAD "data file: ", one, "\n", NULL);

  for (guint i = 0; i < SAMPLES; i++)
    samples[i] = i;
  put_file (one, samples, SAMPLES);
  put_gzip (gz, samples, SAMPLES);
  for (guint i = 0; i < 6; i++) {
    g_autofree gchar *path = file_path ("part005.raw");
    g_autofree gchar *volume = file_path ("v2.raw");

    path[strlen (path) - 5] = '0' + i;
    put_file (path, samples + 6 * i, 6);
    volume[strlen (volume) - 5] = '0' + i;
    put_file (volume, samples + 12 * (i % 3), 12);
  }
  assert_samples (HEAD "data file: one.raw\n");
  assert_samples (HEAD "datafile: ./one.raw\n\n");
  assert_samples (absolute);
  assert_samples (HEAD "data file: part%03d.raw 0 5 1 2\n");
  assert_samples (HEAD "data file: v%d.raw 0 2 1\n");
  assert_samples (HEAD "data file: LIST\nv0.raw\nv1.raw\nv2.raw\n");
  assert_samples (HEAD "data file: LIST 4\nv0.raw\nv1.raw\nv2.raw\n");
  assert_samples ("NRRD0004\ntype: uchar\ndimension: 4\nsizes: 2 3 2 3\n"
                  "encoding: gz\ndata file: one.raw.gz\n");
  memmove (samples + 8, samples, SAMPLES);
  memcpy (samples, "line\nxyz", 8);
  put_file (skipped, samples, SAMPLES + 8);
  assert_samples (HEAD "line skip: 1\nbyte skip: 3\ndata file: skipped.raw\n");
  assert_samples (HEAD "byte skip: -1\ndata file: skipped.raw\n");
  put_gzip (gz, samples, SAMPLES + 8);
  assert_samples ("NRRD0004\ntype: uchar\ndimension: 4\nsizes: 2 3 2 3\n"
                  "encoding: gzip\nbyte skip: 8\ndata file: one.raw.gz\n");
}

/* One of several files is removed or truncated while it is read: the affected
 * volumes give an error and the others are correct. */
static void
test_lost_file (void)
{
  g_autoptr (GError) error = NULL;
  guint8 samples[SAMPLES], data[12];

  for (guint i = 0; i < SAMPLES; i++)
    samples[i] = i;
  for (guint t = 0; t < 3; t++) {
    g_autofree gchar *name = g_strdup_printf ("lost%u.raw", t);
    g_autofree gchar *path = file_path (name);

    put_file (path, samples + 12 * t, 12);
  }
  g_autoptr (NdReader) reader =
      open_text (HEAD "data file: lost%d.raw 0 2 1\n", 0);
  g_autofree gchar *last = file_path ("lost2.raw");
  assert_counts (reader, 0, 12);
  for (guint cut = 0; cut < 2; cut++) {
    if (cut)
      put_file (last, samples, 5);
    else
      g_remove (last);
    g_assert_false (nd_reader_seek (reader, 2, &error));
    g_assert_error (error, ND_ERROR,
        (gint) (cut ? ND_ERROR_READ : ND_ERROR_NOT_FOUND));
    g_assert_nonnull (strstr (error->message, last));
    g_clear_error (&error);
    assert_counts (reader, 12, 12);
    g_assert_false (nd_reader_read (reader, data, &error));
    g_clear_error (&error);
    g_assert_true (nd_reader_seek (reader, 1, &error));
  }
  put_file (last, samples + 24, 12);
  g_assert_true (nd_reader_seek (reader, 2, &error));
  assert_counts (reader, 24, 12);
}

/* The same for volumes that are assembled from the whole file. */
static void
test_lost_end (void)
{
  const gchar *header =
      "NRRD0004\ntype: uchar\ndimension: 4\n"
      "sizes: 3 2 3 2\nkinds: list domain domain domain\nencoding: raw\n\n";
  g_autofree gchar *path = file_path ("good");
  g_autoptr (NdReader) reader = open_text (header, SAMPLES);
  g_autoptr (GError) error = NULL;
  guint8 data[12];

  g_assert_cmpint (truncate (path, strlen (header) + SAMPLES - 1), ==, 0);
  for (guint i = 0; i < 2; i++) {
    g_assert_false (nd_reader_read (reader, data, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_READ);
    g_assert_nonnull (strstr (error->message, "truncated"));
    g_clear_error (&error);
  }
}

/* Data files must be regular files in the folder of the header. */
static void
test_elsewhere (void)
{
  static const gchar *const names[] = { "../one.raw", "/etc/passwd",
    "sub/one.raw", "/dev/zero", "..", ".", "/", "./../x", "~/x", "" };
  g_autofree gchar *fifo = file_path ("fifo");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *single =
        g_strconcat (HEAD "data file: ", names[i], "\n\n", NULL);
    g_autofree gchar *listed =
        g_strconcat (HEAD "data file: LIST 4\n", names[i], "\n\n", NULL);

    refuse_text (single, SAMPLES, ND_ERROR_FORMAT, "same folder");
    if (*names[i])
      refuse_text (listed, SAMPLES, ND_ERROR_FORMAT, "same folder");
  }
  refuse_text (HEAD "data file: ../x%d.raw 0 2 1\n\n", SAMPLES, ND_ERROR_FORMAT,
      "same folder");
  refuse_text (HEAD "data file: nowhere.raw\n\n", SAMPLES, ND_ERROR_NOT_FOUND,
      "nowhere.raw");
  refuse_text (HEAD "data file: x%d.raw 0 2 1\n\n", SAMPLES, ND_ERROR_NOT_FOUND,
      "x0.raw");
  refuse_text (HEAD "data file: x%s%n.raw 0 2 1\n\n", SAMPLES, ND_ERROR_FORMAT,
      "%d");
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  {
    g_autofree gchar *path = file_path ("bad.nrrd");
    g_autoptr (GError) error = NULL;

    put_text (path, HEAD "data file: fifo\n\n", SAMPLES);
    g_assert_null (nd_reader_open (path, NULL, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_OPEN_READ);
  }
}

/* Lines may end as on Windows; samples begin after the empty line. */
static void
test_line_ends (void)
{
  g_autoptr (NdReader) reader =
      open_text ("NRRD0004\r\ntype: uchar\r\n"
                 "dimension: 4\r\nsizes: 2 3 2 3\r\nencoding: raw\r\n\r\n",
          SAMPLES);

  assert_counts (reader, 0, SAMPLES);
}

/* If the header ends before its empty line, the error says so, instead of
 * naming a missing field. */
static void
test_cut_short (void)
{
  const gchar *whole =
      "NRRD0004\n# a comment\ntype: short\ndimension: 4\n"
      "sizes: 2 3 2 3\nkinds: domain domain domain list\nendian: little\n"
      "key:=value\nencoding: raw\n\n";

  for (gsize n = strlen ("NRRD0004\n"); n < strlen (whole); n++) {
    g_autofree gchar *text = g_strndup (whole, n);

    refuse_text (text, 0, ND_ERROR_READ, "cut short");
  }
  /* The header continues without an empty line: its next lines are invalid. */
  refuse_text ("NRRD0004\ntype: uchar\nnonsense\n", 0, ND_ERROR_FORMAT,
      "line 3");
}

static void
test_refused (void)
{
  static const struct
  {
    const gchar *text;
    gint code;
    const gchar *words;
  } cases[] = {
    { "NRRD0009\n\n", ND_ERROR_FORMAT, "version" },
    { "NRRD0004\nnonsense\n\n", ND_ERROR_FORMAT, "line 2" },
    { "NRRD0004\nno such: field\n\n", ND_ERROR_FORMAT, "no such" },
    { "NRRD0004\ntype: uchar\ntype: uchar\n\n", ND_ERROR_FORMAT, "already" },
    { "NRRD0004\ntype: uchar\n\n", ND_ERROR_FORMAT, "dimension" },
    { "NRRD0004\ndimension: 17\n\n", ND_ERROR_FORMAT, "1 to 16" },
    { "NRRD0004\ndimension: 3\nsizes: 2 2\n\n", ND_ERROR_FORMAT, "sizes" },
    { "NRRD0004\ndimension: 3\nsizes: 2 -2 2\n\n", ND_ERROR_FORMAT, "sizes" },
    { "NRRD0004\ndimension: 3\nsizes: 2 2 2\n\n", ND_ERROR_FORMAT, "encoding" },
    { "NRRD0004\ndimension: 1\nsizes: 2\nencoding: raw\n\n", ND_ERROR_FORMAT,
        "type" },
    { "NRRD0004\ntype: block\ndimension: 1\nsizes: 2\nencoding: raw\n\n",
        ND_ERROR_FORMAT, "block" },
    { "NRRD0004\ntype: short\ndimension: 1\nsizes: 2\nencoding: raw\n\n",
        ND_ERROR_FORMAT, "endian" },
    { "NRRD0004\ntype: short\ndimension: 1\nsizes: 2\nencoding: ascii\n\n",
        ND_ERROR_FORMAT, "unu save" },
    { "NRRD0004\ntype: uchar\ndimension: 1\nsizes: 2\nencoding: bzip2\n\n",
        ND_ERROR_FORMAT, "unu save" },
    { HEAD "kinds: domain list domain domain\n\n", ND_ERROR_FORMAT,
        "unu permute" },
    { HEAD "kinds: list domain domain list\n\n", ND_ERROR_FORMAT,
        "unu permute" },
    { HEAD "kinds: domain domain vector vector\n\n", ND_ERROR_FORMAT,
        "unu permute" },
    { HEAD "kinds: domain domain domain\n\n", ND_ERROR_FORMAT, "kinds" },
    { HEAD "kinds: domain domain domain list list\n\n", ND_ERROR_FORMAT,
        "kinds" },
    { HEAD "space: LPS\nspace dimension: 3\n\n", ND_ERROR_FORMAT, "beside" },
    { HEAD "space dimension: 5\n\n", ND_ERROR_FORMAT, "1 to 4" },
    { HEAD "units: \"mm\"\n\n", ND_ERROR_FORMAT, "units" },
    { HEAD "space: LPS\nspace units: mm\n\n", ND_ERROR_FORMAT, "space units" },
    { HEAD "space: nowhere\n\n", ND_ERROR_FORMAT, "nowhere" },
    { HEAD "space: LPS\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n\n",
        ND_ERROR_FORMAT, "space directions" },
    { HEAD "space: LPS\nspace directions: (1,0,0) (0,0,0) (0,0,1) none\n\n",
        ND_ERROR_FORMAT, "length 0" },
    { HEAD "space: LPS\nspace origin: (1,2)\n\n", ND_ERROR_FORMAT,
        "space origin" },
    { HEAD "spacings: 1 1\n\n", ND_ERROR_FORMAT, "spacings" },
    { HEAD "labels: \"x\n\n", ND_ERROR_FORMAT, "labels" },
    { HEAD "byte skip: -2\n\n", ND_ERROR_FORMAT, "byte skip" },
    { HEAD "line skip: -1\n\n", ND_ERROR_FORMAT, "line skip" },
    { HEAD "byte skip: 1\n\n", ND_ERROR_READ, "truncated" },
    { HEAD "line skip: 5\n\n", ND_ERROR_READ, "fewer lines" },
    { HEAD "data file: x%d 0 9 1\n\n", ND_ERROR_FORMAT, "as many files" },
    { HEAD "data file: x%d 0 x 1\n\n", ND_ERROR_FORMAT, "PATTERN" },
    { HEAD "data file: LIST 5\nx\n\n", ND_ERROR_FORMAT, "how many axes" },
    { HEAD "data file: LIST x\nx\n\n", ND_ERROR_FORMAT, "LIST N" },
    { HEAD "data file: x%d 9 0 1\n\n", ND_ERROR_FORMAT, "STEP" },
    { HEAD "data file: x%d 0 2 0\n\n", ND_ERROR_FORMAT, "STEP" },
    { HEAD, ND_ERROR_READ, "ends in its header" },
    { "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 9223372036854775807 "
      "9223372036854775807 9223372036854775807\nencoding: raw\n\n",
        ND_ERROR_FORMAT, "sizes" },
    { "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4294967296 4294967296 "
      "4294967296\nencoding: raw\n\n",
        ND_ERROR_FORMAT, "no file holds" },
    { "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 65536 65536 64\n"
      "encoding: raw\n\n",
        ND_ERROR_READ, "truncated" },
    { "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 65536 65536 64\n"
      "encoding: gzip\n\n",
        ND_ERROR_READ, "truncated" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    refuse_text (cases[i].text, strcmp (cases[i].text, HEAD) == 0 ? 0 : SAMPLES,
        cases[i].code, cases[i].words);
}

/* Files of samples alone have no other bytes, for example a header. */
static void
test_too_long (void)
{
  g_autofree gchar *path = file_path ("long.nhdr"), *data = file_path ("long");
  g_autofree guint8 *samples = g_malloc0 (2 * SAMPLES);
  g_autoptr (GError) error = NULL;
  const gchar *detached = "type: uchar\ndimension: 4\nsizes: 2 3 2 3\n"
                          "data file: long\nencoding: ";

  for (guint i = 0; i < 4; i++) {
    const gboolean packed = i & 1, bare = i & 2;
    g_autofree gchar *text = g_strconcat ("NRRD0004\n", detached,
        packed ? "gzip\n\n" : "raw\n\n", NULL);

    put_text (path, text, 0);
    memset (samples, 0, 2 * SAMPLES);
    if (!bare)
      strcpy ((gchar *) samples, "NRRD0005\n");
    if (packed)
      put_gzip (data, samples, SAMPLES + 1);
    else
      put_file (data, samples, SAMPLES + 1);
    assert_refused (path, ND_ERROR_READ,
        bare ? "the header is of other samples" : "a header of NRRD");
    if (packed)
      put_gzip (data, samples, SAMPLES);
    else
      put_file (data, samples, SAMPLES);
    nd_reader_close (nd_reader_open (path, NULL, &error));
    g_assert_no_error (error);
  }
  refuse_text (HEAD "\n", 2 * SAMPLES, ND_ERROR_READ, "more bytes of samples");
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/nrrd/axes", test_axes);
  g_test_add_func ("/nrrd/time-first", test_time_first);
  g_test_add_func ("/nrrd/time-first-large", test_time_first_large);
  g_test_add_func ("/nrrd/rate", test_rate);
  g_test_add_func ("/nrrd/geometry", test_geometry);
  g_test_add_func ("/nrrd/directions", test_directions);
  g_test_add_func ("/nrrd/times", test_times);
  g_test_add_func ("/nrrd/endless", test_endless);
  g_test_add_func ("/nrrd/kept", test_kept);
  g_test_add_func ("/nrrd/files", test_files);
  g_test_add_func ("/nrrd/lost-file", test_lost_file);
  g_test_add_func ("/nrrd/lost-end", test_lost_end);
  g_test_add_func ("/nrrd/elsewhere", test_elsewhere);
  g_test_add_func ("/nrrd/line-ends", test_line_ends);
  g_test_add_func ("/nrrd/cut-short", test_cut_short);
  g_test_add_func ("/nrrd/too-long", test_too_long);
  g_test_add_func ("/nrrd/refused", test_refused);
  status = g_test_run ();
  remove_folder ();
  return status;
}
