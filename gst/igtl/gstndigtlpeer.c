/* One connection: reads and writes without blocking, at most a share at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlpeer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#define GST_CAT_DEFAULT gst_nd_igtl_debug

/* The most bytes of one read, which the checksum then finds in the cache, and
 * of one round. */
#define READ_SIZE (256 * 1024)
#define ROUND_SIZE (2 * 1024 * 1024)

/* The most volumes that wait for a slow peer, beside the volume that is being
 * sent. */
#define VOLUMES_MAX 8

/* How often a peer that has not read its volumes is looked at. */
#define LOOK 10 /* ms */

#define REPLIES_MAX 64

/* If nothing arrives from a computer, for example because a cable was pulled,
 * it is asked after SILENCE and then after each PROBE_PAUSE. Without an answer
 * the connection ends. Programs that only have nothing to send do answer. The
 * answer has the receive window, which tells GstNdIgtlPace that a peer reads
 * again. */
#define SILENCE 1     /* s */
#define PROBE_PAUSE 8 /* s */
#define PROBES 3

/* TCP_USER_TIMEOUT would also end connections with programs that only do not
 * read. Options that a system lacks are left out. */
static void
set_options (GSocket *socket)
{
  g_socket_set_blocking (socket, FALSE);
  g_socket_set_timeout (socket, 0);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
  g_socket_set_keepalive (socket, TRUE);
#ifdef TCP_KEEPIDLE
  g_socket_set_option (socket, IPPROTO_TCP, TCP_KEEPIDLE, SILENCE, NULL);
#endif
#ifdef TCP_KEEPINTVL
  g_socket_set_option (socket, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_PAUSE, NULL);
#endif
#ifdef TCP_KEEPCNT
  g_socket_set_option (socket, IPPROTO_TCP, TCP_KEEPCNT, PROBES, NULL);
#endif
}

GstNdIgtlPeer *
gst_nd_igtl_peer_new (GSocket *socket, GIOStream *stream, guint64 max_size,
    gboolean check_crc, GMainContext *context)
{
  GstNdIgtlPeer *peer = g_new0 (GstNdIgtlPeer, 1);
  g_autoptr (GSocketAddress) address =
      g_socket_get_remote_address (socket, NULL);

  set_options (socket);
  peer->socket = socket;
  peer->stream = stream;
  peer->address = address
      ? g_socket_connectable_to_string (G_SOCKET_CONNECTABLE (address))
      : g_strdup ("unknown");
  peer->context = context;
  peer->receiver = nd_receiver_new (max_size, check_crc);
  peer->progress = g_get_monotonic_time ();
  peer->streaming = TRUE;
  g_mutex_init (&peer->lock);
  return peer;
}

static void
clear_source (GSource **source)
{
  if (*source)
    g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

void
gst_nd_igtl_peer_free (GstNdIgtlPeer *peer)
{
  clear_source (&peer->in);
  clear_source (&peer->out);
  clear_source (&peer->pause);
  if (peer->destroy)
    peer->destroy (peer->data);
  g_socket_close (peer->socket, NULL);
  g_clear_object (&peer->stream);
  g_object_unref (peer->socket);
  g_queue_clear_full (&peer->queue, (GDestroyNotify) gst_nd_igtl_unit_unref);
  nd_receiver_free (peer->receiver);
  g_mutex_clear (&peer->lock);
  g_free (peer->address);
  g_free (peer);
}

/* The peer is not valid afterwards. */
static gboolean
igtl_peer_end (GstNdIgtlPeer *peer, const GError *error)
{
  clear_source (&peer->in);
  clear_source (&peer->out);
  clear_source (&peer->pause);
  peer->ended (peer, error);
  return G_SOURCE_REMOVE;
}

static GSource *
wait_for (GstNdIgtlPeer *peer, GIOCondition condition, GSocketSourceFunc func)
{
  GSource *source = g_socket_create_source (peer->socket, condition, NULL);

  g_source_set_callback (source, G_SOURCE_FUNC (func), peer, NULL);
  g_source_attach (source, peer->context);
  return source;
}

static gboolean
must_wait (const GstNdIgtlPeer *peer)
{
  return peer->n_replies >= REPLIES_MAX
      || (peer->callbacks->is_full
          && peer->callbacks->is_full (peer->user_data));
}

/* FALSE if the stream is lost. */
static gboolean
igtl_peer_take (GstNdIgtlPeer *peer, gsize n, GError **lost)
{
  const GstNdIgtlCallbacks *callbacks = peer->callbacks;

  for (;; n = 0) {
    g_autoptr (GError) error = NULL;
    const NdReceived event = nd_receiver_take (peer->receiver, n, &error);

    if (event == ND_RECEIVED_NOTHING)
      return TRUE;
    if (event == ND_RECEIVED_LOST) {
      g_propagate_error (lost, g_steal_pointer (&error));
      return FALSE;
    }
    peer->spoke = TRUE;
    if (event != ND_RECEIVED_IMAGE)
      peer->began = 0; /* the next message is another one */
    if (event == ND_RECEIVED_IMAGE)
      nd_receiver_set_samples (peer->receiver,
          callbacks->image
              ? callbacks->image (peer, peer->receiver, peer->user_data)
              : NULL);
    else if (callbacks->received)
      callbacks->received (peer, peer->receiver, event, error, peer->user_data);
  }
}

static gboolean
igtl_peer_broken (GSocket *socket, GIOCondition condition, gpointer user_data)
{
  return igtl_peer_end (user_data, NULL);
}

/* The peer has ended its direction. TRUE if it still gets volumes: then only an
 * error, or the end of the other direction, ends the connection. */
static gboolean
igtl_peer_stays (GstNdIgtlPeer *peer)
{
  if (!peer->half_closed
      || (!peer->streaming && g_queue_is_empty (&peer->queue)))
    return FALSE;
  clear_source (&peer->in);
  peer->in = wait_for (peer, G_IO_ERR | G_IO_HUP, igtl_peer_broken);
  return TRUE;
}

static gboolean
readable (GSocket *socket, GIOCondition condition, gpointer user_data)
{
  GstNdIgtlPeer *peer = user_data;
  gsize total = 0, wanted;
  gssize n;

  do {
    g_autoptr (GError) error = NULL;
    guint8 *space;

    if (must_wait (peer)) {
      peer->paused = g_get_monotonic_time ();
      clear_source (&peer->in);
      return G_SOURCE_REMOVE;
    }
    space = nd_receiver_space (peer->receiver, &wanted);
    wanted = MIN (wanted, READ_SIZE);
    n = g_socket_receive (socket, (gchar *) space, wanted, NULL, &error);
    if (n < 0 && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
      break;
    if (n == 0 && igtl_peer_stays (peer))
      return G_SOURCE_REMOVE;
    if (n <= 0)
      return igtl_peer_end (peer, error);
    total += n;
    peer->progress = g_get_monotonic_time ();
    g_mutex_lock (&peer->lock);
    peer->stats.bytes_received += n;
    g_mutex_unlock (&peer->lock);
    if (!igtl_peer_take (peer, n, &error))
      return igtl_peer_end (peer, error);
    if (!nd_receiver_in_message (peer->receiver))
      peer->began = 0;
    else if (peer->began == 0)
      peer->began = peer->progress;
  } while ((gsize) n == wanted && total < ROUND_SIZE);
  return G_SOURCE_CONTINUE;
}

void
gst_nd_igtl_peer_read (GstNdIgtlPeer *peer)
{
  if (peer->in || must_wait (peer))
    return;
  peer->progress = g_get_monotonic_time ();
  if (peer->began)
    peer->began += peer->progress - peer->paused;
  peer->in = wait_for (peer, G_IO_IN, readable);
}

static void
remove_first (GstNdIgtlPeer *peer)
{
  GstNdIgtlUnit *unit = g_queue_pop_head (&peer->queue);

  peer->at = 0;
  g_mutex_lock (&peer->lock);
  peer->stats.queued--;
  if (gst_nd_igtl_unit_is_volume (unit)) {
    peer->n_volumes--;
    peer->stats.volumes_sent++;
  } else {
    peer->n_replies--;
  }
  g_mutex_unlock (&peer->lock);
  GST_LOG_OBJECT (peer->element, "sent a %s of %" G_GSIZE_FORMAT " bytes to %s",
      gst_nd_igtl_unit_is_volume (unit) ? "volume" : "reply",
      gst_nd_igtl_unit_size (unit), peer->address);
  gst_nd_igtl_unit_unref (unit);
}

/* Returns the bytes that the socket took: 0 if it takes none now, -1 if it is
 * broken. */
static gssize
send_some (GstNdIgtlPeer *peer, GError **error)
{
  GstNdIgtlUnit *unit = g_queue_peek_head (&peer->queue);
  GOutputVector vectors[3];
  gconstpointer data[3];
  gsize sizes[3];
  const guint n = gst_nd_igtl_unit_get_vectors (unit, peer->at, data, sizes);
  g_autoptr (GError) failure = NULL;
  gssize sent;

  for (guint i = 0; i < n; i++)
    vectors[i] = (GOutputVector){ data[i], sizes[i] };
  sent = g_socket_send_message (peer->socket, NULL, vectors, n, NULL, 0, 0,
      NULL, &failure);
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
    return 0;
  if (failure)
    g_propagate_error (error, g_steal_pointer (&failure));
  return sent;
}

static GList *
igtl_peer_find_volume (const GstNdIgtlPeer *peer)
{
  GList *link = peer->queue.head;

  if (link && peer->at > 0)
    link = link->next;
  while (link && !gst_nd_igtl_unit_is_volume (link->data))
    link = link->next;
  return link;
}

/* Of the volumes of which nothing is sent yet, drops those that are too many
 * or too old, but not the newest. */
static void
drop_old (GstNdIgtlPeer *peer)
{
  const gint64 now = g_get_monotonic_time ();
  const guint sending = peer->at > 0
      && gst_nd_igtl_unit_is_volume (g_queue_peek_head (&peer->queue));
  GList *link;

  while (peer->n_volumes > 1 + sending && (link = igtl_peer_find_volume (peer))
      && (peer->n_volumes > VOLUMES_MAX + sending
          || now - gst_nd_igtl_unit_time (link->data) > peer->patience)) {
    gst_nd_igtl_unit_unref (link->data);
    g_queue_delete_link (&peer->queue, link);
    peer->n_volumes--;
    g_mutex_lock (&peer->lock);
    peer->stats.queued--;
    peer->stats.volumes_dropped++;
    g_mutex_unlock (&peer->lock);
    GST_DEBUG_OBJECT (peer->element, "%s is slow: a volume is dropped",
        peer->address);
  }
}

/* How long the first unit has to wait, in us. */
static gint64
find_pause (GstNdIgtlPeer *peer)
{
  const GstNdIgtlUnit *unit = g_queue_peek_head (&peer->queue);
  const gint fd = g_socket_get_fd (peer->socket);
  gint64 pause;

  if (peer->at > 0 || peer->ending || !gst_nd_igtl_unit_is_volume (unit))
    return 0;
  pause = gst_nd_igtl_pace_wait (&peer->pace, fd, peer->stats.bytes_sent,
      gst_nd_igtl_unit_size (unit));
  if (pause == 0)
    gst_nd_igtl_pace_limit (&peer->pace, fd, gst_nd_igtl_unit_size (unit));
  return pause;
}

/* Sends until the queue is empty, the socket is full, a round is over, or the
 * next volume has to wait for @pause us. FALSE if the connection is broken. */
static gboolean
send_round (GstNdIgtlPeer *peer, gint64 *pause, GError **error)
{
  gsize total = 0;

  *pause = 0;
  drop_old (peer);
  while (!g_queue_is_empty (&peer->queue) && total < ROUND_SIZE
      && (*pause = find_pause (peer)) == 0) {
    const gssize sent = send_some (peer, error);

    if (sent < 0)
      return FALSE;
    if (sent == 0)
      break;
    total += sent;
    peer->at += sent;
    g_mutex_lock (&peer->lock);
    peer->stats.bytes_sent += sent;
    g_mutex_unlock (&peer->lock);
    if (peer->at == gst_nd_igtl_unit_size (g_queue_peek_head (&peer->queue)))
      remove_first (peer);
  }
  return TRUE;
}

static void wait_to_send (GstNdIgtlPeer *peer, gint64 pause);

static gboolean
send_more (GstNdIgtlPeer *peer)
{
  g_autoptr (GError) error = NULL;
  gint64 pause;

  if (!send_round (peer, &pause, &error))
    return igtl_peer_end (peer, error);
  wait_to_send (peer, pause);
  gst_nd_igtl_peer_read (peer);
  return G_SOURCE_REMOVE;
}

static gboolean
writable (GSocket *socket, GIOCondition condition, gpointer user_data)
{
  GstNdIgtlPeer *peer = user_data;

  clear_source (&peer->out);
  return send_more (peer);
}

static gboolean
pause_over (gpointer user_data)
{
  GstNdIgtlPeer *peer = user_data;

  clear_source (&peer->pause);
  return send_more (peer);
}

/* Goes on when the socket has room or, if @pause is not 0, after a while. */
static void
wait_to_send (GstNdIgtlPeer *peer, gint64 pause)
{
  if (g_queue_is_empty (&peer->queue) || peer->out || peer->pause)
    return;
  if (pause == 0) {
    peer->out = wait_for (peer, G_IO_OUT, writable);
    return;
  }
  peer->pause = g_timeout_source_new (MIN (pause / 1000 + 1, LOOK));
  g_source_set_callback (peer->pause, pause_over, peer, NULL);
  g_source_attach (peer->pause, peer->context);
}

void
gst_nd_igtl_peer_send (GstNdIgtlPeer *peer, GstNdIgtlUnit *unit)
{
  gint64 pause = 0;

  if (gst_nd_igtl_unit_is_volume (unit))
    peer->n_volumes++;
  else
    peer->n_replies++;
  g_queue_push_tail (&peer->queue, gst_nd_igtl_unit_ref (unit));
  g_mutex_lock (&peer->lock);
  peer->stats.queued++;
  g_mutex_unlock (&peer->lock);
  /* Volumes may arrive in a burst if this thread had to wait for a CPU: as long
   * as the socket has room, none is dropped. */
  if (peer->n_volumes <= VOLUMES_MAX && (peer->out || peer->pause))
    drop_old (peer);
  else if (!send_round (peer, &pause, NULL))
    pause = 0; /* A broken connection ends in writable(). */
  wait_to_send (peer, pause);
}

void
gst_nd_igtl_peer_set_ending (GstNdIgtlPeer *peer, gboolean ending)
{
  peer->ending = ending;
  if (ending)
    gst_nd_igtl_pace_limit (&peer->pace, g_socket_get_fd (peer->socket), 0);
}

void
gst_nd_igtl_peer_lose (GstNdIgtlPeer *peer, guint volumes)
{
  g_mutex_lock (&peer->lock);
  peer->stats.volumes_dropped += volumes;
  g_mutex_unlock (&peer->lock);
}

void
gst_nd_igtl_peer_reply (GstNdIgtlPeer *peer, GstNdIgtlUnit *unit)
{
  gst_nd_igtl_peer_send (peer, unit);
  gst_nd_igtl_unit_unref (unit);
}

gboolean
gst_nd_igtl_peer_is_stalled (GstNdIgtlPeer *peer, gint64 most)
{
  return peer->in && nd_receiver_in_message (peer->receiver)
      && g_get_monotonic_time () - peer->progress > most;
}

gboolean
gst_nd_igtl_peer_is_slow (GstNdIgtlPeer *peer, gint64 most)
{
  return peer->in && peer->began
      && g_get_monotonic_time () - peer->began > most;
}

GstNdIgtlPeerStats
gst_nd_igtl_peer_get_stats (GstNdIgtlPeer *peer)
{
  GstNdIgtlPeerStats stats;

  g_mutex_lock (&peer->lock);
  stats = peer->stats;
  g_mutex_unlock (&peer->lock);
  return stats;
}

void
gst_nd_igtl_peer_set_streaming (GstNdIgtlPeer *peer, gboolean streaming)
{
  peer->streaming = streaming;
}

const gchar *
gst_nd_igtl_peer_address (const GstNdIgtlPeer *peer)
{
  return peer->address;
}

gpointer
gst_nd_igtl_peer_get_data (const GstNdIgtlPeer *peer)
{
  return peer->data;
}

void
gst_nd_igtl_peer_set_data (GstNdIgtlPeer *peer, gpointer data,
    GDestroyNotify destroy)
{
  if (peer->destroy)
    peer->destroy (peer->data);
  peer->data = data;
  peer->destroy = destroy;
}

void
gst_nd_igtl_peer_stats_add (GstNdIgtlPeerStats *sum,
    const GstNdIgtlPeerStats *stats)
{
  sum->bytes_received += stats->bytes_received;
  sum->bytes_sent += stats->bytes_sent;
  sum->volumes_sent += stats->volumes_sent;
  sum->volumes_dropped += stats->volumes_dropped;
}

void
gst_nd_igtl_peer_stats_set (const GstNdIgtlPeerStats *stats, GstStructure *to)
{
  gst_structure_set (to, "bytes-received", G_TYPE_UINT64, stats->bytes_received,
      "bytes-sent", G_TYPE_UINT64, stats->bytes_sent, "volumes-sent",
      G_TYPE_UINT64, stats->volumes_sent, "volumes-dropped", G_TYPE_UINT64,
      stats->volumes_dropped, NULL);
}

GstStructure *
gst_nd_igtl_peer_describe (GstNdIgtlPeer *peer, const GstNdIgtlPeerStats *stats)
{
  GstStructure *client = gst_structure_new ("client", "address", G_TYPE_STRING,
      peer->address, "queued", G_TYPE_UINT, stats->queued, NULL);

  gst_nd_igtl_peer_stats_set (stats, client);
  return client;
}

/* Binds sockets to the addresses of a host.
 */

#define BACKLOG 64

/* Returns a socket that listens at @address and @port, or NULL. */
static GSocket *
bind_to (GInetAddress *address, guint port, GError **error)
{
  g_autoptr (GSocketAddress) at = g_inet_socket_address_new (address, port);
  g_autoptr (GSocket) socket =
      g_socket_new (g_inet_address_get_family (address), G_SOCKET_TYPE_STREAM,
          G_SOCKET_PROTOCOL_TCP, error);

  if (!socket)
    return NULL;
  g_socket_set_blocking (socket, FALSE);
  g_socket_set_listen_backlog (socket, BACKLOG);
  /* IPv4 has a socket of its own. */
  if (g_inet_address_get_family (address) == G_SOCKET_FAMILY_IPV6)
    g_socket_set_option (socket, IPPROTO_IPV6, IPV6_V6ONLY, 1, NULL);
  if (!g_socket_bind (socket, at, TRUE, error)
      || !g_socket_listen (socket, error))
    return NULL;
  return g_steal_pointer (&socket);
}

static guint
port_of (GSocket *socket)
{
  g_autoptr (GSocketAddress) address =
      g_socket_get_local_address (socket, NULL);

  return address
      ? g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (address))
      : 0;
}

gboolean
gst_nd_igtl_listen (GList *addresses, guint *port, GPtrArray *sockets,
    GError **error)
{
  for (GList *link = addresses; link; link = link->next) {
    GSocket *socket;

    g_clear_error (error);
    socket = bind_to (link->data, *port, error);
    if (socket) {
      *port = port_of (socket);
      g_ptr_array_add (sockets, socket);
    } else if (g_error_matches (*error, G_IO_ERROR,
                   G_IO_ERROR_ADDRESS_IN_USE)) {
      return FALSE;
    }
  }
  if (sockets->len == 0)
    return FALSE;
  g_clear_error (error);
  return TRUE;
}
