/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/player.h"

#include "core/error.h"
#include "core/json.h"
#include "tools/web/controls.h"
#include "tools/web/metrics.h"

#define MAX_MESSAGES 20
#define MAX_MESSAGE_CHARS 1000 /* a refusal repeats what the page sent */

typedef struct
{
  guint64 number;
  const gchar *kind; /* error, refused, warning, info */
  gchar *element, *property, *text;
} Message;

struct _WebPlayer
{
  GstElement *pipeline, *view, *filter;
  WebPlayerSettings settings;
  WebPlayerEvents events;
  WebPictures *pictures[WEB_N_PICTURES];
  WebRecorder *recorder;
  const gchar *state; /* playing, ended, failed */
  GQueue messages;
  guint64 last_message;

  GstPad *output; /* of the filter, or the input of the view */
  gulong probe;
  GMutex lock;
  guint64 volumes;           /* that left the filter */
  gdouble age_sum, age_last; /* in seconds */
};

static void
free_message (gpointer data)
{
  Message *message = data;

  g_free (message->element);
  g_free (message->property);
  g_free (message->text);
  g_free (message);
}

static void
say (WebPlayer *self, const gchar *kind, const gchar *element,
    const gchar *property, const gchar *text)
{
  Message *message = g_new0 (Message, 1);

  message->number = ++self->last_message;
  message->kind = kind;
  message->element = g_strdup (element);
  message->property = g_strdup (property);
  message->text = g_strndup (text, MAX_MESSAGE_CHARS);
  g_queue_push_tail (&self->messages, message);
  if (self->messages.length > MAX_MESSAGES)
    free_message (g_queue_pop_head (&self->messages));
  self->events.news (self->events.data);
}

guint64
web_player_messages (WebPlayer *self, guint64 since, GString *json)
{
  g_string_append_c (json, '[');
  for (GList *l = self->messages.head; l; l = l->next) {
    const Message *message = l->data;

    if (message->number <= since)
      continue;
    g_string_append (json, g_str_has_suffix (json->str, "[") ? "{" : ",{");
    nd_json_name (json, "kind");
    nd_json_text (json, message->kind);
    nd_json_name (json, "element");
    nd_json_text (json, message->element);
    nd_json_name (json, "property");
    nd_json_text (json, message->property);
    nd_json_name (json, "text");
    nd_json_text (json, message->text);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
  return self->last_message;
}

/* In the thread of the stream. */
static GstPadProbeReturn
measure_age (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WebPlayer *self = data;
  GstClockTime now = gst_element_get_current_running_time (self->pipeline);
  g_autoptr (GstEvent) event =
      gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstClockTime time = GST_CLOCK_TIME_NONE;
  gdouble age = 0;

  if (event) {
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_TIME)
      time = gst_segment_to_running_time (segment, GST_FORMAT_TIME,
          GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info)));
  }
  /* The running time is invalid before the clock starts. */
  if (GST_CLOCK_TIME_IS_VALID (now) && GST_CLOCK_TIME_IS_VALID (time)
      && now > time)
    age = (gdouble) (now - time) / GST_SECOND;
  g_mutex_lock (&self->lock);
  self->volumes++;
  self->age_sum += age;
  self->age_last = age;
  g_mutex_unlock (&self->lock);
  return GST_PAD_PROBE_OK;
}

static void
picture_made (gpointer data)
{
  WebPlayer *self = data;

  self->events.picture (self->events.data);
}

static void
say_before_failed (const gchar *text, gpointer data)
{
  g_autofree gchar *all =
      g_strconcat ("There is no picture before the filter: ", text, NULL);

  say (data, "warning", "", "", all);
}

static void
say_after_failed (const gchar *text, gpointer data)
{
  say (data, "warning", "", "", text);
}

static void
fail (WebPlayer *self, const gchar *element, const gchar *text)
{
  guint64 volumes;

  g_mutex_lock (&self->lock);
  volumes = self->volumes;
  g_mutex_unlock (&self->lock);
  if (g_strcmp0 (self->state, "failed") == 0)
    return; /* later errors are consequences of the first one */
  self->state = "failed";
  if (volumes == 0)
    self->events.failed (text, self->events.data);
  else
    say (self, "error", element, "", text);
}

static gboolean
watch (GstBus *bus, GstMessage *message, gpointer data)
{
  WebPlayer *self = data;
  const gchar *name = GST_MESSAGE_SRC_NAME (message);
  g_autoptr (GError) error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      fail (self, name, error->message);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, NULL);
      say (self, "warning", name, "", error->message);
      break;
    case GST_MESSAGE_EOS:
      self->state = "ended";
      say (self, "info", "", "", "The stream has ended");
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (self->pipeline));
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* Gives an output of @view that is not linked a sink that keeps the time. As a
 * window would, it tells elements upstream if they are too slow. */
static void
add_sink (WebPlayer *self, GstPad *pad)
{
  g_autoptr (GstPad) sink_pad = NULL;
  GstElement *sink;

  if (gst_pad_is_linked (pad))
    return;
  sink = gst_element_factory_make ("fakesink", NULL);
  g_object_set (sink, "sync", TRUE, "qos", TRUE, "enable-last-sample", FALSE,
      NULL);
  gst_bin_add (GST_BIN (self->pipeline), sink);
  sink_pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_link (pad, sink_pad);
}

WebPlayer *
web_player_new (GstElement *pipeline, const WebPlayerSettings *settings,
    const WebPlayerEvents *events, GError **error)
{
  g_autoptr (GstElement) view =
      gst_bin_get_by_name (GST_BIN (pipeline), "view");
  g_autoptr (GstPad) pad = NULL, input = NULL;
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  WebPlayer *self;

  if (view)
    pad = gst_element_get_static_pad (view, "src");
  if (!pad) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        view ? "The element \"view\" has no output: name the element that "
               "draws the pictures, as in \"... ! ndview name=view\""
             : "The pipeline has no element \"view\": name the element that "
               "draws the pictures, as in \"... ! ndview name=view\"");
    return NULL;
  }
  self = g_new0 (WebPlayer, 1);
  self->pipeline = gst_object_ref (pipeline);
  self->view = g_steal_pointer (&view);
  self->filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  self->settings = *settings;
  self->events = *events;
  self->state = "playing";
  g_queue_init (&self->messages);
  g_mutex_init (&self->lock);
  add_sink (self, pad);
  self->pictures[WEB_AFTER] = web_pictures_new (pad, NULL, settings->quality,
      picture_made, say_after_failed, self);
  if (self->filter) {
    input = gst_element_get_static_pad (self->filter, "sink");
    self->output = gst_element_get_static_pad (self->filter, "src");
  }
  if (input)
    self->pictures[WEB_BEFORE] = web_pictures_new (input, self->view,
        settings->quality, picture_made, say_before_failed, self);
  if (!self->output)
    self->output = gst_object_ref (pad);
  self->probe = gst_pad_add_probe (self->output, GST_PAD_PROBE_TYPE_BUFFER,
      measure_age, self, NULL);
  gst_bus_add_watch (bus, watch, self);
  return self;
}

gboolean
web_player_start (WebPlayer *self, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);
  g_autoptr (GstMessage) message = NULL;

  if (gst_element_set_state (self->pipeline, GST_STATE_PLAYING)
      != GST_STATE_CHANGE_FAILURE)
    return TRUE;
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  if (message)
    gst_message_parse_error (message, error, NULL);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_FAILED,
        "The pipeline does not start: try it with gst-launch-1.0");
  return FALSE;
}

void
web_player_restart (WebPlayer *self)
{
  g_autoptr (GError) error = NULL;

  if (g_strcmp0 (self->state, "playing") == 0)
    return;
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  for (guint i = 0; i < WEB_N_PICTURES; i++)
    if (self->pictures[i])
      web_pictures_restart (self->pictures[i]);
  self->state = "playing";
  if (!web_player_start (self, &error)) {
    self->state = "failed";
    say (self, "error", "", "", error->message);
  }
}

void
web_player_free (WebPlayer *self)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);

  g_clear_pointer (&self->recorder, web_recorder_free);
  gst_bus_remove_watch (bus);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_pad_remove_probe (self->output, self->probe);
  for (guint i = 0; i < WEB_N_PICTURES; i++)
    g_clear_pointer (&self->pictures[i], web_pictures_free);
  gst_object_unref (self->output);
  gst_clear_object (&self->filter);
  gst_object_unref (self->view);
  gst_object_unref (self->pipeline);
  g_queue_clear_full (&self->messages, free_message);
  g_mutex_clear (&self->lock);
  g_free (self);
}

WebPictures *
web_player_pictures (WebPlayer *self, WebPicture picture)
{
  return self->pictures[picture];
}

void
web_player_describe (WebPlayer *self, GString *json)
{
  g_string_append_c (json, '[');
  if (self->filter) {
    web_controls_describe (self->filter, json);
    g_string_append_c (json, ',');
  }
  web_controls_describe (self->view, json);
  g_string_append_c (json, ']');
}

void
web_player_values (WebPlayer *self, GString *json)
{
  g_string_append_c (json, '{');
  if (self->filter) {
    nd_json_name (json, "filter");
    web_controls_values (self->filter, json);
  }
  nd_json_name (json, "view");
  web_controls_values (self->view, json);
  g_string_append_c (json, '}');
}

/* Ends a recording that cannot go on. */
static void
check_recorder (WebPlayer *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *text = NULL;

  if (!self->recorder || !web_recorder_has_ended (self->recorder, &error))
    return;
  if (error)
    text = g_strdup_printf ("The recording ended: %s", error->message);
  else
    text = g_strdup_printf ("Recorded %" G_GUINT64_FORMAT
                            " volumes (%" G_GUINT64_FORMAT " missing) to %s",
        web_recorder_volumes (self->recorder),
        web_recorder_missing (self->recorder),
        web_recorder_path (self->recorder));
  g_clear_pointer (&self->recorder, web_recorder_free);
  say (self, error ? "warning" : "info", "", "", text);
}

static void
append_latency (WebPlayer *self, GString *json)
{
  g_mutex_lock (&self->lock);
  nd_json_name (json, "volumes");
  nd_json_number (json, self->volumes);
  nd_json_name (json, "age-sum");
  nd_json_number (json, self->age_sum);
  g_mutex_unlock (&self->lock);
}

void
web_player_state (WebPlayer *self, GString *json)
{
  check_recorder (self);
  nd_json_name (json, "state");
  nd_json_text (json, self->state);
  nd_json_name (json, "time");
  nd_json_number (json, (gdouble) g_get_monotonic_time () / G_USEC_PER_SEC);
  append_latency (self, json);
  nd_json_name (json, "can-record");
  g_string_append (json, self->settings.record_folder ? "true" : "false");
  if (self->recorder) {
    nd_json_name (json, "recorded");
    nd_json_number (json, web_recorder_volumes (self->recorder));
  }
  nd_json_name (json, "stats");
  web_stats_json (GST_BIN (self->pipeline), json);
}

static GstElement *
find_element (WebPlayer *self, const gchar *name)
{
  if (g_strcmp0 (name, "view") == 0)
    return self->view;
  return g_strcmp0 (name, "filter") == 0 ? self->filter : NULL;
}

void
web_player_set (WebPlayer *self, const gchar *element, const gchar *property,
    const gchar *value)
{
  GstElement *found = find_element (self, element);
  g_autoptr (GError) error = NULL;

  if (found && web_controls_set (found, property, value, &error))
    return;
  say (self, "refused", element, property,
      error ? error->message : "Only filter and view have controls");
}

void
web_player_navigate (WebPlayer *self, GstEvent *event)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (self->view, "src");

  if (self->pictures[WEB_BEFORE])
    web_pictures_navigate (self->pictures[WEB_BEFORE], event);
  gst_pad_send_event (pad, event);
}

void
web_player_same_window (WebPlayer *self, gboolean same)
{
  WebPictures *before = self->pictures[WEB_BEFORE];
  gdouble window = 0, level = 0;

  if (!g_object_class_find_property (G_OBJECT_GET_CLASS (self->view),
          "shown-window"))
    say (self, "refused", "view", "", "The view has no window");
  else if (!same)
    g_object_set (self->view, "window", 0.0, NULL);
  else if (before && web_pictures_window (before, &window, &level))
    g_object_set (self->view, "window", window, "level", level, NULL);
  else
    say (self, "refused", "view", "",
        "There is no picture before the filter, whose window both could have");
}

void
web_player_record (WebPlayer *self, gboolean record)
{
  g_autoptr (GError) error = NULL;

  check_recorder (self);
  if (!record && self->recorder)
    web_recorder_stop (self->recorder);
  if (!record || self->recorder)
    return;
  if (!self->settings.record_folder) {
    say (self, "refused", "", "",
        "Recording needs a folder: start ndconv-web with --record FOLDER");
    return;
  }
  self->recorder = web_recorder_new (self->output, self->settings.record_folder,
      &self->settings.limits, &error);
  if (!self->recorder)
    say (self, "refused", "", "", error->message);
}

void
web_player_metrics (WebPlayer *self, GString *text)
{
  gdouble sum, last;
  guint64 volumes;

  g_mutex_lock (&self->lock);
  sum = self->age_sum;
  last = self->age_last;
  volumes = self->volumes;
  g_mutex_unlock (&self->lock);
  web_metric (text, "ndconv_web_volumes_total", "counter",
      "Volumes that left the filter", volumes);
  web_metric (text, "ndconv_web_latency_seconds_total", "counter",
      "Sum of their ages when they left it", sum);
  web_metric (text, "ndconv_web_latency_seconds", "gauge",
      "Age of the last volume when it left the filter", last);
  web_metric (text, "ndconv_web_playing", "gauge",
      "1 while the pipeline plays, 0 after its end or an error",
      g_strcmp0 (self->state, "playing") == 0);
  web_stats_metrics (GST_BIN (self->pipeline), text);
}
