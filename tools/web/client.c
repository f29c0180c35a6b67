/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/client.h"

#include "core/json.h"

#include <gst/video/navigation.h>
#include <math.h>
#include <string.h>

#define MAX_MESSAGES_PER_SECOND 1000
#define MAX_SILENT_SECONDS 60
#define MAX_UNFINISHED_SECONDS 10   /* a message of the page */
#define MAX_UNREAD_SECONDS 30       /* a message to the page */
#define MAX_WAITING_BYTES (8 << 20) /* with which no picture is added */
#define MAX_UNTAKEN 2
#define PICTURE_HEADER (sizeof (guint32) + 1)

static const gchar *const picture_names[] = { "before", "after" };

/* A message that the page has not acknowledged. */
typedef struct
{
  guint32 number; /* 0: none */
  gsize bytes;
  gint64 since; /* monotonic, us */
} Untaken;

struct _WebClient
{
  SoupWebsocketConnection *connection;
  WebFrames *frames;
  GSocket *socket;
  WebPlayer *player;
  WebClientCounts *counts;
  void (*closed) (WebClient *self, gpointer data);
  gpointer data;

  gboolean shows[WEB_N_PICTURES];
  guint64 sent[WEB_N_PICTURES]; /* the number of the last picture */
  Untaken untaken[WEB_N_PICTURES][MAX_UNTAKEN];
  Untaken untaken_state;
  gboolean described;
  gchar *values; /* that the page knows */
  guint64 messages;

  gint64 heard;
  gint64 second; /* of which messages are counted */
  guint in_second;
};

static guint32
new_number (void)
{
  /* Not 0, and less than 2^31. */
  return 1 + (g_random_int () >> 1);
}

static Untaken
new_untaken (gsize bytes)
{
  return (Untaken){ new_number (), bytes, g_get_monotonic_time () };
}

/* FALSE if there is no memory for it. */
static gboolean
send_picture (WebClient *self, WebPicture picture, guint slot, GBytes *jpeg)
{
  gsize size;
  gconstpointer bytes = g_bytes_get_data (jpeg, &size);
  const Untaken untaken = new_untaken (PICTURE_HEADER + size);
  const guint32 big = GUINT32_TO_BE (untaken.number);
  g_autofree guint8 *data = g_try_malloc (untaken.bytes);

  if (!data)
    return FALSE;
  memcpy (data, &big, sizeof (big));
  data[sizeof (big)] = picture;
  memcpy (data + PICTURE_HEADER, bytes, size);
  soup_websocket_connection_send_binary (self->connection, data, untaken.bytes);
  self->untaken[picture][slot] = untaken;
  self->counts->sent++;
  return TRUE;
}

/* Bytes that the page has not acknowledged, and since when the oldest ones. */
static gsize
count_waiting (WebClient *self, gint64 *oldest)
{
  gsize bytes = 0;

  *oldest = g_get_monotonic_time ();
  for (guint i = 0; i <= WEB_N_PICTURES * MAX_UNTAKEN; i++) {
    const Untaken *untaken =
        i ? &self->untaken[0][0] + i - 1 : &self->untaken_state;

    if (!untaken->number)
      continue;
    bytes += untaken->bytes;
    *oldest = MIN (*oldest, untaken->since);
  }
  return bytes;
}

static gboolean
is_open (WebClient *self)
{
  return soup_websocket_connection_get_state (self->connection)
      == SOUP_WEBSOCKET_STATE_OPEN;
}

void
web_client_send_pictures (WebClient *self)
{
  if (!is_open (self))
    return;
  for (guint p = 0; p < WEB_N_PICTURES; p++) {
    WebPictures *pictures = web_player_pictures (self->player, p);
    g_autoptr (GBytes) jpeg = NULL;
    guint64 number;
    gint64 oldest;
    guint slot;

    if (!pictures || !self->shows[p])
      continue;
    for (slot = 0; slot < MAX_UNTAKEN && self->untaken[p][slot].number; slot++)
      ;
    if (slot == MAX_UNTAKEN
        || count_waiting (self, &oldest) > MAX_WAITING_BYTES)
      continue;
    jpeg = web_pictures_last (pictures, &number);
    if (number > self->sent[p]) {
      if (self->sent[p] > 0)
        self->counts->skipped += number - self->sent[p] - 1;
      self->sent[p] = number;
      if (!send_picture (self, p, slot, jpeg))
        self->counts->skipped++;
    }
    /* The next one, while this one is on its way. */
    if (!self->untaken[p][0].number || !self->untaken[p][1].number)
      web_pictures_want (pictures);
  }
}

/* Width to height of the pictures as they should be shown. */
static void
append_aspects (WebClient *self, GString *json)
{
  nd_json_name (json, "aspects");
  g_string_append_c (json, '[');
  for (guint p = 0; p < WEB_N_PICTURES; p++) {
    WebPictures *pictures = web_player_pictures (self->player, p);
    g_autoptr (GstSample) raw =
        pictures ? web_pictures_last_raw (pictures) : NULL;
    gint width = 0, height = 1, n = 1, d = 1;

    if (raw) {
      const GstStructure *s =
          gst_caps_get_structure (gst_sample_get_caps (raw), 0);

      gst_structure_get_int (s, "width", &width);
      gst_structure_get_int (s, "height", &height);
      gst_structure_get_fraction (s, "pixel-aspect-ratio", &n, &d);
    }
    if (p > 0)
      g_string_append_c (json, ',');
    nd_json_number (json, (gdouble) width * n / ((gdouble) height * d));
  }
  g_string_append_c (json, ']');
}

void
web_client_send_state (WebClient *self)
{
  g_autoptr (GString) json = NULL, values = NULL;

  if (self->untaken_state.number || !is_open (self))
    return;
  json = g_string_new ("{");
  values = g_string_new (NULL);
  self->untaken_state = new_untaken (0);
  nd_json_name (json, "ack");
  nd_json_number (json, self->untaken_state.number);
  web_player_state (self->player, json);
  append_aspects (self, json);
  if (!self->described) {
    nd_json_name (json, "controls");
    web_player_describe (self->player, json);
    self->described = TRUE;
  }
  web_player_values (self->player, values);
  if (g_strcmp0 (values->str, self->values) != 0) {
    nd_json_name (json, "values");
    g_string_append (json, values->str);
    g_free (self->values);
    self->values = g_strdup (values->str);
  }
  nd_json_name (json, "messages");
  self->messages = web_player_messages (self->player, self->messages, json);
  g_string_append_c (json, '}');
  self->untaken_state.bytes = json->len;
  soup_websocket_connection_send_text (self->connection, json->str);
}

static void
take_ack (WebClient *self, const gchar *text)
{
  const guint32 number = g_ascii_strtoull (text, NULL, 10);

  if (number == 0)
    return;
  if (number == self->untaken_state.number) {
    self->untaken_state.number = 0;
    web_frames_forgive (self->frames);
  }
  for (guint p = 0; p < WEB_N_PICTURES; p++)
    for (guint i = 0; i < MAX_UNTAKEN; i++)
      if (self->untaken[p][i].number == number)
        self->untaken[p][i].number = 0;
  web_client_send_pictures (self);
}

static void
take_show (WebClient *self, const gchar *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (guint p = 0; p < WEB_N_PICTURES; p++)
    self->shows[p] =
        g_strv_contains ((const gchar *const *) words, picture_names[p]);
  web_client_send_pictures (self);
}

/* Reads @n finite numbers. */
static gboolean
read_numbers (const gchar *text, gdouble *numbers, guint n)
{
  for (guint i = 0; i < n; i++) {
    gchar *end;

    numbers[i] = g_ascii_strtod (text, &end);
    if (end == text || !isfinite (numbers[i]) || fabs (numbers[i]) > 1e6)
      return FALSE;
    text = end;
  }
  return *text == '\0';
}

/* Modifiers and buttons that are held. */
static GstNavigationModifierType
state_of (gdouble number)
{
  return (GstNavigationModifierType) ((guint) fabs (number)
      & (GST_NAVIGATION_MODIFIER_SHIFT_MASK
          | GST_NAVIGATION_MODIFIER_CONTROL_MASK
          | GST_NAVIGATION_MODIFIER_BUTTON1_MASK
          | GST_NAVIGATION_MODIFIER_BUTTON2_MASK
          | GST_NAVIGATION_MODIFIER_BUTTON3_MASK));
}

static void
take_key (WebClient *self, const gchar *name)
{
  if (strlen (name) > 20 || !*name)
    return;
  for (const gchar *p = name; *p; p++)
    if (!g_ascii_isalnum (*p) && *p != '_')
      return;
  web_player_navigate (self->player,
      gst_navigation_event_new_key_press (name, 0));
  web_player_navigate (self->player,
      gst_navigation_event_new_key_release (name, 0));
}

static void
take_navigation (WebClient *self, const gchar *name, const gchar *text)
{
  GstEvent *event = NULL;
  gdouble n[5];

  if (strcmp (name, "move") == 0 && read_numbers (text, n, 3))
    event = gst_navigation_event_new_mouse_move (n[0], n[1], state_of (n[2]));
  else if (strcmp (name, "press") == 0 && read_numbers (text, n, 4))
    event = gst_navigation_event_new_mouse_button_press ((gint) n[2], n[0],
        n[1], state_of (n[3]));
  else if (strcmp (name, "release") == 0 && read_numbers (text, n, 4))
    event = gst_navigation_event_new_mouse_button_release ((gint) n[2], n[0],
        n[1], state_of (n[3]));
  else if (strcmp (name, "scroll") == 0 && read_numbers (text, n, 5))
    event = gst_navigation_event_new_mouse_scroll (n[0], n[1], n[2], n[3],
        state_of (n[4]));
  if (event)
    web_player_navigate (self->player, event);
}

static void
take_set (WebClient *self, const gchar *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", 4);

  if (g_strv_length (lines) == 4)
    web_player_set (self->player, lines[1], lines[2], lines[3]);
}

static void
take_text (WebClient *self, const gchar *text)
{
  const gsize length = strcspn (text, " \n");
  g_autofree gchar *name = g_strndup (text, length);
  const gchar *rest = text[length] ? text + length + 1 : text + length;

  if (strcmp (name, "ack") == 0)
    take_ack (self, rest);
  else if (strcmp (name, "show") == 0)
    take_show (self, rest);
  else if (strcmp (name, "set") == 0)
    take_set (self, text);
  else if (strcmp (name, "key") == 0)
    take_key (self, rest);
  else if (strcmp (name, "same-window") == 0)
    web_player_same_window (self->player, strcmp (rest, "on") == 0);
  else if (strcmp (name, "record") == 0)
    web_player_record (self->player, strcmp (rest, "on") == 0);
  else if (strcmp (name, "restart") == 0)
    web_player_restart (self->player);
  else
    take_navigation (self, name, rest);
}

static void
end (WebClient *self)
{
  g_socket_close (self->socket, NULL);
}

static void
got_message (SoupWebsocketConnection *connection, gint type, GBytes *message,
    gpointer data)
{
  WebClient *self = data;
  g_autofree gchar *text = NULL;
  gsize size;
  gconstpointer bytes = g_bytes_get_data (message, &size);

  self->heard = g_get_monotonic_time ();
  if (self->heard - self->second > G_USEC_PER_SEC) {
    self->second = self->heard;
    self->in_second = 0;
  }
  if (++self->in_second > MAX_MESSAGES_PER_SECOND
      || type != SOUP_WEBSOCKET_DATA_TEXT) {
    end (self);
    return;
  }
  text = g_strndup (bytes, size);
  take_text (self, text);
}

static void
got_closed (SoupWebsocketConnection *connection, gpointer data)
{
  WebClient *self = data;

  self->closed (self, self->data);
}

WebClient *
web_client_new (SoupWebsocketConnection *connection, WebFrames *frames,
    GSocket *socket, WebPlayer *player, WebClientCounts *counts,
    void (*closed) (WebClient *self, gpointer data), gpointer data)
{
  WebClient *self = g_new0 (WebClient, 1);

  self->connection = g_object_ref (connection);
  self->frames = frames;
  self->socket = g_object_ref (socket);
  self->player = player;
  self->counts = counts;
  self->closed = closed;
  self->data = data;
  self->heard = g_get_monotonic_time ();
  soup_websocket_connection_set_max_incoming_payload_size (connection,
      WEB_MAX_MESSAGE_BYTES);
  g_signal_connect (connection, "message", G_CALLBACK (got_message), self);
  g_signal_connect (connection, "closed", G_CALLBACK (got_closed), self);
  return self;
}

void
web_client_check (WebClient *self)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 began = web_frames_unfinished (self->frames);
  gint64 oldest;

  if (g_socket_is_closed (self->socket))
    return;
  count_waiting (self, &oldest);
  if (now - oldest > MAX_UNREAD_SECONDS * G_USEC_PER_SEC
      || (began && now - began > MAX_UNFINISHED_SECONDS * G_USEC_PER_SEC)) {
    self->counts->slow++;
    end (self);
  } else if (now - self->heard > MAX_SILENT_SECONDS * G_USEC_PER_SEC) {
    end (self);
  }
}

void
web_client_free (WebClient *self)
{
  g_signal_handlers_disconnect_by_data (self->connection, self);
  end (self);
  g_object_unref (self->connection);
  g_object_unref (self->frames);
  g_object_unref (self->socket);
  g_free (self->values);
  g_free (self);
}
