/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-openigtlinksink
 * @title: openigtlinksink
 *
 * Sends volumes and frames as IMAGE messages to programs that speak
 * OpenIGTLink. As a server (#GstOpenIGTLinkSink:mode server) it accepts any
 * number of clients, for example 3D Slicer. As a client it connects to a
 * server.
 *
 * Each client has its own queue. If a client reads too slowly, the oldest
 * volumes in its queue are dropped. Other clients and the pipeline are not
 * delayed. #GstOpenIGTLinkSink:stats counts the sent and the dropped volumes of
 * each client.
 *
 * Spacing, origin and directions are taken from the caps. A volume that was
 * received by OpenIGTLink keeps the time of its sender; other volumes get the
 * time of day at their timestamp. Fields of a volume are sent before it as
 * TRANSFORM, POSITION, TDATA, QTDATA, STATUS, STRING and SENSOR messages if
 * these can hold them. The other fields become metadata of the IMAGE if
 * #GstOpenIGTLinkSink:version is 2 or 3.
 *
 * A volume of a live stream is sent at once. The volumes of other streams are
 * sent at their times. #GstBaseSink:sync chooses otherwise.
 *
 * By default the element listens at localhost only. With host=0.0.0.0 other
 * computers can connect. OpenIGTLink has neither passwords nor encryption.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 ndtestsrc is-live=true ! ndconv3d filter=gaussian,sigma=1 ! openigtlinksink
 * ]| Serves a filtered heart; in 3D Slicer add an OpenIGTLinkIF client.
 *
 * Since: 0.9
 */

#include "core/error.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndpool.h"
#include "gst/base/gstndproperties.h"
#include "gst/base/gstndvideolayout.h"
#include "gst/gstndelements.h"
#include "gst/igtl/gstndigtlframe.h"
#include "gst/igtl/gstndigtlmessages.h"
#include "gst/igtl/gstndigtlmode.h"
#include "gst/igtl/gstndigtloutput.h"

#include <gst/base/gstbasesink.h>
#include <gst/video/video.h>
#include <string.h>

#define GST_TYPE_OPENIGTLINK_SINK (gst_openigtlink_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstOpenIGTLinkSink, gst_openigtlink_sink, GST,
    OPENIGTLINK_SINK, GstBaseSink)

GST_DEBUG_CATEGORY_STATIC (openigtlink_sink_debug);
#define GST_CAT_DEFAULT openigtlink_sink_debug

/* The largest message of a client. Samples of clients need no memory, because
 * they are skipped, and other messages have a limit of their own. */
#define MESSAGE_MAX (G_GUINT64_CONSTANT (1) << 40)
#define RECONNECT 1 /* s */

typedef struct
{
  GstNdIgtlMode mode;
  gchar *host;
  guint port;
  gchar *device_name;
  guint version;
  guint message_timeout;
} Settings;

struct _GstOpenIGTLinkSink
{
  GstBaseSink parent;

  Settings settings;       /* under the object lock */
  GstNdIgtlOutput *output; /* changes under the object lock */
  guint64 volumes, unsent; /* under the object lock */
  guint64 fields_unsent;   /* under the object lock */

  /* Used by the streaming thread only. */
  GstNdVolumeInfo info;
  gsize size; /* 0: no caps */
  gboolean is_video;
  GstVideoInfo video_info;
  GstNdIgtlFields fields;
  gboolean has_origin;
  gint64 origin; /* ns since 1970 of timestamp 0 */
  guint32 message_id;

  gint sync_set; /* the application set `sync`; atomic */
};

enum
{
  PROP_MODE = 1,
  PROP_HOST,
  PROP_PORT,
  PROP_DEVICE_NAME,
  PROP_VERSION,
  PROP_MESSAGE_TIMEOUT,
  PROP_STATS,
  PROP_SYNC
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_ND_TENSORS_CAPS
            "; " GST_VIDEO_CAPS_MAKE (GST_ND_IGTL_VIDEO_FORMATS)));

G_DEFINE_TYPE_WITH_CODE (GstOpenIGTLinkSink, gst_openigtlink_sink,
    GST_TYPE_BASE_SINK,
    GST_DEBUG_CATEGORY_INIT (openigtlink_sink_debug, "ndopenigtlinksink", 0,
        "sink that sends volumes by OpenIGTLink"));
GST_ELEMENT_REGISTER_DEFINE (openigtlinksink, "openigtlinksink", GST_RANK_NONE,
    GST_TYPE_OPENIGTLINK_SINK);

static const NdSetting rows[] = {
  /* Since: 0.9 */
  { "mode", "Mode", "Whether to listen or to connect",
      ND_FIELD_ENUM (Settings, mode, GstNdIgtlMode, gst_nd_igtl_mode_enum,
          GST_ND_IGTL_SERVER),
      ND_READY },
  { "host", "Host",
      "Address of this computer to listen at (0.0.0.0: all addresses); with "
      "mode=client, the name or address of the server",
      ND_FIELD_STRING (Settings, host, "localhost"), ND_READY },
  { "port", "Port",
      "TCP port; with mode=server, 0 chooses a free port, which stats shows",
      ND_FIELD_UINT (Settings, port, 0, 65535, ND_IGTL_PORT), ND_READY },
  { "device-name", "Device name",
      "Device name of the images, which clients show; at most 20 bytes",
      ND_FIELD_STRING (Settings, device_name, "ndconv"), ND_READY },
  { "version", "Header version",
      "Header version of the messages. 1: every client understands it; 2 and "
      "3: with metadata, for OpenIGTLink 3 and later",
      ND_FIELD_UINT (Settings, version, 1, ND_IGTL_VERSION_MAX, 1), ND_READY },
  { "message-timeout", "Message timeout",
      "Seconds that one message of a peer may take to arrive; then its "
      "connection is closed. 0: any time",
      ND_FIELD_UINT (Settings, message_timeout, 0, 86400,
          GST_ND_IGTL_MESSAGE_TIMEOUT),
      ND_READY },
};

static gboolean
start (GstOpenIGTLinkSink *self)
{
  const Settings *settings = &self->settings;
  const GstNdIgtlSettings hub = { .server =
                                      settings->mode == GST_ND_IGTL_SERVER,
    .host = settings->host ? settings->host : "",
    .port = settings->port,
    .max_size = MESSAGE_MAX,
    .check_crc = TRUE,
    .reconnect = RECONNECT,
    .reconnect_max = GST_ND_IGTL_RECONNECT_MAX,
    .stall = GST_ND_IGTL_STALL,
    .message_timeout = settings->message_timeout * 1000,
    .patience = GST_ND_IGTL_PATIENCE,
    .half_closed = settings->mode == GST_ND_IGTL_SERVER };
  const gchar *device = settings->device_name ? settings->device_name : "";
  g_autoptr (GError) error = NULL;
  GstNdIgtlOutput *output;

  if (strlen (device) > ND_IGTL_DEVICE_SIZE) {
    g_set_error (&error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property 'device-name' is \"%s\": OpenIGTLink has room for %u bytes",
        device, ND_IGTL_DEVICE_SIZE);
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  self->size = 0;
  self->has_origin = FALSE;
  self->message_id = 0;
  output = gst_nd_igtl_output_new (GST_ELEMENT (self), &hub, settings->version,
      device);
  GST_OBJECT_LOCK (self);
  self->output = output;
  self->volumes = self->unsent = self->fields_unsent = 0;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
stop (GstOpenIGTLinkSink *self)
{
  GstNdIgtlOutput *output;

  GST_OBJECT_LOCK (self);
  output = g_steal_pointer (&self->output);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&output, gst_nd_igtl_output_free);
  gst_nd_igtl_fields_clear (&self->fields);
}

static GstStateChangeReturn
gst_openigtlink_sink_change_state (GstElement *element,
    GstStateChange transition)
{
  GstOpenIGTLinkSink *self = GST_OPENIGTLINK_SINK (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (gst_openigtlink_sink_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return ret;
}

static gboolean
set_flushing (GstBaseSink *sink, gboolean flushing)
{
  GstOpenIGTLinkSink *self = GST_OPENIGTLINK_SINK (sink);

  if (self->output)
    gst_nd_igtl_output_set_flushing (self->output, flushing);
  return TRUE;
}

static gboolean
gst_openigtlink_sink_unlock (GstBaseSink *sink)
{
  return set_flushing (sink, TRUE);
}

static gboolean
gst_openigtlink_sink_unlock_stop (GstBaseSink *sink)
{
  return set_flushing (sink, FALSE);
}

static gboolean
gst_openigtlink_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstOpenIGTLinkSink *self = GST_OPENIGTLINK_SINK (sink);
  g_autoptr (GError) error = NULL;
  GstNdVolumeInfo info;

  self->size = 0;
  self->is_video =
      gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw");
  if (!self->is_video)
    gst_nd_volume_info_from_caps (&info, caps, &error);
  else if (gst_video_info_from_caps (&self->video_info, caps))
    gst_nd_frame_get_info (&self->video_info, &info);
  else
    g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT,
        "Caps of the frames cannot be read: they must have format, width and "
        "height");
  if (error || !gst_nd_igtl_check_format (&info, &error)) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "input caps %" GST_PTR_FORMAT, caps);
  self->info = info;
  self->size = gst_nd_volume_info_size (&info);
  return TRUE;
}

/* Rows without padding. NULL if the frame cannot be read. */
static GstBuffer *
pack_frame (GstOpenIGTLinkSink *self, GstBuffer *buffer)
{
  g_autoptr (GstBuffer) packed = NULL;
  GstVideoFrame frame;
  GstMapInfo map;

  if (!gst_video_frame_map (&frame, &self->video_info, buffer, GST_MAP_READ))
    return NULL;
  packed = gst_nd_buffer_new (self->size);
  if (packed && gst_buffer_map (packed, &map, GST_MAP_WRITE)) {
    gst_nd_frame_copy (&frame, map.data);
    gst_buffer_unmap (packed, &map);
  }
  gst_video_frame_unmap (&frame);
  return g_steal_pointer (&packed);
}

/* Buffers of a pool with a limited number are copied, because a slow client
 * holds several buffers and the pipeline would wait for that client. */
static GstBuffer *
keep_buffer (GstBuffer *buffer)
{
  guint max = 0;

  if (buffer->pool) {
    GstStructure *config = gst_buffer_pool_get_config (buffer->pool);

    gst_buffer_pool_config_get_params (config, NULL, NULL, NULL, &max);
    gst_structure_free (config);
  }
  return max > 0 ? gst_nd_buffer_copy_bytes (buffer) : gst_buffer_ref (buffer);
}

/* The time of the volume in ns since 1970. */
static guint64
time_of_day (GstOpenIGTLinkSink *self, GstBuffer *buffer)
{
  const gint64 now = g_get_real_time () * (gint64) GST_USECOND;
  GstClockTime running;

  if (!GST_BUFFER_PTS_IS_VALID (buffer))
    return now;
  if (!self->has_origin) {
    g_autoptr (GstClock) clock = gst_element_get_clock (GST_ELEMENT (self));

    running = gst_segment_to_running_time (&GST_BASE_SINK (self)->segment,
        GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
    if (!clock || !GST_CLOCK_TIME_IS_VALID (running))
      return now;
    /* Timestamps differ from running time by a constant, until a seek. */
    self->origin = now
        - (gint64) (gst_clock_get_time (clock)
            - gst_element_get_base_time (GST_ELEMENT (self)))
        + (gint64) running - (gint64) GST_BUFFER_PTS (buffer);
    self->has_origin = TRUE;
  }
  return MAX (self->origin + (gint64) GST_BUFFER_PTS (buffer), 0);
}

static void
send_volume (GstOpenIGTLinkSink *self, GstNdIgtlUnit *unit, GstBuffer *buffer,
    gboolean to_peers)
{
  const GstNdIgtlLetterhead head = { self->settings.version,
    self->settings.device_name, time_of_day (self, buffer), &self->message_id };
  g_autoptr (NdMetadata) owner = NULL;
  guint left_out;
  g_autoptr (GArray) fields = gst_nd_igtl_fields_find (&self->fields,
      GST_BUFFER_PTS (buffer), &owner, &left_out);

  gst_nd_igtl_build_messages (unit, &head, &self->info, fields);
  left_out += head.version < 2 ? fields->len : 0;
  if (left_out > 0) {
    GST_OBJECT_LOCK (self);
    self->fields_unsent += left_out;
    GST_OBJECT_UNLOCK (self);
  }
  gst_nd_igtl_output_send (self->output, unit, to_peers);
}

static GstFlowReturn
gst_openigtlink_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  GstOpenIGTLinkSink *self = GST_OPENIGTLINK_SINK (sink);
  const gboolean has_peers = gst_nd_igtl_output_has_peers (self->output);
  GstNdIgtlUnit *unit;
  GstBuffer *kept;

  if (self->size == 0)
    return GST_FLOW_NOT_NEGOTIATED;
  if (gst_nd_igtl_output_has_failed (self->output))
    return GST_FLOW_ERROR;
  GST_OBJECT_LOCK (self);
  self->volumes++;
  self->unsent += !has_peers;
  GST_OBJECT_UNLOCK (self);
  /* Without a client, too: the next one may ask for the last volume. */
  kept = self->is_video ? pack_frame (self, buffer) : keep_buffer (buffer);
  if (!kept) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("A volume of %" G_GSIZE_FORMAT
         " bytes cannot be kept for clients: there is no memory for it, or its "
         "buffer cannot be read",
            self->size),
        (NULL));
    return GST_FLOW_ERROR;
  }
  unit = gst_nd_igtl_unit_new_volume (kept, self->size);
  if (!unit) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("A buffer of %" G_GSIZE_FORMAT
         " bytes cannot be read as a volume: its caps say %" G_GSIZE_FORMAT
         " bytes",
            gst_buffer_get_size (buffer), self->size),
        (NULL));
    return GST_FLOW_ERROR;
  }
  GST_LOG_OBJECT (self, "%s %" GST_PTR_FORMAT,
      has_peers ? "sending" : "no client for", buffer);
  send_volume (self, unit, buffer, has_peers);
  return GST_FLOW_OK;
}

/* Volumes of a live stream are sent at once, unless the application set `sync`:
 * waiting for the latency of the pipeline would only make them older. */
static void
choose_sync (GstOpenIGTLinkSink *self)
{
  GstBaseSink *sink = GST_BASE_SINK (self);
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (g_atomic_int_get (&self->sync_set))
    return;
  if (gst_pad_peer_query (GST_BASE_SINK_PAD (sink), query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  if (gst_base_sink_get_sync (sink) == !live)
    return;
  gst_base_sink_set_sync (sink, !live);
  g_object_notify (G_OBJECT (self), "sync");
}

static void
take_metadata (GstOpenIGTLinkSink *self, NdMetadata *metadata, gboolean live)
{
  if (live && metadata->times->len != 1) {
    nd_metadata_unref (metadata);
    return;
  }
  if (live) {
    self->origin = metadata->origin;
    self->has_origin = TRUE;
  }
  gst_nd_igtl_fields_take (&self->fields, metadata, live);
}

static gboolean
gst_openigtlink_sink_event (GstBaseSink *sink, GstEvent *event)
{
  GstOpenIGTLinkSink *self = GST_OPENIGTLINK_SINK (sink);
  NdMetadata *metadata;
  guint64 volumes;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
      choose_sync (self);
      break;
    case GST_EVENT_EOS:
      gst_nd_igtl_output_drain (self->output);
      break;
    case GST_EVENT_FLUSH_STOP:
      self->has_origin = FALSE;
      gst_nd_igtl_fields_flush (&self->fields);
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
      metadata = gst_nd_metadata_from_event (event, &volumes);
      if (metadata)
        take_metadata (self, metadata, gst_nd_metadata_is_live (event));
      break;
    default:
      break;
  }
  return GST_BASE_SINK_CLASS (gst_openigtlink_sink_parent_class)
      ->event (sink, event);
}

/* Rows may be padded, and are packed here. */
static gboolean
gst_openigtlink_sink_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static GstStructure *
make_stats (GstOpenIGTLinkSink *self)
{
  GstStructure *stats = gst_structure_new_empty ("openigtlinksink-stats");

  GST_OBJECT_LOCK (self);
  if (self->output)
    gst_nd_igtl_output_get_stats (self->output, stats);
  gst_structure_set (stats, "volumes", G_TYPE_UINT64, self->volumes,
      "volumes-without-client", G_TYPE_UINT64, self->unsent, "fields-unsent",
      G_TYPE_UINT64, self->fields_unsent, NULL);
  GST_OBJECT_UNLOCK (self);
  return stats;
}

static void
gst_openigtlink_sink_set_property (GObject *object, guint id,
    const GValue *value, GParamSpec *pspec)
{
  GstOpenIGTLinkSink *self = GST_OPENIGTLINK_SINK (object);

  if (id == PROP_SYNC) {
    g_atomic_int_set (&self->sync_set, TRUE);
    gst_base_sink_set_sync (GST_BASE_SINK (self), g_value_get_boolean (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (rows, G_N_ELEMENTS (rows), &self->settings, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_openigtlink_sink_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstOpenIGTLinkSink *self = GST_OPENIGTLINK_SINK (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, make_stats (self));
    return;
  }
  if (id == PROP_SYNC) {
    g_value_set_boolean (value, gst_base_sink_get_sync (GST_BASE_SINK (self)));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (rows, G_N_ELEMENTS (rows), &self->settings, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_openigtlink_sink_finalize (GObject *object)
{
  nd_settings_clear (rows, G_N_ELEMENTS (rows),
      &GST_OPENIGTLINK_SINK (object)->settings);
  G_OBJECT_CLASS (gst_openigtlink_sink_parent_class)->finalize (object);
}

static void
gst_openigtlink_sink_class_init (GstOpenIGTLinkSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  object_class->set_property = gst_openigtlink_sink_set_property;
  object_class->get_property = gst_openigtlink_sink_get_property;
  object_class->finalize = gst_openigtlink_sink_finalize;

  gst_nd_properties_install (object_class, rows, G_N_ELEMENTS (rows));
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "volumes (that arrived), volumes-without-client (nobody was "
          "connected), volumes-sent and -dropped (by all clients together), "
          "clients (one structure each: address, queued, volumes-sent, "
          "volumes-dropped, bytes-sent), fields-unsent, queries, "
          "messages-refused, port, connections, refused-connections, "
          "broken-connections, slow-connections, reconnects, bytes-sent, "
          "bytes-received",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_override_property (object_class, PROP_SYNC, "sync");

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "OpenIGTLink sink",
      "Sink/Network",
      "Sends volumes and frames by OpenIGTLink, to 3D Slicer and other "
      "programs, with their times, geometry and transforms",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc is-live=true ! openigtlinksink");

  element_class->change_state = gst_openigtlink_sink_change_state;
  sink_class->set_caps = gst_openigtlink_sink_set_caps;
  sink_class->unlock = gst_openigtlink_sink_unlock;
  sink_class->unlock_stop = gst_openigtlink_sink_unlock_stop;
  sink_class->render = gst_openigtlink_sink_render;
  sink_class->event = gst_openigtlink_sink_event;
  sink_class->propose_allocation = gst_openigtlink_sink_propose_allocation;
}

static void
gst_openigtlink_sink_init (GstOpenIGTLinkSink *self)
{
  nd_settings_init (rows, G_N_ELEMENTS (rows), &self->settings);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
  gst_nd_flush_install (GST_BASE_SINK_PAD (self));
}
