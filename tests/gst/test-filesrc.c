/* ndfilesrc: timestamps, seeking, queries, geometry, errors, memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#include <gst/app/gstappsink.h>
#include <nifti/nifti1.h>
#include <unistd.h>

#define N 10
#define SIZE (4 * 3 * 2)

/* N volumes of 4x3x2 uint8; every sample is the number of its volume. */
static gchar *
raw_file (void)
{
  gchar *path = file_path ("in.raw");
  guint8 data[N * SIZE];

  for (guint i = 0; i < sizeof (data); i++)
    data[i] = i / SIZE;
  put_file (path, data, sizeof (data));
  return path;
}

static gchar *
packed_file (void)
{
  g_autofree gchar *raw = raw_file ();
  gchar *path = file_path ("in.nii.gz");

  run_whole (launch ("ndfilesrc location=%s volume-size=4:3:2 framerate=30/1 "
                     "! ndfilesink location=%s",
      raw, path));
  return path;
}

static GstElement *
launch_raw (const gchar *properties, const gchar *rest)
{
  g_autofree gchar *path = raw_file ();

  return launch ("ndfilesrc name=src location=%s volume-size=4:3:2 %s ! %s",
      path, properties, rest);
}

/* Pulls the next volume and checks that it is volume @n of the file. */
static void
pull_volume (GstAppSink *sink, guint64 n, gint rate_n, gint rate_d)
{
  GstSample *sample = gst_app_sink_pull_sample (sink);
  GstBuffer *buffer;
  GstMapInfo map;

  fail_unless (sample != NULL);
  buffer = gst_sample_get_buffer (sample);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), n);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (buffer), n + 1);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
      gst_util_uint64_scale (n, rate_d * GST_SECOND, rate_n));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer)
          + GST_BUFFER_DURATION (buffer),
      gst_util_uint64_scale (n + 1, rate_d * GST_SECOND, rate_n));
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, SIZE);
  for (guint i = 0; i < SIZE; i++)
    fail_unless_equals_int (map.data[i], n);
  gst_buffer_unmap (buffer, &map);
  gst_sample_unref (sample);
}

static void
check_stream (const gchar *properties, const gchar *caps_rate, gint rate_n,
    gint rate_d, guint n)
{
  GstElement *pipeline =
      launch_raw (properties, "appsink name=sink sync=false");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  g_autofree gchar *text = g_strdup_printf (
      "other/tensors, format=static, "
      "num_tensors=1, types=uint8, dimensions=1:4:3:2, framerate=%s",
      caps_rate);
  GstCaps *expected = gst_caps_from_string (text);
  GstCaps *caps;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < n; i++)
    pull_volume (GST_APP_SINK (sink), i, rate_n, rate_d);
  caps = gst_pad_get_current_caps (pad);
  fail_unless (gst_caps_is_equal (caps, expected), "%" GST_PTR_FORMAT, caps);
  fail_unless (gst_app_sink_pull_sample (GST_APP_SINK (sink)) == NULL);
  fail_unless (gst_app_sink_is_eos (GST_APP_SINK (sink)));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_timestamps)
{
  check_stream ("framerate=30000/1001", "30000/1001", 30000, 1001, N);
  check_stream ("framerate=1/2", "1/2", 1, 2, N);
  check_stream ("framerate=2147483647/1", "2147483647/1", G_MAXINT, 1, N);
  /* No rate is known: the caps say so, and volumes are one second apart. */
  check_stream ("", "0/1", 1, 1, N);
  check_stream ("num-buffers=4", "0/1", 1, 1, 4);
}

GST_END_TEST;

/* A rate that caps cannot express still determines the timestamps. */
GST_START_TEST (test_slow_rate)
{
  GstElement *pipeline = launch_raw ("framerate=1/2147483647 step=2",
      "other/tensors, framerate=0/1 ! appsink name=sink sync=false "
      "max-buffers=1");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint64 n = 0; n < 2; n++) {
    GstSample *sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));

    fail_unless (sample != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (sample)),
        2 * n * G_MAXINT * GST_SECOND);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* A flushing seek; the next volume must be @n. */
static void
seek_to (GstElement *pipeline, GstAppSink *sink, GstFormat format, gint64 start,
    GstSeekFlags flags, guint64 n)
{
  fail_unless (gst_element_seek (pipeline, 1.0, format,
      GST_SEEK_FLAG_FLUSH | flags, GST_SEEK_TYPE_SET, start, GST_SEEK_TYPE_NONE,
      0));
  if (n < N)
    pull_volume (sink, n, 30000, 1001);
  else
    fail_unless (gst_app_sink_pull_sample (sink) == NULL);
}

GST_START_TEST (test_seek)
{
  GstElement *pipeline = launch_raw ("framerate=30000/1001",
      "appsink name=sink sync=false max-buffers=1");
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstAppSink *sink = GST_APP_SINK (element);
  GstQuery *query = gst_query_new_seeking (GST_FORMAT_TIME);
  gboolean seekable;
  gint64 start, end;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pull_volume (sink, 0, 30000, 1001);
  fail_unless (gst_element_query (pipeline, query));
  gst_query_parse_seeking (query, NULL, &seekable, &start, &end);
  fail_unless (seekable);
  fail_unless_equals_int64 (start, 0);
  fail_unless_equals_int64 (end,
      gst_util_uint64_scale (N, 1001 * GST_SECOND, 30000));
  for (guint64 n = 0; n < N; n++) {
    gint64 time = gst_util_uint64_scale (n, 1001 * GST_SECOND, 30000);

    seek_to (pipeline, sink, GST_FORMAT_TIME, time, 0, n);
    seek_to (pipeline, sink, GST_FORMAT_TIME, time + 1, GST_SEEK_FLAG_ACCURATE,
        n);
    seek_to (pipeline, sink, GST_FORMAT_TIME, time + 5, GST_SEEK_FLAG_KEY_UNIT,
        n);
    if (n > 0)
      seek_to (pipeline, sink, GST_FORMAT_TIME, time - 1, 0, n - 1);
  }
  seek_to (pipeline, sink, GST_FORMAT_DEFAULT, 7, 0, 7);
  pull_volume (sink, 8, 30000, 1001);
  seek_to (pipeline, sink, GST_FORMAT_TIME, 100 * GST_SECOND, 0, N);
  seek_to (pipeline, sink, GST_FORMAT_TIME, 0, 0, 0);

  /* A seek with a stop time: volumes 2, 3 and 4. */
  fail_unless (gst_element_seek (pipeline, 1.0, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
      gst_util_uint64_scale (2, 1001 * GST_SECOND, 30000), GST_SEEK_TYPE_SET,
      gst_util_uint64_scale (5, 1001 * GST_SECOND, 30000)));
  for (guint n = 2; n < 5; n++)
    pull_volume (sink, n, 30000, 1001);
  fail_unless (gst_app_sink_pull_sample (sink) == NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_query_unref (query);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* The segment starts at the volume if KEY_UNIT is set, otherwise at the
 * requested time. */
GST_START_TEST (test_seek_segment)
{
  GstElement *pipeline =
      launch_raw ("framerate=30000/1001", "appsink name=sink sync=false");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  const GstClockTime begin =
      gst_util_uint64_scale (3, 1001 * GST_SECOND, 30000);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pull_volume (GST_APP_SINK (sink), 0, 30000, 1001);
  for (guint key_unit = 0; key_unit < 2; key_unit++) {
    const GstClockTime asked = begin + 5 * GST_MSECOND;
    const GstClockTime start = key_unit ? begin : asked;
    GstSample *sample;
    GstSegment *segment;

    fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH | (key_unit ? GST_SEEK_FLAG_KEY_UNIT : 0), asked));
    sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));
    fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (sample)),
        begin);
    segment = gst_sample_get_segment (sample);
    fail_unless_equals_uint64 (segment->start, start);
    fail_unless_equals_uint64 (segment->time, start);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Waits until the pipeline of a sink plays again after a flush. If a pipeline
 * is flushed while it goes on to PLAYING, the sink can stay in PAUSED. */
static void
play_again (GstAppSink *sink)
{
  g_autoptr (GstObject) pipeline = gst_object_get_parent (GST_OBJECT (sink));

  fail_unless_equals_int (gst_element_get_state (GST_ELEMENT (pipeline), NULL,
                              NULL, GST_CLOCK_TIME_NONE),
      GST_STATE_CHANGE_SUCCESS);
}

/* Plays backwards from the last volume before @stop to the one that is shown at
 * @start, by a seek of @element. */
static void
play_backwards (GstElement *element, GstAppSink *sink, GstClockTime start,
    GstClockTime stop, gint64 from, gint64 to)
{
  const GstSegment *segment;
  GstSample *sample;

  play_again (sink);
  fail_unless (gst_element_seek (element, -1.0, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, GST_SEEK_TYPE_SET, start,
      GST_CLOCK_TIME_IS_VALID (stop) ? GST_SEEK_TYPE_SET : GST_SEEK_TYPE_NONE,
      stop));
  for (gint64 n = from; n >= to; n--)
    pull_volume (sink, n, 30, 1);
  fail_unless (gst_app_sink_pull_sample (sink) == NULL);
  fail_unless (gst_app_sink_is_eos (sink));
  play_again (sink);
  fail_unless (gst_element_seek_simple (element, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, 0));
  sample = gst_app_sink_pull_sample (sink);
  segment = gst_sample_get_segment (sample);
  fail_unless (segment->rate == 1);
  gst_sample_unref (sample);
}

GST_START_TEST (test_backwards)
{
  GstElement *pipeline =
      launch_raw ("framerate=30/1", "appsink name=sink sync=false");
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  GstAppSink *sink = GST_APP_SINK (element);
  const GstClockTime third = GST_SECOND / 3 / 10;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pull_volume (sink, 0, 30, 1);
  play_backwards (pipeline, sink, 0, GST_CLOCK_TIME_NONE, N - 1, 0);
  play_backwards (pipeline, sink, 0, 100 * GST_SECOND, N - 1, 0);
  play_backwards (pipeline, sink, 2 * third + 5, 5 * third, 4, 2);
  play_backwards (src, sink, 2 * third + GST_MSECOND, 5 * third + GST_MSECOND,
      5, 2);
  play_backwards (pipeline, sink, 0, 1, 0, 0);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (src);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Volumes before `start` are skipped in the stream, not in the state change,
 * and a state change interrupts that. */
GST_START_TEST (test_skip_in_compressed)
{
  g_autofree gchar *path = packed_file ();

  for (guint start = 1; start < N; start += 3) {
    GstElement *pipeline = launch (
        "ndfilesrc location=%s start=%u step=2 ! appsink name=sink sync=false",
        path, start);
    GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    for (guint n = start; n < N; n += 2) {
      GstSample *sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));
      guint8 value;

      gst_buffer_extract (gst_sample_get_buffer (sample), 0, &value, 1);
      fail_unless_equals_int (value, n);
      gst_sample_unref (sample);
    }
    fail_unless (gst_app_sink_pull_sample (GST_APP_SINK (sink)) == NULL);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (sink);
    gst_object_unref (pipeline);
  }
}

GST_END_TEST;

/* The skip fails, which the state change does not notice. */
GST_START_TEST (test_skip_after_the_state_change)
{
  g_autofree gchar *raw = file_path ("in.raw"), *path = file_path ("in.nii.gz");
  g_autofree gchar *bytes = NULL;
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  guint8 data[20 * 4096];
  GstElement *pipeline;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  gsize n;

  for (guint i = 0; i < sizeof (data); i++)
    data[i] = g_rand_int (r);
  put_file (raw, data, sizeof (data));
  run_whole (launch ("ndfilesrc location=%s volume-size=16:16:16 "
                     "framerate=30/1 ! ndfilesink location=%s",
      raw, path));
  fail_unless (g_file_get_contents (path, &bytes, &n, NULL));
  put_file (path, bytes, n / 2);
  pipeline = launch ("ndfilesrc location=%s start=19 ! fakesink", path);
  bus = gst_element_get_bus (pipeline);
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PAUSED),
      GST_STATE_CHANGE_ASYNC);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
      GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE);
  fail_unless (message != NULL);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_compressed_not_seekable)
{
  g_autofree gchar *path = packed_file ();
  GstElement *pipeline = launch ("ndfilesrc location=%s ! appsink name=sink "
                                 "sync=false max-buffers=1",
      path);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstQuery *query = gst_query_new_seeking (GST_FORMAT_TIME);
  gboolean seekable;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pull_volume (GST_APP_SINK (element), 0, 30, 1);
  fail_unless (gst_element_query (pipeline, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_if (seekable);
  fail_if (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SECOND / 10));
  fail_if (gst_element_seek (pipeline, -1.0, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET,
      GST_SECOND / 10));
  for (guint n = 1; n < N; n++)
    pull_volume (GST_APP_SINK (element), n, 30, 1);
  fail_unless (gst_app_sink_pull_sample (GST_APP_SINK (element)) == NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_query_unref (query);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_queries)
{
  GstElement *pipeline = launch_raw ("framerate=20/1",
      "appsink name=sink sync=false max-buffers=1");
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  gint64 value;

  /* Nothing is known before the file is open. */
  fail_if (gst_element_query_duration (src, GST_FORMAT_TIME, &value));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pull_volume (GST_APP_SINK (element), 0, 20, 1);
  fail_unless (gst_element_query_duration (pipeline, GST_FORMAT_TIME, &value));
  fail_unless_equals_int64 (value, GST_SECOND / 2);
  fail_unless (gst_element_query_duration (src, GST_FORMAT_DEFAULT, &value));
  fail_unless_equals_int64 (value, N);
  fail_unless (gst_element_query_convert (src, GST_FORMAT_DEFAULT, 3,
      GST_FORMAT_TIME, &value));
  fail_unless_equals_int64 (value, 150 * GST_MSECOND);
  fail_unless (gst_element_query_convert (src, GST_FORMAT_TIME,
      199 * GST_MSECOND, GST_FORMAT_DEFAULT, &value));
  fail_unless_equals_int64 (value, 3);
  fail_unless (gst_element_query_convert (src, GST_FORMAT_TIME, G_MAXINT64,
      GST_FORMAT_DEFAULT, &value));
  for (guint n = 1; n < N; n++)
    pull_volume (GST_APP_SINK (element), n, 20, 1);
  fail_unless (gst_app_sink_pull_sample (GST_APP_SINK (element)) == NULL);
  fail_unless (gst_element_query_position (src, GST_FORMAT_DEFAULT, &value));
  fail_unless_equals_int64 (value, N);
  fail_unless (gst_element_query_position (src, GST_FORMAT_TIME, &value));
  fail_unless_equals_int64 (value, GST_SECOND / 2);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (src);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* progressreport queries position and duration at EOS. */
static void
check_progress (const gchar *source)
{
  GstElement *pipeline =
      launch ("%s ! progressreport silent=true ! fakesink", source);
  GstBus *bus = gst_element_get_bus (pipeline);
  gdouble percent = -1;
  gint64 current = -1, total = -1;
  gboolean eos = FALSE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!eos) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    const GstStructure *s;

    fail_unless (message != NULL);
    fail_if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
    eos = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    s = gst_message_get_structure (message);
    if (s && gst_structure_has_name (s, "progress"))
      fail_unless (gst_structure_get (s, "percent-double", G_TYPE_DOUBLE,
          &percent, "current", G_TYPE_INT64, &current, "total", G_TYPE_INT64,
          &total, NULL));
    gst_message_unref (message);
  }
  fail_unless_equals_float (percent, 100);
  fail_unless_equals_int64 (current, 5);
  fail_unless_equals_int64 (total, 5);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_progress)
{
  g_autofree gchar *path = raw_file ();
  g_autofree gchar *packed = packed_file ();
  g_autofree gchar *raw_source =
      g_strdup_printf ("ndfilesrc location=%s "
                       "volume-size=4:3:2 framerate=2/1",
          path);
  g_autofree gchar *packed_source = g_strdup_printf ("ndfilesrc location=%s "
                                                     "framerate=2/1",
      packed);

  check_progress (raw_source);
  check_progress (packed_source);
}

GST_END_TEST;

/* Properties for raw files: every type, components, frames, banks. */
GST_START_TEST (test_raw_properties)
{
  static const struct
  {
    const gchar *properties, *caps;
  } cases[] = {
    { "volume-size=4:3 type=int16", "dimensions=1:4:3, types=int16" },
    { "volume-size=6:1:2 type=uint16", "dimensions=1:6:1:2, types=uint16" },
    { "volume-size=3:2:1 type=float32", "dimensions=1:3:2, types=float32" },
    { "volume-size=2:2:2 components=3", "dimensions=3:2:2:2, types=uint8" },
    { "volume-size=4:3:1:2", "dimensions=1:4:3:1:2, types=uint8" },
  };
  g_autofree gchar *path = raw_file ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    run_whole (launch ("ndfilesrc location=%s %s ! other/tensors, %s ! "
                       "fakesink",
        path, cases[i].properties, cases[i].caps));
  /* The other spelling of the same dimensions. */
  run_whole (launch ("ndfilesrc location=%s volume-size=4:3 ! "
                     "other/tensors, dimensions=1:4:3:1 ! fakesink",
      path));
}

GST_END_TEST;

/* NIfTI's geometry and times are in the caps, and the property framerate
 * overrides the file. */
GST_START_TEST (test_nifti_caps)
{
  struct nifti_1_header header = { .sizeof_hdr = 348,
    .dim = { 4, 2, 2, 2, 3, 1, 1, 1 },
    .datatype = DT_UINT8,
    .bitpix = 8,
    .pixdim = { 1, 0.5, 0.25, 2, 40 },
    .vox_offset = 352,
    .xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_MSEC,
    .sform_code = 1,
    .srow_x = { 0, -0.25, 0, 1.5 },
    .srow_y = { 0.5, 0, 0, -2 },
    .srow_z = { 0, 0, 2, 3 },
    .magic = "n+1" };
  g_autofree gchar *path = file_path ("place.nii");
  guint8 bytes[352 + 24] = { 0 };

  memcpy (bytes, &header, sizeof (header));
  put_file (path, bytes, sizeof (bytes));
  run_whole (launch ("ndfilesrc location=%s ! other/tensors, "
                     "dimensions=(string)1:2:2:2, framerate=25/1, "
                     "spacing=(string)0.5:0.25:2, origin=(string)1.5:-2:3, "
                     "directions=(string)0:-1:0:1:0:0:0:0:1 ! fakesink",
      path));
  run_whole (launch ("ndfilesrc location=%s framerate=7/3 ! other/tensors, "
                     "framerate=7/3 ! fakesink",
      path));
}

GST_END_TEST;

GST_START_TEST (test_settings)
{
  g_autofree gchar *path = raw_file ();
  const gchar *bad[] = { "4", "4:3:0", "4:x:2", "4:3:2:1:1", "-4:3:2", ":",
    "1:1:1:4294967296" };

  run_refused (launch ("ndfilesrc ! fakesink"), 1, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_NOT_FOUND, "'location'");
  run_refused (launch ("ndfilesrc location=%s/none.nii ! fakesink", folder), 1,
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "none.nii");
  run_refused (launch ("ndfilesrc location=%s ! fakesink", folder), 1,
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ, folder);
  run_refused (launch ("ndfilesrc location=%s ! fakesink", path), 1,
      GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "'volume-size'");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    run_refused (launch ("ndfilesrc location=%s volume-size=\"%s\" ! fakesink",
                     path, bad[i]),
        1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "'volume-size'");
  run_refused (launch ("ndfilesrc location=%s volume-size=7:7:7 ! fakesink",
                   path),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "240 bytes");
  run_refused (
      launch ("ndfilesrc location=%s "
              "volume-size=4294967296:4294967296:4294967296 ! fakesink",
          path),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "memory");
}

GST_END_TEST;

/* Truncated within a volume, damaged, or a header of 2^63 bytes: one error, no
 * EOS, and the sink does not take its volumes for a complete recording. */
GST_START_TEST (test_bad_files)
{
  g_autofree gchar *noise = file_path ("noise.raw");
  g_autofree gchar *packed = file_path ("noise.nii.gz");
  g_autofree gchar *bad = file_path ("bad.nii.gz");
  g_autofree gchar *plain = file_path ("bad.nii");
  g_autofree gchar *out = file_path ("out.nii");
  g_autofree gchar *out_part = file_path ("out.nii.part");
  g_autofree gchar *bytes = NULL;
  struct nifti_1_header header = { .sizeof_hdr = 348,
    .dim = { 4, 32767, 32767, 32767, 32767, 1, 1, 1 },
    .datatype = DT_COMPLEX64,
    .bitpix = 64,
    .vox_offset = 352,
    .magic = "n+1" };
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  guint32 samples[1 << 18];
  gsize n;

  /* Noise, so that compression does not shrink the file and damage at its end
   * is far from its beginning. */
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    samples[i] = g_rand_int (random);
  put_file (noise, samples, sizeof (samples));
  run_whole (launch ("ndfilesrc location=%s volume-size=64:64:16 "
                     "! ndfilesink location=%s",
      noise, packed));
  fail_unless (g_file_get_contents (packed, &bytes, &n, NULL));
  put_file (bad, bytes, n - 12);
  run_refused (launch ("ndfilesrc location=%s ! ndfilesink location=%s", bad,
                   out),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "bad.nii.gz");
  fail_if (file_exists (out));
  fail_unless (file_exists (out_part));
  bytes[n - 6] ^= 1;
  put_file (bad, bytes, n);
  run_refused (launch ("ndfilesrc location=%s ! ndfilesink location=%s", bad,
                   out),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "bad.nii.gz");
  fail_if (file_exists (out));
  fail_unless (file_exists (out_part));

  put_file (plain, &header, sizeof (header));
  run_refused (launch ("ndfilesrc location=%s ! fakesink", plain), 1,
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "truncated");
  header.dim[3] = header.dim[4] = 1;
  put_file (plain, &header, sizeof (header));
  run_refused (launch ("ndfilesrc location=%s ! fakesink", plain), 1,
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "truncated");
  header.datatype = DT_FLOAT128;
  put_file (plain, &header, sizeof (header));
  run_refused (launch ("ndfilesrc location=%s ! fakesink", plain), 1,
      GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "float128");
}

GST_END_TEST;

/* The (sparse) file is large enough, but the memory is not. */
GST_START_TEST (test_no_memory)
{
#ifdef __SANITIZE_ADDRESS__
  GST_INFO ("skipped: the sanitizer ends the process if malloc fails");
#else
  g_autofree gchar *path = file_path ("huge.raw");
  g_autofree gchar *overcommit = NULL;
  const off_t size = (off_t) 1 << 43;

  g_file_get_contents ("/proc/sys/vm/overcommit_memory", &overcommit, NULL,
      NULL);
  put_file (path, "", 0);
  if ((overcommit && *overcommit == '1') || truncate (path, size) != 0) {
    GST_INFO ("skipped: the file or the memory limit is missing");
    return;
  }
  run_refused (launch ("ndfilesrc location=%s "
                       "volume-size=32768:16384:16384 ! fakesink",
                   path),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "8796093022208");
#endif
}

GST_END_TEST;

/* 2000 volumes of 64x64x64 need bounded memory (from a sparse file). */
GST_START_TEST (test_memory)
{
  g_autofree gchar *path = file_path ("long.raw");
  gsize before, after;

  put_file (path, "", 0);
  fail_unless (truncate (path, (off_t) 2000 * 64 * 64 * 64) == 0);
  run_whole (launch ("ndfilesrc location=%s volume-size=64:64:64 "
                     "num-buffers=50 ! fakesink",
      path));
  before = process_kib ("VmHWM:");
  run_whole (launch ("ndfilesrc location=%s volume-size=64:64:64 ! fakesink",
      path));
  after = process_kib ("VmHWM:");
  fail_unless (after <= before + 4096, "%" G_GSIZE_FORMAT " KiB more",
      after - before);
}

GST_END_TEST;

static void
count_volume (GstElement *sink, GstBuffer *buffer, GstPad *pad, guint64 *count)
{
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), (*count)++);
}

/* The pipeline starts from the beginning each time. */
GST_START_TEST (test_reuse)
{
  GstElement *pipeline =
      launch_raw ("framerate=20/1", "fakesink name=sink signal-handoffs=true");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  guint64 count;

  g_signal_connect (sink, "handoff", G_CALLBACK (count_volume), &count);
  for (guint i = 0; i < 3; i++) {
    g_auto (Outcome) outcome = { 0 };

    count = 0;
    run_pipeline (pipeline, &outcome);
    fail_unless_equals_int (outcome.n_errors, 0);
    fail_unless_equals_uint64 (count, N);
  }
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
ndfilesrc_suite (void)
{
  Suite *s = suite_create ("ndfilesrc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_test (tc, test_timestamps);
  tcase_add_test (tc, test_slow_rate);
  tcase_add_test (tc, test_seek);
  tcase_add_test (tc, test_seek_segment);
  tcase_add_test (tc, test_backwards);
  tcase_add_test (tc, test_skip_in_compressed);
  tcase_add_test (tc, test_skip_after_the_state_change);
  tcase_add_test (tc, test_compressed_not_seekable);
  tcase_add_test (tc, test_queries);
  tcase_add_test (tc, test_progress);
  tcase_add_test (tc, test_raw_properties);
  tcase_add_test (tc, test_nifti_caps);
  tcase_add_test (tc, test_settings);
  tcase_add_test (tc, test_bad_files);
  tcase_add_test (tc, test_no_memory);
  tcase_add_test (tc, test_memory);
  tcase_add_test (tc, test_reuse);
  return s;
}

GST_CHECK_MAIN (ndfilesrc);
