/* Volumes and frames of openigtlinksrc, and what comes with them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>

#include "tests/gst/igtlsrc.h"

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define NATIVE_GRAY16 "GRAY16_LE"
#else
#define NATIVE_GRAY16 "GRAY16_BE"
#endif

static const NdIgtlScalar scalars[] = { ND_IGTL_INT8, ND_IGTL_UINT8,
  ND_IGTL_INT16, ND_IGTL_UINT16, ND_IGTL_INT32, ND_IGTL_UINT32, ND_IGTL_FLOAT32,
  ND_IGTL_FLOAT64 };

/* Every version, type and byte order; components; sizes that change. */
GST_START_TEST (test_types)
{
  Stream stream;

  stream_init (&stream, "", "other/tensors");
  for (guint version = 1; version <= 3; version++) {
    for (guint i = 0; i < 2 * G_N_ELEMENTS (scalars); i++) {
      NdIgtlImage image =
          make_image (7, 5, 3 + version, 1 + i % 3, scalars[i / 2]);
      g_autofree gchar *dimensions =
          g_strdup_printf ("%u:7:5:%u", 1 + i % 3, 3 + version);

      image.big_endian = i % 2;
      send_image (&stream, version, &image);
      check_volume (&stream, dimensions, 7 * 5 * (3 + version) * (1 + i % 3));
    }
  }
  fail_unless_equals_uint64 (igtl_stat (stream.src, "messages-refused"), 0);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "volumes-received"),
      3 * 16);
  stream_clear (&stream);
}
GST_END_TEST;

GST_START_TEST (test_video)
{
  static const struct
  {
    NdIgtlScalar scalar;
    guint components;
    const gchar *format;
  } formats[] = { { ND_IGTL_UINT8, 1, "GRAY8" },
    { ND_IGTL_UINT16, 1, NATIVE_GRAY16 }, { ND_IGTL_UINT8, 3, "RGB" },
    { ND_IGTL_UINT8, 4, "RGBA" } };
  Stream stream;

  stream_init (&stream, "", "videoconvert ! video/x-raw,format=RGBA");
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    /* 33 is no multiple of 4: rows of video are padded. */
    const NdIgtlImage image =
        make_image (33, 6, 1, formats[i].components, formats[i].scalar);
    g_autoptr (GstSample) sample = NULL;
    g_autoptr (GstPad) pad = gst_element_get_static_pad (stream.src, "src");
    g_autoptr (GstCaps) caps = NULL;
    GstMapInfo map;

    send_image (&stream, 1, &image);
    sample = igtl_pull (stream.sink);
    caps = gst_pad_get_current_caps (pad);
    fail_unless_equals_string (
        gst_structure_get_string (gst_caps_get_structure (caps, 0), "format"),
        formats[i].format);
    fail_unless (gst_buffer_map (gst_sample_get_buffer (sample), &map,
        GST_MAP_READ));
    fail_unless_equals_int (map.size, 33 * 6 * 4);
    if (formats[i].components >= 3) {
      for (guint k = 0; k < 33 * 6; k++) {
        fail_unless_equals_int (map.data[4 * k],
            k * formats[i].components % 100);
      }
    }
    gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  }
  stream_clear (&stream);
}
GST_END_TEST;

/* Parts in any order, and a volume whose parts never come. */
GST_START_TEST (test_parts)
{
  static const gsize order[] = { 0, 2, 3, 1 };
  NdIgtlImage image = make_image (6, 5, 8, 1, ND_IGTL_INT32);
  Stream stream;

  stream_init (&stream, "", "other/tensors");
  image.subvolume[2] = 2;
  send_image (&stream, 1, &image);
  for (guint i = 0; i < 4; i++) {
    g_autoptr (GByteArray) all = NULL;
    NdIgtlImage whole = image;

    whole.subvolume[2] = 8;
    all = make_samples (&whole);
    image.offset[2] = 2 * order[i];
    fail_unless (igtl_send_message (stream.peer,
        make_image_message (1, &image, all->data + order[i] * 2 * 6 * 5 * 4,
            NULL, 0)));
  }
  check_volume (&stream, "1:6:5:8", 6 * 5 * 8);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "volumes-incomplete"), 1);
  stream_clear (&stream);
}
GST_END_TEST;

/* A volume in parts counts if its connection ends in its first one. */
GST_START_TEST (test_first_part_cut)
{
  NdIgtlImage image = make_image (6, 5, 8, 1, ND_IGTL_INT32);
  g_autoptr (GByteArray) samples = NULL, message = NULL;
  Stream stream;

  stream_init (&stream, "", "other/tensors");
  image.subvolume[2] = 2;
  samples = make_samples (&image);
  message = make_image_message (1, &image, samples->data, NULL, 0);
  fail_unless (igtl_send (stream.peer, message->data, message->len - 1));
  g_clear_object (&stream.peer);
  igtl_wait_stat (stream.src, "volumes-incomplete", 1);
  stream_clear (&stream);
}
GST_END_TEST;

/* A volume and its part together do not exceed the limit. */
GST_START_TEST (test_memory_of_parts)
{
  NdIgtlImage image = make_image (32, 32, 4, 1, ND_IGTL_UINT8);
  Stream stream;

  stream_init (&stream, "max-message-size=6000", "other/tensors");
  image.subvolume[2] = 3;
  send_image (&stream, 1, &image);
  igtl_wait_stat (stream.src, "messages-refused", 1);
  igtl_wait_words (stream.pipeline, GST_MESSAGE_WARNING, "needs 7168 bytes");
  image.subvolume[2] = 1;
  for (image.offset[2] = 0; image.offset[2] < 4; image.offset[2]++)
    send_image (&stream, 1, &image);
  gst_sample_unref (igtl_pull (stream.sink));
  fail_unless_equals_uint64 (igtl_stat (stream.src, "messages-refused"), 1);
  stream_clear (&stream);
}
GST_END_TEST;

/* Metadata, transforms and a matrix that moves, in the file as PLUS has it. */
GST_START_TEST (test_fields)
{
  /* The time of a volume in a recording has the second key, too. */
  const NdIgtlField fields[] = { { "Depth", "55 mm" }, { "Timestamp", "7" } };
  g_autofree gchar *folder = g_dir_make_tmp ("igtl-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "a.igs.mha", NULL);
  g_autofree gchar *text = NULL;
  NdIgtlImage image = make_image (4, 4, 4, 1, ND_IGTL_UINT8);
  g_autoptr (GByteArray) samples = make_samples (&image);
  g_auto (Outcome) outcome = { 0 };
  GstElement *pipeline = launch ("openigtlinksrc name=src mode=server port=0 "
                                 "host=127.0.0.1 policy=every num-buffers=3 ! "
                                 "ndconv3d filter=box,size=3 ! "
                                 "ndfilesink location=%s",
      path);
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  Stream stream = { pipeline, src };

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  stream.peer = igtl_connect (igtl_port (src));
  send_transform (&stream, "ProbeToTracker", 1);
  send_image (&stream, 1, &image);
  send_transform (&stream, "ProbeToTracker", 2);
  send_transform (&stream, "ProbeToTracker", 3);
  image.matrix[9] = 100;
  fail_unless (igtl_send_message (stream.peer,
      make_image_message (2, &image, samples->data, fields, 2)));
  send_image (&stream, 1, &image);
  run_pipeline (pipeline, &outcome);
  fail_unless_equals_int (outcome.n_eos, 1);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  fail_unless (strstr (text,
      "Seq_Frame0000_ProbeToTrackerTransform = "
      "1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1\n"));
  fail_unless (strstr (text,
      "Seq_Frame0000_ProbeToTrackerTransformStatus = OK\n"));
  fail_unless (strstr (text,
      "Seq_Frame0001_ProbeToTrackerTransform = "
      "1 0 0 3 0 1 0 0 0 0 1 0 0 0 0 1\n"));
  fail_unless (strstr (text, "Seq_Frame0001_Depth = 55 mm\n"));
  fail_unless (strstr (text,
      "Seq_Frame0001_VolumeToRasTransform = "
      "1 0 0 98.5 0 1 0 -1.5 0 0 1 -1.5 0 0 0 1\n"));
  fail_unless (!strstr (text, "Seq_Frame0000_VolumeToRasTransform"));
  fail_unless (!strstr (text, "Seq_Frame0002_ProbeToTracker"));
  fail_unless (strstr (text, "Seq_Frame0000_Timestamp = 1234567890.12345"));
  fail_unless (strstr (text, "Seq_Frame0001_Timestamp = 1234567890."));
  fail_unless (!strstr (text, "Timestamp = 7"));
  g_object_unref (stream.peer);
  gst_object_unref (src);
  gst_object_unref (pipeline);
  g_remove (path);
  g_rmdir (folder);
}
GST_END_TEST;

/* Devices that take turns, with headers of all versions: the first one is
 * received, whatever the other one sends. */
GST_START_TEST (test_two_devices)
{
  Stream stream;

  stream_init (&stream, "policy=every", "other/tensors");
  for (guint i = 0; i < 30; i++) {
    NdIgtlImage image = make_image (3 + i % 4, 5, 1 + i % 2, 1,
        scalars[i % G_N_ELEMENTS (scalars)]);

    send_image (&stream, 1 + i % 3, &image);
    image.size[0] = image.subvolume[0] = 9;
    send_other (&stream, 3 - i % 3, &image);
  }
  for (guint i = 0; i < 30; i++) {
    g_autofree gchar *dimensions = i % 2
        ? g_strdup_printf ("1:%u:5:2", 3 + i % 4)
        : g_strdup_printf ("1:%u:5", 3 + i % 4);

    check_volume (&stream, dimensions, (3 + i % 4) * 5 * (1 + i % 2));
  }
  igtl_wait_stat (stream.src, "volumes-of-other-devices", 30);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "volumes-received"), 30);
  stream_clear (&stream);
}
GST_END_TEST;

/* The message after 5 s says that the device is there if only its volumes are
 * not whole. */
GST_START_TEST (test_never_whole)
{
  const NdIgtlImage image = make_image (4, 4, 4, 1, ND_IGTL_UINT8);
  g_autoptr (GByteArray) samples = make_samples (&image);
  GByteArray *message = make_image_message (1, &image, samples->data, NULL, 0);
  Stream stream;

  stream_init (&stream, "", "other/tensors");
  message->data[message->len - 1] ^= 1;
  fail_unless (igtl_send_message (stream.peer, message));
  igtl_wait_words (stream.pipeline, GST_MESSAGE_WARNING,
      "No whole volume of device \"Probe\" arrived in 5 s");
  stream_clear (&stream);
}
GST_END_TEST;

/* Only the chosen device, and the names of others if it never comes. */
GST_START_TEST (test_device_name)
{
  const NdIgtlImage image = make_image (4, 4, 4, 1, ND_IGTL_UINT8);
  Stream stream;

  stream_init (&stream, "device-name=Other", "other/tensors");
  send_image (&stream, 1, &image);
  igtl_wait_stat (stream.src, "volumes-of-other-devices", 1);
  igtl_wait_words (stream.pipeline, GST_MESSAGE_WARNING,
      "only those of \"Probe\"");
  stream_clear (&stream);
}
GST_END_TEST;

/* NaN in the matrix: the volume comes without geometry. */
GST_START_TEST (test_bad_matrix)
{
  NdIgtlImage image = make_image (4, 4, 4, 1, ND_IGTL_UINT8);
  g_autoptr (GstSample) sample = NULL;
  Stream stream;

  stream_init (&stream, "", "other/tensors");
  image.matrix[4] = NAN;
  send_image (&stream, 1, &image);
  sample = igtl_pull (stream.sink);
  fail_unless (!gst_structure_has_field (
      gst_caps_get_structure (gst_sample_get_caps (sample), 0), "spacing"));
  fail_unless_equals_uint64 (igtl_stat (stream.src, "bad-matrices"), 1);
  igtl_wait_words (stream.pipeline, GST_MESSAGE_WARNING, "finite");
  stream_clear (&stream);
}
GST_END_TEST;

/* Downstream stands still: the newest volume waits, or the peer does. */
GST_START_TEST (test_policy)
{
  const NdIgtlImage image = make_image (64, 64, 64, 1, ND_IGTL_UINT8);
  const guint n = 100;
  g_autofree guint8 *samples =
      g_malloc0 (nd_igtl_image_subvolume_size (&image));
  g_autoptr (GByteArray) message =
      make_image_message (1, &image, samples, NULL, 0);
  Stream stream;

  stream_init (&stream, "", "other/tensors");
  g_object_set (stream.sink, "max-buffers", 1, NULL);
  /* One is in the sink, one waits at its door. */
  for (guint i = 0; i < n; i++) {
    fail_unless (igtl_send (stream.peer, message->data, message->len));
    if (i < 2)
      igtl_wait_stat (stream.src, "volumes-delivered", i + 1);
  }
  igtl_wait_stat (stream.src, "volumes-received", n);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "volumes-queued"), 1);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "volumes-dropped"), n - 3);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "volumes-delivered"), 2);
  stream_clear (&stream);

  stream_init (&stream, "policy=every", "identity name=stop sleep-time=1000");
  for (guint i = 0; i < n; i++)
    fail_unless (igtl_send (stream.peer, message->data, message->len));
  for (guint i = 0; i < n; i++)
    gst_sample_unref (igtl_pull (stream.sink));
  fail_unless_equals_uint64 (igtl_stat (stream.src, "volumes-dropped"), 0);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "volumes-delivered"), n);
  stream_clear (&stream);
}
GST_END_TEST;

static GstPadProbeReturn
note_memory (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstMemory *memory =
      gst_buffer_peek_memory (GST_PAD_PROBE_INFO_BUFFER (info), 0);
  gint *pinned = user_data;

  if (gst_memory_is_type (memory, "NdMemory"))
    g_atomic_int_inc (pinned);
  return GST_PAD_PROBE_OK;
}

/* If a device filters, the socket is read into memory that the device reads by
 * itself. Only the first volume arrives before downstream is known. */
GST_START_TEST (test_pinned_memory)
{
  const NdIgtlImage image = make_image (16, 8, 4, 1, ND_IGTL_UINT8);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstPad) pad = NULL;
  const gchar *module = g_getenv ("NDCONV_CUDA_MODULE");
  const guint n = 5;
  gint pinned = 0;
  Stream stream;

  if (!module || strcmp (module, "none") == 0)
    return;
  stream_init (&stream, "policy=every",
      "ndconv3d backend=cuda filter=box,size=1");
  pad = gst_element_get_static_pad (stream.src, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_memory, &pinned,
      NULL);
  for (guint i = 0; i < n; i++) {
    send_image (&stream, 1, &image);
    check_volume (&stream, "1:16:8:4", 16 * 8 * 4);
  }
  fail_unless_equals_int (g_atomic_int_get (&pinned), n - 1);
  stream_clear (&stream);
}
GST_END_TEST;

/* An image that downstream does not take. */
GST_START_TEST (test_refused_format)
{
  const NdIgtlImage image = make_image (4, 4, 4, 1, ND_IGTL_FLOAT32);
  Stream stream;

  stream_init (&stream, "", "other/tensors,types=uint8");
  send_image (&stream, 1, &image);
  igtl_wait_words (stream.pipeline, GST_MESSAGE_ERROR,
      "which downstream does not accept");
  stream_clear (&stream);
}
GST_END_TEST;

static Suite *
openigtlinksrc_suite (void)
{
  Suite *suite = suite_create ("openigtlinksrc");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_types);
  tcase_add_test (tests, test_video);
  tcase_add_test (tests, test_parts);
  tcase_add_test (tests, test_first_part_cut);
  tcase_add_test (tests, test_memory_of_parts);
  tcase_add_test (tests, test_fields);
  tcase_add_test (tests, test_two_devices);
  tcase_add_test (tests, test_never_whole);
  tcase_add_test (tests, test_device_name);
  tcase_add_test (tests, test_bad_matrix);
  tcase_add_test (tests, test_policy);
  tcase_add_test (tests, test_pinned_memory);
  tcase_add_test (tests, test_refused_format);
  return suite;
}

GST_CHECK_MAIN (openigtlinksrc);
