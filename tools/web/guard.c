/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/guard.h"

#include <string.h>

#define MAX_CONNECTIONS 64
#define MAX_REQUEST_SECONDS 10
#define MAX_BODY_BYTES 1024 /* that get an answer */

struct _WebGuard
{
  SoupServer *server;
  gchar *token;
  gchar **hosts;
  GHashTable *connections; /* SoupServerMessage to Connection */
};

typedef struct
{
  GSocket *socket;
  gint64 started;
} Connection;

static void
free_connection (gpointer data)
{
  Connection *connection = data;

  g_object_unref (connection->socket);
  g_free (connection);
}

static void
request_started (SoupServer *server, SoupServerMessage *message, gpointer data)
{
  WebGuard *self = data;
  GSocket *socket = soup_server_message_get_socket (message);
  Connection *connection;

  if (!socket)
    return;
  if (g_hash_table_size (self->connections) >= MAX_CONNECTIONS) {
    g_socket_close (socket, NULL);
    return;
  }
  connection = g_new0 (Connection, 1);
  connection->socket = g_object_ref (socket);
  connection->started = g_get_monotonic_time ();
  g_hash_table_insert (self->connections, message, connection);
  /* No request needs a body, so that none is read. */
  soup_message_body_set_accumulate (
      soup_server_message_get_request_body (message), FALSE);
}

static void
request_ended (SoupServer *server, SoupServerMessage *message, gpointer data)
{
  WebGuard *self = data;

  g_hash_table_remove (self->connections, message);
}

WebGuard *
web_guard_new (SoupServer *server, const gchar *token,
    const gchar *const *hosts)
{
  WebGuard *self = g_new0 (WebGuard, 1);

  self->server = g_object_ref (server);
  self->token = g_strdup (token);
  self->hosts = g_strdupv ((gchar **) hosts);
  self->connections = g_hash_table_new_full (NULL, NULL, NULL, free_connection);
  g_signal_connect (server, "request-started", G_CALLBACK (request_started),
      self);
  g_signal_connect (server, "request-finished", G_CALLBACK (request_ended),
      self);
  g_signal_connect (server, "request-aborted", G_CALLBACK (request_ended),
      self);
  return self;
}

void
web_guard_free (WebGuard *self)
{
  g_signal_handlers_disconnect_by_data (self->server, self);
  g_hash_table_unref (self->connections);
  g_object_unref (self->server);
  g_strfreev (self->hosts);
  g_free (self->token);
  g_free (self);
}

void
web_guard_answer (SoupServerMessage *message, guint status, const gchar *text)
{
  g_autofree gchar *line = g_strconcat (text, "\n", NULL);

  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, "text/plain; charset=utf-8",
      SOUP_MEMORY_COPY, line, strlen (line));
  if (status >= 400)
    soup_message_headers_replace (
        soup_server_message_get_response_headers (message), "Connection",
        "close");
}

/* The name in the header Host, without the port and in lower case. */
static gchar *
host_name (const gchar *host)
{
  const gchar *end = *host == '[' ? strchr (host, ']') : strchr (host, ':');

  if (*host == '[')
    return end ? g_ascii_strdown (host + 1, end - host - 1) : g_strdup ("");
  return g_ascii_strdown (host, end ? end - host : -1);
}

/* Another page can only use a name that it controls (DNS rebinding), never an
 * address. */
static gboolean
host_is_good (WebGuard *self, const gchar *host)
{
  g_autofree gchar *name = host ? host_name (host) : NULL;
  g_autoptr (GInetAddress) address = NULL;

  if (!name)
    return FALSE;
  if (strcmp (name, "localhost") == 0)
    return TRUE;
  address = g_inet_address_new_from_string (name);
  if (address)
    return self->token || g_inet_address_get_is_loopback (address);
  for (guint i = 0; self->hosts && self->hosts[i]; i++)
    if (g_ascii_strcasecmp (self->hosts[i], name) == 0)
      return TRUE;
  return FALSE;
}

/* Whether a page of this server asked, or no page. */
static gboolean
origin_is_good (SoupMessageHeaders *headers)
{
  const gchar *host = soup_message_headers_get_one (headers, "Host");
  const gchar *origin = soup_message_headers_get_one (headers, "Origin");
  const gchar *site = soup_message_headers_get_one (headers, "Sec-Fetch-Site");
  const gchar *mode = soup_message_headers_get_one (headers, "Sec-Fetch-Mode");
  g_autofree gchar *good = g_strconcat ("http://", host, NULL);

  if (origin && g_ascii_strcasecmp (origin, good) != 0)
    return FALSE;
  /* A link on another page may lead here. */
  return !site || strcmp (site, "same-origin") == 0
      || strcmp (site, "none") == 0 || g_strcmp0 (mode, "navigate") == 0;
}

/* Takes the same time for every wrong token. */
static gboolean
token_is_good (WebGuard *self, GHashTable *query)
{
  const gchar *token = query ? g_hash_table_lookup (query, "token") : NULL;
  guint different = 0;

  if (!self->token)
    return TRUE;
  if (!token || strlen (token) != strlen (self->token))
    return FALSE;
  for (gsize i = 0; self->token[i]; i++)
    different |= (guint) (self->token[i] ^ token[i]);
  return different == 0;
}

gboolean
web_guard_check (WebGuard *self, SoupServerMessage *message, GHashTable *query)
{
  SoupMessageHeaders *headers =
      soup_server_message_get_request_headers (message);
  const gchar *method = soup_server_message_get_method (message);

  if (soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED
      || soup_message_headers_get_content_length (headers) > 0) {
    /* Whoever sends more than one packet would not read the answer. */
    if (soup_message_headers_get_content_length (headers) > MAX_BODY_BYTES
        || soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED)
      g_socket_close (soup_server_message_get_socket (message), NULL);
    web_guard_answer (message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE,
        "A request must have no body");
    return FALSE;
  }
  if (!host_is_good (self, soup_message_headers_get_one (headers, "Host"))) {
    web_guard_answer (message, SOUP_STATUS_FORBIDDEN,
        "This name is not one of the server: use localhost or an address, or "
        "start ndconv-web with --host NAME");
    return FALSE;
  }
  if (!origin_is_good (headers)) {
    web_guard_answer (message, SOUP_STATUS_FORBIDDEN,
        "Only pages of this server may ask");
    return FALSE;
  }
  if (!token_is_good (self, query)) {
    web_guard_answer (message, SOUP_STATUS_FORBIDDEN,
        "The token is missing or wrong: use the address that ndconv-web "
        "printed");
    return FALSE;
  }
  if (strcmp (method, SOUP_METHOD_GET) != 0
      && strcmp (method, SOUP_METHOD_HEAD) != 0) {
    web_guard_answer (message, SOUP_STATUS_METHOD_NOT_ALLOWED,
        "The server answers GET only");
    return FALSE;
  }
  return TRUE;
}

gboolean
web_guard_is_open (WebGuard *self, SoupServerMessage *message)
{
  return g_hash_table_contains (self->connections, message);
}

void
web_guard_release (WebGuard *self, SoupServerMessage *message)
{
  g_hash_table_remove (self->connections, message);
}

void
web_guard_sweep (WebGuard *self)
{
  const gint64 now = g_get_monotonic_time ();
  GHashTableIter iterator;
  gpointer connection;

  g_hash_table_iter_init (&iterator, self->connections);
  while (g_hash_table_iter_next (&iterator, NULL, &connection)) {
    const Connection *c = connection;

    if (now - c->started > MAX_REQUEST_SECONDS * G_USEC_PER_SEC)
      g_socket_close (c->socket, NULL);
    /* libsoup tells nothing of a connection that ends before a request. */
    if (g_socket_is_closed (c->socket))
      g_hash_table_iter_remove (&iterator);
  }
}
