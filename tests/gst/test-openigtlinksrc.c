/* openigtlinksrc against peers of every kind.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>

#include "live/bytes.h"
#include "tests/gst/igtl.h"

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define NATIVE_GRAY16 "GRAY16_LE"
#else
#define NATIVE_GRAY16 "GRAY16_BE"
#endif

typedef struct
{
  GstElement *pipeline, *src, *sink;
  GSocket *peer;
} Stream;

/* The element listens, and a peer is connected. */
static void
stream_init (Stream *stream, const gchar *properties, const gchar *caps)
{
  stream->pipeline = launch ("openigtlinksrc name=src mode=server port=0 "
                             "host=127.0.0.1 %s ! %s ! appsink name=sink "
                             "sync=false max-buffers=100",
      properties, caps);
  stream->src = gst_bin_get_by_name (GST_BIN (stream->pipeline), "src");
  stream->sink = gst_bin_get_by_name (GST_BIN (stream->pipeline), "sink");
  gst_element_set_state (stream->pipeline, GST_STATE_PLAYING);
  stream->peer = igtl_connect (igtl_port (stream->src));
}

static void
stream_clear (Stream *stream)
{
  gst_object_unref (stream->src);
  gst_object_unref (stream->sink);
  igtl_stop (stream->pipeline);
  g_clear_object (&stream->peer);
}

/* Sample i of the message is i, in the type and byte order of @image. */
static GByteArray *
make_samples (const NdIgtlImage *image)
{
  const gsize size = nd_igtl_scalar_size (image->scalar);
  GByteArray *samples = g_byte_array_new ();
  const gsize n = nd_igtl_image_subvolume_size (image) / size;

  for (gsize i = 0; i < n; i++) {
    guint8 bytes[8] = { 0 };
    const gboolean is_float = image->scalar >= ND_IGTL_FLOAT32;
    const gdouble real = i % 100;
    const gfloat single = real;

    if (is_float && size == 8)
      memcpy (bytes, &real, 8);
    else if (is_float)
      memcpy (bytes, &single, 4);
    else
      bytes[G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0 : size - 1] = i % 100;
    if (image->big_endian == (G_BYTE_ORDER == G_LITTLE_ENDIAN)) {
      for (gsize k = 0; k < size / 2; k++) {
        const guint8 byte = bytes[k];

        bytes[k] = bytes[size - 1 - k];
        bytes[size - 1 - k] = byte;
      }
    }
    g_byte_array_append (samples, bytes, size);
  }
  return samples;
}

static void
send_image (Stream *stream, guint16 version, const NdIgtlImage *image)
{
  g_autoptr (GByteArray) samples = make_samples (image);

  fail_unless (igtl_send_message (stream->peer,
      make_image_message (version, image, samples->data, NULL, 0)));
}

static gdouble
sample_at (const guint8 *data, const gchar *type, gsize i)
{
  if (strcmp (type, "uint8") == 0)
    return data[i];
  if (strcmp (type, "int8") == 0)
    return ((const gint8 *) data)[i];
  if (strcmp (type, "int16") == 0)
    return ((const gint16 *) data)[i];
  if (strcmp (type, "uint16") == 0)
    return ((const guint16 *) data)[i];
  if (strcmp (type, "int32") == 0)
    return ((const gint32 *) data)[i];
  if (strcmp (type, "uint32") == 0)
    return ((const guint32 *) data)[i];
  if (strcmp (type, "float64") == 0)
    return ((const gdouble *) data)[i];
  return ((const gfloat *) data)[i];
}

/* The next volume has these samples and dimensions. */
static void
check_volume (Stream *stream, const gchar *dimensions, gsize n)
{
  g_autoptr (GstSample) sample = igtl_pull (stream->sink);
  const GstStructure *s =
      gst_caps_get_structure (gst_sample_get_caps (sample), 0);
  const gchar *type = gst_structure_get_string (s, "types");
  GstMapInfo map;

  fail_unless_equals_string (gst_structure_get_string (s, "dimensions"),
      dimensions);
  fail_unless (gst_buffer_map (gst_sample_get_buffer (sample), &map,
      GST_MAP_READ));
  for (gsize i = 0; i < n; i++)
    fail_unless_equals_float (sample_at (map.data, type, i), i % 100);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
}

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

static void
send_transform (Stream *stream, const gchar *device, gfloat x)
{
  g_autoptr (GByteArray) content = g_byte_array_new ();

  for (guint i = 0; i < 12; i++)
    nd_put_f32 (content, i == 9 ? x : i % 4 == 0);
  fail_unless (igtl_send_message (stream->peer,
      make_message (1, "TRANSFORM", device, content, NULL, 0, NULL, 0)));
}

/* Metadata, transforms and a matrix that moves, in the file as PLUS has it. */
GST_START_TEST (test_fields)
{
  const NdIgtlField field = { "Depth", "55 mm" };
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
      make_image_message (2, &image, samples->data, &field, 1)));
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
  g_object_unref (stream.peer);
  gst_object_unref (src);
  gst_object_unref (pipeline);
  g_remove (path);
  g_rmdir (folder);
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

/* Everything that can be wrong with a message, and then a good one. */
GST_START_TEST (test_hostile)
{
  const NdIgtlImage good = make_image (4, 4, 4, 1, ND_IGTL_UINT8);
  g_autoptr (GByteArray) samples = make_samples (&good);
  Stream stream;

  stream_init (&stream, "max-message-size=100000", "other/tensors");
  for (guint i = 0; i < 5; i++) {
    GByteArray *message = make_image_message (2, &good, samples->data, NULL, 0);

    if (i < 2) /* a sample */
      message->data[message->len - 10] ^= 1;
    if (i == 2) /* the size of the volume */
      message->data[ND_IGTL_HEADER_SIZE + 12 + 6] = 0xff;
    if (i == 3) /* the extended header */
      message->data[ND_IGTL_HEADER_SIZE] = 0xff;
    if (i == 4) /* the type */
      message->data[ND_IGTL_HEADER_SIZE + 12 + 3] = 9;
    fail_unless (igtl_send_message (stream.peer, message));
  }
  send_image (&stream, 2, &good);
  check_volume (&stream, "1:4:4:4", 64);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "crc-errors"), 2);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "messages-refused"), 3);
  /* Each kind is said once. */
  igtl_wait_words (stream.pipeline, GST_MESSAGE_WARNING, "checksum");
  igtl_wait_words (stream.pipeline, GST_MESSAGE_WARNING, "the limit is");
  fail_unless (!igtl_has_warned (stream.pipeline));

  /* Too large; of a type that is not known; no header at all. */
  {
    const NdIgtlImage large = make_image (200, 200, 4, 1, ND_IGTL_UINT8);

    send_image (&stream, 1, &large);
    fail_unless (igtl_send_message (stream.peer,
        make_message (1, "VIDEO", "x", samples, NULL, 0, NULL, 0)));
    send_image (&stream, 1, &good);
    check_volume (&stream, "1:4:4:4", 64);
    fail_unless_equals_uint64 (igtl_stat (stream.src, "messages-refused"), 4);
    fail_unless_equals_uint64 (igtl_stat (stream.src,
                                   "messages-of-other-types"),
        1);
  }
  {
    guint8 rubbish[200];
    IgtlMessage none = { 0 };

    memset (rubbish, 0xff, sizeof (rubbish));
    igtl_send (stream.peer, rubbish, sizeof (rubbish));
    fail_unless (!igtl_receive (stream.peer, &none));
    igtl_message_clear (&none);
    igtl_wait_words (stream.pipeline, GST_MESSAGE_WARNING, "version 65535");
  }
  /* The next client is served. */
  g_object_unref (stream.peer);
  stream.peer = igtl_connect (igtl_stat (stream.src, "port"));
  send_image (&stream, 1, &good);
  check_volume (&stream, "1:4:4:4", 64);
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

/* One byte at a time, while others send floods, stall and leave in the middle
 * of a volume. */
GST_START_TEST (test_crowd)
{
  const NdIgtlImage image = make_image (16, 16, 16, 1, ND_IGTL_UINT8);
  g_autoptr (GByteArray) samples = make_samples (&image);
  g_autoptr (GByteArray) message =
      make_image_message (1, &image, samples->data, NULL, 0);
  GSocket *peers[40];
  Stream stream;
  guint port;

  stream_init (&stream, "policy=every", "other/tensors");
  port = igtl_stat (stream.src, "port");
  for (guint i = 0; i < G_N_ELEMENTS (peers); i++) {
    peers[i] = igtl_connect (port);
    /* Half a volume, which never ends. */
    fail_unless (igtl_send (peers[i], message->data, 58 + 72 + 100 * i));
  }
  for (guint i = 0; i < 2000; i++)
    send_transform (&stream, "Flood", i);
  for (guint i = 0; i < message->len; i++)
    fail_unless (igtl_send (stream.peer, message->data + i, 1));
  check_volume (&stream, "1:16:16:16", 16 * 16 * 16);
  for (guint i = 0; i < G_N_ELEMENTS (peers) / 2; i++)
    g_object_unref (peers[i]);
  igtl_wait_stat (stream.src, "volumes-incomplete", G_N_ELEMENTS (peers) / 2);
  fail_unless (igtl_send (stream.peer, message->data, message->len));
  check_volume (&stream, "1:16:16:16", 16 * 16 * 16);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "fields-superseded"),
      2 * 1999);
  fail_unless_equals_uint64 (igtl_stat (stream.src, "connections"),
      1 + G_N_ELEMENTS (peers));
  stream_clear (&stream);
  for (guint i = G_N_ELEMENTS (peers) / 2; i < G_N_ELEMENTS (peers); i++)
    g_object_unref (peers[i]);
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

static void
check_answer (Stream *stream, const gchar *query, const gchar *type, gint first)
{
  g_auto (IgtlMessage) message = { 0 };

  fail_unless (igtl_send_message (stream->peer,
      make_message (1, query, "Q", NULL, NULL, 0, NULL, 0)));
  fail_unless (igtl_receive (stream->peer, &message));
  fail_unless_equals_string (message.header.type, type);
  fail_unless_equals_string (message.header.device, "Q");
  if (first < 0) {
    fail_unless_equals_int (message.content->len, 0);
  } else {
    fail_unless_equals_int (message.content->data[0], first);
  }
}

GST_START_TEST (test_queries)
{
  Stream stream;

  stream_init (&stream, "", "other/tensors");
  check_answer (&stream, "GET_CAPABIL", "CAPABILITY", 'I');
  check_answer (&stream, "GET_STATUS", "STATUS", 0);
  check_answer (&stream, "GET_IMAGE", "IMAGE", -1);
  check_answer (&stream, "GET_TRANSFOR", "TRANSFORM", -1);
  check_answer (&stream, "STT_TDATA", "RTS_TDATA", 1);
  check_answer (&stream, "STP_TDATA", "RTS_TDATA", 0);
  stream_clear (&stream);
}
GST_END_TEST;

/* A server that sends images only to those who ask. */
GST_START_TEST (test_asks)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  GstElement *pipeline =
      launch ("openigtlinksrc name=src port=%u device-name=Probe ! appsink "
              "name=sink",
          port);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  const NdIgtlImage image = make_image (4, 4, 4, 1, ND_IGTL_UINT8);
  g_autoptr (GByteArray) types = g_byte_array_new ();
  g_auto (IgtlMessage) message = { 0 };
  Stream stream = { pipeline };

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  stream.peer = g_socket_listener_accept_socket (listener, NULL, NULL, NULL);
  fail_unless (igtl_receive (stream.peer, &message));
  fail_unless_equals_string (message.header.type, "GET_CAPABIL");
  nd_put_text (types, "IMAGE", 12);
  nd_put_text (types, "STT_IMAGE", 12);
  fail_unless (igtl_send_message (stream.peer,
      make_message (1, "CAPABILITY", "", types, NULL, 0, NULL, 0)));
  fail_unless (igtl_receive (stream.peer, &message));
  fail_unless_equals_string (message.header.type, "STT_IMAGE");
  fail_unless_equals_string (message.header.device, "Probe");
  send_image (&stream, 1, &image);
  gst_sample_unref (igtl_pull (sink));
  igtl_stop (pipeline);
  g_object_unref (stream.peer);
}
GST_END_TEST;

/* The server goes, and comes back with volumes of another size. */
GST_START_TEST (test_reconnect)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  GstElement *pipeline =
      launch ("openigtlinksrc name=src reconnect=0 port=%u ! appsink name=sink",
          port);
  Stream stream = { pipeline };

  stream.src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  stream.sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 1; i <= 3; i++) {
    const NdIgtlImage image = make_image (i, 2, 2, 1, ND_IGTL_UINT8);
    g_autofree gchar *dimensions = g_strdup_printf ("1:%u:2:2", i);

    stream.peer = g_socket_listener_accept_socket (listener, NULL, NULL, NULL);
    send_image (&stream, 1, &image);
    check_volume (&stream, dimensions, 4 * i);
    g_clear_object (&stream.peer);
  }
  fail_unless_equals_uint64 (igtl_stat (stream.src, "connections"), 3);
  stream_clear (&stream);
}
GST_END_TEST;

GST_START_TEST (test_end)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  GstElement *pipeline =
      launch ("openigtlinksrc reconnect=-1 port=%u ! fakesink", port);
  g_auto (Outcome) outcome = { 0 };

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_object_unref (g_socket_listener_accept_socket (listener, NULL, NULL, NULL));
  run_pipeline (pipeline, &outcome);
  fail_unless_equals_int (outcome.n_eos, 1);
  fail_unless_equals_int (outcome.n_errors, 0);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  GstElement *pipeline;

  run_refused (launch ("openigtlinksrc mode=server port=%u ! fakesink", port),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "another program may use the port");
  run_refused (launch ("openigtlinksrc host=no.such.host.invalid reconnect=-1 "
                       "! fakesink"),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "is not known");
  run_refused (launch ("openigtlinksrc mode=server host=192.0.2.1 ! fakesink"),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "an address of this computer");
  run_refused (launch ("openigtlinksrc device-name=123456789012345678901 ! "
                       "fakesink"),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "20 bytes");
  pipeline = launch ("openigtlinksrc port=1 ! fakesink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  igtl_wait_words (pipeline, GST_MESSAGE_WARNING, "Cannot connect");
  igtl_stop (pipeline);
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

/* States change while peers are connected, silent, or not there at all. */
GST_START_TEST (test_states)
{
  GstElement *pipeline =
      launch ("openigtlinksrc host=192.0.2.1 port=9 ! fakesink");

  for (guint i = 0; i < 20; i++) {
    const gint64 before = g_get_monotonic_time ();

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    g_usleep (i * 1000);
    gst_element_set_state (pipeline,
        i % 2 ? GST_STATE_PAUSED : GST_STATE_READY);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    fail_unless (g_get_monotonic_time () - before < 5 * G_USEC_PER_SEC);
  }
  gst_object_unref (pipeline);
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
  tcase_add_test (tests, test_fields);
  tcase_add_test (tests, test_device_name);
  tcase_add_test (tests, test_hostile);
  tcase_add_test (tests, test_bad_matrix);
  tcase_add_test (tests, test_crowd);
  tcase_add_test (tests, test_policy);
  tcase_add_test (tests, test_queries);
  tcase_add_test (tests, test_asks);
  tcase_add_test (tests, test_reconnect);
  tcase_add_test (tests, test_end);
  tcase_add_test (tests, test_errors);
  tcase_add_test (tests, test_pinned_memory);
  tcase_add_test (tests, test_refused_format);
  tcase_add_test (tests, test_states);
  return suite;
}

GST_CHECK_MAIN (openigtlinksrc);
