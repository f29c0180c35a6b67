/* Live volumes for minutes: peers connect, send volumes of sizes that change,
 * leave in the middle of a volume and come back; their volumes are filtered and
 * sent on to clients that connect and leave. Memory must not grow.
 *
 * ND_SOAK_SECONDS in the environment says how long; 60 if it is not set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <stdlib.h>

#include "tests/gst/igtl.h"

/* Memory may grow by this after the first quarter, in KiB: the heap's own
 * disorder. */
#define GROWTH 40000

static GstElement *pipeline, *src, *sink;
static guint in_port, out_port;
static gint ending;

/* A few volumes of a random size, the last one cut in half of the rounds. */
static void
send_some (GRand *random)
{
  GSocket *peer = igtl_connect (in_port);
  const NdIgtlImage image = make_image (g_rand_int_range (random, 8, 100),
      g_rand_int_range (random, 8, 100), g_rand_int_range (random, 2, 40), 1,
      g_rand_boolean (random) ? ND_IGTL_UINT8 : ND_IGTL_INT32);
  const gsize size = nd_igtl_image_subvolume_size (&image);
  g_autofree guint8 *samples = g_malloc0 (size);
  g_autoptr (GByteArray) message =
      make_image_message (1, &image, samples, NULL, 0);
  const gint n = g_rand_int_range (random, 1, 20);

  for (gint i = 0; i < n; i++) {
    const gboolean cut = i == n - 1 && g_rand_boolean (random);

    igtl_send (peer, message->data,
        cut ? (guint) g_rand_int_range (random, 1, message->len)
            : message->len);
    g_usleep (5000);
  }
  g_object_unref (peer);
}

static gpointer
send_thread (gpointer data)
{
  GRand *random = g_rand_new_with_seed (GPOINTER_TO_UINT (data));

  while (!g_atomic_int_get (&ending))
    send_some (random);
  g_rand_free (random);
  return NULL;
}

/* Reads some bytes, and leaves. */
static gpointer
read_thread (gpointer data)
{
  GRand *random = g_rand_new_with_seed (GPOINTER_TO_UINT (data));
  gchar bytes[8192];

  while (!g_atomic_int_get (&ending)) {
    GSocket *peer = igtl_connect (out_port);

    g_socket_set_timeout (peer, 1);
    for (gint i = g_rand_int_range (random, 0, 500);
         i > 0 && !g_atomic_int_get (&ending); i--)
      g_socket_receive (peer, bytes, sizeof (bytes), NULL, NULL);
    g_object_unref (peer);
  }
  g_rand_free (random);
  return NULL;
}

static void
check_bus (void)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  while ((message = gst_bus_pop (bus))) {
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      g_autoptr (GError) error = NULL;

      gst_message_parse_error (message, &error, NULL);
      g_error ("%s", error->message);
    }
    gst_message_unref (message);
  }
}

int
main (int argc, char **argv)
{
  const gchar *text = g_getenv ("ND_SOAK_SECONDS");
  const gint64 seconds = text ? atoi (text) : 60;
  const guint seed = g_random_int ();
  GThread *threads[4];
  gsize quarter = 0, last = 0;
  gint64 begin, now;

  gst_init (&argc, &argv);
  g_print ("# seed %u\n1..1\n", seed);
  pipeline = gst_parse_launch ("openigtlinksrc name=in mode=server port=0 "
                               "host=127.0.0.1 ! ndconv3d filter=box,size=3 ! "
                               "openigtlinksink name=out port=0 sync=false "
                               "async=false host=127.0.0.1",
      NULL);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  in_port = igtl_port (src);
  out_port = igtl_port (sink);
  for (guint i = 0; i < 2; i++) {
    threads[i] =
        g_thread_new ("send", send_thread, GUINT_TO_POINTER (seed + i));
    threads[2 + i] =
        g_thread_new ("read", read_thread, GUINT_TO_POINTER (seed + 7 + i));
  }
  begin = g_get_monotonic_time ();
  do {
    g_usleep (100000);
    check_bus ();
    now = (g_get_monotonic_time () - begin) / G_USEC_PER_SEC;
    last = process_kib ("VmRSS");
    if (now >= seconds / 4 && quarter == 0)
      quarter = last;
  } while (now < seconds);
  g_print ("# %" G_GUINT64_FORMAT " volumes in, %" G_GUINT64_FORMAT
           " dropped, %" G_GUINT64_FORMAT " incomplete; %" G_GUINT64_FORMAT
           " out; %" G_GSIZE_FORMAT " KiB after a quarter, %" G_GSIZE_FORMAT
           " in the end\n",
      igtl_stat (src, "volumes-received"), igtl_stat (src, "volumes-dropped"),
      igtl_stat (src, "volumes-incomplete"), igtl_stat (sink, "volumes-sent"),
      quarter, last);
  g_atomic_int_set (&ending, 1);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_print ("%s 1 memory\n", last <= quarter + GROWTH ? "ok" : "not ok");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return 0;
}
