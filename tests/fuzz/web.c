/* What browsers and others send to ndconv-web: requests, frames of a WebSocket,
 * and the texts in them. The server is the real one, on a port of loopback; the
 * pipeline behind it is not.
 *
 * The first byte of an input says what the others are:
 *
 *   h  the bytes of a connection
 *   f  the bytes after the handshake of a WebSocket
 *   t  texts, separated by NUL, each of which becomes a message
 *
 * TOKEN stands for the token of the server.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include "tools/web/controls.h"
#include "tools/web/server.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define TOKEN "TOKEN"
#define PATIENCE 500 /* ms that a connection may take to end */
#define HANDSHAKE                                                       \
  "GET /live?token=" TOKEN " HTTP/1.1\r\nHost: localhost\r\nUpgrade: "  \
  "websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBs" \
  "ZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

const gchar *const fuzz_name = "web";

/* An element with a property of each kind. */

typedef struct
{
  GstElement parent;
  GValue values[9];
} Element;

typedef struct
{
  GstElementClass parent;
} ElementClass;

GType element_get_type (void);
G_DEFINE_TYPE (Element, element, GST_TYPE_ELEMENT)

static void
element_set (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  g_value_copy (value, &((Element *) object)->values[id]);
}

static void
element_get (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_copy (&((Element *) object)->values[id], value);
}

static void
element_finalize (GObject *object)
{
  for (guint i = 1; i < 9; i++)
    g_value_unset (&((Element *) object)->values[i]);
  G_OBJECT_CLASS (element_parent_class)->finalize (object);
}

static void
element_class_init (ElementClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING;

  object->set_property = element_set;
  object->get_property = element_get;
  object->finalize = element_finalize;
  g_object_class_install_property (object, 1,
      g_param_spec_string ("size", "Size", "A text", NULL, flags));
  g_object_class_install_property (object, 2,
      g_param_spec_int ("int", "Int", "From -5", -5, G_MAXINT, 0, flags));
  g_object_class_install_property (object, 3,
      g_param_spec_uint64 ("uint64", "Large", "All", 0, G_MAXUINT64, 1, flags));
  g_object_class_install_property (object, 4,
      g_param_spec_double ("double", "Double", "All", -G_MAXDOUBLE, G_MAXDOUBLE,
          0, flags));
  g_object_class_install_property (object, 5,
      g_param_spec_float ("float", "Float", "To 1", 0, 1, 0, flags));
  g_object_class_install_property (object, 6,
      g_param_spec_boolean ("boolean", "Boolean", "Both", FALSE, flags));
  g_object_class_install_property (object, 7,
      g_param_spec_enum ("enum", "Enum", "States", GST_TYPE_STATE,
          GST_STATE_NULL, flags));
  g_object_class_install_property (object, 8,
      g_param_spec_string ("location", "Location", "A file", "kept", flags));
}

static void
element_init (Element *self)
{
  static const GType types[] = { 0, G_TYPE_STRING, G_TYPE_INT, G_TYPE_UINT64,
    G_TYPE_DOUBLE, G_TYPE_FLOAT, G_TYPE_BOOLEAN, 0, G_TYPE_STRING };

  for (guint i = 1; i < 9; i++)
    g_value_init (&self->values[i], types[i] ? types[i] : GST_TYPE_STATE);
  g_value_set_static_string (&self->values[8], "kept");
}

/* A player without pictures, whose controls are those of the element. */

struct _WebPlayer
{
  GstElement *element;
};

WebPictures *
web_player_pictures (WebPlayer *self, WebPicture picture)
{
  return NULL;
}

GBytes *
web_pictures_last (WebPictures *self, guint64 *number)
{
  g_assert_not_reached ();
}

GstSample *
web_pictures_last_raw (WebPictures *self)
{
  g_assert_not_reached ();
}

void
web_pictures_want (WebPictures *self)
{
  g_assert_not_reached ();
}

void
web_player_describe (WebPlayer *self, GString *json)
{
  web_controls_describe (self->element, json);
}

void
web_player_values (WebPlayer *self, GString *json)
{
  web_controls_values (self->element, json);
}

void
web_player_state (WebPlayer *self, GString *json)
{
  nd_json_name (json, "state");
  nd_json_text (json, "playing");
}

guint64
web_player_messages (WebPlayer *self, guint64 since, GString *json)
{
  g_string_append (json, "[]");
  return since;
}

void
web_player_set (WebPlayer *self, const gchar *element, const gchar *property,
    const gchar *value)
{
  g_autoptr (GError) error = NULL;
  const gchar *kept =
      g_value_get_string (&((Element *) self->element)->values[8]);

  if (!web_controls_set (self->element, property, value, &error))
    fuzz_check_error (error);
  if (strcmp (kept, "kept") != 0)
    g_error ("a page has named a file");
}

void
web_player_navigate (WebPlayer *self, GstEvent *event)
{
  gst_event_unref (event);
}

void
web_player_same_window (WebPlayer *self, gboolean same)
{
}

void
web_player_record (WebPlayer *self, gboolean record)
{
}

void
web_player_restart (WebPlayer *self)
{
}

void
web_player_metrics (WebPlayer *self, GString *text)
{
}

/* The server. */

static WebServer *server;
static const gchar *token;
static guint16 port;

static void
start (void)
{
  static WebPlayer player;
  g_autoptr (GError) error = NULL;
  const gchar *url;

  gst_init (NULL, NULL);
  player.element = g_object_ref_sink (g_object_new (element_get_type (), NULL));
  server = web_server_new (&player, 0, NULL, NULL, &error);
  g_assert_no_error (error);
  url = web_server_url (server);
  token = strstr (url, "token=") + strlen ("token=");
  port = g_ascii_strtoull (strrchr (url, ':') + 1, NULL, 10);
}

/* The connection of a browser. */
typedef struct
{
  int fd;
  gboolean ended;
  gchar answer[64 * 1024];
  gsize n; /* bytes of the answer, of which the first ones are kept */
} Browser;

static gboolean
connect_to (Browser *self)
{
  const struct sockaddr_in address = { .sin_family = AF_INET,
    .sin_port = g_htons (port),
    .sin_addr.s_addr = g_htonl (INADDR_LOOPBACK) };

  self->fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return self->fd >= 0
      && connect (self->fd, (const struct sockaddr *) &address,
             sizeof (address))
      == 0;
}

static void
receive (Browser *self)
{
  gchar bytes[4096];
  gssize n;

  while ((n = recv (self->fd, bytes, sizeof (bytes), MSG_DONTWAIT)) > 0) {
    const gsize fits = MIN ((gsize) n, sizeof (self->answer) - 1 - self->n);

    memcpy (self->answer + self->n, bytes, fits);
    self->n += fits;
    self->answer[self->n] = '\0';
  }
  self->ended |= n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Lets the server work until the connection ends, or the answer has @text. */
static void
serve (Browser *self, const gchar *text)
{
  for (guint ms = 0; ms < PATIENCE && !self->ended;) {
    struct pollfd fd = { self->fd, POLLIN, 0 };

    while (g_main_context_iteration (NULL, FALSE))
      ;
    receive (self);
    if (text && strstr (self->answer, text))
      return;
    if (!self->ended && !g_main_context_pending (NULL))
      ms += poll (&fd, 1, 1) == 0;
  }
}

static void
transmit (Browser *self, const gchar *bytes, gsize n)
{
  while (n > 0) {
    const gssize sent = send (self->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent > 0) {
      bytes += sent;
      n -= sent;
    } else if (sent < 0 && errno == EAGAIN) {
      g_main_context_iteration (NULL, FALSE);
    } else {
      return;
    }
  }
}

/* With the token in its place. */
static void
transmit_text (Browser *self, const gchar *bytes, gsize n)
{
  const gchar *at;

  while ((at = memmem (bytes, n, TOKEN, strlen (TOKEN)))) {
    transmit (self, bytes, at - bytes);
    transmit (self, token, strlen (token));
    n -= at + strlen (TOKEN) - bytes;
    bytes = at + strlen (TOKEN);
  }
  transmit (self, bytes, n);
}

static void
request (Browser *self, const gchar *bytes, gsize n)
{
  transmit_text (self, bytes, n);
  shutdown (self->fd, SHUT_WR);
  serve (self, NULL);
  if (strstr (self->answer, "HTTP/1.1 200")
      && !memmem (bytes, n, TOKEN, strlen (TOKEN)))
    g_error ("a request without the token got an answer");
}

/* A masked frame of at most 64 KiB, whose mask is 0. */
static void
transmit_message (Browser *self, const gchar *text, gsize n)
{
  const guint8 head[8] = { 0x81, 0x80 | 126, n >> 8, n };

  transmit (self, (const gchar *) head, sizeof (head));
  transmit (self, text, n);
}

static void
talk (Browser *self, const gchar *bytes, gsize n, gboolean texts)
{
  transmit_text (self, HANDSHAKE, strlen (HANDSHAKE));
  serve (self, "\r\n\r\n");
  if (!g_str_has_prefix (self->answer, "HTTP/1.1 101"))
    g_error ("the handshake fails: %s", self->answer);
  if (!texts)
    transmit (self, bytes, n);
  while (texts && n > 0) {
    const gsize length = strnlen (bytes, MIN (n, G_MAXUINT16));

    transmit_message (self, bytes, length);
    bytes += MIN (length + 1, n);
    n -= MIN (length + 1, n);
  }
  shutdown (self->fd, SHUT_WR);
  serve (self, NULL);
}

guint32
fuzz_input (const guint8 *bytes, gsize n)
{
  const gchar *text = (const gchar *) bytes + 1;
  Browser browser = { .fd = -1 };

  if (n < 2 || !strchr ("hft", bytes[0]))
    return 0;
  if (!server)
    start ();
  if (connect_to (&browser)) {
    if (bytes[0] == 'h')
      request (&browser, text, n - 1);
    else
      talk (&browser, text, n - 1, bytes[0] == 't');
  }
  if (browser.fd >= 0)
    g_close (browser.fd, NULL);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  return 0;
}

void
fuzz_seeds (GPtrArray *seeds)
{
  static const gchar *const texts[] = {
    "hGET /?token=TOKEN HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "hGET /metrics HTTP/1.1\r\nHost: 127.0.0.1:8090\r\n"
    "Authorization: Bearer TOKEN\r\n\r\n"
    "HEAD /after.png?token=TOKEN HTTP/1.1\r\nHost: [::1]:8090\r\n"
    "Origin: http://localhost\r\nConnection: close\r\n\r\n",
    "hPOST /before.png?token=TOKEN&token=0 HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Length: 5\r\nSec-Fetch-Site: cross-site\r\n"
    "Sec-Fetch-Mode: navigate\r\n\r\nhello",
    "hGET / HTTP/1.1\r\nHost: example.org\r\nHost: localhost\r\n"
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "h" HANDSHAKE "\x81\x85\1\2\3\4`aibe",
    "f\x01\x83\1\2\3\4`aj\x80\x82\1\2\3\4!3\x89\x80\1\2\3\4"
    "\x81\x85\1\2\3\4`nloa\x88\x82\1\2\3\4\2\xea",
    "f\x81\xfe\1\2\1\2\3\4\x8a\x83\1\2\3\4abc\x82\x80\1\2\3\4",
  };
  static const gchar messages[] =
      "tack 1\0show before after\0set\nelement\nsize\n800:600\0"
      "set\nelement\nint\n-3\0set\nelement\ndouble\n1e5\0"
      "set\nelement\nfloat\n0.5\0set\nelement\nuint64\n18446744073709551615\0"
      "set\nelement\nboolean\ntrue\0set\nelement\nenum\nplaying\0"
      "set\nelement\nlocation\n/tmp/a\0set\nelement\nsize\nfile,location=/\0"
      "press 10 20.5 1 0\0release 10 20 1 256\0move -1 1e3 0\0"
      "scroll 1 2 3 -4 1\0key Left\0record on\0record off\0restart\0alive\0"
      "same-window on\0same-window off";

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    seeds_append_text (seeds, texts[i], 0);
  g_ptr_array_add (seeds, g_bytes_new (messages, sizeof (messages) - 1));
}
