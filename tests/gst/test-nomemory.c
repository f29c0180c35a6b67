/* The n-th large allocation fails, for each n, while elements take recordings,
 * messages and buffers whose sizes a stranger decides. That ends with an error
 * or with the same volumes, and never ends the process.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "live/message.h"
#include "tests/fuzz/memory.h"
#include "tests/gst/igtl.h"
#include "tests/gst/run.h"

/* GLib and GStreamer have no strings and arrays of this size unless a stranger
 * makes them so large: filesrc is asked for half of it. */
#define LARGE (8 * ND_IGTL_SMALL_MAX)

/* Bytes of a text in a file, and of a volume. */
#define TEXT (LARGE + 1)
#define VOLUME (128 * 128 * 64)
#define VOLUMES 3

/* A recording with a long text for itself and for a volume. */
static gchar *
write_recording (void)
{
  gchar *path = file_path ("in.seq.nrrd");
  g_autofree gchar *text = g_strnfill (TEXT, 'y');
  g_autoptr (GString) file = g_string_new ("NRRD0005\n"
                                           "type: uint8\n"
                                           "dimension: 4\n"
                                           "sizes: 128 128 64 3\n"
                                           "encoding: raw\n");

  g_string_append_printf (file,
      "Long:=%s\nSeq_Frame0000_NoteStatus:=1 0 Note %s\n\n", text, text);
  for (guint i = 0; i < VOLUMES * VOLUME; i++)
    g_string_append_c (file, i * i >> 5);
  fail_unless (g_file_set_contents (path, file->str, file->len, NULL));
  return path;
}

/* Runs it with each allocation of @least bytes failing. */
static void
check_pipeline (const gchar *format, const gchar *path, gsize least)
{
  guint errors = 0;

  for (guint n = 1;; n++) {
    g_auto (Outcome) outcome = { 0 };
    GstElement *pipeline = launch (format, path, folder);
    gboolean failed;

    memory_fail (n, least);
    run_pipeline (pipeline, &outcome);
    failed = memory_has_failed ();
    memory_fail (0, 0);
    gst_object_unref (pipeline);
    fail_unless ((outcome.n_errors > 0) != (outcome.n_eos > 0));
    errors += outcome.n_errors > 0;
    if (!failed) {
      fail_unless (outcome.n_errors == 0, "%s",
          outcome.error ? outcome.error->message : "");
      break;
    }
  }
  g_print ("%s: %u errors\n", format, errors);
  fail_unless (errors > 0);
}

GST_START_TEST (test_files)
{
  static const gchar *const pipelines[] = {
    "ndfilesrc location=%s ! fakesink",
    "filesrc location=%s ! nddemux ! fakesink",
    "ndfilesrc location=%s ! ndfilesink location=%s/out.seq.nrrd",
    "ndfilesrc location=%s ! ndfilesink location=%s/out.nii",
    "ndfilesrc location=%s ! ndfilesink location=%s/out.igs.mha",
    "ndfilesrc location=%s ! openigtlinksink port=0 version=3 host=127.0.0.1",
    "ndfilesrc location=%s ! openigtlinksink port=0 version=1 host=127.0.0.1",
  };
  g_autofree gchar *path = write_recording ();

  for (guint i = 0; i < G_N_ELEMENTS (pipelines); i++)
    check_pipeline (pipelines[i], path, LARGE);
}
GST_END_TEST;

/* Elements whose memory depends on the caps, with long rows. */
#define ROWS 32768
#define ROW_BYTES (ROWS * sizeof (gfloat))

static gchar *
write_rows (void)
{
  gchar *path = file_path ("rows.npy");
  g_autoptr (GString) file = g_string_new (NULL);
  g_autofree gchar *header = g_strdup_printf (
      "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 1, 4, %u), }",
      ROWS);

  g_string_append_len (file, "\x93NUMPY\1\0\166\0", 10);
  g_string_append_printf (file, "%-117s\n", header);
  for (guint i = 0; i < 3 * 4 * ROWS; i++)
    g_string_append_c (file, i * i >> 5);
  fail_unless (g_file_set_contents (path, file->str, file->len, NULL));
  return path;
}

GST_START_TEST (test_elements)
{
  static const gchar *const elements[] = {
    "nddenoise sigma=4",
    "nddenoise method=adaptive latency=0",
    "nddenoise noise=correlated latency=0",
    "nddenoise sigma-map=auto latency=0",
    "nddenoise noise=speckle latency=0",
    "ndrank footprint=3:3:1:1 operation=tophat",
    "ndregister iterations=1 method=intensity",
    "ndbmode center-frequency=1 sampling-frequency=8 decimation=2",
    "ndscanconvert geometry=linear size=300:300",
    "ndconv3d filter=\"monomial-bank,size=3,order=2.0\" response=tensor "
    "backend=cpu ! ndstructure",
    "ndconv4dtemporal filter=box,size=3:3:1:3",
    "ndstack slices=3 ! ndconv3d filter=box,size=3",
    "ndview mode=slice ! ndconv2d filter=box,size=3",
  };
  const gchar *element = elements[__i__];
  g_autofree gchar *path = write_rows ();
  g_autofree gchar *format =
      g_strdup_printf ("ndfilesrc location=%%s ! %s backend=cpu ! fakesink",
          element);

  check_pipeline (format, path, ROW_BYTES);
}
GST_END_TEST;

/* To transform caps takes no memory of the size that they say. */
GST_START_TEST (test_caps)
{
  static const gchar *const elements[] = { "nddenoise", "ndrank", "ndregister",
    "ndbmode", "ndscanconvert", "ndstructure", "ndconv3d" };
  g_autoptr (GstElement) element =
      gst_element_factory_make (elements[__i__], NULL);
  g_autoptr (GstCaps) in = gst_caps_from_string (
      "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=1:1073741824:4:1,framerate=10/1,"
      "beams=(string)\"geometry=linear,depth=60\"");
  g_autoptr (GstCaps) out = NULL;

  memory_fail (1, LARGE);
  out = GST_BASE_TRANSFORM_GET_CLASS (element)
            ->transform_caps (GST_BASE_TRANSFORM (element), GST_PAD_SINK, in,
                NULL);
  fail_unless (!memory_has_failed ());
  memory_fail (0, 0);
}
GST_END_TEST;

/* A text longer than ND_IGTL_SMALL_MAX is not sent, and counted. */
GST_START_TEST (test_unsent)
{
  g_autofree gchar *path = write_recording ();
  GstElement *pipeline = launch ("ndfilesrc location=%s ! openigtlinksink "
                                 "name=out port=0 version=3 host=127.0.0.1",
      path);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_auto (Outcome) outcome = { 0 };
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  fail_unless_equals_uint64 (igtl_stat (sink, "fields-unsent"), 1);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* Pushes a buffer into a sink with this description. TRUE if it took it. */
static gboolean
push (const gchar *launch, const gchar *caps, gsize size, gboolean pooled)
{
  GstElement *sink = gst_parse_launch (launch, NULL);
  GstPad *pad = gst_pad_new ("src", GST_PAD_SRC);
  g_autoptr (GstPad) to = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
  g_autoptr (GstBufferPool) pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstSegment segment;
  GstBuffer *buffer = NULL;
  GstFlowReturn ret;

  g_object_set (sink, "sync", FALSE, "async", FALSE, NULL);
  gst_buffer_pool_config_set_params (config, parsed, size, 2, 2);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  gst_buffer_pool_acquire_buffer (pool, &buffer, NULL);
  if (!pooled) {
    gst_buffer_unref (buffer);
    buffer = gst_buffer_new_allocate (NULL, size, NULL);
  }
  gst_buffer_memset (buffer, 0, 1, size);
  gst_pad_set_active (pad, TRUE);
  gst_pad_link (pad, to);
  gst_element_set_state (sink, GST_STATE_PLAYING);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("test"));
  gst_pad_push_event (pad, gst_event_new_caps (parsed));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  memory_fail (1, LARGE);
  ret = gst_pad_push (pad, buffer);
  fail_unless (memory_has_failed () == (ret == GST_FLOW_ERROR));
  memory_fail (0, 0);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_pad_set_active (pad, FALSE);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_buffer_pool_set_active (pool, FALSE);
  return ret == GST_FLOW_OK;
}

/* Frames whose rows are padded, and buffers of a small pool, are copied. */
GST_START_TEST (test_copies)
{
  const gchar *volume = "other/tensors,format=static,num_tensors=1,types=uint8,"
                        "dimensions=1:128:128:64,framerate=0/1";
  const gchar *frame =
      "video/x-raw,format=RGB,width=999,height=999,framerate=0/1";

  const gchar *network = "openigtlinksink port=0 host=127.0.0.1";
  g_autofree gchar *file =
      g_strdup_printf ("ndfilesink location=%s/out.mha", folder);

  fail_unless (push (network, volume, VOLUME, FALSE));
  fail_unless (!push (network, volume, VOLUME, TRUE));
  fail_unless (!push (network, frame, 3000 * 999, FALSE));
  fail_unless (!push (file, frame, 3000 * 999, FALSE));
}
GST_END_TEST;

/* Old memory is no padding of rows. */
GST_START_TEST (test_padding)
{
  const NdIgtlImage image = make_image (33, 7, 1, 1, ND_IGTL_UINT8);
  const guint8 samples[33 * 7] = { 0 };
  GstElement *pipeline = launch ("openigtlinksrc name=in mode=server port=0 "
                                 "host=127.0.0.1 ! video/x-raw,format=GRAY8 "
                                 "! appsink name=out sync=false");
  g_autoptr (GstElement) src = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_autoptr (GByteArray) message =
      make_image_message (1, &image, samples, NULL, 0);
  g_autoptr (GSocket) peer = NULL;
  g_autoptr (GstSample) sample = NULL;
  GstMapInfo map;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  peer = igtl_connect (igtl_port (src));
  memory_fill (0xa5);
  igtl_send (peer, message->data, message->len);
  sample = igtl_pull (sink);
  fail_unless (gst_buffer_map (gst_sample_get_buffer (sample), &map,
      GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, 36 * 7);
  for (gsize i = 0; i < map.size; i++)
    fail_unless_equals_int (map.data[i], 0);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  memory_fill (0);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
GST_END_TEST;

static Suite *
nomemory_suite (void)
{
  Suite *s = suite_create ("nomemory");
  TCase *tests = tcase_create ("tests");

  tcase_add_checked_fixture (tests, make_folder, remove_folder);
  suite_add_tcase (s, tests);
  tcase_add_test (tests, test_files);
  tcase_add_loop_test (tests, test_elements, 0, 13);
  tcase_add_loop_test (tests, test_caps, 0, 7);
  tcase_add_test (tests, test_unsent);
  tcase_add_test (tests, test_copies);
  tcase_add_test (tests, test_padding);
  return s;
}

GST_CHECK_MAIN (nomemory);
