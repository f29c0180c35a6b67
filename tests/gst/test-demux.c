/* nddemux and the type finders: recordings from the bytes of other sources.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/folder.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/check/gstcheck.h>
#include <string.h>

#define VOLUMES 9
#define SOURCE                                                      \
  "ndtestsrc pattern=noise seed=7 num-buffers=9 volume-size=6:5:4 " \
  "framerate=20/1 ! "

static const gchar *const names[] = { "r.nii", "r.nii.gz", "r.nrrd", "r.mha",
  "r.mhd", "r.npy" };

/* Starts a pipeline. */
static GstElement *start (GstState state, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

static GstElement *
start (GstState state, const gchar *format, ...)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *text = NULL;
  GstElement *pipeline;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  pipeline = gst_parse_launch (text, &error);
  fail_unless (error == NULL, "%s: %s", text, error ? error->message : "");
  gst_object_ref_sink (pipeline);
  gst_element_set_state (pipeline, state);
  return pipeline;
}

static void
stop (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/* Waits for EOS, or for the error whose text is returned. */
static gchar *
wait_for_end (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus,
      300 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;

  fail_unless (message != NULL, "neither EOS nor an error");
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    return NULL;
  gst_message_parse_error (message, &error, NULL);
  return g_strdup (error->message);
}

static void
record (const gchar *name)
{
  g_autofree gchar *path = file_path (name);
  GstElement *pipeline =
      start (GST_STATE_PLAYING, SOURCE "ndfilesink location=\"%s\"", path);

  fail_unless (wait_for_end (pipeline) == NULL);
  stop (pipeline);
}

static GstAppSink *
find_sink (GstElement *pipeline)
{
  return GST_APP_SINK (gst_bin_get_by_name (GST_BIN (pipeline), "sink"));
}

#define INTERVAL (GST_SECOND / 20)

/* Expects volume @n of the recording: its time, and the samples of @want. */
static void
expect_volume_every (GstAppSink *sink, guint n, GstBuffer *const *want,
    GstClockTime interval)
{
  g_autoptr (GstSample) sample =
      gst_app_sink_try_pull_sample (sink, 300 * GST_SECOND);
  GstBuffer *buffer;
  GstMapInfo map;

  fail_unless (sample != NULL, "volume %u is missing", n);
  buffer = gst_sample_get_buffer (sample);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), n);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * interval);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), interval);
  fail_unless (gst_buffer_map (want[n], &map, GST_MAP_READ));
  fail_unless_equals_uint64 (gst_buffer_get_size (buffer), map.size);
  fail_unless (gst_buffer_memcmp (buffer, 0, map.data, map.size) == 0,
      "volume %u differs", n);
  gst_buffer_unmap (want[n], &map);
}

static void
expect_volume (GstAppSink *sink, guint n, GstBuffer *const *want)
{
  expect_volume_every (sink, n, want, INTERVAL);
}

/* The volumes that were recorded. */
static void
make_volumes (GstBuffer *volumes[VOLUMES])
{
  GstElement *pipeline =
      start (GST_STATE_PLAYING, SOURCE "appsink name=sink sync=false");
  g_autoptr (GstAppSink) sink = find_sink (pipeline);

  for (guint i = 0; i < VOLUMES; i++) {
    g_autoptr (GstSample) sample = gst_app_sink_pull_sample (sink);

    volumes[i] = gst_buffer_ref (gst_sample_get_buffer (sample));
  }
  stop (pipeline);
}

static void
free_volumes (GstBuffer *volumes[VOLUMES])
{
  for (guint i = 0; i < VOLUMES; i++)
    gst_buffer_unref (volumes[i]);
}

GST_START_TEST (test_every_format)
{
  static const gchar *const decoders[] = { "nddemux",
    "decodebin caps=other/tensors" };
  GstBuffer *volumes[VOLUMES];

  make_volumes (volumes);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *path = file_path (names[i]);

    record (names[i]);
    for (guint d = 0; d < G_N_ELEMENTS (decoders); d++) {
      GstElement *pipeline = start (GST_STATE_PLAYING,
          "filesrc location=\"%s\" ! %s ! appsink name=sink sync=false", path,
          decoders[d]);
      g_autoptr (GstAppSink) sink = find_sink (pipeline);

      for (guint n = 0; n < VOLUMES; n++)
        expect_volume_every (sink, n, volumes,
            g_str_has_suffix (names[i], ".npy") ? GST_SECOND : INTERVAL);
      fail_unless (wait_for_end (pipeline) == NULL);
      stop (pipeline);
    }
  }
  free_volumes (volumes);
}

GST_END_TEST;

/* Without caps, a player gets pictures. */
GST_START_TEST (test_players_get_pictures)
{
  g_autofree gchar *path = file_path ("r.nii.gz");
  g_autofree gchar *uri = g_filename_to_uri (path, NULL, NULL);
  GstElement *pipeline;
  g_autoptr (GstAppSink) sink = NULL;
  guint frames = 0;

  record ("r.nii.gz");
  pipeline = start (GST_STATE_PLAYING,
      "uridecodebin uri=\"%s\" ! appsink name=sink sync=false", uri);
  sink = find_sink (pipeline);
  for (;;) {
    g_autoptr (GstSample) sample = gst_app_sink_pull_sample (sink);

    if (!sample)
      break;
    frames++;
    fail_unless (gst_structure_has_name (
        gst_caps_get_structure (gst_sample_get_caps (sample), 0),
        "video/x-raw"));
  }
  fail_unless_equals_int (frames, VOLUMES);
  stop (pipeline);
}

GST_END_TEST;

static void
seek (GstElement *pipeline, gdouble rate, guint start_volume, guint stop_volume)
{
  fail_unless (gst_element_seek (pipeline, rate, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, GST_SEEK_TYPE_SET,
      start_volume * INTERVAL, GST_SEEK_TYPE_SET, stop_volume * INTERVAL));
}

GST_START_TEST (test_seeks)
{
  GstBuffer *volumes[VOLUMES];
  g_autofree gchar *path = file_path ("r.nrrd");
  GstElement *pipeline;
  g_autoptr (GstAppSink) sink = NULL;
  gint64 duration;

  record ("r.nrrd");
  make_volumes (volumes);
  pipeline = start (GST_STATE_PAUSED,
      "filesrc location=\"%s\" ! nddemux ! appsink name=sink sync=false "
      "max-buffers=2",
      path);
  sink = find_sink (pipeline);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              300 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  fail_unless (gst_element_query_duration (pipeline, GST_FORMAT_TIME,
      &duration));
  fail_unless_equals_uint64 (duration, VOLUMES * INTERVAL);
  for (guint round = 0; round < 3; round++) {
    seek (pipeline, 1, 5, 7);
    expect_volume (sink, 5, volumes);
    expect_volume (sink, 6, volumes);
    fail_unless (gst_app_sink_pull_sample (sink) == NULL);
    seek (pipeline, -1, 2, 5);
    for (guint n = 4; n >= 2; n--)
      expect_volume (sink, n, volumes);
    fail_unless (gst_app_sink_pull_sample (sink) == NULL);
    seek (pipeline, 1, 0, VOLUMES);
    expect_volume (sink, 0, volumes);
  }
  stop (pipeline);
  free_volumes (volumes);
}

GST_END_TEST;

/* Seeks count volumes, too; with KEY_UNIT the segment begins at a volume. */
GST_START_TEST (test_volume_seeks)
{
  GstBuffer *volumes[VOLUMES];
  g_autofree gchar *path = file_path ("r.nrrd");
  GstElement *pipeline;
  g_autoptr (GstAppSink) sink = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GstQuery) segment = gst_query_new_segment (GST_FORMAT_TIME);
  g_autoptr (GstQuery) bytes = gst_query_new_seeking (GST_FORMAT_BYTES);
  g_autoptr (GstQuery) seeking = gst_query_new_seeking (GST_FORMAT_DEFAULT);
  gint64 begin, end, result;
  gboolean seekable;

  record ("r.nrrd");
  make_volumes (volumes);
  pipeline = start (GST_STATE_PLAYING,
      "filesrc location=\"%s\" ! nddemux ! appsink name=sink sync=false", path);
  sink = find_sink (pipeline);
  expect_volume (sink, 0, volumes);
  fail_unless (gst_element_seek (pipeline, 1, GST_FORMAT_DEFAULT,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 4, GST_SEEK_TYPE_SET, 6));
  expect_volume (sink, 4, volumes);
  expect_volume (sink, 5, volumes);
  fail_unless (gst_app_sink_pull_sample (sink) == NULL);
  pad = gst_element_get_static_pad (GST_ELEMENT (sink), "sink");
  fail_unless (gst_pad_peer_query (pad, segment));
  gst_query_parse_segment (segment, NULL, NULL, &begin, &end);
  fail_unless_equals_int64 (begin, 4 * INTERVAL);
  fail_unless_equals_int64 (end, 6 * INTERVAL);
  fail_unless (gst_element_seek (pipeline, 1, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT, GST_SEEK_TYPE_SET,
      2 * INTERVAL + INTERVAL / 3, GST_SEEK_TYPE_NONE, -1));
  expect_volume (sink, 2, volumes);
  fail_unless (gst_pad_peer_query (pad, segment));
  gst_query_parse_segment (segment, NULL, NULL, &begin, &end);
  fail_unless_equals_int64 (begin, 2 * INTERVAL);
  fail_unless_equals_int64 (end, 6 * INTERVAL);

  fail_unless (gst_pad_peer_query_duration (pad, GST_FORMAT_DEFAULT, &result));
  fail_unless_equals_int64 (result, VOLUMES);
  fail_unless (gst_pad_peer_query_convert (pad, GST_FORMAT_TIME,
      3 * INTERVAL + 1, GST_FORMAT_DEFAULT, &result));
  fail_unless_equals_int64 (result, 3);
  fail_unless (gst_pad_peer_query_convert (pad, GST_FORMAT_DEFAULT, 3,
      GST_FORMAT_TIME, &result));
  fail_unless_equals_int64 (result, 3 * INTERVAL);
  fail_if (gst_pad_peer_query_convert (pad, GST_FORMAT_BYTES, 3,
      GST_FORMAT_TIME, &result));
  fail_unless (gst_pad_peer_query_position (pad, GST_FORMAT_DEFAULT, &result));
  fail_unless (result >= 2 && result <= VOLUMES);
  fail_unless (gst_pad_peer_query (pad, seeking));
  gst_query_parse_seeking (seeking, NULL, &seekable, NULL, &end);
  fail_unless (seekable && end == VOLUMES);
  fail_if (gst_pad_peer_query (pad, bytes));
  fail_if (gst_element_seek_simple (pipeline, GST_FORMAT_PERCENT,
      GST_SEEK_FLAG_FLUSH, 1));
  stop (pipeline);
  free_volumes (volumes);
}

GST_END_TEST;

/* Compressed recordings cannot be seeked, and say so. */
GST_START_TEST (test_compressed)
{
  g_autofree gchar *path = file_path ("r.nii.gz");
  GstElement *pipeline;
  g_autoptr (GstQuery) query = gst_query_new_seeking (GST_FORMAT_TIME);
  gboolean seekable = TRUE;

  record ("r.nii.gz");
  pipeline = start (GST_STATE_PAUSED,
      "filesrc location=\"%s\" ! nddemux ! fakesink", path);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              300 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  fail_unless (gst_element_query (pipeline, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_if (seekable);
  fail_if (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, 0));
  stop (pipeline);
}

GST_END_TEST;

static void
expect_error (GstElement *pipeline, const gchar *words)
{
  g_autofree gchar *error = wait_for_end (pipeline);

  fail_unless (error && strstr (error, words), "\"%s\" is not in: %s", words,
      error ? error : "no error");
  stop (pipeline);
}

static void
copy_part (const gchar *from, const gchar *to, gsize bytes)
{
  g_autofree gchar *in = file_path (from), *out = file_path (to), *data = NULL;
  gsize length;

  fail_unless (g_file_get_contents (in, &data, &length, NULL));
  fail_unless (g_file_set_contents (out, data, MIN (bytes, length), NULL));
}

GST_START_TEST (test_errors)
{
  static const gchar hostile[] =
      "NRRD0004\ntype: float\ndimension: 3\nsizes: 99999999 99999999 99999999\n"
      "encoding: raw\nendian: little\n\nabc";
  g_autofree gchar *whole = file_path ("r.nii"), *part = file_path ("part.nii");
  g_autofree gchar *bad = file_path ("bad.nrrd");

  record ("r.nii");
  copy_part ("r.nii", "part.nii", 700);
  expect_error (start (GST_STATE_PLAYING,
                    "filesrc location=\"%s\" ! nddemux ! fakesink", part),
      "truncated");
  fail_unless (g_file_set_contents (bad, hostile, -1, NULL));
  expect_error (start (GST_STATE_PLAYING,
                    "filesrc location=\"%s\" ! nddemux ! fakesink", bad),
      "bad.nrrd");
  expect_error (start (GST_STATE_PLAYING,
                    "pushfilesrc location=\"%s\" ! nddemux ! fakesink", whole),
      "only sends its bytes in order");
  /* A stream that ends in the middle of a volume, and a sink that is gone. */
  expect_error (start (GST_STATE_PLAYING,
                    "filesrc location=\"%s\" ! nddemux ! identity "
                    "error-after=3 ! fakesink",
                    whole),
      "Failed after");
}

GST_END_TEST;

/* A source without files of this machine: the bytes of @path. */
static GstElement *
start_bytes (const gchar *path, GstAppSrc **src, GstBuffer **bytes)
{
  GstElement *pipeline = start (GST_STATE_READY,
      "appsrc name=src stream-type=random-access format=bytes ! nddemux ! "
      "fakesink");
  gchar *data;
  gsize length;

  fail_unless (g_file_get_contents (path, &data, &length, NULL));
  *bytes = gst_buffer_new_wrapped (data, length);
  *src = GST_APP_SRC (gst_bin_get_by_name (GST_BIN (pipeline), "src"));
  gst_app_src_set_size (*src, length);
  return pipeline;
}

typedef struct
{
  GstBuffer *bytes;
  guint64 at;
} Bytes;

static void
need_data (GstAppSrc *src, guint length, gpointer data)
{
  Bytes *bytes = data;
  const gsize all = gst_buffer_get_size (bytes->bytes);
  GstBuffer *part;

  if (bytes->at >= all) {
    gst_app_src_end_of_stream (src);
    return;
  }
  part = gst_buffer_copy_region (bytes->bytes, GST_BUFFER_COPY_MEMORY,
      bytes->at, MIN (length, all - bytes->at));
  GST_BUFFER_OFFSET (part) = bytes->at;
  bytes->at += gst_buffer_get_size (part);
  gst_app_src_push_buffer (src, part);
}

static gboolean
seek_data (GstAppSrc *src, guint64 offset, gpointer data)
{
  ((Bytes *) data)->at = offset;
  return TRUE;
}

static gchar *
run_bytes (const gchar *name)
{
  g_autofree gchar *path = file_path (name);
  GstAppSrcCallbacks callbacks = { need_data, NULL, seek_data };
  GstAppSrc *src;
  Bytes bytes = { NULL, 0 };
  GstElement *pipeline = start_bytes (path, &src, &bytes.bytes);
  gchar *error;

  gst_app_src_set_callbacks (src, &callbacks, &bytes, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  error = wait_for_end (pipeline);
  gst_object_unref (src);
  stop (pipeline);
  gst_buffer_unref (bytes.bytes);
  return error;
}

/* Bytes of a program are read, but their header names no files of this machine.
 */
GST_START_TEST (test_bytes_of_a_program)
{
  g_autofree gchar *error = NULL;

  record ("r.nii");
  record ("r.mhd");
  error = run_bytes ("r.nii");
  fail_unless (error == NULL, "%s", error);
  error = run_bytes ("r.mhd");
  fail_unless (error != NULL);
}

GST_END_TEST;

/* Sequence numbers that passed a pad. Atomic. */
typedef struct
{
  gint segment, end;
} Numbers;

static GstPadProbeReturn
take_numbers (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  Numbers *numbers = data;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    g_atomic_int_set (&numbers->segment, gst_event_get_seqnum (event));
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS
      || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT_DONE)
    g_atomic_int_set (&numbers->end, gst_event_get_seqnum (event));
  return GST_PAD_PROBE_OK;
}

/* The end of the stream belongs to its segment, and after a seek to that. */
GST_START_TEST (test_sequence_numbers)
{
  Numbers numbers = { 0, 0 };
  g_autofree gchar *path = NULL;
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) done = NULL;
  GstElement *pipeline;
  GstEvent *seek;
  guint32 seqnum;

  record ("r.nrrd");
  path = file_path ("r.nrrd");
  pipeline = start (GST_STATE_READY,
      "filesrc location=\"%s\" ! nddemux ! fakesink name=sink sync=false",
      path);
  bus = gst_element_get_bus (pipeline);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_pad_add_probe (sink->sinkpads->data, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      take_numbers, &numbers, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  fail_unless (wait_for_end (pipeline) == NULL);
  fail_unless (numbers.segment != 0);
  fail_unless_equals_int (numbers.end, numbers.segment);

  seek = gst_event_new_seek (1, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT, GST_SEEK_TYPE_SET, INTERVAL,
      GST_SEEK_TYPE_NONE, 0);
  seqnum = gst_event_get_seqnum (seek);
  fail_unless (gst_element_send_event (pipeline, seek));
  done = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND,
      GST_MESSAGE_SEGMENT_DONE);
  fail_unless (done != NULL);
  fail_unless_equals_int (gst_message_get_seqnum (done), seqnum);
  /* The event follows the message. */
  for (guint i = 0;
       i < 30000 && g_atomic_int_get (&numbers.end) != (gint) seqnum; i++)
    g_usleep (1000);
  stop (pipeline);
  fail_unless_equals_int (numbers.segment, seqnum);
  fail_unless_equals_int (numbers.end, seqnum);
}

GST_END_TEST;

/* An application ends the stream: that is no error of the recording. */
GST_START_TEST (test_sent_end)
{
  g_autofree gchar *path = NULL, *error = NULL;
  GstElement *pipeline;

  record ("r.nrrd");
  path = file_path ("r.nrrd");
  pipeline = start (GST_STATE_PAUSED,
      "filesrc location=\"%s\" ! nddemux ! fakesink sync=true", path);
  gst_element_get_state (pipeline, NULL, NULL, 300 * GST_SECOND);
  fail_unless (gst_element_send_event (pipeline, gst_event_new_eos ()));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  error = wait_for_end (pipeline);
  fail_unless (error == NULL, "%s", error);
  stop (pipeline);
}

GST_END_TEST;

static Suite *
demux_suite (void)
{
  Suite *suite = suite_create ("nddemux");
  TCase *tc = tcase_create ("recordings");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_test (tc, test_every_format);
  tcase_add_test (tc, test_players_get_pictures);
  tcase_add_test (tc, test_seeks);
  tcase_add_test (tc, test_volume_seeks);
  tcase_add_test (tc, test_compressed);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_bytes_of_a_program);
  tcase_add_test (tc, test_sequence_numbers);
  tcase_add_test (tc, test_sent_end);
  return suite;
}

GST_CHECK_MAIN (demux);
