/* The sockets of the OpenIGTLink elements. One thread serves all peers and
 * never blocks on any of them: each peer gets a share of every round, so that
 * no peer slows another one and a hub can stop at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/igtl/gstndigtlunit.h"
#include "live/receiver.h"

G_BEGIN_DECLS

/* The log category of both elements. gst_nd_igtl_hub_new() registers it. */
GST_DEBUG_CATEGORY_EXTERN (gst_nd_igtl_debug);

typedef struct _GstNdIgtlHub GstNdIgtlHub;
typedef struct _GstNdIgtlPeer GstNdIgtlPeer;

typedef struct
{
  gboolean server;
  gchar *host;
  guint port; /* 0 with server: any that is free */
  guint64 max_size;
  gboolean check_crc;
  gint reconnect;        /* s before the first new attempt; -1: never */
  gdouble reconnect_max; /* s, the longest time between two attempts */
  guint stall; /* ms that a message may stop; then its connection is closed */
  guint message_timeout; /* ms that a message may take; 0: any time */
  guint patience; /* ms that a volume may wait for a slow peer while a newer one
                   * waits, too; then it is dropped */
  gboolean half_closed; /* peers that only read may end their direction */
} GstNdIgtlSettings;

#define GST_ND_IGTL_STALL 10000        /* ms */
#define GST_ND_IGTL_MESSAGE_TIMEOUT 60 /* s */
#define GST_ND_IGTL_PATIENCE 100       /* ms */
#define GST_ND_IGTL_RECONNECT_MAX 2    /* s */

/* The functions are called in the thread of the hub. Each may be NULL. */
typedef struct
{
  void (*opened) (GstNdIgtlPeer *peer, gpointer user_data);
  /* @error is the reason, of ND_ERROR if the bytes of the peer are; or NULL if
   * the peer or the hub closed the connection. */
  void (*closed) (GstNdIgtlPeer *peer, const GError *error, gpointer user_data);
  /* The header of an IMAGE has arrived. Returns memory for its samples, or
   * NULL. */
  guint8 *(*image) (GstNdIgtlPeer *peer, NdReceiver *receiver,
      gpointer user_data);
  /* @event is ND_RECEIVED_MESSAGE, _SKIPPED or _REFUSED (with @error). */
  void (*received) (GstNdIgtlPeer *peer, NdReceiver *receiver, NdReceived event,
      const GError *error, gpointer user_data);
  /* TRUE: nothing is read until gst_nd_igtl_hub_resume(). */
  gboolean (*is_full) (gpointer user_data);
  /* Connecting or listening failed. If @fatal, the hub does not try again. */
  void (*failed) (const GError *error, gboolean fatal, gpointer user_data);
} GstNdIgtlCallbacks;

/* Returns at once. A thread of @element resolves, binds and connects. */
GstNdIgtlHub *gst_nd_igtl_hub_new (GstElement *element,
    const GstNdIgtlSettings *settings, const GstNdIgtlCallbacks *callbacks,
    gpointer user_data);

/* Closes all connections and ends the thread. */
void gst_nd_igtl_hub_stop (GstNdIgtlHub *hub);

/* Can be called from any thread. */
void gst_nd_igtl_hub_resume (GstNdIgtlHub *hub);
void gst_nd_igtl_hub_send (GstNdIgtlHub *hub, GstNdIgtlUnit *unit);
guint gst_nd_igtl_hub_n_peers (GstNdIgtlHub *hub);

/* Whether everything is handed to the system at once, because nothing newer
 * follows. FALSE at first. */
void gst_nd_igtl_hub_set_ending (GstNdIgtlHub *hub, gboolean ending);

/* TRUE if the queues of all peers are empty or if there is no peer. */
gboolean gst_nd_igtl_hub_is_idle (GstNdIgtlHub *hub);

/* Adds the fields about connections: `port`, `connections`,
 * `refused-connections`, `broken-connections`, `slow-connections`,
 * `reconnects`, `bytes-received`, `bytes-sent`, `volumes-sent`,
 * `volumes-dropped` and `clients`, an array of structures with the address and
 * the same figures of each peer. */
void gst_nd_igtl_hub_get_stats (GstNdIgtlHub *hub, GstStructure *stats);

/* Sends a reply. Call it in the thread of the hub only. A reply is never
 * dropped; while many wait, nothing is read from this peer. Takes @unit. */
void gst_nd_igtl_peer_reply (GstNdIgtlPeer *peer, GstNdIgtlUnit *unit);

/* Sets whether volumes are sent to this peer; TRUE at first. */
void gst_nd_igtl_peer_set_streaming (GstNdIgtlPeer *peer, gboolean streaming);

/* The address and port as text, which lives as long as the peer. */
const gchar *gst_nd_igtl_peer_address (const GstNdIgtlPeer *peer);

/* Data that the user of the hub stores with a peer; freed after closed(). */
gpointer gst_nd_igtl_peer_get_data (const GstNdIgtlPeer *peer);
void gst_nd_igtl_peer_set_data (GstNdIgtlPeer *peer, gpointer data,
    GDestroyNotify destroy);

G_END_DECLS
