/* openigtlinksrc against peers of every kind: hostile ones, servers that go and
 * come back, and such that are not there.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/fuzz/openigtlink.h"
#include "tests/gst/igtlsrc.h"

static void
claim (Stream *stream, GByteArray *message, GSocket **peers, guint n)
{
  const guint8 zeros[1000] = { 0 };
  const guint64 before = igtl_stat (stream->src, "bytes-received");

  g_byte_array_append (message, zeros, sizeof (zeros));
  for (guint i = 0; i < n; i++) {
    peers[i] = igtl_connect (igtl_stat (stream->src, "port"));
    fail_unless (igtl_send (peers[i], message->data, message->len));
  }
  igtl_wait_stat (stream->src, "bytes-received", before + n * message->len);
}

/* Peers that announce far more than they send: small messages get memory as
 * bytes arrive, and that of volumes is not touched before. */
GST_START_TEST (test_memory_of_claims)
{
  const NdIgtlImage large = make_image (512, 512, 512, 1, ND_IGTL_UINT8);
  const guint n = 20;
  g_autoptr (GByteArray) header = g_byte_array_new ();
  g_autoptr (GByteArray) image = NULL;
  GSocket *peers[20];
  gsize resident;
  Stream stream;

  stream_init (&stream, "", "other/tensors");
  nd_igtl_image_build (&large, header);
  image = make_message (1, "IMAGE", "Probe", header, NULL, 512 * 512 * 512,
      NULL, 0);
  resident = process_kib ("VmRSS:");
  claim (&stream, image, peers, n);
  fail_unless (process_kib ("VmRSS:") <= resident + 64 * 1024);
  stream_clear (&stream);
  for (guint i = 0; i < n; i++)
    g_object_unref (peers[i]);
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
    fail_unless_equals_uint64 (igtl_stat (stream.src, "broken-connections"), 1);
  }
  /* The next client is served. */
  g_object_unref (stream.peer);
  stream.peer = igtl_connect (igtl_stat (stream.src, "port"));
  send_image (&stream, 1, &good);
  check_volume (&stream, "1:4:4:4", 64);
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
  /* The last of them may still wait to be accepted. */
  igtl_wait_stat (stream.src, "connections", 1 + G_N_ELEMENTS (peers));
  fail_unless_equals_uint64 (igtl_stat (stream.src, "connections"),
      1 + G_N_ELEMENTS (peers));
  stream_clear (&stream);
  for (guint i = G_N_ELEMENTS (peers) / 2; i < G_N_ELEMENTS (peers); i++)
    g_object_unref (peers[i]);
}
GST_END_TEST;

/* Streams of all versions with a few wrong bytes each, without checksums. Parts
 * of volumes become volumes here, which the fuzzers of live/ do not do. */
GST_START_TEST (test_mutated)
{
  static const guint8 bytes[] = { 0, 1, 2, 0x7f, 0x80, 0xff };
  const NdIgtlImage image = make_image (5, 3, 2, 1, ND_IGTL_UINT8);
  const guint32 seed = g_random_int ();
  const guint n = 300;
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  gboolean came = FALSE;
  Stream stream;
  guint port;

  g_print ("seed %u\n", seed);
  stream_init (&stream,
      "check-crc=false max-message-size=1000000 device-name=Probe",
      "other/tensors");
  g_object_set (stream.sink, "drop", TRUE, "max-buffers", 1, NULL);
  port = igtl_stat (stream.src, "port");
  g_clear_object (&stream.peer);
  for (guint i = 0; i < n; i++) {
    g_autoptr (GSocket) peer = igtl_connect (port);
    g_autoptr (GByteArray) messages = g_byte_array_new ();

    fuzz_openigtlink_seed (1 + i % 3, messages);
    for (gint k = g_rand_int_range (random, 1, 6); k > 0; k--)
      messages->data[g_rand_int_range (random, 0, messages->len)] =
          bytes[g_rand_int_range (random, 0, sizeof (bytes))];
    /* The element may close the connection before it has read them all. */
    igtl_send (peer, messages->data, messages->len);
  }
  igtl_wait_stat (stream.src, "connections", 1 + n);
  igtl_wait_stat (stream.src, "volumes-received", n / 5);
  igtl_wait_stat (stream.src, "messages-refused", n / 10);
  stream.peer = igtl_connect (port);
  send_image (&stream, 1, &image);
  while (!came) {
    g_autoptr (GstSample) sample = igtl_pull (stream.sink);
    const GstStructure *s =
        gst_caps_get_structure (gst_sample_get_caps (sample), 0);

    came =
        g_strcmp0 (gst_structure_get_string (s, "dimensions"), "1:5:3:2") == 0;
  }
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

/* A server that serves another client, and one that comes back with images of
 * another name. */
GST_START_TEST (test_reconnect_to_other)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  const NdIgtlImage image = make_image (4, 4, 4, 1, ND_IGTL_UINT8);
  GstElement *pipeline =
      launch ("openigtlinksrc name=src reconnect=0 port=%u ! appsink name=sink",
          port);
  Stream stream = { pipeline };

  stream.src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  stream.sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_object_unref (g_socket_listener_accept_socket (listener, NULL, NULL, NULL));
  igtl_wait_words (pipeline, GST_MESSAGE_WARNING, "one client at a time");
  stream.peer = g_socket_listener_accept_socket (listener, NULL, NULL, NULL);
  send_image (&stream, 1, &image);
  gst_sample_unref (igtl_pull (stream.sink));
  g_clear_object (&stream.peer);
  stream.peer = g_socket_listener_accept_socket (listener, NULL, NULL, NULL);
  send_other (&stream, 1, &image);
  igtl_wait_words (pipeline, GST_MESSAGE_WARNING,
      "No IMAGE of device \"Probe\" arrived in 5 s, only those of \"Other\":");
  fail_unless (!igtl_has_warned (pipeline));
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
  pipeline = launch ("openigtlinksrc host=no.such.host.invalid ! fakesink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  igtl_wait_words (pipeline, GST_MESSAGE_WARNING, "is not known");
  igtl_stop (pipeline);
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
    fail_unless (g_get_monotonic_time () - before < 100 * G_USEC_PER_SEC);
  }
  gst_object_unref (pipeline);
}
GST_END_TEST;

static Suite *
openigtlinkpeers_suite (void)
{
  Suite *suite = suite_create ("openigtlinkpeers");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_memory_of_claims);
  tcase_add_test (tests, test_hostile);
  tcase_add_test (tests, test_crowd);
  tcase_add_test (tests, test_mutated);
  tcase_add_test (tests, test_queries);
  tcase_add_test (tests, test_asks);
  tcase_add_test (tests, test_reconnect);
  tcase_add_test (tests, test_reconnect_to_other);
  tcase_add_test (tests, test_end);
  tcase_add_test (tests, test_errors);
  tcase_add_test (tests, test_states);
  return suite;
}

GST_CHECK_MAIN (openigtlinkpeers);
