/* The bytes that a program on this computer has not read from a connection. The
 * system tells them of each of its sockets.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sets @read to the bytes that the peer of the TCP socket @fd has read of those
 * that were sent to it. FALSE if the peer is on another computer, or if the
 * system does not tell. */
gboolean gst_nd_igtl_read_by_peer (gint fd, guint64 *read);

G_END_DECLS
