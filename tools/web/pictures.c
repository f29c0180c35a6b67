/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/pictures.h"

#include "tools/web/controls.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <string.h>

#define RETRY_SECONDS 1
#define MOST_WAITING (64 << 20) /* bytes of volumes, if there are several */

struct _WebPictures
{
  GstPad *pad;
  gulong probe;
  GstElement *like; /* NULL: the buffers are pictures */
  guint quality;
  WebPicturesFunction made;
  void (*failed) (const gchar *text, gpointer data);
  gpointer data;
  GMainContext *context;

  gint wanted;  /* atomic */
  gint sends;   /* the next picture of the view is encoded; atomic */
  gint pending; /* calls of the main context that are on their way; atomic */

  GMutex lock;
  GQueue taken;      /* samples of the pad, not encoded yet */
  gsize taken_bytes; /* of their buffers */
  GBytes *jpeg;      /* encoded, not announced yet */
  GstSample *raw;    /* of the last picture */

  /* Used in the main context. */
  GstElement *encoder, *view, *source;
  GstCaps *caps; /* that the encoder was made for */
  GBytes *last;
  guint64 number;
  gboolean busy;
  gint64 broken; /* when the encoder failed; 0: it did not */
  gchar *why;
};

static void web_pictures_encode (WebPictures *self);

/* Calls @function in the main context. */
static void
web_pictures_call (WebPictures *self, GSourceFunc function)
{
  GSource *source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, function, self, NULL);
  g_atomic_int_inc (&self->pending);
  g_source_attach (source, self->context);
  g_source_unref (source);
}

static gboolean
call_encode (gpointer data)
{
  WebPictures *self = data;

  g_atomic_int_add (&self->pending, -1);
  web_pictures_encode (self);
  return G_SOURCE_REMOVE;
}

/* Whether a picture shows all volumes before it, not only the last one: an
 * M-mode. */
static gboolean
needs_all (WebPictures *self)
{
  GObjectClass *class = self->like ? G_OBJECT_GET_CLASS (self->like) : NULL;
  GParamSpec *pspec =
      class ? g_object_class_find_property (class, "mode") : NULL;
  const GEnumValue *value;
  gint mode;

  if (!pspec || !G_IS_PARAM_SPEC_ENUM (pspec))
    return FALSE;
  g_object_get (self->like, "mode", &mode, NULL);
  value = g_enum_get_value (G_PARAM_SPEC_ENUM (pspec)->enum_class, mode);
  return value && strcmp (value->value_nick, "mmode") == 0;
}

static gsize
sample_bytes (GstSample *sample)
{
  return gst_buffer_get_size (gst_sample_get_buffer (sample));
}

/* The oldest sample that waits, or NULL. With the lock. */
static GstSample *
pop_taken (WebPictures *self)
{
  GstSample *sample = g_queue_pop_head (&self->taken);

  if (sample)
    self->taken_bytes -= sample_bytes (sample);
  return sample;
}

static void
drop_taken (WebPictures *self)
{
  GstSample *sample;

  g_mutex_lock (&self->lock);
  while ((sample = pop_taken (self)))
    gst_sample_unref (sample);
  g_mutex_unlock (&self->lock);
}

/* Adds @sample to those that wait, in place of them unless @keeps. Returns
 * whether none waited. */
static gboolean
push_taken (WebPictures *self, GstSample *sample, gboolean keeps)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = g_queue_is_empty (&self->taken);
  while (!g_queue_is_empty (&self->taken)
      && (!keeps || self->taken_bytes + sample_bytes (sample) > MOST_WAITING))
    gst_sample_unref (pop_taken (self));
  g_queue_push_tail (&self->taken, sample);
  self->taken_bytes += sample_bytes (sample);
  g_mutex_unlock (&self->lock);
  return first;
}

/* In the thread of the stream. */
static GstPadProbeReturn
web_pictures_take (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WebPictures *self = data;
  const gboolean all = needs_all (self);
  g_autoptr (GstCaps) caps = NULL;

  if (g_atomic_int_compare_and_exchange (&self->wanted, TRUE, FALSE))
    g_atomic_int_set (&self->sends, TRUE);
  else if (!all)
    return GST_PAD_PROBE_OK;
  caps = gst_pad_get_current_caps (pad);
  if (caps
      && push_taken (self,
          gst_sample_new (GST_PAD_PROBE_INFO_BUFFER (info), caps, NULL, NULL),
          all))
    web_pictures_call (self, call_encode);
  return GST_PAD_PROBE_OK;
}

WebPictures *
web_pictures_new (GstPad *pad, GstElement *view, guint quality,
    WebPicturesFunction made, void (*failed) (const gchar *text, gpointer data),
    gpointer data)
{
  WebPictures *self = g_new0 (WebPictures, 1);

  self->pad = gst_object_ref (pad);
  self->like = view ? gst_object_ref (view) : NULL;
  self->quality = quality;
  self->made = made;
  self->failed = failed;
  self->data = data;
  self->context = g_main_context_ref_thread_default ();
  g_mutex_init (&self->lock);
  self->probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER,
      web_pictures_take, self, NULL);
  return self;
}

static gboolean
announce (gpointer data)
{
  WebPictures *self = data;

  g_atomic_int_add (&self->pending, -1);
  g_mutex_lock (&self->lock);
  if (self->jpeg) {
    g_clear_pointer (&self->last, g_bytes_unref);
    self->last = g_steal_pointer (&self->jpeg);
    self->number++;
  }
  g_mutex_unlock (&self->lock);
  self->busy = FALSE;
  if (self->made)
    self->made (self->data);
  return G_SOURCE_REMOVE;
}

/* In the thread of the encoder. */
static GstFlowReturn
take_jpeg (GstAppSink *sink, gpointer data)
{
  WebPictures *self = data;
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (sink);
  GstBuffer *buffer = sample ? gst_sample_get_buffer (sample) : NULL;
  const gsize size = buffer ? gst_buffer_get_size (buffer) : 0;
  guint8 *bytes = size > 0 ? g_try_malloc (size) : NULL;

  if (bytes) {
    gst_buffer_extract (buffer, 0, bytes, size);
    g_mutex_lock (&self->lock);
    g_clear_pointer (&self->jpeg, g_bytes_unref);
    self->jpeg = g_bytes_new_take (bytes, size);
    g_mutex_unlock (&self->lock);
  }
  web_pictures_call (self, announce);
  return GST_FLOW_OK;
}

/* In the thread of the encoder: keeps the picture before compression. */
static GstPadProbeReturn
keep_raw (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WebPictures *self = data;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);

  g_mutex_lock (&self->lock);
  g_clear_pointer (&self->raw, gst_sample_unref);
  if (caps)
    self->raw =
        gst_sample_new (GST_PAD_PROBE_INFO_BUFFER (info), caps, NULL, NULL);
  g_mutex_unlock (&self->lock);
  return GST_PAD_PROBE_OK;
}

/* In the thread of the encoder: the view has drawn a volume. */
static GstPadProbeReturn
drop_unwanted (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WebPictures *self = data;

  return g_atomic_int_compare_and_exchange (&self->sends, TRUE, FALSE)
      ? GST_PAD_PROBE_OK
      : GST_PAD_PROBE_DROP;
}

static void
stop_encoder (WebPictures *self)
{
  g_autoptr (GstBus) bus = NULL;

  if (!self->encoder)
    return;
  bus = gst_element_get_bus (self->encoder);
  gst_bus_remove_watch (bus);
  gst_element_set_state (self->encoder, GST_STATE_NULL);
  gst_clear_object (&self->source);
  gst_clear_object (&self->encoder);
  gst_clear_caps (&self->caps);
  self->view = NULL;
  self->busy = FALSE;
}

/* Says each reason once. */
static void
web_pictures_fail (WebPictures *self, const gchar *why)
{
  self->broken = g_get_monotonic_time ();
  self->busy = FALSE;
  if (g_strcmp0 (self->why, why) == 0)
    return;
  g_free (self->why);
  self->why = g_strdup (why);
  self->failed (why, self->data);
}

static gboolean
web_pictures_watch (GstBus *bus, GstMessage *message, gpointer data)
{
  WebPictures *self = data;
  g_autoptr (GError) error = NULL;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR)
    return G_SOURCE_CONTINUE;
  gst_message_parse_error (message, &error, NULL);
  web_pictures_fail (self, error->message);
  return G_SOURCE_CONTINUE;
}

static gboolean
are_pictures (GstCaps *caps)
{
  return gst_structure_has_name (gst_caps_get_structure (caps, 0),
      "video/x-raw");
}

/* appsrc ! view ! videoconvert ! jpegenc ! appsink */
static gboolean
start_encoder (WebPictures *self, GstCaps *caps, GError **error)
{
  GstAppSinkCallbacks callbacks = { .new_sample = take_jpeg };
  g_autofree gchar *text = g_strdup_printf (
      "videoconvert name=pictures ! jpegenc name=jpeg quality=%u "
      "! appsink name=out sync=false async=false max-buffers=1 drop=true",
      self->quality);
  g_autoptr (GstElement) out = NULL, pictures = NULL, jpeg = NULL;
  g_autoptr (GstPad) pad = NULL, drawn = NULL;
  g_autoptr (GstBus) bus = NULL;

  self->encoder = gst_parse_launch (text, error);
  if (!self->encoder)
    return FALSE;
  gst_object_ref_sink (self->encoder);
  self->source = gst_element_factory_make ("appsrc", "in");
  gst_object_ref_sink (self->source);
  g_object_set (self->source, "format", GST_FORMAT_TIME, "max-bytes",
      (guint64) MOST_WAITING, "leaky-type", GST_APP_LEAKY_TYPE_DOWNSTREAM,
      NULL);
  gst_bin_add (GST_BIN (self->encoder), self->source);
  pictures = gst_bin_get_by_name (GST_BIN (self->encoder), "pictures");
  if (self->like && !are_pictures (caps)) {
    self->view =
        gst_element_factory_create (gst_element_get_factory (self->like), NULL);
    web_controls_copy (self->like, self->view);
    gst_bin_add (GST_BIN (self->encoder), self->view);
    gst_element_link_many (self->source, self->view, pictures, NULL);
    drawn = gst_element_get_static_pad (self->view, "src");
    gst_pad_add_probe (drawn, GST_PAD_PROBE_TYPE_BUFFER, drop_unwanted, self,
        NULL);
  } else {
    gst_element_link (self->source, pictures);
  }
  jpeg = gst_bin_get_by_name (GST_BIN (self->encoder), "jpeg");
  pad = gst_element_get_static_pad (jpeg, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, keep_raw, self, NULL);
  out = gst_bin_get_by_name (GST_BIN (self->encoder), "out");
  gst_app_sink_set_callbacks (GST_APP_SINK (out), &callbacks, self, NULL);
  bus = gst_element_get_bus (self->encoder);
  gst_bus_add_watch (bus, web_pictures_watch, self);
  self->caps = gst_caps_ref (caps);
  gst_element_set_state (self->encoder, GST_STATE_PLAYING);
  return TRUE;
}

static void
encode_sample (WebPictures *self, GstSample *sample)
{
  GstCaps *caps = gst_sample_get_caps (sample);
  g_autoptr (GError) error = NULL;

  if (self->broken) {
    /* The settings may have become good. */
    if (g_get_monotonic_time () - self->broken < RETRY_SECONDS * G_USEC_PER_SEC)
      return;
    stop_encoder (self);
    self->broken = 0;
  }
  if (self->encoder && !gst_caps_is_equal (self->caps, caps))
    stop_encoder (self);
  if (!self->encoder && !start_encoder (self, caps, &error)) {
    web_pictures_fail (self, error->message);
    return;
  }
  if (self->view)
    web_controls_copy (self->like, self->view);
  if (!self->view || g_atomic_int_get (&self->sends))
    self->busy = TRUE;
  gst_app_src_push_sample (GST_APP_SRC (self->source), sample);
}

static void
web_pictures_encode (WebPictures *self)
{
  for (;;) {
    g_autoptr (GstSample) sample = NULL;

    g_mutex_lock (&self->lock);
    sample = pop_taken (self);
    g_mutex_unlock (&self->lock);
    if (!sample)
      return;
    if (self->made)
      encode_sample (self, sample);
  }
}

void
web_pictures_restart (WebPictures *self)
{
  drop_taken (self);
  stop_encoder (self);
}

void
web_pictures_want (WebPictures *self)
{
  if (!self->busy)
    g_atomic_int_set (&self->wanted, TRUE);
}

GBytes *
web_pictures_last (WebPictures *self, guint64 *number)
{
  *number = self->number;
  return self->last ? g_bytes_ref (self->last) : NULL;
}

GstSample *
web_pictures_last_raw (WebPictures *self)
{
  GstSample *sample;

  g_mutex_lock (&self->lock);
  sample = self->raw ? gst_sample_ref (self->raw) : NULL;
  g_mutex_unlock (&self->lock);
  return sample;
}

gboolean
web_pictures_window (WebPictures *self, gdouble *window, gdouble *level)
{
  if (!self->view
      || !g_object_class_find_property (G_OBJECT_GET_CLASS (self->view),
          "shown-window"))
    return FALSE;
  g_object_get (self->view, "shown-window", window, "shown-level", level, NULL);
  return *window > 0;
}

void
web_pictures_navigate (WebPictures *self, GstEvent *event)
{
  g_autoptr (GstPad) pad = NULL;

  if (!self->view)
    return;
  pad = gst_element_get_static_pad (self->view, "src");
  gst_pad_send_event (pad, gst_event_ref (event));
}

void
web_pictures_free (WebPictures *self)
{
  gst_pad_remove_probe (self->pad, self->probe);
  stop_encoder (self);
  self->made = NULL;
  /* The probe may still run, and calls of the main context are on their way. */
  while (g_atomic_int_get (&self->pending) > 0)
    g_main_context_iteration (self->context, TRUE);
  drop_taken (self);
  g_clear_pointer (&self->raw, gst_sample_unref);
  g_clear_pointer (&self->jpeg, g_bytes_unref);
  g_clear_pointer (&self->last, g_bytes_unref);
  g_free (self->why);
  g_mutex_clear (&self->lock);
  g_main_context_unref (self->context);
  gst_clear_object (&self->like);
  gst_object_unref (self->pad);
  g_free (self);
}
