/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
/**
 * SECTION:element-nddemux
 * @title: nddemux
 *
 * Reads a recording in one file (docs/formats.md) from the bytes of any source
 * that can be read at any place: filesrc, giosrc, or urisourcebin. With
 * it decodebin, uridecodebin and players open recordings. decodebin gives
 * volumes with the property caps=other/tensors, and otherwise pictures of
 * ndview. TIFF is read by nddemux alone: decodebin takes TIFF files for
 * pictures.
 *
 * nddemux refuses a source that only sends its bytes in order, with a message
 * that names other sources. The header of a recording may name other files with
 * the samples only if it is a file of this machine.
 *
 * Use ndfilesrc to read a part of a recording, or raw samples without a header.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=heart.nii.gz ! decodebin caps=other/tensors ! ndconv4dtemporal filter="gaussian,sigma=1.0" ! ndfilesink location=smooth.nii.gz
 * ]| Smooths a recording.
 *
 * Since: 0.9
 */
#include "gst/files/gstnddemux.h"

#include "core/error.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndpool.h"
#include "gst/gstndelements.h"
#include <string.h>

GST_DEBUG_CATEGORY (gst_nd_demux_debug);
#define GST_CAT_DEFAULT gst_nd_demux_debug

/* Bytes of one pull, after which a flush is noticed. */
#define PULL_BYTES ((gsize) 4 << 20)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS ("application/x-nifti; application/x-nrrd; "
                         "application/x-metaimage; application/x-npy; "
                         "application/x-npz"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_SOMETIMES, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));

G_DEFINE_TYPE_WITH_CODE (GstNdDemux, gst_nd_demux, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_nd_demux_debug, "nddemux", 0,
        "recordings from bytes"));
GST_ELEMENT_REGISTER_DEFINE (nddemux, "nddemux", GST_RANK_PRIMARY,
    GST_TYPE_ND_DEMUX);

static const NdSetting rows[] = {
  /* Since: 0.9 */
  GST_ND_MAX_MEMORY_ROW (GstNdDemuxSettings),
  GST_ND_TRUNCATED_ROW (GstNdDemuxSettings),
};

/* Opening */

/* The bytes that upstream has now; 0 if it does not say. */
static guint64
count_bytes (GstNdDemux *self)
{
  gint64 bytes;

  return gst_pad_peer_query_duration (self->sink, GST_FORMAT_BYTES, &bytes)
      ? MAX (bytes, 0)
      : 0;
}

/* GstBaseSrc writes the bytes that a file has to the start of @buffer and
 * leaves its size. So only bytes that are there are asked for, and those that a
 * file loses meanwhile are 0. */
static gssize
pull (gpointer data, guint64 offset, guint8 *bytes, gsize size,
    const gchar **reason)
{
  GstNdDemux *self = data;
  const guint64 total = count_bytes (self);
  const gsize n =
      offset < total ? MIN (MIN (size, PULL_BYTES), total - offset) : 0;
  g_autoptr (GstBuffer) buffer = NULL;

  if (n == 0)
    return 0;
  /* Upstream would end the process without memory for it. */
  buffer = gst_nd_buffer_new (n);
  if (!buffer) {
    *reason = "there is not enough memory";
    return -1;
  }
  gst_buffer_memset (buffer, 0, 0, n);
  self->pull = gst_pad_pull_range (self->sink, offset, n, &buffer);
  if (self->pull == GST_FLOW_EOS) {
    /* An application may send EOS to the source. */
    self->ended = offset < count_bytes (self);
    return 0;
  }
  if (self->pull != GST_FLOW_OK) {
    *reason = "the element before nddemux stopped";
    return -1;
  }
  return gst_buffer_extract (buffer, 0, bytes, n);
}

/* The name of the recording for messages: the path of a file of this machine,
 * or a URI. */
static gchar *
find_name (GstNdDemux *self, gboolean *is_local)
{
  g_autoptr (GstQuery) query = gst_query_new_uri ();
  g_autofree gchar *uri = NULL, *path = NULL;

  if (gst_pad_peer_query (self->sink, query))
    gst_query_parse_uri (query, &uri);
  if (uri)
    path = g_filename_from_uri (uri, NULL, NULL);
  *is_local = path != NULL;
  if (path)
    return g_steal_pointer (&path);
  return uri ? g_steal_pointer (&uri) : g_strdup ("the stream");
}

static gboolean
open_recording (GstNdDemux *self, GError **error)
{
  NdSource source = { pull, self, 0 };
  g_autofree gchar *name = NULL;
  GstNdExcerpt excerpt = { NULL };
  NdReader *reader;
  gint64 bytes, max_memory;
  NdTruncated truncated;
  gboolean is_local;

  name = find_name (self, &is_local);
  if (!gst_pad_peer_query_duration (self->sink, GST_FORMAT_BYTES, &bytes)
      || bytes < 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "The size of \"%s\" is not known: the element before nddemux must know "
        "it, as filesrc does",
        name);
    return FALSE;
  }
  source.size = bytes;
  GST_OBJECT_LOCK (self);
  max_memory = self->settings.max_memory;
  truncated = self->settings.truncated;
  GST_OBJECT_UNLOCK (self);
  reader = nd_reader_open_source (&source, name, is_local, max_memory,
      truncated, error);
  if (!reader
      || !gst_nd_excerpt_init (&excerpt, reader, name, 0, -1, 1, 0, 1, error))
    return FALSE;
  self->size = gst_nd_volume_info_size (&excerpt.info);
  GST_OBJECT_LOCK (self);
  self->excerpt = excerpt;
  self->next = 0;
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  self->segment.duration = gst_nd_excerpt_time (&excerpt, excerpt.info.volumes);
  GST_OBJECT_UNLOCK (self);
  self->needs_segment = self->discont = TRUE;
  self->metadata = gst_nd_excerpt_metadata (&excerpt);
  for (const gchar *const *warning = nd_reader_warnings (reader); *warning;
       warning++)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s", *warning), (NULL));
  GST_INFO_OBJECT (self,
      "opened \"%s\": %s, %" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
      " bytes",
      name, nd_reader_format (reader), excerpt.info.volumes, self->size);
  return TRUE;
}

static GstBufferPool *
make_pool (gsize size, GstCaps *caps)
{
  GstBufferPool *pool;
  GstStructure *config;

  if (size > G_MAXUINT)
    return NULL;
  pool = gst_nd_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}

/* decodebin3 takes streams by their kind, and pictures are made of this one. */
static void
push_stream_start (GstNdDemux *self, GstCaps *caps)
{
  g_autofree gchar *id =
      gst_pad_create_stream_id (self->src, GST_ELEMENT (self), NULL);
  g_autoptr (GstEvent) upstream =
      gst_pad_get_sticky_event (self->sink, GST_EVENT_STREAM_START, 0);
  g_autoptr (GstStream) stream =
      gst_stream_new (id, caps, GST_STREAM_TYPE_VIDEO, GST_STREAM_FLAG_NONE);
  GstStreamCollection *collection = gst_stream_collection_new (NULL);
  GstEvent *event = gst_event_new_stream_start (id);
  guint group;

  if (!upstream || !gst_event_parse_group_id (upstream, &group))
    group = gst_util_group_id_next ();
  gst_event_set_group_id (event, group);
  gst_event_set_stream (event, stream);
  gst_pad_push_event (self->src, event);
  gst_stream_collection_add_stream (collection, gst_object_ref (stream));
  gst_pad_push_event (self->src, gst_event_new_stream_collection (collection));
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_stream_collection (GST_OBJECT (self), collection));
  gst_object_unref (collection);
}

/* Adds the source pad. */
static void
expose (GstNdDemux *self)
{
  GstElement *element = GST_ELEMENT (self);
  GstCaps *caps;

  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_event_function (self->src, gst_nd_demux_src_event);
  gst_pad_set_query_function (self->src, gst_nd_demux_src_query);
  gst_pad_use_fixed_caps (self->src);
  gst_pad_set_active (self->src, TRUE);
  caps = gst_caps_fixate (gst_nd_volume_info_to_caps (&self->excerpt.info));
  push_stream_start (self, caps);
  self->pool = make_pool (self->size, caps);
  gst_pad_push_event (self->src, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  gst_element_add_pad (element, self->src);
  gst_element_no_more_pads (element);
}

static void
close_recording (GstNdDemux *self)
{
  if (self->src)
    gst_element_remove_pad (GST_ELEMENT (self), self->src);
  self->src = NULL;
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  GST_OBJECT_LOCK (self);
  gst_nd_excerpt_clear (&self->excerpt);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->metadata, nd_metadata_unref);
}

/* Streaming */

static gboolean
push_pending_events (GstNdDemux *self, GError **error)
{
  gboolean ok = TRUE;

  if (self->needs_segment) {
    GstEvent *event = gst_event_new_segment (&self->segment);

    if (self->seqnum == GST_SEQNUM_INVALID)
      self->seqnum = gst_event_get_seqnum (event);
    gst_event_set_seqnum (event, self->seqnum);
    gst_pad_push_event (self->src, event);
    self->needs_segment = FALSE;
  }
  if (self->metadata)
    ok = gst_nd_excerpt_push_metadata (&self->excerpt, self->src,
        self->metadata, error);
  g_clear_pointer (&self->metadata, nd_metadata_unref);
  return ok;
}

/* Reads volume @next. */
static GstFlowReturn
read_volume (GstNdDemux *self, GstBuffer **out, GError **error)
{
  GstNdExcerpt *excerpt = &self->excerpt;
  const guint64 n = self->next;
  g_autoptr (GstBuffer) buffer =
      gst_nd_excerpt_new_buffer (excerpt, self->pool, error);
  GstMapInfo map;
  gboolean ok;

  if (!buffer)
    return *error ? GST_FLOW_ERROR : GST_FLOW_FLUSHING;
  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE))
    return GST_FLOW_ERROR;
  ok = gst_nd_excerpt_seek (excerpt, n, &self->cancelled, error)
      && nd_reader_read (excerpt->reader, map.data, error);
  gst_buffer_unmap (buffer, &map);
  if (!ok && self->ended)
    return GST_FLOW_EOS;
  if (!ok)
    return self->pull == GST_FLOW_OK || self->pull == GST_FLOW_EOS
        ? GST_FLOW_ERROR
        : self->pull;
  GST_BUFFER_PTS (buffer) = gst_nd_excerpt_time (excerpt, n);
  GST_BUFFER_DURATION (buffer) =
      gst_nd_excerpt_time (excerpt, n + 1) - GST_BUFFER_PTS (buffer);
  GST_BUFFER_OFFSET (buffer) = n;
  GST_BUFFER_OFFSET_END (buffer) = n + 1;
  if (self->discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  self->discont = FALSE;
  *out = g_steal_pointer (&buffer);
  return GST_FLOW_OK;
}

/* Pushes @event, which belongs to the segment or to the seek that made it. */
static void
push_end (GstNdDemux *self, GstEvent *event)
{
  if (self->seqnum != GST_SEQNUM_INVALID)
    gst_event_set_seqnum (event, self->seqnum);
  gst_pad_push_event (self->src, event);
}

static void
finish (GstNdDemux *self)
{
  const GstSegment *segment = &self->segment;
  GstClockTime end = segment->rate < 0 ? segment->start : segment->stop;
  GstMessage *message;

  push_pending_events (self, NULL);
  if (!(segment->flags & GST_SEGMENT_FLAG_SEGMENT)) {
    push_end (self, gst_event_new_eos ());
    return;
  }
  if (!GST_CLOCK_TIME_IS_VALID (end))
    end = segment->duration;
  message =
      gst_message_new_segment_done (GST_OBJECT (self), GST_FORMAT_TIME, end);
  gst_message_set_seqnum (message, self->seqnum);
  gst_element_post_message (GST_ELEMENT (self), message);
  push_end (self, gst_event_new_segment_done (GST_FORMAT_TIME, end));
}

static GstFlowReturn
push_next (GstNdDemux *self, GError **error)
{
  GstBuffer *buffer = NULL;
  GstFlowReturn ret;

  if (!self->src) {
    if (!open_recording (self, error))
      return self->pull == GST_FLOW_FLUSHING ? GST_FLOW_FLUSHING
                                             : GST_FLOW_ERROR;
    expose (self);
  }
  if (!gst_nd_demux_is_inside (self))
    return GST_FLOW_EOS;
  if (!push_pending_events (self, error))
    return GST_FLOW_ERROR;
  ret = read_volume (self, &buffer, error);
  if (ret != GST_FLOW_OK)
    return ret;
  GST_OBJECT_LOCK (self);
  self->segment.position = GST_BUFFER_PTS (buffer);
  /* Below 0 the number wraps to the largest, which also ends the stream. */
  self->next += self->segment.rate < 0 ? -1 : 1;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self, "pushing %" GST_PTR_FORMAT, buffer);
  return gst_nd_flush_result (GST_ELEMENT (self),
      gst_pad_push (self->src, buffer));
}

/* After an error of the recording no EOS goes downstream: a sink would finish a
 * file that is not complete. */
void
gst_nd_demux_loop (gpointer pad)
{
  GstNdDemux *self = GST_ND_DEMUX (GST_PAD_PARENT (pad));
  g_autoptr (GError) error = NULL;
  const GstFlowReturn ret = push_next (self, &error);

  if (ret == GST_FLOW_OK)
    return;
  GST_DEBUG_OBJECT (self, "pausing: %s", gst_flow_get_name (ret));
  gst_pad_pause_task (pad);
  if (ret == GST_FLOW_FLUSHING)
    return;
  if (ret == GST_FLOW_EOS) {
    finish (self);
  } else if (error) {
    if (!g_error_matches (error, ND_ERROR, ND_ERROR_CANCELLED))
      gst_nd_element_error (GST_ELEMENT (self), error);
  } else {
    GST_ELEMENT_FLOW_ERROR (self, ret);
    if (self->src)
      push_end (self, gst_event_new_eos ());
  }
}

/* Activation */

static gboolean
activate (GstPad *pad, GstObject *parent)
{
  g_autoptr (GstQuery) query = gst_query_new_scheduling ();
  g_autoptr (GstPad) peer = gst_pad_get_peer (pad);

  if (gst_pad_peer_query (pad, query)
      && gst_query_has_scheduling_mode_with_flags (query, GST_PAD_MODE_PULL,
          GST_SCHEDULING_FLAG_SEEKABLE))
    return gst_pad_activate_mode (pad, GST_PAD_MODE_PULL, TRUE);
  if (peer)
    GST_ELEMENT_ERROR (parent, STREAM, DEMUX,
        ("nddemux must read any byte of a recording, but '%s' only sends its "
         "bytes in order: use filesrc, urisourcebin with download=true, or "
         "ndfilesrc",
            GST_OBJECT_NAME (GST_OBJECT_PARENT (peer))),
        (NULL));
  return FALSE;
}

static gboolean
activate_mode (GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstNdDemux *self = GST_ND_DEMUX (parent);

  if (mode != GST_PAD_MODE_PULL)
    return FALSE;
  g_atomic_int_set (&self->cancelled, !active);
  return active ? gst_pad_start_task (pad, gst_nd_demux_loop, pad, NULL)
                : gst_pad_stop_task (pad);
}

static GstStateChangeReturn
gst_nd_demux_change_state (GstElement *element, GstStateChange transition)
{
  GstNdDemux *self = GST_ND_DEMUX (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    self->seqnum = GST_SEQNUM_INVALID;
    self->pull = GST_FLOW_OK;
    self->ended = FALSE;
  }
  ret = GST_ELEMENT_CLASS (gst_nd_demux_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    close_recording (self);
  return ret;
}

/* Seeks of the application. */
static gboolean
gst_nd_demux_send_event (GstElement *element, GstEvent *event)
{
  GstNdDemux *self = GST_ND_DEMUX (element);

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK && self->src)
    return gst_nd_demux_src_event (self->src, GST_OBJECT (self), event);
  return GST_ELEMENT_CLASS (gst_nd_demux_parent_class)
      ->send_event (element, event);
}

static void
gst_nd_demux_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdDemux *self = GST_ND_DEMUX (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (rows, G_N_ELEMENTS (rows), &self->settings, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_demux_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdDemux *self = GST_ND_DEMUX (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (rows, G_N_ELEMENTS (rows), &self->settings, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_demux_init (GstNdDemux *self)
{
  nd_settings_init (rows, G_N_ELEMENTS (rows), &self->settings);
  self->sink = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_activate_function (self->sink, activate);
  gst_pad_set_activatemode_function (self->sink, activate_mode);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);
}

static void
gst_nd_demux_class_init (GstNdDemuxClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = gst_nd_demux_set_property;
  object_class->get_property = gst_nd_demux_get_property;
  gst_nd_properties_install (object_class, rows, G_N_ELEMENTS (rows));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Recording demuxer",
      "Codec/Demuxer",
      "Reads recorded volumes (" ND_RECORDING_FILES
      ") from any source that can "
      "be read at any place, for decodebin and players",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 filesrc location=heart.nii.gz ! nddemux ! ndview ! "
      "videoconvert ! autovideosink");
  element_class->change_state = gst_nd_demux_change_state;
  element_class->send_event = gst_nd_demux_send_event;
}
