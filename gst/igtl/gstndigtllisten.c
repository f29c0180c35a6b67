/* Binds sockets to the addresses of a host.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtllisten.h"

#include <netinet/in.h>

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
