/* Serves one page, its WebSocket, metrics and snapshots. No other file.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tools/web/player.h"

G_BEGIN_DECLS

typedef struct _WebServer WebServer;

/* Listens on @port (0: a free one) of localhost or, if @address is not NULL, of
 * that address. Each request needs a token. @hosts: more names of this machine.
 * Errors: the port is in use, the address is wrong. */
WebServer *web_server_new (WebPlayer *player, guint port, const gchar *address,
    const gchar *const *hosts, GError **error);
void web_server_free (WebServer *self);

/* The address of the page, with the token. */
const gchar *web_server_url (WebServer *self);

void web_server_send_pictures (WebServer *self);
void web_server_send_state (WebServer *self);

G_END_DECLS
