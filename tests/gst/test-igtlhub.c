/* Connections that stall, that are too many, and for which no file is left.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <sys/resource.h>
#include <unistd.h>

#include "gst/igtl/gstndigtlhub.h"
#include "tests/gst/igtl.h"

#define CONNECTIONS_MAX 1024 /* of a hub */

/* Counts of the callbacks of the hub. Atomic. */
typedef struct
{
  gint messages, opened, closed, stalled, slow;
} Told;

static void
opened (GstNdIgtlPeer *peer, gpointer user_data)
{
  Told *told = user_data;

  g_atomic_int_inc (&told->opened);
}

static void
closed (GstNdIgtlPeer *peer, const GError *error, gpointer user_data)
{
  Told *told = user_data;

  if (error && strstr (error->message, "stopped in the middle of a message"))
    g_atomic_int_inc (&told->stalled);
  if (error && strstr (error->message, "sent one message for more than"))
    g_atomic_int_inc (&told->slow);
  g_atomic_int_inc (&told->closed);
}

static void
received (GstNdIgtlPeer *peer, NdReceiver *receiver, NdReceived event,
    const GError *error, gpointer user_data)
{
  Told *told = user_data;

  fail_unless_equals_int (event, ND_RECEIVED_MESSAGE);
  g_atomic_int_inc (&told->messages);
}

static GstElement *element; /* whose thread serves */

static void
set_up (void)
{
  element = gst_object_ref_sink (gst_bin_new ("hub"));
}

static void
tear_down (void)
{
  gst_clear_object (&element);
}

static GstNdIgtlHub *
make_hub_until (gboolean server, guint port, guint stall, gdouble reconnect_max,
    Told *told)
{
  static const GstNdIgtlCallbacks callbacks = {
    .opened = opened, .closed = closed, .received = received
  };
  const GstNdIgtlSettings settings = { .server = server,
    .host = (gchar *) "127.0.0.1",
    .port = port,
    .max_size = 1 << 20,
    .check_crc = TRUE,
    .reconnect_max = reconnect_max,
    .stall = stall,
    .message_timeout = 2000 };

  return gst_nd_igtl_hub_new (element, &settings, &callbacks, told);
}

static GstNdIgtlHub *
make_hub (gboolean server, guint port, guint stall, Told *told)
{
  return make_hub_until (server, port, stall, 30, told);
}

static guint64
hub_stat (GstNdIgtlHub *hub, const gchar *name)
{
  GstStructure *stats = gst_structure_new_empty ("stats");
  guint64 value = 0;
  guint small = 0;

  gst_nd_igtl_hub_get_stats (hub, stats);
  if (!gst_structure_get_uint64 (stats, name, &value)
      && gst_structure_get_uint (stats, name, &small))
    value = small;
  gst_structure_free (stats);
  return value;
}

static void
wait_hub (GstNdIgtlHub *hub, const gchar *name, guint64 least)
{
  const gint64 until = g_get_monotonic_time () + IGTL_WAIT * G_USEC_PER_SEC;

  while (hub_stat (hub, name) < least) {
    fail_unless (g_get_monotonic_time () < until,
        "%s is %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, name,
        hub_stat (hub, name), least);
    g_usleep (1000);
  }
}

static void
wait_told (gint *count, gint least)
{
  const gint64 until = g_get_monotonic_time () + IGTL_WAIT * G_USEC_PER_SEC;

  while (g_atomic_int_get (count) < least) {
    fail_unless (g_get_monotonic_time () < until, "%d of %d",
        g_atomic_int_get (count), least);
    g_usleep (1000);
  }
}

static guint
port_of (GstNdIgtlHub *hub)
{
  wait_hub (hub, "port", 1);
  return hub_stat (hub, "port");
}

static void
send_status_query (GSocket *peer)
{
  fail_unless (igtl_send_message (peer,
      make_message (1, "GET_STATUS", "x", NULL, NULL, 0, NULL, 0)));
}

/* Half of a message, and silence: closed. Silence between messages is none of
 * the hub's business. */
GST_START_TEST (test_stall)
{
  Told told = { 0 };
  GstNdIgtlHub *hub = make_hub (TRUE, 0, 100, &told);
  const guint port = port_of (hub);
  g_autoptr (GSocket) half = igtl_connect (port);
  g_autoptr (GSocket) idle = igtl_connect (port);
  g_autoptr (GByteArray) message =
      make_message (1, "GET_STATUS", "x", NULL, NULL, 0, NULL, 0);
  gchar byte;

  send_status_query (idle);
  fail_unless (igtl_send (half, message->data, message->len / 2));
  wait_told (&told.stalled, 1);
  fail_unless_equals_int (g_socket_receive (half, &byte, 1, NULL, NULL), 0);
  send_status_query (idle);
  wait_told (&told.messages, 2);
  fail_unless_equals_int (g_atomic_int_get (&told.closed), 1);
  gst_nd_igtl_hub_stop (hub);
}
GST_END_TEST;

/* A message, a byte at a time: closed, said once and counted, by servers and
 * clients. Many small messages may take any time together. */
GST_START_TEST (test_slow)
{
  const gboolean server = __i__;
  Told told = { 0 };
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port =
      server ? 0 : g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  GstNdIgtlHub *hub = make_hub (server, port, 60000, &told);
  g_autoptr (GSocket) slow = server
      ? igtl_connect (port_of (hub))
      : g_socket_listener_accept_socket (listener, NULL, NULL, NULL);
  g_autoptr (GByteArray) message =
      make_message (1, "GET_STATUS", "x", NULL, NULL, 0, NULL, 0);
  const gint64 until = g_get_monotonic_time () + IGTL_WAIT * G_USEC_PER_SEC;

  g_socket_set_blocking (slow, TRUE);
  for (guint i = 0; i < 20; i++) {
    send_status_query (slow);
    g_usleep (150000);
  }
  wait_told (&told.messages, 20);
  fail_unless_equals_int (g_atomic_int_get (&told.slow), 0);
  /* The last byte never comes. */
  for (guint i = 0; g_atomic_int_get (&told.slow) == 0; i++) {
    fail_unless (g_get_monotonic_time () < until);
    if (i < message->len - 1)
      g_socket_send (slow, (gchar *) message->data + i, 1, NULL, NULL);
    g_usleep (50000);
  }
  fail_unless_equals_int (g_atomic_int_get (&told.slow), 1);
  fail_unless_equals_int (g_atomic_int_get (&told.closed), 1);
  fail_unless_equals_uint64 (hub_stat (hub, "slow-connections"), 1);
  gst_nd_igtl_hub_stop (hub);
}
GST_END_TEST;

/* As many files as the limit of the system allows, or FALSE. */
static gboolean
allow_files (rlim_t n)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < n)
    return FALSE;
  limit.rlim_cur = MAX (limit.rlim_cur, n);
  return setrlimit (RLIMIT_NOFILE, &limit) == 0;
}

/* Beyond a thousand, connections are closed as they come; those that were there
 * are served. */
GST_START_TEST (test_thousand)
{
  const guint n = CONNECTIONS_MAX + 20;
  Told told = { 0 };
  GstNdIgtlHub *hub;
  g_autoptr (GPtrArray) peers = g_ptr_array_new_with_free_func (g_object_unref);
  guint port;

  if (!allow_files (2 * n + 100)) {
    GST_WARNING ("not tested: too few files may be open");
    return;
  }
  hub = make_hub (TRUE, 0, 10000, &told);
  port = port_of (hub);
  for (guint i = 0; i < n; i++) {
    g_ptr_array_add (peers, igtl_connect (port));
    /* The backlog of the listening socket is short. */
    wait_told (&told.opened, MIN (i + 1, CONNECTIONS_MAX));
  }
  wait_hub (hub, "refused-connections", n - CONNECTIONS_MAX);
  fail_unless_equals_uint64 (hub_stat (hub, "connections"), CONNECTIONS_MAX);
  for (guint i = 0; i < CONNECTIONS_MAX; i++)
    send_status_query (g_ptr_array_index (peers, i));
  wait_told (&told.messages, CONNECTIONS_MAX);
  g_ptr_array_remove_range (peers, 0, 1);
  wait_told (&told.closed, 1);
  g_ptr_array_add (peers, igtl_connect (port));
  send_status_query (g_ptr_array_index (peers, peers->len - 1));
  wait_told (&told.messages, CONNECTIONS_MAX + 1);
  gst_nd_igtl_hub_stop (hub);
  fail_unless_equals_int (told.closed, CONNECTIONS_MAX + 1);
}
GST_END_TEST;

/* A program that has opened all the files it may serves peers again when some
 * are closed. */
GST_START_TEST (test_no_files)
{
  Told told = { 0 };
  GstNdIgtlHub *hub = make_hub (TRUE, 0, 10000, &told);
  const guint port = port_of (hub);
  g_autoptr (GSocket) peer = g_socket_new (G_SOCKET_FAMILY_IPV4,
      G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  g_autoptr (GSocketAddress) address =
      g_inet_socket_address_new_from_string ("127.0.0.1", port);
  g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (int));
  g_autoptr (GSocket) later = NULL;
  struct rlimit before, few;
  int file = dup (0);

  fail_unless (getrlimit (RLIMIT_NOFILE, &before) == 0);
  few = before;
  few.rlim_cur = MIN (before.rlim_cur, (rlim_t) file + 20);
  fail_unless (setrlimit (RLIMIT_NOFILE, &few) == 0);
  for (; file >= 0; file = dup (0))
    g_array_append_val (files, file);
  fail_unless (g_socket_connect (peer, address, NULL, NULL));
  wait_hub (hub, "refused-connections", 1);
  for (guint i = 0; i < files->len; i++)
    close (g_array_index (files, int, i));
  fail_unless (setrlimit (RLIMIT_NOFILE, &before) == 0);
  /* Under valgrind the first one is lost: it accepts and closes. */
  later = igtl_connect (port);
  send_status_query (later);
  wait_told (&told.messages, 1);
  gst_nd_igtl_hub_stop (hub);
}
GST_END_TEST;

/* Attempts come later and later, and do not delay the end. */
GST_START_TEST (test_back_off)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  const gint64 begin = g_get_monotonic_time ();
  Told told = { 0 };
  GstNdIgtlHub *hub;

  /* Nobody listens there any more. */
  g_socket_listener_close (listener);
  hub = make_hub (FALSE, port, 10000, &told);
  wait_hub (hub, "reconnects", 3);
  /* 100 ms before the first, 200 ms before the second. */
  fail_unless (g_get_monotonic_time () - begin >= 300 * 1000);
  gst_nd_igtl_hub_stop (hub);
}
GST_END_TEST;

/* Attempts do not come later than reconnect_max allows: if the time doubled
 * further, the last of these would come after more than 7 minutes. */
GST_START_TEST (test_longest_delay)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  Told told = { 0 };
  GstNdIgtlHub *hub;

  g_socket_listener_close (listener);
  hub = make_hub_until (FALSE, port, 10000, .15, &told);
  wait_hub (hub, "reconnects", 13);
  gst_nd_igtl_hub_stop (hub);
}
GST_END_TEST;

static Suite *
igtlhub_suite (void)
{
  Suite *suite = suite_create ("igtlhub");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, test_stall);
  tcase_add_loop_test (tests, test_slow, 0, 2);
  tcase_add_test (tests, test_thousand);
  tcase_add_test (tests, test_no_files);
  tcase_add_test (tests, test_back_off);
  tcase_add_test (tests, test_longest_delay);
  return suite;
}

GST_CHECK_MAIN (igtlhub);
