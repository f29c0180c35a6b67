/* Recordings of other programs through the elements: excerpts, irregular times,
 * seeking, types of files, long recordings.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/base/gsttypefindhelper.h>

#define N 12
#define SIZE (4 * 3 * 2)

/* The time of volume @n in milliseconds. */
static guint
irregular (guint n)
{
  return 40 * n + 7 * (n % 3);
}

/* N volumes of 4x3x2 uint8, every sample the number of its volume, in a
 * MetaImage sequence that starts at 100 s. */
static gchar *
meta_file (void)
{
  gchar *path = file_path ("in.igs.mha");
  g_autoptr (GString) text = g_string_new (
      "ObjectType = Image\nNDims = 4\n"
      "DimSize = 4 3 2 12\nKinds = domain domain domain list\n"
      "UltrasoundImageOrientation = MFA\nElementType = MET_UCHAR\n");

  for (guint n = 0; n < N; n++)
    g_string_append_printf (text,
        "Seq_Frame%04u_Timestamp = 100.%03u\n"
        "Seq_Frame%04u_Probe = %u\n",
        n, irregular (n), n, n);
  g_string_append (text, "ElementDataFile = LOCAL\n");
  for (guint i = 0; i < N * SIZE; i++)
    g_string_append_c (text, i / SIZE);
  put_file (path, text->str, text->len);
  return path;
}

static gchar *
convert (const gchar *from, const gchar *name, const gchar *properties)
{
  gchar *path = file_path (name);

  run_whole (launch ("ndfilesrc location=%s ! ndfilesink location=%s %s", from,
      path, properties));
  return path;
}

/* The next volume is @volume of the file, starts at @ms, and lasts until
 * @end. */
static void
pull (GstElement *sink, guint volume, guint ms, guint end)
{
  GstSample *sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));
  GstBuffer *buffer;
  guint8 number;

  fail_unless (sample != NULL);
  buffer = gst_sample_get_buffer (sample);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), ms * GST_MSECOND);
  if (end)
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer),
        (end - ms) * GST_MSECOND);
  gst_buffer_extract (buffer, 0, &number, 1);
  fail_unless_equals_int (number, volume);
  gst_sample_unref (sample);
}

static void
expect_end (GstElement *sink)
{
  fail_unless (gst_app_sink_pull_sample (GST_APP_SINK (sink)) == NULL);
}

static gint64
query_duration (GstElement *element)
{
  gint64 duration = -1;

  fail_unless (gst_element_query_duration (element, GST_FORMAT_TIME,
      &duration));
  return duration;
}

/* In every format that has times, and in excerpts. */
GST_START_TEST (test_times)
{
  static const struct
  {
    const gchar *name, *properties;
  } files[] = { { "out.seq.nrrd", "" }, { "out.igs.nrrd", "compress=true" },
    { "out.nhdr", "" }, { "out.igs.mha", "compress=true" }, { "out.mhd", "" },
    { "out.nii", "" }, { "out.nii.gz", "" } };
  g_autofree gchar *in = meta_file ();

  for (guint f = 0; f < G_N_ELEMENTS (files); f++) {
    static const struct
    {
      guint start, stop, step;
    } parts[] = { { 0, N, 1 }, { 3, 9, 1 }, { 0, N, 4 }, { 5, 6, 1 },
      { 1, 11, 3 } };
    g_autofree gchar *name = file_path (files[f].name);
    g_autofree gchar *path = NULL;

    if (strstr (name, ".mhd")) {
      g_autofree gchar *raw = file_path ("out.raw");

      g_remove (raw);
    }
    path = convert (in, files[f].name, files[f].properties);
    for (guint p = 0; p < G_N_ELEMENTS (parts); p++) {
      const guint start = parts[p].start, step = parts[p].step;
      GstElement *pipeline = launch ("ndfilesrc location=%s start=%u stop=%u "
                                     "step=%u ! appsink name=sink sync=false",
          path, start, parts[p].stop, step);
      GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");

      gst_element_set_state (pipeline, GST_STATE_PLAYING);
      for (guint n = start; n < parts[p].stop; n += step)
        pull (sink, n, irregular (n) - irregular (start),
            n + step >= N ? 0 : irregular (n + step) - irregular (start));
      expect_end (sink);
      gst_element_set_state (pipeline, GST_STATE_NULL);
      gst_object_unref (sink);
      gst_object_unref (pipeline);
    }
  }
}

GST_END_TEST;

/* An excerpt has the times and fields of its volumes in the whole recording. */
GST_START_TEST (test_part_of_file)
{
  g_autofree gchar *in = meta_file ();
  g_autofree gchar *part = file_path ("part.mha");
  g_autofree gchar *text = NULL;
  gsize n;

  run_whole (launch ("ndfilesrc location=%s start=2 stop=9 step=3 ! queue ! "
                     "ndconv3d filter=box,size=1:1:1 ! ndfilesink location=%s",
      in, part));
  fail_unless (g_file_get_contents (part, &text, &n, NULL));
  fail_unless (strstr (text, "DimSize = 4 3 2 3\n") != NULL);
  fail_unless (strstr (text, "UltrasoundImageOrientation = MFA\n") != NULL);
  fail_unless (strstr (text, "Seq_Frame0000_Timestamp = 100.094000\n") != NULL);
  fail_unless (strstr (text, "Seq_Frame0001_Timestamp = 100.214000\n") != NULL);
  fail_unless (strstr (text, "Seq_Frame0002_Timestamp = 100.334000\n") != NULL);
  fail_unless (strstr (text, "Seq_Frame0000_Probe = 2\n") != NULL);
  fail_unless (strstr (text, "Seq_Frame0002_Probe = 8\n") != NULL);
  fail_unless (strstr (text, "Seq_Frame0003") == NULL);
}

GST_END_TEST;

static void
read_samples (const gchar *path, guint8 *samples, gsize n)
{
  g_autofree gchar *raw = file_path ("samples.raw");
  g_autofree gchar *bytes = NULL;
  gsize found;

  run_whole (launch ("ndfilesrc location=%s ! ndfilesink location=%s", path,
      raw));
  fail_unless (g_file_get_contents (raw, &bytes, &found, NULL));
  fail_unless_equals_int (found, n);
  memcpy (samples, bytes, n);
}

/* A recording that is filtered in two overlapping excerpts equals the one
 * filtered as a whole. The overlap is the length of the filter minus one. */
GST_START_TEST (test_split)
{
  const gchar *filter = "ndconv4dtemporal filter=box,size=1:1:1:5";
  g_autofree gchar *in = meta_file ();
  g_autofree gchar *whole = file_path ("whole.nrrd");
  g_autofree gchar *first = file_path ("first.nrrd");
  g_autofree gchar *second = file_path ("second.nrrd");
  guint8 expected[N * SIZE], found[N * SIZE];

  run_whole (launch ("ndfilesrc location=%s ! %s ! ndfilesink location=%s", in,
      filter, whole));
  run_whole (launch ("ndfilesrc location=%s stop=8 ! %s ! ndfilesink "
                     "location=%s",
      in, filter, first));
  run_whole (launch ("ndfilesrc location=%s start=4 ! %s ! ndfilesink "
                     "location=%s",
      in, filter, second));
  read_samples (whole, expected, N * SIZE);
  read_samples (first, found, 8 * SIZE);
  fail_unless (memcmp (found, expected, 6 * SIZE) == 0);
  read_samples (second, found, 8 * SIZE);
  fail_unless (memcmp (found + 2 * SIZE, expected + 6 * SIZE, 6 * SIZE) == 0);
}

GST_END_TEST;

/* If times are irregular, a seek finds the volume of that time. Queries use the
 * times too. */
GST_START_TEST (test_seek)
{
  static const gchar *const names[] = { "in.igs.mha", "seek.seq.nrrd",
    "seek.nhdr", "seek.nii" };

  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *in = meta_file ();
    g_autofree gchar *path =
        f == 0 ? g_strdup (in) : convert (in, names[f], "");
    GstElement *pipeline = launch ("ndfilesrc name=src location=%s start=1 ! "
                                   "appsink name=sink sync=false max-buffers=1",
        path);
    GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
    const guint begin = irregular (1);
    GstQuery *query = gst_query_new_seeking (GST_FORMAT_TIME);
    gboolean seekable;
    gint64 value, last;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    pull (sink, 1, 0, irregular (2) - begin);
    fail_unless (gst_element_query (pipeline, query));
    gst_query_parse_seeking (query, NULL, &seekable, NULL, &last);
    fail_unless (seekable);
    fail_unless_equals_int64 (last, query_duration (src));
    for (guint n = 11; n > 1; n -= 2) {
      fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
          GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
          (irregular (n) - begin + 3) * GST_MSECOND));
      pull (sink, n, irregular (n) - begin, 0);
    }
    fail_unless (gst_element_query_convert (src, GST_FORMAT_DEFAULT, 4,
        GST_FORMAT_TIME, &value));
    fail_unless_equals_int64 (value, (irregular (5) - begin) * GST_MSECOND);
    fail_unless (gst_element_query_convert (src, GST_FORMAT_TIME, value - 1,
        GST_FORMAT_DEFAULT, &value));
    fail_unless_equals_int64 (value, 3);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_query_unref (query);
    gst_object_unref (sink);
    gst_object_unref (src);
    gst_object_unref (pipeline);
  }
}

GST_END_TEST;

/* Compressed files report that they are not seekable, and continue; start skips
 * the volumes before it. */
GST_START_TEST (test_not_seekable)
{
  static const gchar *const names[] = { "c.nrrd", "c.nhdr", "c.mha", "c.mhd" };
  g_autofree gchar *in = meta_file ();

  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *path = convert (in, names[f], "compress=true");
    GstElement *pipeline = launch ("ndfilesrc location=%s start=4 step=2 ! "
                                   "appsink name=sink sync=false max-buffers=1",
        path);
    GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    GstQuery *query = gst_query_new_seeking (GST_FORMAT_TIME);
    gboolean seekable;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    pull (sink, 4, 0, 0);
    fail_unless (gst_element_query (pipeline, query));
    gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
    fail_if (seekable);
    fail_if (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH, 0));
    for (guint n = 6; n < N; n += 2)
      pull (sink, n, irregular (n) - irregular (4), 0);
    expect_end (sink);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_query_unref (query);
    gst_object_unref (sink);
    gst_object_unref (pipeline);
  }
}

GST_END_TEST;

GST_START_TEST (test_wrong_parts)
{
  g_autofree gchar *in = meta_file ();

  run_refused (launch ("ndfilesrc location=%s start=12 ! fakesink", in), 1,
      GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "12 volumes");
  run_refused (launch ("ndfilesrc location=%s start=5 stop=5 ! fakesink", in),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "less than stop");
}

GST_END_TEST;

/* A regular rate is divided by step; the property framerate overrides the
 * file. */
GST_START_TEST (test_rates)
{
  static const struct
  {
    const gchar *properties;
    gint n, d;
    GstClockTime second;
  } cases[] = {
    { "framerate=30/1", 30, 1, GST_SECOND / 30 },
    { "framerate=30/1 step=3", 10, 1, GST_SECOND / 10 },
    { "framerate=30000/1001 step=2", 15000, 1001, 66733333 },
    { "step=2", 0, 1, 94 * GST_MSECOND },
    { "", 0, 1, 47 * GST_MSECOND },
  };
  g_autofree gchar *in = meta_file ();

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    GstElement *pipeline = launch ("ndfilesrc location=%s %s ! appsink "
                                   "name=sink sync=false",
        in, cases[c].properties);
    GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    GstSample *sample = NULL;
    gint n, d;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    for (guint i = 0; i < 2; i++) {
      g_clear_pointer (&sample, gst_sample_unref);
      sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));
    }
    fail_unless (gst_structure_get_fraction (
        gst_caps_get_structure (gst_sample_get_caps (sample), 0), "framerate",
        &n, &d));
    fail_unless_equals_int (n, cases[c].n);
    fail_unless_equals_int (d, cases[c].d);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (sample)),
        cases[c].second);
    gst_sample_unref (sample);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (sink);
    gst_object_unref (pipeline);
  }
}

GST_END_TEST;

/* Timestamps of a live stream are stored in the file. If the format has no
 * place for them, their mean rate is stored. */
GST_START_TEST (test_irregular_stream)
{
  static const gchar *const names[] = { "live.mha", "live.seq.nrrd", "live.nii",
    "live.nii.gz" };

  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *path = file_path (names[f]);
    GstElement *pipeline = launch (
        "appsrc name=src format=time caps=\"other/"
        "tensors,format=static,num_tensors=1,types=uint8,dimensions=1:4:3:2,"
        "framerate=0/1\" ! ndfilesink location=%s",
        path);
    GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
    GstElement *reading, *sink;
    g_auto (Outcome) outcome = { 0 };

    for (guint n = 0; n < N; n++) {
      GstBuffer *buffer = gst_buffer_new_allocate (NULL, SIZE, NULL);

      gst_buffer_memset (buffer, 0, n, SIZE);
      GST_BUFFER_PTS (buffer) = irregular (n) * GST_MSECOND;
      fail_unless_equals_int (gst_app_src_push_buffer (GST_APP_SRC (src),
                                  buffer),
          GST_FLOW_OK);
    }
    gst_app_src_end_of_stream (GST_APP_SRC (src));
    run_pipeline (pipeline, &outcome);
    fail_unless_equals_int (outcome.n_errors + outcome.n_warnings, 0);
    gst_object_unref (src);
    gst_object_unref (pipeline);

    reading =
        launch ("ndfilesrc location=%s ! appsink name=sink sync=false", path);
    sink = gst_bin_get_by_name (GST_BIN (reading), "sink");
    gst_element_set_state (reading, GST_STATE_PLAYING);
    for (guint n = 0; n < N; n++)
      pull (sink, n, irregular (n), 0);
    expect_end (sink);
    gst_element_set_state (reading, GST_STATE_NULL);
    gst_object_unref (sink);
    gst_object_unref (reading);
  }
}

GST_END_TEST;

static void
expect_type (const gchar *path, const gchar *name)
{
  g_autofree gchar *bytes = NULL;
  g_autoptr (GstCaps) caps = NULL;
  GstTypeFindProbability probability;
  gsize n;

  fail_unless (g_file_get_contents (path, &bytes, &n, NULL));
  caps = gst_type_find_helper_for_data (NULL, (const guint8 *) bytes, n,
      &probability);
  if (!name) {
    fail_if (caps
        && strstr (gst_structure_get_name (gst_caps_get_structure (caps, 0)),
            "application/x-n"));
    return;
  }
  fail_unless (caps != NULL, "%s", path);
  fail_unless_equals_string (
      gst_structure_get_name (gst_caps_get_structure (caps, 0)), name);
  fail_unless_equals_int (probability, GST_TYPE_FIND_MAXIMUM);
}

GST_START_TEST (test_type_find)
{
  static const struct
  {
    const gchar *name, *type;
  } cases[] = { { "t.nii", "application/x-nifti" },
    { "t.nii.gz", "application/x-nifti" },
    { "t.seq.nrrd", "application/x-nrrd" }, { "t.nhdr", "application/x-nrrd" },
    { "t.igs.mha", "application/x-metaimage" },
    { "u.mhd", "application/x-metaimage" }, { "v.raw", NULL } };
  g_autofree gchar *in = meta_file ();
  g_autofree gchar *text = file_path ("text");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = convert (in, cases[i].name, "");

    expect_type (path, cases[i].type);
  }
  put_file (text, "Comment = of a letter\nand more\n", 31);
  expect_type (text, NULL);
}

GST_END_TEST;

/* Conversions of the content are reported once. */
GST_START_TEST (test_warnings)
{
  g_autofree gchar *path = file_path ("wide.nrrd");
  g_autofree gchar *out = file_path ("float.nii");
  const gchar *text =
      "NRRD0004\ntype: int64\ndimension: 3\nsizes: 2 2 2\n"
      "endian: little\nencoding: raw\n\n01234567890123456789012345678901"
      "23456789012345678901234567890123";
  g_auto (Outcome) outcome = { 0 };
  GstElement *pipeline;

  put_file (path, text, strlen (text));
  pipeline =
      launch ("ndfilesrc location=%s ! ndfilesink location=%s", path, out);
  run_pipeline (pipeline, &outcome);
  gst_object_unref (pipeline);
  fail_unless_equals_int (outcome.n_errors, 0);
  fail_unless_equals_int (outcome.n_warnings, 1);
  fail_unless (strstr (outcome.warning->message, "int64") != NULL);
}

GST_END_TEST;

/* 10,000 volumes are written and read in constant memory. */
GST_START_TEST (test_memory)
{
  static const struct
  {
    const gchar *name, *properties;
  } files[] = { { "long.raw", "" }, { "long.nii", "" }, { "long.seq.nrrd", "" },
    { "packed.nrrd", "compress=true" }, { "long.mha", "" },
    { "packed.mha", "compress=true" }, { "apart.mhd", "" } };

  for (guint f = 0; f < G_N_ELEMENTS (files); f++) {
    g_autofree gchar *path = file_path (files[f].name);
    const gchar *read = f == 0 ? "volume-size=32:32:32" : "";
    /* If nothing is measured, as under valgrind, fewer volumes suffice. */
    const guint many = process_kib ("VmHWM:") > 0 ? 10000 : 400;
    gsize before = 0, after;

    for (guint pass = 0; pass < 2; pass++) {
      const guint n = pass == 0 ? 300 : many;

      run_whole (
          launch ("ndtestsrc pattern=constant volume-size=32:32:32 "
                  "type=uint8 num-buffers=%u ! ndfilesink location=%s %s",
              n, path, files[f].properties));
      run_whole (launch ("ndfilesrc location=%s %s ! fakesink", path, read));
      if (pass == 0)
        before = process_kib ("VmHWM:");
    }
    after = process_kib ("VmHWM:");
    /* Each volume needs 8 bytes for its time, and the text of the time in the
     * header. */
    fail_unless (after <= before + 6144, "%s: %" G_GSIZE_FORMAT " KiB more",
        files[f].name, after - before);
    g_remove (path);
  }
}

GST_END_TEST;

static Suite *
recordings_suite (void)
{
  Suite *s = suite_create ("recordings");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_test (tc, test_times);
  tcase_add_test (tc, test_part_of_file);
  tcase_add_test (tc, test_split);
  tcase_add_test (tc, test_seek);
  tcase_add_test (tc, test_not_seekable);
  tcase_add_test (tc, test_wrong_parts);
  tcase_add_test (tc, test_rates);
  tcase_add_test (tc, test_irregular_stream);
  tcase_add_test (tc, test_type_find);
  tcase_add_test (tc, test_warnings);
  tcase_add_test (tc, test_memory);
  return s;
}

GST_CHECK_MAIN (recordings);
