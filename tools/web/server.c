/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/server.h"

#include "core/error.h"
#include "tools/web/client.h"
#include "tools/web/guard.h"
#include "tools/web/metrics.h"

#include <gst/video/video.h>
#include <string.h>
#include <sys/random.h>

#define MAX_CLIENTS 16
#define SWEEP_MILLISECONDS 250
#define PNG_TIMEOUT (10 * GST_SECOND)

struct _WebServer
{
  SoupServer *server;
  WebGuard *guard;
  WebPlayer *player;
  gchar *token, *url;
  GList *clients;
  WebClientCounts counts;
  guint64 connects;
  guint sweep;
  SoupServerMessage *snapshot; /* that is being compressed */
};

/* A text that cannot be guessed. */
static gchar *
make_token (void)
{
  guint8 bytes[16];
  GString *text = g_string_new (NULL);

  if (getrandom (bytes, sizeof (bytes), 0) != sizeof (bytes))
    g_error ("getrandom() failed");
  for (guint i = 0; i < sizeof (bytes); i++)
    g_string_append_printf (text, "%02x", bytes[i]);
  return g_string_free (text, FALSE);
}

static gchar *
read_resource (const gchar *path)
{
  g_autoptr (GBytes) bytes =
      g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  return g_strndup (data, size);
}

/* The page with its style and program inside: it loads nothing else, and runs
 * no other program. */
static void
answer_page (SoupServerMessage *message)
{
  SoupMessageHeaders *headers =
      soup_server_message_get_response_headers (message);
  const gchar *host = soup_message_headers_get_one (
      soup_server_message_get_request_headers (message), "Host");
  g_autofree gchar *nonce = make_token ();
  g_autofree gchar *html = read_resource ("/ndconv/page.html");
  g_autofree gchar *css = read_resource ("/ndconv/page.css");
  g_autofree gchar *js = read_resource ("/ndconv/page.js");
  g_autofree gchar *policy = g_strdup_printf (
      "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; "
      "img-src data: blob:; connect-src 'self' ws://%s; base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'",
      nonce, nonce, host);
  g_autoptr (GString) page = g_string_new (html);

  g_string_replace (page, "@NONCE@", nonce, 0);
  g_string_replace (page, "@STYLE@", css, 1);
  g_string_replace (page, "@SCRIPT@", js, 1);
  soup_message_headers_replace (headers, "Content-Security-Policy", policy);
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_server_message_set_response (message, "text/html; charset=utf-8",
      SOUP_MEMORY_COPY, page->str, page->len);
}

static void
answer_metrics (WebServer *self, SoupServerMessage *message)
{
  g_autoptr (GString) text = g_string_new (NULL);

  web_metric (text, "ndconv_web_pages", "gauge", "Pages that are connected",
      g_list_length (self->clients));
  web_metric (text, "ndconv_web_connects_total", "counter",
      "Pages that have connected", self->connects);
  web_metric (text, "ndconv_web_pictures_sent_total", "counter",
      "Pictures sent to pages", self->counts.sent);
  web_metric (text, "ndconv_web_pictures_skipped_total", "counter",
      "Pictures that slow pages did not get", self->counts.skipped);
  web_metric (text, "ndconv_web_pages_dropped_total", "counter",
      "Pages that read or wrote too slowly", self->counts.slow);
  web_metric (text, "ndconv_web_requests_refused_total", "counter",
      "Requests without token, of other pages, or malformed",
      web_guard_refused (self->guard));
  web_metric (text, "ndconv_web_connections_dropped_total", "counter",
      "Connections that took too long or were too many",
      web_guard_dropped (self->guard));
  web_player_metrics (self->player, text);
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_server_message_set_response (message,
      "text/plain; version=0.0.4; charset=utf-8", SOUP_MEMORY_COPY, text->str,
      text->len);
}

static void
finish_snapshot (GstSample *sample, GError *error, gpointer data)
{
  WebServer *self = data;
  g_autoptr (SoupServerMessage) message = g_steal_pointer (&self->snapshot);
  GstBuffer *png = sample ? gst_sample_get_buffer (sample) : NULL;
  const gsize size = png ? gst_buffer_get_size (png) : 0;
  gchar *bytes = NULL;

  /* The client may have gone. */
  if (web_guard_is_open (self->guard, message)) {
    if (size > 0)
      bytes = g_try_malloc (size);
    if (bytes) {
      gst_buffer_extract (png, 0, bytes, size);
      soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
      soup_server_message_set_response (message, "image/png", SOUP_MEMORY_TAKE,
          bytes, size);
    } else {
      web_guard_answer (message, SOUP_STATUS_INTERNAL_SERVER_ERROR,
          error ? error->message : "The picture cannot be compressed");
    }
    soup_server_message_unpause (message);
  }
  g_clear_pointer (&sample, gst_sample_unref);
  g_clear_error (&error);
}

static void
answer_snapshot (WebServer *self, SoupServerMessage *message,
    WebPicture picture)
{
  WebPictures *pictures = web_player_pictures (self->player, picture);
  g_autoptr (GstSample) raw =
      pictures ? web_pictures_last_raw (pictures) : NULL;
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("image/png");

  if (pictures)
    web_pictures_want (pictures);
  if (!raw || self->snapshot) {
    web_guard_answer (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
        raw ? "Another snapshot is being made: try again"
            : "There is no picture yet: try again, with a page open");
    return;
  }
  self->snapshot = g_object_ref (message);
  soup_server_message_pause (message);
  gst_video_convert_sample_async (raw, caps, PNG_TIMEOUT, finish_snapshot, self,
      NULL);
}

static void
add_headers (SoupServerMessage *message)
{
  SoupMessageHeaders *headers =
      soup_server_message_get_response_headers (message);

  soup_message_headers_replace (headers, "Cache-Control", "no-store");
  soup_message_headers_replace (headers, "X-Content-Type-Options", "nosniff");
  soup_message_headers_replace (headers, "X-Frame-Options", "DENY");
  soup_message_headers_replace (headers, "Referrer-Policy", "no-referrer");
  soup_message_headers_replace (headers, "Cross-Origin-Resource-Policy",
      "same-origin");
  soup_message_headers_replace (headers, "Cross-Origin-Opener-Policy",
      "same-origin");
}

/* Before libsoup looks at a body or makes a WebSocket. */
static void
web_server_check (SoupServer *server, SoupServerMessage *message,
    const char *path, GHashTable *query, gpointer data)
{
  WebServer *self = data;

  add_headers (message);
  if (!web_guard_check (self->guard, message, query))
    return;
  if (strcmp (path, "/live") == 0
      && g_list_length (self->clients) >= MAX_CLIENTS)
    web_guard_answer (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
        "Too many pages are open: close one");
}

static void
web_server_answer (SoupServer *server, SoupServerMessage *message,
    const char *path, GHashTable *query, gpointer data)
{
  WebServer *self = data;

  if (strcmp (path, "/") == 0)
    answer_page (message);
  else if (strcmp (path, "/metrics") == 0)
    answer_metrics (self, message);
  else if (strcmp (path, "/before.png") == 0)
    answer_snapshot (self, message, WEB_BEFORE);
  else if (strcmp (path, "/after.png") == 0)
    answer_snapshot (self, message, WEB_AFTER);
  else
    web_guard_answer (message, SOUP_STATUS_NOT_FOUND,
        "There are only /, /metrics, /before.png and /after.png");
}

static void
client_closed (WebClient *client, gpointer data)
{
  WebServer *self = data;

  self->clients = g_list_remove (self->clients, client);
  web_client_free (client);
}

/* The answer to a handshake is sent: the connection becomes a WebSocket. */
static void
open_live (SoupServerMessage *message, gpointer data)
{
  WebServer *self = data;
  g_autoptr (GSocket) socket =
      g_object_ref (soup_server_message_get_socket (message));
  g_autoptr (GIOStream) stream = NULL, watched = NULL;
  g_autoptr (SoupWebsocketConnection) connection = NULL;
  WebFrames *frames;
  WebClient *client;

  web_guard_release (self->guard, message);
  stream = soup_server_message_steal_connection (message);
  watched = web_frames_wrap (stream, &frames);
  /* Without extensions: pictures are compressed already, and a small compressed
   * message could stand for a huge one. */
  connection = soup_websocket_connection_new (watched,
      soup_server_message_get_uri (message), SOUP_WEBSOCKET_CONNECTION_SERVER,
      NULL, NULL, NULL);
  client = web_client_new (connection, frames, socket, self->player,
      &self->counts, client_closed, self);
  self->clients = g_list_prepend (self->clients, client);
  self->connects++;
  web_client_send_state (client);
}

static void
answer_live (SoupServer *server, SoupServerMessage *message, const char *path,
    GHashTable *query, gpointer data)
{
  if (strcmp (path, "/live") != 0)
    web_server_answer (server, message, path, query, data);
  else if (soup_websocket_server_process_handshake (message, NULL, NULL, NULL,
               NULL))
    g_signal_connect (message, "wrote-informational", G_CALLBACK (open_live),
        data);
}

void
web_server_send_pictures (WebServer *self)
{
  for (GList *l = self->clients; l; l = l->next)
    web_client_send_pictures (l->data);
}

void
web_server_send_state (WebServer *self)
{
  for (GList *l = self->clients; l; l = l->next)
    web_client_send_state (l->data);
}

static gboolean
web_server_sweep (gpointer data)
{
  WebServer *self = data;

  web_guard_sweep (self->guard);
  for (GList *l = self->clients; l; l = l->next) {
    web_client_check (l->data);
    web_client_send_state (l->data);
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
listen_on (WebServer *self, guint port, const gchar *address, GError **error)
{
  g_autoptr (GSocketAddress) socket_address = NULL;
  g_autoptr (GError) reason = NULL;
  gboolean ok;

  if (address) {
    socket_address = g_inet_socket_address_new_from_string (address, port);
    if (!socket_address) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "--listen=%s is not an address: use 0.0.0.0 for all, or the address "
          "of a network card, such as 192.168.0.5",
          address);
      return FALSE;
    }
    ok = soup_server_listen (self->server, socket_address, 0, &reason);
  } else {
    ok = soup_server_listen_local (self->server, port, 0, &reason);
  }
  if (ok)
    return TRUE;
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Another program uses port %u: choose another one with --port", port);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The server cannot listen on port %u: %s", port, reason->message);
  return FALSE;
}

static gchar *
make_url (WebServer *self, const gchar *address)
{
  GSList *uris = soup_server_get_uris (self->server);
  const gint port = g_uri_get_port (uris->data);
  gboolean any = !address || strcmp (address, "0.0.0.0") == 0
      || strcmp (address, "::") == 0;
  const gchar *name = address && any ? g_get_host_name () : "localhost";
  g_autofree gchar *host = any
      ? g_strdup (name)
      : g_strdup_printf (strchr (address, ':') ? "[%s]" : "%s", address);

  g_slist_free_full (uris, (GDestroyNotify) g_uri_unref);
  return g_strdup_printf ("http://%s:%d/?token=%s", host, port, self->token);
}

/* The names under which other machines may know this one. */
static gchar **
list_hosts (const gchar *const *hosts, gboolean listens)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree gchar *local = g_strconcat (g_get_host_name (), ".local", NULL);

  for (guint i = 0; hosts && hosts[i]; i++)
    g_strv_builder_add (builder, hosts[i]);
  if (listens)
    g_strv_builder_add_many (builder, g_get_host_name (), local, NULL);
  return g_strv_builder_end (builder);
}

WebServer *
web_server_new (WebPlayer *player, guint port, const gchar *address,
    const gchar *const *hosts, GError **error)
{
  WebServer *self = g_new0 (WebServer, 1);
  g_auto (GStrv) names = list_hosts (hosts, address != NULL);

  self->player = player;
  self->server = soup_server_new ("server-header", "ndconv-web", NULL);
  self->token = make_token ();
  self->guard = web_guard_new (self->server, self->token, address != NULL,
      (const gchar *const *) names);
  soup_server_add_early_handler (self->server, "/", web_server_check, self,
      NULL);
  soup_server_add_handler (self->server, "/", web_server_answer, self, NULL);
  soup_server_add_early_handler (self->server, "/live", web_server_check, self,
      NULL);
  soup_server_add_handler (self->server, "/live", answer_live, self, NULL);
  if (!listen_on (self, port, address, error)) {
    web_server_free (self);
    return NULL;
  }
  self->url = make_url (self, address);
  self->sweep = g_timeout_add (SWEEP_MILLISECONDS, web_server_sweep, self);
  return self;
}

const gchar *
web_server_url (WebServer *self)
{
  return self->url;
}

void
web_server_free (WebServer *self)
{
  if (self->sweep)
    g_source_remove (self->sweep);
  while (self->snapshot)
    g_main_context_iteration (NULL, TRUE);
  g_list_free_full (self->clients, (GDestroyNotify) web_client_free);
  self->clients = NULL;
  soup_server_disconnect (self->server);
  web_guard_free (self->guard);
  g_object_unref (self->server);
  g_free (self->token);
  g_free (self->url);
  g_free (self);
}
