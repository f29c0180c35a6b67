/* Which requests a server answers: from pages of its own, with the token,
 * without a body, with few headers, and in time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

typedef struct _WebGuard WebGuard;

/* Watches the connections of @server. @token: what each request must have as
 * its parameter token or as "Authorization: Bearer". @listens: other machines
 * can connect; if not, only local names and addresses are accepted in Host.
 * @hosts: names of this machine beside localhost and its addresses. */
WebGuard *web_guard_new (SoupServer *server, const gchar *token,
    gboolean listens, const gchar *const *hosts);
void web_guard_free (WebGuard *self);

/* FALSE if the request is refused; it then has its answer. */
gboolean web_guard_check (WebGuard *self, SoupServerMessage *message,
    GHashTable *query);

/* Answers with a sentence. */
void web_guard_answer (SoupServerMessage *message, guint status,
    const gchar *text);

/* Whether the connection of @message still waits for its answer. */
gboolean web_guard_is_open (WebGuard *self, SoupServerMessage *message);

/* The connection became one that lasts; the guard no longer watches it. */
void web_guard_release (WebGuard *self, SoupServerMessage *message);

/* Closes connections that take too long. Called a few times per second. */
void web_guard_sweep (WebGuard *self);

/* Requests that were refused, and connections that were closed because they
 * took too long or were too many. */
guint64 web_guard_refused (WebGuard *self);
guint64 web_guard_dropped (WebGuard *self);

G_END_DECLS
