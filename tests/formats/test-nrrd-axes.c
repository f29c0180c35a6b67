/* Reading NRRD: the geometry and the times of axes without directions, as ITK
 * reads them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/nrrd.h"
#include "formats/sequence.h"
#include "tests/formats/files.h"

#define HEAD \
  "NRRD0005\ntype: uchar\ndimension: 4\nsizes: 5 4 3 2\nencoding: raw\n"
#define SAMPLES 120
#define SPACINGS "spacings: 2 1.5 3 0.04\n"
#define NODES "centers: node node node node\n"

/* The values are those of SimpleITK 2.5 in Right, Anterior, Superior. */
static void
test_geometry (void)
{
  static const struct
  {
    const gchar *lines;
    gdouble spacing[3], origin[3], directions[3];
  } cases[] = {
    { SPACINGS, { 2, 1.5, 3 }, { 0, 0, 0 }, { -1, -1, 1 } },
    { SPACINGS "axis mins: 10 20 30 0\n", { 2, 1.5, 3 }, { -11, -20.75, 31.5 },
        { -1, -1, 1 } },
    { SPACINGS NODES "axis mins: 10 20 30 0\n", { 2, 1.5, 3 }, { -10, -20, 30 },
        { -1, -1, 1 } },
    { SPACINGS "axismins: 10 20 30 0\ncenterings: cell node ??? cell\n",
        { 2, 1.5, 3 }, { -11, -20, 31.5 }, { -1, -1, 1 } },
    { "axis mins: 10 20 30 0\naxis maxs: 20 30 40 2\n", { 1, 1, 1 },
        { -11, -21.25, 30 + 5 / 3. }, { -1, -1, 1 } },
    { NODES "axis mins: 10 20 30 0\naxismaxs: 20 30 40 2\n", { 1, 1, 1 },
        { -10, -20, 30 }, { -1, -1, 1 } },
    /* One without a step, or the first without a begin, undoes all. */
    { "spacings: 2 nan 3 1\naxis mins: 10 20 30 0\n", { 2, 1, 3 }, { 0, 0, 0 },
        { -1, -1, 1 } },
    { SPACINGS "axis mins: nan 20 30 0\n", { 2, 1.5, 3 }, { 0, 0, 0 },
        { -1, -1, 1 } },
    { "spacings: -2 1.5 3 1\naxis mins: 10 20 30 0\n", { 2, 1.5, 3 },
        { -9, -20.75, 31.5 }, { 1, -1, 1 } },
    { "space: RAS\nspace origin: (10,20,30)\n", { 1, 1, 1 }, { 10, 20, 30 },
        { -1, -1, 1 } },
    { "space: LAS\nspace origin: (10,20,30)\n"
      "space directions: (2,0,0) (0,1.5,0) (0,0,3) none\n",
        { 2, 1.5, 3 }, { -10, 20, 30 }, { -1, 1, 1 } },
    { "space: 3D-left-handed\nspace origin: (10,20,30)\n"
      "space directions: (2,0,0) (0,1.5,0) (0,0,3) none\n",
        { 2, 1.5, 3 }, { -10, -20, 30 }, { -1, -1, 1 } },
    { "space: RAST\nspace origin: (10,20,30,0)\n"
      "space directions: (2,0,0,0) (0,1.5,0,0) (0,0,3,0) (0,0,0,1)\n",
        { 2, 1.5, 3 }, { -10, -20, 30 }, { -1, -1, 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = g_strconcat (HEAD, cases[i].lines, "\n", NULL);
    g_autoptr (NdReader) reader = open_text (text, SAMPLES);
    const NdGeometry *geometry = &nd_reader_recording (reader)->geometry;

    g_test_message ("%s", cases[i].lines);
    g_assert_true (geometry->known);
    for (guint a = 0; a < 3; a++) {
      g_assert_cmpfloat (geometry->spacing[a], ==, cases[i].spacing[a]);
      g_assert_cmpfloat_with_epsilon (geometry->origin[a], cases[i].origin[a],
          1e-12);
      g_assert_cmpfloat (geometry->directions[4 * a], ==,
          cases[i].directions[a]);
    }
    g_assert_cmpint (nd_reader_warnings (reader)[0] != NULL, ==,
        strstr (text, "RAST") != NULL);
  }
}

static void
test_time (void)
{
  static const struct
  {
    const gchar *lines;
    gint n, d;
    gint64 origin;
  } cases[] = {
    { SPACINGS, 25, 1, 0 },
    { SPACINGS "kinds: domain domain domain domain\n", 25, 1, 0 },
    { SPACINGS "kinds: space space space time\n", 25, 1, 0 },
    { SPACINGS "kinds: domain domain domain list\n", 25, 1, 0 },
    { SPACINGS "labels: \"x\" \"y\" \"z\" \"t\"\n", 25, 1, 0 },
    { "spacings: 2 1.5 3 40\nunits: \"mm\" \"mm\" \"mm\" \"msec\"\n", 25, 1,
        0 },
    { SPACINGS "units: \"mm\" \"mm\" \"mm\" \"%\"\n", 0, 1, 0 },
    { SPACINGS "kinds: domain domain domain list\n"
               "labels: \"\" \"\" \"\" \"phase\"\n",
        0, 1, 0 },
    { SPACINGS "axis mins: 1 2 3 4\n", 25, 1, 4020000000 },
    { SPACINGS NODES "axis mins: nan nan nan 4\n", 25, 1, 4000000000 },
    { "space: LPST\nspace origin: (0,0,0,7)\nspace directions: (2,0,0,0) "
      "(0,1.5,0,0) (0,0,3,0) (0,0,0,0.5)\n",
        2, 1, 7000000000 },
    { "space: LPST\nspace origin: (0,0,0,7)\n"
      "space units: \"mm\" \"mm\" \"mm\" \"ms\"\nspace directions: (2,0,0,0) "
      "(0,1.5,0,0) (0,0,3,0) (0,0,0,500)\n",
        2, 1, 7000000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = g_strconcat (HEAD, cases[i].lines, "\n", NULL);
    g_autoptr (NdReader) reader = open_text (text, SAMPLES);
    const NdRecording *recording = nd_reader_recording (reader);

    g_test_message ("%s", cases[i].lines);
    g_assert_cmpuint (recording->volumes, ==, 2);
    g_assert_cmpint (recording->rate_n, ==, cases[i].n);
    g_assert_cmpint (recording->rate_d, ==, cases[i].d);
    g_assert_cmpint (nd_reader_metadata (reader)->origin, ==, cases[i].origin);
  }
}

/* What is no time stays what it is, beside the times. */
static void
test_index (void)
{
  static const gchar *const lines[] = {
    "labels: \"\" \"\" \"\" \"in \\\"q\\\"\"\n",
    "units: \"\" \"\" \"\" \"beats\"\n",
    "axis 3 index type:=text\n",
    "axis 3 index values:=0 first%20one\n",
    "axis 3 item 0000 Timestamp:=3.500000\n",
    "axis 3 item 0001 Timestamp:=3.900000\n",
    "axis 3 item 0001 State:=a\n",
  };
  g_autoptr (GString) header = g_string_new (HEAD);
  g_autofree gchar *path = file_path ("index.seq.nrrd"), *text = NULL;
  g_autoptr (NdReader) reader = NULL, copy = NULL;
  g_autoptr (NdWriter) writer = NULL;
  g_autoptr (GError) error = NULL;
  guint8 data[SAMPLES / 2];

  g_string_append (header, "kinds: domain domain domain list\n");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    g_string_append (header, lines[i]);
  g_string_append_c (header, '\n');
  reader = open_text (header->str, SAMPLES);
  g_assert_cmpstr (nd_metadata_get (nd_reader_metadata (reader), "IndexName"),
      ==, "in \"q\"");
  g_assert_cmpint (nd_reader_time (reader, 1), ==, 400000000);

  writer = nd_writer_open (path, FALSE, &error);
  g_assert_true (nd_writer_begin (writer, nd_reader_recording (reader),
      &error));
  nd_writer_set_source (writer, (NdMetadata *) nd_reader_metadata (reader), 2);
  for (guint t = 0; t < 2; t++) {
    g_assert_true (nd_reader_read (reader, data, &error));
    g_assert_true (nd_writer_write (writer, data, nd_reader_time (reader, t),
        &error));
  }
  g_assert_true (nd_writer_finish (writer, &error));
  copy = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (nd_reader_time (copy, 1), ==, 400000000);
  g_assert_cmpint (nd_reader_metadata (copy)->origin, ==, 3500000000);
  g_assert_true (g_file_get_contents (path, &text, NULL, &error));
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    g_assert_nonnull (strstr (text, lines[i]));
}

static void
test_refused (void)
{
  refuse_text (HEAD "axis mins: 1 2\n\n", SAMPLES, ND_ERROR_FORMAT,
      "axis mins is \"1 2\": it must have one number or nan for each axis");
  refuse_text (HEAD "axis maxs: 1 2 3 x\n\n", SAMPLES, ND_ERROR_FORMAT,
      "axis maxs");
  refuse_text (HEAD "centers: cell\n\n", SAMPLES, ND_ERROR_FORMAT, "centers");
  refuse_text (HEAD "centers: cell cell cell cell cell\n\n", SAMPLES,
      ND_ERROR_FORMAT, "centers");
}

/* The name of an index whose last character would escape the quote after it. */
static void
test_last_backslash (void)
{
  NdRecording recording;
  g_autoptr (NdMetadata) metadata = nd_metadata_new (NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (NdReader) reader = NULL;

  g_assert_true (nd_recording_init_raw (&recording, "2:2:2", 1, ND_UINT8));
  recording.volumes = 1;
  nd_metadata_add (metadata, ND_INDEX_NAME, "a\\b\\");
  nd_metadata_add_to_volume (metadata, 0, ND_INDEX, "5");
  nd_nrrd_build (text, &recording, metadata, FALSE, NULL, TRUE, FALSE);
  g_assert_nonnull (strstr (text->str, "labels: "));
  g_string_append (text, "\n");
  reader = open_text (text->str, 8);
  g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 1);
  g_assert_true (g_str_has_prefix (nd_metadata_get (nd_reader_metadata (reader),
                                       ND_INDEX_NAME),
      "a\\b"));
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/nrrd-axes/geometry", test_geometry);
  g_test_add_func ("/nrrd-axes/time", test_time);
  g_test_add_func ("/nrrd-axes/index", test_index);
  g_test_add_func ("/nrrd-axes/refused", test_refused);
  g_test_add_func ("/nrrd-axes/last-backslash", test_last_backslash);
  status = g_test_run ();
  remove_folder ();
  return status;
}
