/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/guard.h"

#include <string.h>

#define MAX_CONNECTIONS 64
#define MAX_REQUEST_SECONDS 10
#define MAX_BODY_BYTES 1024 /* that get an answer */
#define MAX_HEADERS 100
#define MAX_HEADER_BYTES 16384 /* libsoup reads at most 64 KiB */

struct _WebGuard
{
  SoupServer *server;
  gchar *token;
  gboolean listens;
  gchar **hosts;
  GHashTable *connections; /* SoupServerMessage to Connection */
  guint64 refused, dropped;
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

/* Makes room for another one: a good request is soon over, so that the oldest
 * connection is the one that does not end. */
static void
drop_oldest (WebGuard *self)
{
  GHashTableIter iterator;
  gpointer message, connection, oldest = NULL;
  gint64 first = G_MAXINT64;

  g_hash_table_iter_init (&iterator, self->connections);
  while (g_hash_table_iter_next (&iterator, &message, &connection)) {
    if (((Connection *) connection)->started >= first)
      continue;
    first = ((Connection *) connection)->started;
    oldest = message;
  }
  connection = g_hash_table_lookup (self->connections, oldest);
  g_socket_close (((Connection *) connection)->socket, NULL);
  g_hash_table_remove (self->connections, oldest);
  self->dropped++;
}

static void
request_started (SoupServer *server, SoupServerMessage *message, gpointer data)
{
  WebGuard *self = data;
  GSocket *socket = soup_server_message_get_socket (message);
  Connection *connection;

  if (!socket)
    return;
  if (g_hash_table_size (self->connections) >= MAX_CONNECTIONS)
    drop_oldest (self);
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
web_guard_new (SoupServer *server, const gchar *token, gboolean listens,
    const gchar *const *hosts)
{
  WebGuard *self = g_new0 (WebGuard, 1);

  self->server = g_object_ref (server);
  self->token = g_strdup (token);
  self->listens = listens;
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
    return self->listens || g_inet_address_get_is_loopback (address);
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

/* Takes the same time for every wrong token of the right length, which is no
 * secret. */
static gboolean
is_token (WebGuard *self, const gchar *text)
{
  guint different = 0;

  if (!text || strlen (text) != strlen (self->token))
    return FALSE;
  for (gsize i = 0; self->token[i]; i++)
    different |= (guint) (self->token[i] ^ text[i]);
  return different == 0;
}

/* The token is a parameter of the address or "Authorization: Bearer TOKEN". It
 * is no cookie: browsers send those of localhost to the servers of all ports,
 * also to that of another user. */
static gboolean
token_is_good (WebGuard *self, SoupMessageHeaders *headers, GHashTable *query)
{
  const gchar *header = soup_message_headers_get_one (headers, "Authorization");
  const gsize scheme = strlen ("Bearer ");

  if (query && is_token (self, g_hash_table_lookup (query, "token")))
    return TRUE;
  return header && g_ascii_strncasecmp (header, "Bearer ", scheme) == 0
      && is_token (self, header + scheme);
}

typedef struct
{
  gsize n, bytes;
  guint once[5]; /* how often each of once_names is there */
} HeaderCounts;

/* With two of them, another program may mean the other one. */
static const gchar *const once_names[] = { "Host", "Origin", "Authorization",
  "Sec-Fetch-Site", "Sec-Fetch-Mode" };

static void
count_header (const char *name, const char *value, gpointer data)
{
  HeaderCounts *counts = data;

  counts->n++;
  counts->bytes += strlen (name) + strlen (value);
  for (guint i = 0; i < G_N_ELEMENTS (once_names); i++)
    if (g_ascii_strcasecmp (name, once_names[i]) == 0)
      counts->once[i]++;
}

/* NULL, or a sentence that says what is wrong, and its status. */
static const gchar *
find_fault (WebGuard *self, SoupServerMessage *message, GHashTable *query,
    guint *status)
{
  SoupMessageHeaders *headers =
      soup_server_message_get_request_headers (message);
  const gchar *method = soup_server_message_get_method (message);
  HeaderCounts counts = { 0 };

  soup_message_headers_foreach (headers, count_header, &counts);
  if (counts.n > MAX_HEADERS || counts.bytes > MAX_HEADER_BYTES) {
    *status = 431; /* of RFC 6585; libsoup has no name for it */
    return "A request has at most 100 headers of 16 KiB together";
  }
  *status = SOUP_STATUS_BAD_REQUEST;
  for (guint i = 0; i < G_N_ELEMENTS (once_names); i++)
    if (counts.once[i] > 1)
      return "A request has Host, Origin, Authorization and Sec-Fetch headers "
             "once";
  *status = SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE;
  if (soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED
      || soup_message_headers_get_content_length (headers) > 0) {
    /* Whoever sends more than one packet would not read the answer. */
    if (soup_message_headers_get_content_length (headers) > MAX_BODY_BYTES
        || soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED)
      g_socket_close (soup_server_message_get_socket (message), NULL);
    return "A request must have no body";
  }
  *status = SOUP_STATUS_FORBIDDEN;
  if (!host_is_good (self, soup_message_headers_get_one (headers, "Host")))
    return "This name is not one of the server: use localhost or an address, "
           "or start ndconv-web with --host NAME";
  if (!origin_is_good (headers))
    return "Only pages of this server may ask";
  if (!token_is_good (self, headers, query))
    return "The token is missing or wrong: use the address that ndconv-web "
           "printed";
  *status = SOUP_STATUS_METHOD_NOT_ALLOWED;
  if (strcmp (method, SOUP_METHOD_GET) != 0
      && strcmp (method, SOUP_METHOD_HEAD) != 0)
    return "The server answers GET only";
  return NULL;
}

gboolean
web_guard_check (WebGuard *self, SoupServerMessage *message, GHashTable *query)
{
  guint status;
  const gchar *fault = find_fault (self, message, query, &status);

  if (!fault)
    return TRUE;
  self->refused++;
  web_guard_answer (message, status, fault);
  return FALSE;
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

    if (now - c->started > MAX_REQUEST_SECONDS * G_USEC_PER_SEC
        && !g_socket_is_closed (c->socket)) {
      g_socket_close (c->socket, NULL);
      self->dropped++;
    }
    /* libsoup tells nothing of a connection that ends before a request. */
    if (g_socket_is_closed (c->socket))
      g_hash_table_iter_remove (&iterator);
  }
}

guint64
web_guard_refused (WebGuard *self)
{
  return self->refused;
}

guint64
web_guard_dropped (WebGuard *self)
{
  return self->dropped;
}
