/* Sockets that wait for connections.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Adds one listening GSocket for each of @addresses (GInetAddress) to @sockets.
 * If *@port is 0, a free port is chosen and stored there. Addresses
 * that this computer does not have are skipped, for example ::1 without IPv6.
 * FALSE if a port is in use or if no address is left. */
gboolean gst_nd_igtl_listen (GList *addresses, guint *port, GPtrArray *sockets,
    GError **error);

G_END_DECLS
