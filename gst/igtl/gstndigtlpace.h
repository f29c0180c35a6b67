/* When the next volume may be sent to a peer. TCP takes bytes as long as the
 * peer has room for them, so that many small volumes could wait there, unread
 * and ever older. Of a peer on the same computer, the system tells how much it
 * has read. Of others the receive window, which the peer announces with each
 * acknowledgement, tells how many bytes wait. Messages of less than 1 KB do not
 * change it, and never wait.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gboolean elsewhere; /* the peer is on another computer */
  guint32 widest;     /* the largest window so far, bytes */
  guint32 window;     /* the last one */
  gsize queued;    /* bytes of the socket that the peer has not acknowledged */
  gboolean busy;   /* more than one volume waits there */
  guint64 read;    /* bytes that the peer has read, as far as is known */
  gint64 since;    /* when that became known or it became busy, us */
  gint64 interval; /* of a busy peer between two volumes, us */
  gsize low_water; /* bytes that wait in the socket before it is full */
} GstNdIgtlPace;

/* How long to wait, in us, before a volume of @size bytes is begun on the
 * socket @fd, which has taken @sent bytes so far. 0: it may begin now. Where
 * the system does not tell the window, always 0. */
gint64 gst_nd_igtl_pace_wait (GstNdIgtlPace *pace, gint fd, guint64 sent,
    gsize size);

/* Limits the bytes that wait in the socket itself to a part of @size. 0: no
 * limit, as for the last volumes of a stream, which no newer one follows. */
void gst_nd_igtl_pace_limit (GstNdIgtlPace *pace, gint fd, gsize size);

/* The bytes that a program on this computer has not read from a connection. The
 * system tells them of each of its sockets.
 */

/* Sets @read to the bytes that the peer of the TCP socket @fd has read of those
 * that were sent to it. FALSE if the peer is on another computer, or if the
 * system does not tell. */
gboolean gst_nd_igtl_read_by_peer (gint fd, guint64 *read);

G_END_DECLS
