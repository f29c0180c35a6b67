/* Sockets that wait for connections.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Adds to @sockets one GSocket for each of @addresses (GInetAddress), that
 * listens at *@port; if that is 0, at a free port, which it becomes. Addresses
 * that this computer does not have are skipped, for example ::1 without IPv6.
 * FALSE if a port is in use or if no address is left. */
gboolean gst_nd_igtl_listen (GList *addresses, guint *port, GPtrArray *sockets,
    GError **error);

G_END_DECLS
