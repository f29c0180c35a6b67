/* One connection of a hub.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/igtl/gstndigtlhub.h"
#include "gst/igtl/gstndigtlpace.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 bytes_received, bytes_sent, volumes_sent, volumes_dropped;
  guint queued; /* units that wait, or are being sent */
} GstNdIgtlPeerStats;

/* Adds the counts of @stats, except `queued`, to @sum. */
void gst_nd_igtl_peer_stats_add (GstNdIgtlPeerStats *sum,
    const GstNdIgtlPeerStats *stats);
void gst_nd_igtl_peer_stats_set (const GstNdIgtlPeerStats *stats,
    GstStructure *to);

struct _GstNdIgtlPeer
{
  GstNdIgtlHub *hub;
  GstElement *element; /* for messages of the log */
  const GstNdIgtlCallbacks *callbacks;
  gpointer user_data;
  GMainContext *context;
  void (*ended) (GstNdIgtlPeer *peer, const GError *error);

  GSocket *socket;
  GIOStream *stream; /* holds the socket of a client; or NULL */
  gchar *address;
  GSource *in, *out; /* NULL: not waited for */
  GSource *pause;    /* before the next volume; or NULL */
  NdReceiver *receiver;
  gint64 progress; /* arrival of the last byte, monotonic, us */
  gint64 began;    /* arrival of the first byte of the message, or 0; later by
                    * the time in which nothing was read */
  gint64 paused;   /* since when nothing is read */
  gboolean spoke;  /* a message has arrived */

  GQueue queue; /* GstNdIgtlUnit */
  gsize at;     /* bytes of the first one that have been sent */
  guint n_volumes, n_replies;
  gboolean streaming;
  gint64 patience;      /* us; see GstNdIgtlSettings */
  gboolean half_closed; /* the peer may end its direction */
  gboolean ending;      /* nothing newer follows */
  GstNdIgtlPace pace;

  GMutex lock; /* of stats */
  GstNdIgtlPeerStats stats;

  gpointer data;
  GDestroyNotify destroy;
};

/* Takes @socket and @stream. @ended is called once if the connection ends, from
 * a function of this file. It must free the peer after that function has
 * returned. */
GstNdIgtlPeer *gst_nd_igtl_peer_new (GSocket *socket, GIOStream *stream,
    guint64 max_size, gboolean check_crc, GMainContext *context);
void gst_nd_igtl_peer_free (GstNdIgtlPeer *peer);

/* Starts to wait for bytes. */
void gst_nd_igtl_peer_read (GstNdIgtlPeer *peer);

/* Sends as much as the peer and the socket take now, and queues the rest. Of
 * the volumes that wait, the old ones are dropped. */
void gst_nd_igtl_peer_send (GstNdIgtlPeer *peer, GstNdIgtlUnit *unit);

/* If @ending, the peer gets what waits for it without a limit of its pace.
 * Thread of the hub. */
void gst_nd_igtl_peer_set_ending (GstNdIgtlPeer *peer, gboolean ending);

/* Counts volumes that were dropped before they reached the peer. */
void gst_nd_igtl_peer_lose (GstNdIgtlPeer *peer, guint volumes);

/* TRUE if a message has begun and nothing has arrived for this time, in us. */
gboolean gst_nd_igtl_peer_is_stalled (GstNdIgtlPeer *peer, gint64 most);

/* TRUE if a message has taken longer than this time, in us, to arrive. The time
 * in which this side did not read does not count. */
gboolean gst_nd_igtl_peer_is_slow (GstNdIgtlPeer *peer, gint64 most);

/* Any thread. */
GstNdIgtlPeerStats gst_nd_igtl_peer_get_stats (GstNdIgtlPeer *peer);

/* The structure of this peer in `clients` of `stats`. */
GstStructure *gst_nd_igtl_peer_describe (GstNdIgtlPeer *peer,
    const GstNdIgtlPeerStats *stats);

/* Sockets that wait for connections.
 */

/* Adds one listening GSocket for each of @addresses (GInetAddress) to @sockets.
 * If *@port is 0, a free port is chosen and stored there. Addresses
 * that this computer does not have are skipped, for example ::1 without IPv6.
 * FALSE if a port is in use or if no address is left. */
gboolean gst_nd_igtl_listen (GList *addresses, guint *port, GPtrArray *sockets,
    GError **error);

G_END_DECLS
