/* openigtlinksink against peers of every kind, and against openigtlinksrc.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>
#include <sys/ioctl.h>

#include "live/bytes.h"
#include "tests/gst/igtl.h"

/* A pipeline whose sink is named `out`, playing; and its port. */
static GstElement *
play (const gchar *text, GstElement **sink, guint *port)
{
  GstElement *pipeline = launch ("%s", text);

  *sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  *port = igtl_port (*sink);
  return pipeline;
}

#define OUT " ! openigtlinksink name=out port=0 host=127.0.0.1 "
#define RAMP "ndtestsrc pattern=ramp is-live=true framerate=50/1 "

static void
check_image (GSocket *peer, guint version, const gchar *device)
{
  g_auto (IgtlMessage) message = { 0 };

  fail_unless (igtl_receive (peer, &message));
  fail_unless_equals_string (message.header.type, "IMAGE");
  fail_unless_equals_string (message.header.device, device);
  fail_unless_equals_int (message.header.version, version);
  fail_unless_equals_int (message.image.size[0], 5);
  fail_unless_equals_int (message.image.size[1], 4);
  fail_unless_equals_int (message.image.size[2], 3);
  fail_unless_equals_int (message.image.scalar, ND_IGTL_UINT8);
  for (guint x = 0; x < 5; x++)
    fail_unless_equals_int (message.content->data[x],
        message.content->data[0] + x);
  /* Within a minute of now. */
  fail_unless (fabs (nd_igtl_time_to_ns (message.header.timestamp) / 1e9
                   - g_get_real_time () / 1e6)
      < 60);
}

GST_START_TEST (test_versions)
{
  for (guint version = 1; version <= 3; version++) {
    g_autofree gchar *text = g_strdup_printf (RAMP
        "volume-size=5:4:3" OUT "version=%u device-name=Heart",
        version);
    g_autoptr (GstElement) sink = NULL;
    g_autoptr (GSocket) peer = NULL;
    guint port;
    GstElement *pipeline = play (text, &sink, &port);

    peer = igtl_connect (port);
    for (guint i = 0; i < 3; i++)
      check_image (peer, version, "Heart");
    igtl_stop (pipeline);
  }
}
GST_END_TEST;

/* The centre of the volume, from origin and spacing of the caps. */
GST_START_TEST (test_geometry)
{
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  g_auto (IgtlMessage) message = { 0 };
  gdouble spacing[3], origin[3], directions[9];
  guint port;
  GstElement *pipeline = play (RAMP
      "volume-size=5:4:3 ! other/tensors,spacing=(string)0.5:2:4,"
      "origin=(string)10:20:30,directions=(string)0:1:0:1:0:0:0:0:-1" OUT,
      &sink, &port);

  peer = igtl_connect (port);
  fail_unless (igtl_receive (peer, &message));
  fail_unless_equals_int (message.image.coordinates, ND_IGTL_RAS);
  fail_unless_equals_float (message.image.matrix[9], 10 + 2 * 1.5);
  fail_unless_equals_float (message.image.matrix[10], 20 + 0.5 * 2);
  fail_unless_equals_float (message.image.matrix[11], 30 - 4 * 1);
  fail_unless (nd_igtl_image_get_geometry (&message.image, spacing, origin,
      directions));
  fail_unless_equals_float (spacing[0], 0.5);
  fail_unless_equals_float (origin[2], 30);
  fail_unless_equals_float (directions[1], 1);
  igtl_stop (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_video)
{
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  g_auto (IgtlMessage) message = { 0 };
  guint port;
  GstElement *pipeline = play ("videotestsrc pattern=white is-live=true ! "
                               "video/x-raw,format=RGB,width=33,height=7" OUT,
      &sink, &port);

  peer = igtl_connect (port);
  fail_unless (igtl_receive (peer, &message));
  fail_unless_equals_int (message.image.components, 3);
  fail_unless_equals_int (message.image.size[0], 33);
  fail_unless_equals_int (message.image.size[2], 1);
  for (guint i = 0; i < message.content->len; i++)
    fail_unless_equals_int (message.content->data[i], 255);
  igtl_stop (pipeline);
}
GST_END_TEST;

static void
ask (GSocket *peer, const gchar *query, const gchar *device)
{
  fail_unless (igtl_send_message (peer,
      make_message (1, query, device, NULL, NULL, 0, NULL, 0)));
}

/* The next message that is no IMAGE, or the next with @images. */
static void
next (GSocket *peer, IgtlMessage *message, gboolean images)
{
  do {
    fail_unless (igtl_receive (peer, message));
  } while (!images && strcmp (message->header.type, "IMAGE") == 0
      && message->content->len > 0);
}

GST_START_TEST (test_queries)
{
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  g_auto (IgtlMessage) message = { 0 };
  guint port;
  GstElement *pipeline =
      play (RAMP "volume-size=5:4:3" OUT "device-name=Heart", &sink, &port);

  peer = igtl_connect (port);
  check_image (peer, 1, "Heart");
  ask (peer, "GET_CAPABIL", "x");
  next (peer, &message, FALSE);
  fail_unless_equals_string (message.header.type, "CAPABILITY");
  fail_unless_equals_int (message.content->len % 12, 0);
  ask (peer, "STP_IMAGE", "Heart");
  next (peer, &message, FALSE);
  fail_unless_equals_string (message.header.type, "RTS_IMAGE");
  fail_unless_equals_int (message.content->data[0], 0);
  ask (peer, "GET_IMAGE", "Other");
  next (peer, &message, TRUE);
  fail_unless_equals_string (message.header.device, "Other");
  fail_unless_equals_int (message.content->len, 0);
  ask (peer, "GET_IMAGE", "Heart");
  next (peer, &message, TRUE);
  fail_unless_equals_string (message.header.device, "Heart");
  fail_unless_equals_int (message.content->len, 60);
  ask (peer, "GET_TDATA", "x");
  next (peer, &message, TRUE);
  fail_unless_equals_string (message.header.type, "TDATA");
  fail_unless_equals_int (message.content->len, 0);
  ask (peer, "STT_TDATA", "x");
  next (peer, &message, TRUE);
  fail_unless_equals_string (message.header.type, "RTS_TDATA");
  fail_unless_equals_int (message.content->data[0], 1);
  ask (peer, "STT_IMAGE", "");
  next (peer, &message, TRUE);
  fail_unless_equals_string (message.header.type, "RTS_IMAGE");
  check_image (peer, 1, "Heart");
  igtl_stop (pipeline);
}
GST_END_TEST;

/* Peers whose bytes are not OpenIGTLink, and messages that are not valid, are
 * counted and said once of each kind. Another client is served. */
GST_START_TEST (test_hostile)
{
  static const gchar rubbish[] = "GET / HTTP/1.1\r\nHost: localhost\r\n"
                                 "Accept: text/html, text/plain, image/png\r\n";
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GSocket) good = NULL;
  guint port;
  GstElement *pipeline =
      play (RAMP "volume-size=5:4:3" OUT "device-name=Heart", &sink, &port);

  good = igtl_connect (port);
  for (guint i = 1; i <= 2; i++) {
    g_autoptr (GSocket) web = igtl_connect (port), peer = igtl_connect (port);
    g_autoptr (GByteArray) content = g_byte_array_new ();
    GByteArray *message;

    fail_unless (igtl_send (web, (const guint8 *) rubbish, sizeof (rubbish)));
    igtl_wait_stat (sink, "broken-connections", i);
    nd_put_u32 (content, 0);
    message = make_message (1, "GET_IMAGE", "", content, NULL, 0, NULL, 0);
    message->data[message->len - 1] ^= 1;
    fail_unless (igtl_send_message (peer, message));
    igtl_wait_stat (sink, "messages-refused", i);
  }
  igtl_wait_words (pipeline, GST_MESSAGE_WARNING, "must speak OpenIGTLink");
  igtl_wait_words (pipeline, GST_MESSAGE_WARNING, "checksum");
  fail_unless (!igtl_has_warned (pipeline));
  for (guint i = 0; i < 3; i++)
    check_image (good, 1, "Heart");
  igtl_stop (pipeline);
}
GST_END_TEST;

/* A client that sends volumes, as 3D Slicer may through the same connection, is
 * served, and they need no memory. */
GST_START_TEST (test_client_sends)
{
  const NdIgtlImage image = make_image (300, 300, 300, 1, ND_IGTL_UINT8);
  const gsize size = nd_igtl_image_subvolume_size (&image);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  g_autofree guint8 *samples = g_malloc0 (size);
  g_auto (IgtlMessage) message = { 0 };
  guint port;
  GstElement *pipeline =
      play (RAMP "volume-size=5:4:3" OUT "device-name=Heart", &sink, &port);

  peer = igtl_connect (port);
  ask (peer, "STP_IMAGE", "Heart");
  fail_unless (igtl_send_message (peer,
      make_image_message (1, &image, samples, NULL, 0)));
  ask (peer, "GET_STATUS", "x");
  do {
    next (peer, &message, FALSE);
  } while (strcmp (message.header.type, "STATUS") != 0);
  fail_unless (igtl_stat (sink, "bytes-received") > size);
  fail_unless_equals_uint64 (igtl_stat (sink, "messages-refused"), 0);
  igtl_stop (pipeline);
}
GST_END_TEST;

/* The next volume, whose first sample says which one it is. */
static void
push_volume (GstElement *in, gsize size, guint i)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, i % 256, size);
  fail_unless (gst_app_src_push_buffer (GST_APP_SRC (in), buffer)
      == GST_FLOW_OK);
}

/* One client never reads, one asks and never reads, one leaves in the middle;
 * the last gets every volume. It has each one before the next is made: a
 * machine that is slow cannot make it lose one. */
GST_START_TEST (test_slow_clients)
{
  const guint least = 30, most = 500;
  g_autoptr (GstElement) in = NULL, sink = NULL;
  g_autoptr (GSocket) silent = NULL, asking = NULL, good = NULL;
  guint port;
  GstElement *pipeline =
      play ("appsrc name=in format=time caps=other/tensors,format=static,"
            "num_tensors=1,types=uint8,dimensions=1:64:64:64,framerate=0/1" OUT
            "sync=false async=false",
          &sink, &port);

  in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  silent = igtl_connect (port);
  asking = igtl_connect (port);
  g_socket_set_blocking (asking, FALSE);
  for (guint i = 0; i < 1000; i++) {
    g_autoptr (GByteArray) query =
        make_message (1, "GET_CAPABIL", "", NULL, NULL, 0, NULL, 0);

    if (g_socket_send (asking, (const gchar *) query->data, query->len, NULL,
            NULL)
        < (gssize) query->len)
      break;
  }
  good = igtl_connect (port);
  igtl_wait_stat (sink, "connections", 3);
  for (guint i = 0;
       i < least || (i < most && igtl_stat (sink, "volumes-dropped") == 0);
       i++) {
    g_auto (IgtlMessage) message = { 0 };

    push_volume (in, 64 * 64 * 64, i);
    fail_unless (igtl_receive (good, &message));
    fail_unless_equals_int (message.content->data[0], i % 256);
    if (i == least / 2) {
      GSocket *leaving = igtl_connect (port);
      guint8 byte;

      igtl_wait_stat (sink, "connections", 4);
      push_volume (in, 64 * 64 * 64, i);
      fail_unless (igtl_receive (good, &message));
      g_socket_receive (leaving, (gchar *) &byte, 1, NULL, NULL);
      g_object_unref (leaving);
    }
  }
  fail_unless (igtl_stat (sink, "volumes-dropped") > 0);
  igtl_wait_stat (sink, "connections", 4);
  fail_unless_equals_uint64 (igtl_stat (sink, "connections"), 4);
  igtl_stop (pipeline);
}
GST_END_TEST;

/* Volumes that come in bursts because a processor was busy are not lost. If the
 * client is kept from reading for as long as a volume may wait, they may be. */
GST_START_TEST (test_bursts)
{
  const guint burst = 6;
  g_autoptr (GstElement) in = NULL, sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  guint64 dropped = 0;
  guint port;
  GstElement *pipeline =
      play ("appsrc name=in format=time caps=other/tensors,format=static,"
            "num_tensors=1,types=uint8,dimensions=1:16:4:4,framerate=0/1" OUT
            "sync=false async=false",
          &sink, &port);

  in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  peer = igtl_connect (port);
  igtl_wait_stat (sink, "connections", 1);
  for (guint i = 0; i < 50; i++) {
    const gint64 begin = g_get_monotonic_time ();
    guint64 before = dropped;
    guint n = 0;

    for (guint k = 0; k < burst; k++)
      push_volume (in, 256, k);
    while (n + dropped - before < burst) {
      gint waiting = 0;

      fail_unless (ioctl (g_socket_get_fd (peer), FIONREAD, &waiting) == 0);
      if (waiting > 0) {
        g_auto (IgtlMessage) message = { 0 };

        fail_unless (igtl_receive (peer, &message));
        fail_unless_equals_int (message.content->data[0], n + dropped - before);
        n++;
      }
      dropped = igtl_stat (sink, "volumes-dropped");
    }
    if (g_get_monotonic_time () - begin < 50 * G_TIME_SPAN_MILLISECOND)
      fail_unless_equals_uint64 (dropped, before);
  }
  igtl_stop (pipeline);
}
GST_END_TEST;

/* Volumes do not pile up before a client that does not read, however small they
 * are: few are in its socket, the others are dropped and counted. The next
 * volume that it gets when it reads again is none of the old ones. */
GST_START_TEST (test_fresh)
{
  static const guint sides[] = { 4, 8, 16, 64 };
  const guint side = sides[__i__], bytes = side * side * side;
  g_autofree gchar *launch = g_strdup_printf (
      "appsrc name=in format=time caps=other/tensors,format=static,"
      "num_tensors=1,types=uint8,dimensions=1:%u:%u:%u,framerate=0/1" OUT
      "sync=false async=false",
      side, side, side);
  const guint most = 3000;
  guint few = 16;
  g_autoptr (GstElement) in = NULL, sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  guint port, n = 0;
  gint waiting = 0;
  GstElement *pipeline = play (launch, &sink, &port);

  in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  peer = igtl_connect (port);
  igtl_wait_stat (sink, "connections", 1);
  while (n < most && igtl_stat (sink, "volumes-dropped") < 100) {
    push_volume (in, bytes, 0);
    igtl_wait_stat (sink, "volumes", ++n);
    g_usleep (1000);
  }
  fail_unless (igtl_stat (sink, "volumes-dropped") >= 100);
  fail_unless (ioctl (g_socket_get_fd (peer), FIONREAD, &waiting) == 0);
  GST_INFO ("%u volumes, %d bytes wait", n, waiting);
  fail_unless (waiting <= (gint) (few * (bytes + 130)), "%d bytes wait",
      waiting);
  for (;;) {
    g_auto (IgtlMessage) message = { 0 };

    /* Volumes that were made before the client reads are 0. */
    push_volume (in, bytes, 1);
    fail_unless (igtl_receive (peer, &message));
    if (message.content->data[0] == 1)
      break;
    fail_unless (few-- > 0, "old volumes come");
  }
  igtl_stop (pipeline);
}
GST_END_TEST;

#define SMALL                                                         \
  "appsrc name=in format=time caps=other/tensors,format=static,"      \
  "num_tensors=1,types=uint8,dimensions=1:16:16:16,framerate=0/1" OUT \
  "sync=false async=false"
#define SMALL_SIZE 4096 /* bytes of a volume */

static guint
count_clients (GstElement *sink)
{
  GstStructure *stats = NULL;
  guint n;

  g_object_get (sink, "stats", &stats, NULL);
  n = gst_value_array_get_size (gst_structure_get_value (stats, "clients"));
  gst_structure_free (stats);
  return n;
}

/* A client that ends its direction of the connection still gets volumes, until
 * it ends the other one as well. */
GST_START_TEST (test_half_closed)
{
  g_autoptr (GstElement) in = NULL, sink = NULL;
  g_autoptr (GSocket) peer = NULL, other = NULL;
  const gint64 until = g_get_monotonic_time () + IGTL_WAIT * G_USEC_PER_SEC;
  guint port;
  GstElement *pipeline = play (SMALL, &sink, &port);

  in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  peer = igtl_connect (port);
  fail_unless (g_socket_shutdown (peer, FALSE, TRUE, NULL));
  other = igtl_connect (port);
  ask (other, "GET_CAPABIL", "");
  igtl_wait_stat (sink, "queries", 1);
  fail_unless_equals_int (count_clients (sink), 2);
  for (guint i = 0; i < 20; i++) {
    g_auto (IgtlMessage) message = { 0 };

    push_volume (in, SMALL_SIZE, i);
    fail_unless (igtl_receive (peer, &message));
    fail_unless_equals_int (message.content->data[0], i);
  }
  g_socket_close (peer, NULL);
  while (count_clients (sink) == 2) {
    fail_unless (g_get_monotonic_time () < until, "the connection stays");
    push_volume (in, SMALL_SIZE, 0);
    g_usleep (1000);
  }
  igtl_stop (pipeline);
}
GST_END_TEST;

/* A client that connects late and asks gets the last volume, not the last one
 * that a client got. */
GST_START_TEST (test_last_volume)
{
  g_autoptr (GstElement) in = NULL, sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  g_auto (IgtlMessage) message = { 0 };
  guint port;
  GstElement *pipeline =
      play ("appsrc name=in format=time caps=other/tensors,format=static,"
            "num_tensors=1,types=uint8,dimensions=1:16:4:4,framerate=0/1" OUT
            "sync=false async=false",
          &sink, &port);

  in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  push_volume (in, 256, 1);
  push_volume (in, 256, 2);
  igtl_wait_stat (sink, "volumes-without-client", 2);
  /* The figure grows before the volume is kept. */
  push_volume (in, 256, 3);
  igtl_wait_stat (sink, "volumes-without-client", 3);
  peer = igtl_connect (port);
  do {
    ask (peer, "GET_IMAGE", "");
    fail_unless (igtl_receive (peer, &message));
    fail_unless_equals_string (message.header.type, "IMAGE");
    fail_unless_equals_int (message.content->len, 256);
    fail_unless (message.content->data[0] >= 2);
  } while (message.content->data[0] == 2);
  fail_unless_equals_int (message.content->data[0], 3);
  igtl_stop (pipeline);
}
GST_END_TEST;

/* All volumes leave before the end of the stream is told. */
GST_START_TEST (test_end)
{
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  g_auto (Outcome) outcome = { 0 };
  guint port, n = 0;
  GstElement *pipeline =
      launch ("ndtestsrc pattern=ramp volume-size=40:40:40 num-buffers=3 ! "
              "openigtlinksink sync=false name=out port=0 host=127.0.0.1");
  g_auto (IgtlMessage) message = { 0 };

  sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  port = igtl_port (sink);
  peer = igtl_connect (port);
  igtl_wait_stat (sink, "connections", 1);
  run_pipeline (pipeline, &outcome);
  fail_unless_equals_int (outcome.n_eos, 1);
  fail_unless_equals_int (outcome.n_errors, 0);
  while (igtl_receive (peer, &message))
    n++;
  fail_unless_equals_int (n, 3);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_client)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  GstElement *pipeline = launch (RAMP "volume-size=5:4:3 ! openigtlinksink "
                                      "mode=client port=%u",
      port);
  g_autoptr (GSocket) peer = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  peer = g_socket_listener_accept_socket (listener, NULL, NULL, NULL);
  check_image (peer, 1, "ndconv");
  igtl_stop (pipeline);
}
GST_END_TEST;

/* Volumes of a live stream are sent at once, unless the application sets
 * `sync`. */
GST_START_TEST (test_sync)
{
  static const struct
  {
    const gchar *source, *sink;
    gboolean sync;
  } cases[] = {
    { "is-live=true", "", FALSE },
    { "is-live=true", "sync=true", TRUE },
    { "is-live=false", "", TRUE },
    { "is-live=false", "sync=false", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text =
        g_strdup_printf ("ndtestsrc volume-size=5:4:3 framerate=50/1 %s" OUT
                         "%s",
            cases[i].source, cases[i].sink);
    g_autoptr (GstElement) sink = NULL;
    gboolean sync = !cases[i].sync;
    guint port;
    GstElement *pipeline = play (text, &sink, &port);

    igtl_wait_stat (sink, "volumes", 1);
    g_object_get (sink, "sync", &sync, NULL);
    fail_unless_equals_int (sync, cases[i].sync);
    igtl_stop (pipeline);
  }
}
GST_END_TEST;

/* Messages that came beside a volume go on as they were. */
GST_START_TEST (test_passes_messages)
{
  const NdIgtlField field = { "Depth", "55 mm" };
  const NdIgtlImage image = make_image (5, 4, 3, 1, ND_IGTL_UINT8);
  g_autoptr (GByteArray) transform = g_byte_array_new ();
  g_autoptr (GByteArray) string = g_byte_array_new ();
  g_autoptr (GstElement) sink = NULL, src = NULL;
  g_autoptr (GSocket) from = NULL, to = NULL;
  g_auto (IgtlMessage) message = { 0 };
  guint8 samples[60] = { 0 };
  guint port;
  GstElement *pipeline =
      play ("openigtlinksrc name=in mode=server port=0 host=127.0.0.1" OUT
            "version=2 async=false",
          &sink, &port);

  src = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  to = igtl_connect (port);
  igtl_wait_stat (sink, "connections", 1);
  from = igtl_connect (igtl_port (src));
  for (guint i = 0; i < 12; i++)
    nd_put_f32 (transform, i * 1.1f);
  nd_put_u16 (string, ND_IGTL_ASCII);
  nd_put_u16 (string, 2);
  g_byte_array_append (string, (const guint8 *) "hi", 2);
  fail_unless (igtl_send_message (from,
      make_message (1, "TRANSFORM", "Probe", transform, NULL, 0, NULL, 0)));
  fail_unless (igtl_send_message (from,
      make_message (1, "STRING", "Note", string, NULL, 0, NULL, 0)));
  fail_unless (igtl_send_message (from,
      make_image_message (2, &image, samples, &field, 1)));

  fail_unless (igtl_receive (to, &message));
  fail_unless_equals_string (message.header.type, "TRANSFORM");
  fail_unless_equals_string (message.header.device, "Probe");
  g_assert_cmpmem (message.content->data, message.content->len, transform->data,
      transform->len);
  fail_unless (igtl_receive (to, &message));
  fail_unless_equals_string (message.header.type, "STRING");
  g_assert_cmpmem (message.content->data, message.content->len, string->data,
      string->len);
  fail_unless (igtl_receive (to, &message));
  fail_unless_equals_string (message.header.type, "IMAGE");
  fail_unless_equals_string (message.metadata->str, "Depth=55 mm;");
  /* The sender's time, to the digit that its fraction has. */
  fail_unless_equals_uint64 (nd_igtl_time_to_ns (message.header.timestamp),
      G_GUINT64_CONSTANT (1234567890123456789));
  igtl_stop (pipeline);
}
GST_END_TEST;

/* The metadata of a file, without the fields that differ by design. */
static gchar *
fields_of (const gchar *path)
{
  g_autofree gchar *text = NULL;
  gsize size;
  const gchar *end;
  g_auto (GStrv) lines = NULL;
  GString *kept = g_string_new (NULL);

  fail_unless (g_file_get_contents (path, &text, &size, NULL));
  end = strstr (text, "ElementDataFile");
  fail_unless (end != NULL);
  text[end - text] = '\0';
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    if (g_str_has_prefix (lines[i], "Seq_Frame")
        && strstr (lines[i], "Transform"))
      g_string_append_printf (kept, "%s\n", g_strchomp (lines[i]));
  }
  return g_string_free (kept, FALSE);
}

static GBytes *
samples_of (const gchar *path)
{
  GstElement *pipeline =
      launch ("ndfilesrc location=%s ! appsink name=sink sync=false", path);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GByteArray *all = g_byte_array_new ();
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink),
              IGTL_WAIT * GST_SECOND))) {
    GstMapInfo map;

    gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ);
    g_byte_array_append (all, map.data, map.size);
    gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return g_byte_array_free_to_bytes (all);
}

/* A recording with transforms, over the network and recorded again. */
GST_START_TEST (test_recording)
{
  const guint n = 12;
  g_autofree gchar *sent = NULL, *came = NULL;
  g_autoptr (GBytes) sent_samples = NULL, came_samples = NULL;
  g_autofree gchar *sent_fields = NULL, *came_fields = NULL;
  GString *text =
      g_string_new ("ObjectType = Image\nNDims = 4\nDimSize = 5 4 3 12\n"
                    "ElementType = MET_SHORT\nElementSpacing = 1 2 3 1\n"
                    "Kinds = domain domain domain list\n");
  g_autoptr (GstElement) sink = NULL, src = NULL;
  g_auto (Outcome) outcome = { 0 };
  GstElement *serve, *record;

  make_folder ();
  sent = file_path ("sent.igs.mha");
  came = file_path ("came.igs.mha");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text,
        "Seq_Frame%04u_ProbeToTrackerTransform = 1 0 0 %u 0 1 0 0.5 0 0 1 "
        "%.9g 0 0 0 1\nSeq_Frame%04u_ProbeToTrackerTransformStatus = OK\n"
        "Seq_Frame%04u_Timestamp = %u.%u\n",
        i, i, (gfloat) i / 3, i, i, i / 10, i % 10);
  g_string_append (text, "ElementDataFile = LOCAL\n");
  for (guint i = 0; i < n * 60; i++)
    g_string_append_len (text, (const gchar *) &(gint16){ i * 7 }, 2);
  fail_unless (g_file_set_contents (sent, text->str, text->len, NULL));

  serve = launch ("ndfilesrc location=%s" OUT "version=2", sent);
  sink = gst_bin_get_by_name (GST_BIN (serve), "out");
  gst_element_set_state (serve, GST_STATE_PAUSED);
  record = launch ("openigtlinksrc name=in policy=every reconnect=-1 "
                   "host=127.0.0.1 port=%u ! ndfilesink location=%s",
      igtl_port (sink), came);
  src = gst_bin_get_by_name (GST_BIN (record), "in");
  gst_element_set_state (record, GST_STATE_PLAYING);
  igtl_wait_stat (sink, "connections", 1);
  gst_element_set_state (serve, GST_STATE_PLAYING);
  igtl_wait_stat (src, "volumes-received", n);
  igtl_stop (serve);
  run_pipeline (record, &outcome);
  fail_unless_equals_int (outcome.n_eos, 1);
  fail_unless_equals_int (outcome.n_errors, 0);
  gst_object_unref (record);

  sent_samples = samples_of (sent);
  came_samples = samples_of (came);
  fail_unless (g_bytes_equal (sent_samples, came_samples));
  sent_fields = fields_of (sent);
  came_fields = fields_of (came);
  fail_unless_equals_string (sent_fields, came_fields);
  g_string_free (text, TRUE);
  remove_folder ();
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  GstElement *pipeline = launch (RAMP "! openigtlinksink port=%u", port);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  igtl_wait_words (pipeline, GST_MESSAGE_ERROR, "another program may use");
  igtl_stop (pipeline);
  pipeline = launch (RAMP "! openigtlinksink host=no.such.host.invalid");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  igtl_wait_words (pipeline, GST_MESSAGE_ERROR, "is not known");
  igtl_stop (pipeline);
  run_refused (launch ("fakesrc ! openigtlinksink "
                       "device-name=123456789012345678901"),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "20 bytes");
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GSocket) peer = NULL;
  guint port;
  GstElement *pipeline = play (RAMP "volume-size=128:128:64" OUT, &sink, &port);

  /* A client that does not read. */
  peer = igtl_connect (port);
  igtl_wait_stat (sink, "volumes-dropped", 2);
  for (guint i = 0; i < 5; i++) {
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
  }
  /* A source that is sent EOS while a sink prerolls waits for ever, in every
   * pipeline. */
  gst_element_get_state (pipeline, NULL, NULL, IGTL_WAIT * GST_SECOND);
  gst_element_send_event (pipeline, gst_event_new_eos ());
  igtl_stop (pipeline);
}
GST_END_TEST;

static Suite *
openigtlinksink_suite (void)
{
  Suite *suite = suite_create ("openigtlinksink");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_versions);
  tcase_add_test (tests, test_geometry);
  tcase_add_test (tests, test_video);
  tcase_add_test (tests, test_queries);
  tcase_add_test (tests, test_client_sends);
  tcase_add_test (tests, test_hostile);
  tcase_add_test (tests, test_last_volume);
  tcase_add_test (tests, test_slow_clients);
  tcase_add_test (tests, test_bursts);
  tcase_add_test (tests, test_fresh);
  tcase_add_test (tests, test_half_closed);
  tcase_add_test (tests, test_end);
  tcase_add_test (tests, test_client);
  tcase_add_test (tests, test_sync);
  tcase_add_test (tests, test_passes_messages);
  tcase_add_test (tests, test_recording);
  tcase_add_test (tests, test_errors);
  tcase_add_test (tests, test_states);
  return suite;
}

GST_CHECK_MAIN (openigtlinksink);
