/* The thread that serves all peers: it connects, listens and closes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlhub.h"

#include "core/error.h"
#include "gst/base/gstndthread.h"
#include "gst/igtl/gstndigtlpeer.h"

GST_DEBUG_CATEGORY (gst_nd_igtl_debug);
#define GST_CAT_DEFAULT gst_nd_igtl_debug

/* An attempt to connect takes at least this long, because the first packet may
 * be lost, and at most as long as until the next one. */
#define CONNECT_MIN 1  /* s */
#define CONNECT_MAX 10 /* s */
#define DELAY_MIN 100  /* ms */

/* The most connections. Further ones are closed at once. */
#define PEERS_MAX 1024

/* The most volumes that wait for the thread. If there are more, the oldest is
 * dropped, because a fast pipeline would otherwise fill the memory. */
#define OUTBOX_MAX 8

/* The pause after accept() failed, for example because too many files are
 * open. */
#define ACCEPT_PAUSE 200 /* ms */

struct _GstNdIgtlHub
{
  GstElement *element;
  GstNdIgtlSettings settings;
  GstNdIgtlCallbacks callbacks;
  gpointer user_data;

  GstNdThread thread;
  GMainContext *context;
  GMainLoop *loop;
  GCancellable *cancellable;
  guint pending;     /* calls of GIO that are not complete */
  GPtrArray *listen; /* GSocket */
  guint delay;       /* ms between two attempts */
  gint64 attempted;  /* begin of the last one, monotonic, us */

  gboolean ending; /* peers hold nothing back */

  GMutex lock;      /* protects the following */
  GQueue outbox;    /* GstNdIgtlUnit for all peers */
  gboolean sending; /* a unit of the outbox is being given to the peers */
  guint overflow;   /* units that the outbox had no room for */
  GPtrArray *peers; /* GstNdIgtlPeer; the thread changes it */
  guint port;
  guint64 connections, refused, reconnects, broken, slow;
  GstNdIgtlPeerStats past; /* of peers that are gone */
};

static void connect_later (GstNdIgtlHub *hub);
static void listen_to (GstNdIgtlHub *hub, GSocket *socket);

static void igtl_hub_fail (GstNdIgtlHub *hub, gboolean fatal, gint code,
    const gchar *format, ...) G_GNUC_PRINTF (4, 5);
static void
igtl_hub_fail (GstNdIgtlHub *hub, gboolean fatal, gint code,
    const gchar *format, ...)
{
  g_autoptr (GError) error = NULL;
  va_list args;

  va_start (args, format);
  error = g_error_new_valist (ND_ERROR, code, format, args);
  va_end (args);
  if (hub->callbacks.failed)
    hub->callbacks.failed (error, fatal, hub->user_data);
}

static GSource *
call_later (GstNdIgtlHub *hub, guint ms, GSourceFunc func, gpointer data)
{
  GSource *source = g_timeout_source_new (ms);

  g_source_set_callback (source, func, data, NULL);
  g_source_attach (source, hub->context);
  return source;
}

/* Calls @func with @hub in its thread. g_main_context_invoke() might call it
 * in this thread before that thread has started. */
static void
igtl_hub_post (GstNdIgtlHub *hub, GSourceFunc func)
{
  GSource *source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, hub, NULL);
  g_source_attach (source, hub->context);
  g_source_unref (source);
}

static void
remove_peer (GstNdIgtlPeer *peer, const GError *error)
{
  GstNdIgtlHub *hub = peer->hub;
  const gboolean spoke = peer->spoke;
  GstNdIgtlPeerStats stats;

  /* Units that wait will not be sent. */
  stats = gst_nd_igtl_peer_get_stats (peer);
  stats.volumes_dropped += peer->n_volumes;
  g_mutex_lock (&hub->lock);
  gst_nd_igtl_peer_stats_add (&hub->past, &stats);
  g_ptr_array_remove (hub->peers, peer);
  hub->broken += error && error->domain == ND_ERROR;
  g_mutex_unlock (&hub->lock);
  GST_INFO_OBJECT (hub->element, "connection with %s ended: %s",
      gst_nd_igtl_peer_address (peer), error ? error->message : "closed");
  if (hub->callbacks.closed)
    hub->callbacks.closed (peer, error, hub->user_data);
  gst_nd_igtl_peer_free (peer);
  if (hub->settings.server || g_cancellable_is_cancelled (hub->cancellable))
    return;
  if (spoke)
    hub->delay = 0;
  connect_later (hub);
}

static void
add_peer (GstNdIgtlHub *hub, GSocket *socket, GIOStream *stream)
{
  GstNdIgtlPeer *peer = gst_nd_igtl_peer_new (socket, stream,
      hub->settings.max_size, hub->settings.check_crc, hub->context);

  peer->hub = hub;
  peer->element = hub->element;
  peer->callbacks = &hub->callbacks;
  peer->user_data = hub->user_data;
  peer->ended = remove_peer;
  peer->patience = hub->settings.patience * G_TIME_SPAN_MILLISECOND;
  peer->half_closed = hub->settings.half_closed;
  peer->ending = hub->ending;
  g_mutex_lock (&hub->lock);
  g_ptr_array_add (hub->peers, peer);
  hub->connections++;
  g_mutex_unlock (&hub->lock);
  GST_INFO_OBJECT (hub->element, "connected with %s",
      gst_nd_igtl_peer_address (peer));
  if (hub->callbacks.opened)
    hub->callbacks.opened (peer, hub->user_data);
  gst_nd_igtl_peer_read (peer);
}

static void
connected (GObject *client, GAsyncResult *result, gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;
  const GstNdIgtlSettings *settings = &hub->settings;
  g_autoptr (GError) error = NULL;
  GSocketConnection *connection =
      g_socket_client_connect_finish (G_SOCKET_CLIENT (client), result, &error);

  hub->pending--;
  if (g_cancellable_is_cancelled (hub->cancellable)) {
    g_clear_object (&connection);
    return;
  }
  if (connection) {
    add_peer (hub, g_object_ref (g_socket_connection_get_socket (connection)),
        G_IO_STREAM (connection));
    return;
  }
  if (error->domain == G_RESOLVER_ERROR)
    igtl_hub_fail (hub, settings->reconnect < 0, ND_ERROR_NOT_FOUND,
        "Host \"%s\" is not known (%s): property 'host' must be the name or "
        "the address of a computer that serves OpenIGTLink",
        settings->host, error->message);
  else
    igtl_hub_fail (hub, settings->reconnect < 0, ND_ERROR_OPEN_READ,
        "Cannot connect to \"%s\", port %u (%s): an OpenIGTLink server must "
        "listen there; see the properties 'host', 'port' and 'reconnect'",
        settings->host, settings->port, error->message);
  connect_later (hub);
}

static gboolean
connect_now (gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_autoptr (GSocketConnectable) address =
      g_network_address_new (hub->settings.host, hub->settings.port);

  g_socket_client_set_enable_proxy (client, FALSE);
  g_socket_client_set_timeout (client,
      CLAMP (hub->settings.reconnect_max, CONNECT_MIN, CONNECT_MAX));
  hub->attempted = g_get_monotonic_time ();
  hub->pending++;
  GST_INFO_OBJECT (hub->element, "connecting with \"%s\", port %u",
      hub->settings.host, hub->settings.port);
  g_socket_client_connect_async (client, address, hub->cancellable, connected,
      hub);
  return G_SOURCE_REMOVE;
}

/* Each failed attempt doubles the time to the next one, from begin to begin. */
static void
connect_later (GstNdIgtlHub *hub)
{
  const GstNdIgtlSettings *settings = &hub->settings;
  guint first, most, spent;

  if (settings->reconnect < 0)
    return;
  first = MAX ((guint) MIN (settings->reconnect, 86400) * 1000, DELAY_MIN);
  most = MAX (first, settings->reconnect_max * 1000);
  spent = hub->delay == 0
      ? 0
      : MIN ((g_get_monotonic_time () - hub->attempted) / 1000, most);
  hub->delay = hub->delay == 0 ? first : MIN (2 * hub->delay, most);
  g_mutex_lock (&hub->lock);
  hub->reconnects++;
  g_mutex_unlock (&hub->lock);
  GST_DEBUG_OBJECT (hub->element, "next attempt %u ms after the last one",
      hub->delay);
  g_source_unref (call_later (hub, hub->delay - MIN (spent, hub->delay),
      connect_now, hub));
}

static gboolean
listen_again (gpointer user_data)
{
  GSocket *socket = user_data;

  listen_to (g_object_get_data (G_OBJECT (socket), "hub"), socket);
  return G_SOURCE_REMOVE;
}

static gboolean
acceptable (GSocket *socket, GIOCondition condition, gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;
  g_autoptr (GError) error = NULL;
  GSocket *peer = g_socket_accept (socket, NULL, &error);
  guint n;

  if (!peer) {
    if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)
        || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED))
      return G_SOURCE_CONTINUE;
    /* The connection is still waiting. Without a pause this would be a busy
     * loop. */
    g_mutex_lock (&hub->lock);
    hub->refused++;
    g_mutex_unlock (&hub->lock);
    g_source_unref (call_later (hub, ACCEPT_PAUSE, listen_again, socket));
    return G_SOURCE_REMOVE;
  }
  g_mutex_lock (&hub->lock);
  n = hub->peers->len;
  hub->refused += n >= PEERS_MAX;
  g_mutex_unlock (&hub->lock);
  if (n >= PEERS_MAX) {
    GST_INFO_OBJECT (hub->element, "connection refused: %u are open", n);
    g_object_unref (peer);
  } else {
    add_peer (hub, peer, NULL);
  }
  return G_SOURCE_CONTINUE;
}

static void
listen_to (GstNdIgtlHub *hub, GSocket *socket)
{
  GSource *source = g_socket_create_source (socket, G_IO_IN, NULL);

  g_object_set_data (G_OBJECT (socket), "hub", hub);
  g_source_set_callback (source, G_SOURCE_FUNC (acceptable), hub, NULL);
  g_source_attach (source, hub->context);
  g_source_unref (source);
}

static gboolean
listen_all (GstNdIgtlHub *hub, GList *addresses, GError **error)
{
  guint port = hub->settings.port;

  if (!gst_nd_igtl_listen (addresses, &port, hub->listen, error))
    return FALSE;
  for (guint i = 0; i < hub->listen->len; i++)
    listen_to (hub, g_ptr_array_index (hub->listen, i));
  g_mutex_lock (&hub->lock);
  hub->port = port;
  g_mutex_unlock (&hub->lock);
  GST_INFO_OBJECT (hub->element, "listening at \"%s\", port %u",
      hub->settings.host, port);
  return TRUE;
}

static void
resolved (GObject *resolver, GAsyncResult *result, gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;
  const GstNdIgtlSettings *settings = &hub->settings;
  g_autoptr (GError) error = NULL;
  GList *addresses =
      g_resolver_lookup_by_name_finish (G_RESOLVER (resolver), result, &error);

  hub->pending--;
  if (g_cancellable_is_cancelled (hub->cancellable)) {
    g_resolver_free_addresses (addresses);
    return;
  }
  if (!addresses)
    igtl_hub_fail (hub, TRUE, ND_ERROR_NOT_FOUND,
        "Host \"%s\" is not known (%s): property 'host' must be the name or "
        "an address of this computer; 0.0.0.0 stands for all of them",
        settings->host, error->message);
  else if (!listen_all (hub, addresses, &error))
    igtl_hub_fail (hub, TRUE, ND_ERROR_OPEN_READ,
        "Cannot listen at \"%s\", port %u (%s): another program may use the "
        "port; choose another with the property 'port', and for 'host' a name "
        "or an address of this computer",
        settings->host, settings->port, error->message);
  g_resolver_free_addresses (addresses);
}

static void
start_server (GstNdIgtlHub *hub)
{
  g_autoptr (GResolver) resolver = g_resolver_get_default ();

  hub->pending++;
  g_resolver_lookup_by_name_async (resolver, hub->settings.host,
      hub->cancellable, resolved, hub);
}

/* Why @peer loses its slot, or NULL. */
static GError *
find_reason (GstNdIgtlHub *hub, GstNdIgtlPeer *peer)
{
  const GstNdIgtlSettings *settings = &hub->settings;

  if (gst_nd_igtl_peer_is_stalled (peer,
          settings->stall * G_TIME_SPAN_MILLISECOND))
    return g_error_new (ND_ERROR, ND_ERROR_READ,
        "%s stopped in the middle of a message for %g s: the connection is "
        "closed; see whether its program and the network still work",
        peer->address, settings->stall / 1e3);
  if (settings->message_timeout == 0
      || !gst_nd_igtl_peer_is_slow (peer,
          settings->message_timeout * G_TIME_SPAN_MILLISECOND))
    return NULL;
  g_mutex_lock (&hub->lock);
  hub->slow++;
  g_mutex_unlock (&hub->lock);
  return g_error_new (ND_ERROR, ND_ERROR_READ,
      "%s sent one message for more than %g s: the connection is closed; if "
      "its network is so slow, raise the property 'message-timeout'",
      peer->address, settings->message_timeout / 1e3);
}

static gboolean
close_slow (gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;

  for (guint i = hub->peers->len; i-- > 0;) {
    GstNdIgtlPeer *peer = g_ptr_array_index (hub->peers, i);
    g_autoptr (GError) error = find_reason (hub, peer);

    if (error)
      remove_peer (peer, error);
  }
  return G_SOURCE_CONTINUE;
}

/* Until gst_nd_igtl_hub_stop(). */
static void
igtl_hub_run (gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;
  g_autoptr (GSource) watch = NULL;

  g_main_context_push_thread_default (hub->context);
  watch = call_later (hub, 1000, close_slow, hub);
  if (hub->settings.server)
    start_server (hub);
  else
    connect_now (hub);
  g_main_loop_run (hub->loop);
  g_source_destroy (watch);
  while (hub->peers->len > 0)
    remove_peer (g_ptr_array_index (hub->peers, 0), NULL);
  /* GIO answers calls that were cancelled, too. */
  while (hub->pending > 0)
    g_main_context_iteration (hub->context, TRUE);
  g_main_context_pop_thread_default (hub->context);
}

static void
init_debug (void)
{
  static gsize done = 0;

  if (!g_once_init_enter (&done))
    return;
  GST_DEBUG_CATEGORY_INIT (gst_nd_igtl_debug, "ndopenigtlink", 0,
      "messages and connections of OpenIGTLink");
  g_once_init_leave (&done, 1);
}

GstNdIgtlHub *
gst_nd_igtl_hub_new (GstElement *element, const GstNdIgtlSettings *settings,
    const GstNdIgtlCallbacks *callbacks, gpointer user_data)
{
  GstNdIgtlHub *hub = g_new0 (GstNdIgtlHub, 1);

  init_debug ();
  hub->element = element;
  hub->settings = *settings;
  hub->settings.host = g_strdup (settings->host);
  hub->callbacks = *callbacks;
  hub->user_data = user_data;
  hub->context = g_main_context_new ();
  hub->loop = g_main_loop_new (hub->context, FALSE);
  hub->cancellable = g_cancellable_new ();
  hub->listen = g_ptr_array_new_with_free_func (g_object_unref);
  hub->peers = g_ptr_array_new ();
  g_mutex_init (&hub->lock);
  gst_nd_thread_init (&hub->thread, element);
  gst_nd_thread_start (&hub->thread, "connections", igtl_hub_run, hub);
  return hub;
}

static gboolean
igtl_hub_quit (gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;

  g_cancellable_cancel (hub->cancellable);
  g_main_loop_quit (hub->loop);
  return G_SOURCE_REMOVE;
}

void
gst_nd_igtl_hub_stop (GstNdIgtlHub *hub)
{
  /* First, because the thread calls run() until it is stopped. */
  gst_nd_thread_stop (&hub->thread);
  igtl_hub_post (hub, igtl_hub_quit);
  gst_nd_thread_clear (&hub->thread);
  g_queue_clear_full (&hub->outbox, (GDestroyNotify) gst_nd_igtl_unit_unref);
  g_ptr_array_unref (hub->listen);
  g_ptr_array_unref (hub->peers);
  g_object_unref (hub->cancellable);
  g_main_loop_unref (hub->loop);
  g_main_context_unref (hub->context);
  g_mutex_clear (&hub->lock);
  g_free (hub->settings.host);
  g_free (hub);
}

static gboolean
igtl_hub_resume (gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;

  for (guint i = 0; i < hub->peers->len; i++)
    gst_nd_igtl_peer_read (g_ptr_array_index (hub->peers, i));
  return G_SOURCE_REMOVE;
}

void
gst_nd_igtl_hub_resume (GstNdIgtlHub *hub)
{
  igtl_hub_post (hub, igtl_hub_resume);
}

static void
send_unit (GstNdIgtlHub *hub, GstNdIgtlUnit *unit, guint lost)
{
  for (guint i = 0; i < hub->peers->len; i++) {
    GstNdIgtlPeer *peer = g_ptr_array_index (hub->peers, i);

    if (!peer->streaming)
      continue;
    gst_nd_igtl_peer_lose (peer, lost);
    gst_nd_igtl_peer_send (peer, unit);
  }
}

/* Gives out one unit per call, so that the thread also reads from peers between
 * two units. */
static gboolean
send_next (gpointer user_data)
{
  GstNdIgtlHub *hub = user_data;
  GstNdIgtlUnit *unit;
  guint lost;

  g_mutex_lock (&hub->lock);
  unit = g_queue_pop_head (&hub->outbox);
  hub->sending = unit != NULL;
  lost = hub->overflow;
  hub->overflow = 0;
  g_mutex_unlock (&hub->lock);
  if (!unit)
    return G_SOURCE_REMOVE;
  send_unit (hub, unit, lost);
  gst_nd_igtl_unit_unref (unit);
  g_mutex_lock (&hub->lock);
  hub->sending = FALSE;
  g_mutex_unlock (&hub->lock);
  return G_SOURCE_REMOVE;
}

void
gst_nd_igtl_hub_send (GstNdIgtlHub *hub, GstNdIgtlUnit *unit)
{
  GstNdIgtlUnit *oldest = NULL;

  g_mutex_lock (&hub->lock);
  g_queue_push_tail (&hub->outbox, gst_nd_igtl_unit_ref (unit));
  if (hub->outbox.length > OUTBOX_MAX) {
    oldest = g_queue_pop_head (&hub->outbox);
    hub->overflow++;
  }
  g_mutex_unlock (&hub->lock);
  if (oldest)
    gst_nd_igtl_unit_unref (oldest);
  else
    igtl_hub_post (hub, send_next);
}

static gboolean
set_ending (GstNdIgtlHub *hub, gboolean ending)
{
  hub->ending = ending;
  for (guint i = 0; i < hub->peers->len; i++)
    gst_nd_igtl_peer_set_ending (g_ptr_array_index (hub->peers, i), ending);
  return G_SOURCE_REMOVE;
}

static gboolean
begin_ending (gpointer hub)
{
  return set_ending (hub, TRUE);
}

static gboolean
stop_ending (gpointer hub)
{
  return set_ending (hub, FALSE);
}

void
gst_nd_igtl_hub_set_ending (GstNdIgtlHub *hub, gboolean ending)
{
  igtl_hub_post (hub, ending ? begin_ending : stop_ending);
}

guint
gst_nd_igtl_hub_n_peers (GstNdIgtlHub *hub)
{
  guint n;

  g_mutex_lock (&hub->lock);
  n = hub->peers->len;
  g_mutex_unlock (&hub->lock);
  return n;
}

gboolean
gst_nd_igtl_hub_is_idle (GstNdIgtlHub *hub)
{
  gboolean idle;

  g_mutex_lock (&hub->lock);
  idle = !hub->sending && g_queue_is_empty (&hub->outbox);
  for (guint i = 0; idle && i < hub->peers->len; i++)
    idle = gst_nd_igtl_peer_get_stats (g_ptr_array_index (hub->peers, i)).queued
        == 0;
  g_mutex_unlock (&hub->lock);
  return idle;
}

void
gst_nd_igtl_hub_get_stats (GstNdIgtlHub *hub, GstStructure *stats)
{
  GstNdIgtlPeerStats sum;
  GValue clients = G_VALUE_INIT;

  g_value_init (&clients, GST_TYPE_ARRAY);
  g_mutex_lock (&hub->lock);
  sum = hub->past;
  for (guint i = 0; i < hub->peers->len; i++) {
    GstNdIgtlPeer *peer = g_ptr_array_index (hub->peers, i);
    const GstNdIgtlPeerStats one = gst_nd_igtl_peer_get_stats (peer);
    GValue client = G_VALUE_INIT;

    gst_nd_igtl_peer_stats_add (&sum, &one);
    g_value_init (&client, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&client, gst_nd_igtl_peer_describe (peer, &one));
    gst_value_array_append_and_take_value (&clients, &client);
  }
  gst_structure_set (stats, "port", G_TYPE_UINT,
      hub->port ? hub->port : hub->settings.port, "connections", G_TYPE_UINT64,
      hub->connections, "refused-connections", G_TYPE_UINT64, hub->refused,
      "broken-connections", G_TYPE_UINT64, hub->broken, "slow-connections",
      G_TYPE_UINT64, hub->slow, "reconnects", G_TYPE_UINT64, hub->reconnects,
      NULL);
  g_mutex_unlock (&hub->lock);
  gst_nd_igtl_peer_stats_set (&sum, stats);
  gst_structure_take_value (stats, "clients", &clients);
}
