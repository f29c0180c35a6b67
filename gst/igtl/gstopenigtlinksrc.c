/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-openigtlinksrc
 * @title: openigtlinksrc
 *
 * Receives volumes and frames from programs that speak OpenIGTLink: PLUS, 3D
 * Slicer, MITK, SUPRA and others. The element connects to a server
 * (#GstOpenIGTLinkSrc:mode client), or accepts clients that send (server).
 *
 * Volumes are other/tensors buffers. Frames are video/x-raw or other/tensors
 * buffers, as downstream accepts them. Samples keep their type. Spacing, origin
 * and directions are in the caps. If only the matrix changes later, the caps do
 * not change, and the field VolumeToRasTransform of the volume has the new
 * matrix.
 *
 * TRANSFORM, POSITION, TDATA, QTDATA, STATUS, STRING and SENSOR messages and
 * the metadata of header version 2 become fields of the next volume. ndfilesink
 * writes these fields as PLUS does, and openigtlinksink sends them.
 *
 * #GstOpenIGTLinkSrc:policy decides what happens if downstream is slower than
 * the peer: either the newest volume replaces a waiting one, or the peer waits.
 * #GstOpenIGTLinkSrc:stats counts the replaced volumes, and a QoS message
 * reports each of them.
 *
 * docs/live.md describes how to connect to other programs.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 openigtlinksrc host=scanner device-name=Image ! ndconv4dtemporal filter=gaussian,sigma=1 ! ndview ! videoconvert ! autovideosink
 * ]| Filters the volumes of a scanner and shows the middle slice.
 *
 * Since: 0.9
 */

#include "core/error.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndpool.h"
#include "gst/gstndelements.h"
#include "gst/igtl/gstndigtlframe.h"
#include "gst/igtl/gstndigtlinput.h"
#include "gst/igtl/gstopenigtlinksrcsettings.h"
#include "live/fields.h"

#include <gst/base/gstpushsrc.h>
#include <string.h>

#define GST_TYPE_OPENIGTLINK_SRC (gst_openigtlink_src_get_type ())
G_DECLARE_FINAL_TYPE (GstOpenIGTLinkSrc, gst_openigtlink_src, GST,
    OPENIGTLINK_SRC, GstPushSrc)

GST_DEBUG_CATEGORY_STATIC (openigtlink_src_debug);
#define GST_CAT_DEFAULT openigtlink_src_debug

struct _GstOpenIGTLinkSrc
{
  GstPushSrc parent;

  GstOpenIGTLinkSrcSettings settings; /* under the object lock */
  GstNdIgtlInput *input;              /* changes under the object lock */
  GstClockTime latency;               /* under the object lock */
  guint64 bad_matrices, delivered;
  guint64 clock_resets;

  /* Used by the streaming thread only. */
  gboolean has_format;
  GstNdVolumeInfo info;
  gfloat matrix[12]; /* the format of the caps */
  gboolean is_video, has_video_meta;
  GstVideoInfo video_info;
  GstNdIgtlTimes times;
};

enum
{
  PROP_MODE = 1,
  PROP_HOST,
  PROP_PORT,
  PROP_DEVICE_NAME,
  PROP_POLICY,
  PROP_MAX_MESSAGE_SIZE,
  PROP_RECONNECT,
  PROP_TIMESTAMPS,
  PROP_CHECK_CRC,
  PROP_MESSAGE_TIMEOUT,
  PROP_RECONNECT_MAX,
  PROP_STATS
};

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_ND_TENSORS_CAPS
            "; " GST_VIDEO_CAPS_MAKE (GST_ND_IGTL_VIDEO_FORMATS)));

G_DEFINE_TYPE_WITH_CODE (GstOpenIGTLinkSrc, gst_openigtlink_src,
    GST_TYPE_PUSH_SRC,
    GST_DEBUG_CATEGORY_INIT (openigtlink_src_debug, "ndopenigtlinksrc", 0,
        "source of volumes that come by OpenIGTLink"));
GST_ELEMENT_REGISTER_DEFINE (openigtlinksrc, "openigtlinksrc", GST_RANK_NONE,
    GST_TYPE_OPENIGTLINK_SRC);

static void
reset (GstOpenIGTLinkSrc *self)
{
  GST_OBJECT_LOCK (self);
  self->latency = 0;
  self->bad_matrices = self->delivered = self->clock_resets = 0;
  GST_OBJECT_UNLOCK (self);
  self->has_format = self->is_video = FALSE;
  gst_nd_igtl_times_reset (&self->times);
}

static gboolean
start (GstOpenIGTLinkSrc *self)
{
  const GstOpenIGTLinkSrcSettings *settings = &self->settings;
  const GstNdIgtlInputSettings input_settings = {
    .hub = { .server = settings->mode == GST_ND_IGTL_SERVER,
        .host = settings->host ? settings->host : "",
        .port = settings->port,
        .max_size = settings->max_message_size,
        .check_crc = settings->check_crc,
        .reconnect = settings->reconnect,
        .reconnect_max = settings->reconnect_max,
        .stall = GST_ND_IGTL_STALL,
        .message_timeout = settings->message_timeout * 1000 },
    .device = settings->device_name ? settings->device_name : "",
    .every = settings->policy == GST_OPENIGTLINK_SRC_POLICY_EVERY,
  };
  g_autoptr (GError) error = NULL;
  GstNdIgtlInput *input;

  if (strlen (input_settings.device) > ND_IGTL_DEVICE_SIZE) {
    g_set_error (&error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property 'device-name' is \"%s\": OpenIGTLink has room for %u bytes",
        input_settings.device, ND_IGTL_DEVICE_SIZE);
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  reset (self);
  /* Properties do not change from here on: they are MUTABLE_READY. */
  input = gst_nd_igtl_input_new (GST_ELEMENT (self), &input_settings);
  GST_OBJECT_LOCK (self);
  self->input = input;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
stop (GstOpenIGTLinkSrc *self)
{
  GstNdIgtlInput *input;

  GST_OBJECT_LOCK (self);
  input = g_steal_pointer (&self->input);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&input, gst_nd_igtl_input_free);
}

static GstStateChangeReturn
gst_openigtlink_src_change_state (GstElement *element,
    GstStateChange transition)
{
  GstOpenIGTLinkSrc *self = GST_OPENIGTLINK_SRC (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (gst_openigtlink_src_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return ret;
}

/* The base class would negotiate before the first volume. */
static gboolean
gst_openigtlink_src_start (GstBaseSrc *src)
{
  gst_pad_check_reconfigure (GST_BASE_SRC_PAD (src));
  return TRUE;
}

static gboolean
set_flushing (GstBaseSrc *src, gboolean flushing)
{
  GstOpenIGTLinkSrc *self = GST_OPENIGTLINK_SRC (src);

  if (self->input)
    gst_nd_igtl_input_set_flushing (self->input, flushing);
  return TRUE;
}

static gboolean
gst_openigtlink_src_unlock (GstBaseSrc *src)
{
  return set_flushing (src, TRUE);
}

static gboolean
gst_openigtlink_src_unlock_stop (GstBaseSrc *src)
{
  return set_flushing (src, FALSE);
}

static GstCaps *
gst_openigtlink_src_get_caps (GstBaseSrc *src, GstCaps *filter)
{
  GstCaps *caps = gst_pad_get_pad_template_caps (GST_BASE_SRC_PAD (src)), *all;

  if (filter) {
    all = caps;
    caps = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (all);
  }
  return caps;
}

static gboolean
gst_openigtlink_src_negotiate (GstBaseSrc *src)
{
  GstOpenIGTLinkSrc *self = GST_OPENIGTLINK_SRC (src);
  g_autoptr (GstCaps) possible = NULL, peer = NULL;
  GstCaps *caps;
  gboolean ok;

  if (!self->has_format)
    return TRUE;
  possible = gst_nd_igtl_possible_caps (&self->info);
  peer = gst_pad_peer_query_caps (GST_BASE_SRC_PAD (src), NULL);
  caps = gst_caps_intersect_full (peer, possible, GST_CAPS_INTERSECT_FIRST);
  if (gst_caps_is_empty (caps)) {
    GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT " and %" GST_PTR_FORMAT, peer,
        possible);
    gst_caps_unref (caps);
    return FALSE;
  }
  caps = gst_caps_truncate (caps);
  caps = gst_caps_make_writable (caps);
  gst_structure_fixate_field_nearest_fraction (gst_caps_get_structure (caps, 0),
      "framerate", 0, 1);
  caps = gst_caps_fixate (caps);
  self->is_video =
      gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw");
  ok = !self->is_video || gst_video_info_from_caps (&self->video_info, caps);
  ok = ok && gst_base_src_set_caps (src, caps);
  GST_INFO_OBJECT (self, "caps of the images: %" GST_PTR_FORMAT, caps);
  gst_caps_unref (caps);
  return ok;
}

/* Samples are received in buffers of this pool, which may have memory that a
 * device reads fast. */
static gboolean
gst_openigtlink_src_decide_allocation (GstBaseSrc *src, GstQuery *query)
{
  GstOpenIGTLinkSrc *self = GST_OPENIGTLINK_SRC (src);

  self->has_video_meta =
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (!self->is_video)
    return gst_nd_query_set_pool (query, gst_nd_volume_info_size (&self->info));
  /* Rows of frames may need padding. */
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  return TRUE;
}

/* Whether @volume has the format of the caps. */
static gboolean
has_same_format (GstOpenIGTLinkSrc *self, const GstNdIgtlVolume *volume)
{
  return self->has_format && volume->type == self->info.type
      && volume->image.components == self->info.shape.components
      && memcmp (volume->image.size, self->info.shape.size,
             sizeof (volume->image.size))
      == 0;
}

static gboolean
set_format (GstOpenIGTLinkSrc *self, const GstNdIgtlVolume *volume)
{
  const NdIgtlImage *image = &volume->image;
  GstNdVolumeInfo *info = &self->info;

  *info = (GstNdVolumeInfo){ .type = volume->type,
    .shape.components = image->components,
    .responses = 1,
    .rate_d = 1 };
  memcpy (info->shape.size, image->size, sizeof (image->size));
  info->geometry.known = nd_igtl_image_get_geometry (image,
      info->geometry.spacing, info->geometry.origin, info->geometry.directions);
  memcpy (self->matrix, image->matrix, sizeof (self->matrix));
  self->has_format = TRUE;
  return gst_base_src_negotiate (GST_BASE_SRC (self));
}

/* For the next volumes. The base class gets another pool also if only elements
 * downstream change. */
static void
give_pool (GstOpenIGTLinkSrc *self)
{
  g_autoptr (GstBufferPool) pool =
      gst_base_src_get_buffer_pool (GST_BASE_SRC (self));

  gst_nd_igtl_input_set_pool (self->input, pool,
      gst_nd_volume_info_size (&self->info));
}

/* FALSE if the stream cannot continue. */
static gboolean
follow_format (GstOpenIGTLinkSrc *self, const GstNdIgtlVolume *volume)
{
  g_autoptr (GError) error = NULL;

  if (has_same_format (self, volume) || set_format (self, volume))
    return TRUE;
  if (GST_PAD_IS_FLUSHING (GST_BASE_SRC_PAD (self)))
    return FALSE;
  g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT,
      "The peer sends images of %ux%ux%u samples of %u %s, which downstream "
      "does not accept: use elements and caps that accept them, or choose "
      "another image with device-name",
      (guint) volume->image.size[0], (guint) volume->image.size[1],
      (guint) volume->image.size[2], volume->image.components,
      nd_sample_name (volume->type));
  gst_nd_element_error (GST_ELEMENT (self), error);
  return FALSE;
}

/* Grows at once. Falls only to half or less, so that it does not change with
 * each delay. */
static void
update_latency (GstOpenIGTLinkSrc *self)
{
  const GstClockTime wanted = gst_nd_igtl_times_latency (&self->times);
  gboolean changes;

  GST_OBJECT_LOCK (self);
  changes = wanted > self->latency || 2 * wanted < self->latency;
  if (changes)
    self->latency = wanted;
  self->clock_resets = self->times.clock.resets;
  GST_OBJECT_UNLOCK (self);
  if (changes)
    gst_element_post_message (GST_ELEMENT (self),
        gst_message_new_latency (GST_OBJECT (self)));
}

static void
set_times (GstOpenIGTLinkSrc *self, const GstNdIgtlVolume *volume)
{
  const gboolean use_sender =
      self->settings.timestamps == GST_OPENIGTLINK_SRC_TIMESTAMPS_SENDER;
  GstBuffer *buffer = volume->buffer;

  for (guint i = 0; use_sender && volume->replaced && i < volume->replaced->len;
       i++) {
    const GstNdIgtlSending *replaced =
        &g_array_index (volume->replaced, GstNdIgtlSending, i);

    gst_nd_igtl_times_see (&self->times, replaced->sent, replaced->arrival);
  }
  GST_BUFFER_PTS (buffer) = gst_nd_igtl_times_map (&self->times,
      GST_ELEMENT (self), volume->sent, volume->arrival, use_sender);
  update_latency (self);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET (buffer) = self->delivered;
  GST_BUFFER_OFFSET_END (buffer) = self->delivered + 1;
  if (volume->discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
}

/* The matrix of a volume, as a field, if it differs from that of the caps. */
static gchar *
changed_matrix (GstOpenIGTLinkSrc *self, const GstNdIgtlVolume *volume)
{
  gdouble spacing[3], origin[3], directions[9];
  g_autoptr (GError) error = NULL;
  gfloat matrix[12];

  if (!nd_igtl_image_get_geometry (&volume->image, spacing, origin,
          directions)) {
    g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT,
        "The matrix of an image holds numbers that are not finite, or an axis "
        "of length 0, so that its place in space is not known: the peer must "
        "send a valid matrix");
    gst_nd_igtl_input_warn (self->input, GST_ND_IGTL_WARN_MATRIX, error);
    GST_OBJECT_LOCK (self);
    self->bad_matrices++;
    GST_OBJECT_UNLOCK (self);
    return NULL;
  }
  if (memcmp (volume->image.matrix, self->matrix, sizeof (self->matrix)) == 0)
    return NULL;
  for (guint row = 0; row < 3; row++) {
    for (guint a = 0; a < 3; a++)
      matrix[3 * a + row] = directions[3 * row + a] * spacing[a];
    matrix[9 + row] = origin[row];
  }
  return nd_igtl_matrix_to_text (matrix);
}

/* Pushes the fields that arrived with the volume, in an event before it. */
static void
push_fields (GstOpenIGTLinkSrc *self, const GstNdIgtlVolume *volume)
{
  g_autofree gchar *matrix = changed_matrix (self, volume);
  g_autoptr (NdMetadata) metadata = nd_metadata_new (NULL);
  const gint64 time = GST_BUFFER_PTS (volume->buffer);
  GstEvent *event;

  /* The first event has the origin of times. */
  if (!matrix && volume->fields->len == 0 && self->delivered > 0)
    return;
  metadata->origin = self->times.origin;
  nd_list_add (metadata->times, time);
  for (guint i = 0; i < volume->fields->len; i++) {
    const GstNdIgtlText *text =
        &g_array_index (volume->fields, GstNdIgtlText, i);

    nd_metadata_add_to_volume (metadata, 0, text->key, text->value);
  }
  if (matrix)
    nd_metadata_add_to_volume (metadata, 0, ND_IGTL_MATRIX_KEY, matrix);
  event = gst_nd_metadata_to_live_event (metadata);
  if (event)
    gst_pad_push_event (GST_BASE_SRC_PAD (self), event);
}

static GstFlowReturn
gst_openigtlink_src_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstOpenIGTLinkSrc *self = GST_OPENIGTLINK_SRC (src);
  GstFlowReturn ret;
  g_autoptr (GstNdIgtlVolume) volume =
      gst_nd_igtl_input_pop (self->input, &ret);

  if (!volume)
    return ret;
  /* The error has been posted: the base class would post another. */
  if (!follow_format (self, volume))
    return GST_FLOW_FLUSHING;
  give_pool (self);
  volume->buffer = gst_buffer_make_writable (volume->buffer);
  set_times (self, volume);
  push_fields (self, volume);
  GST_OBJECT_LOCK (self);
  self->delivered++;
  GST_OBJECT_UNLOCK (self);
  *buffer = g_steal_pointer (&volume->buffer);
  if (self->is_video
      && !(*buffer = gst_nd_igtl_to_frame (*buffer, &self->video_info,
               self->has_video_meta))) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("No memory for a frame of %" G_GSIZE_FORMAT
         " bytes: a smaller max-message-size refuses large images",
            GST_VIDEO_INFO_SIZE (&self->video_info)),
        (NULL));
    return GST_FLOW_FLUSHING;
  }
  GST_LOG_OBJECT (self, "pushing %" GST_PTR_FORMAT, *buffer);
  return GST_FLOW_OK;
}

static gboolean
gst_openigtlink_src_query (GstBaseSrc *src, GstQuery *query)
{
  GstOpenIGTLinkSrc *self = GST_OPENIGTLINK_SRC (src);
  GstClockTime latency;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return GST_BASE_SRC_CLASS (gst_openigtlink_src_parent_class)
        ->query (src, query);
  GST_OBJECT_LOCK (self);
  latency = self->latency;
  GST_OBJECT_UNLOCK (self);
  gst_query_set_latency (query, TRUE, latency, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static GstStructure *
make_stats (GstOpenIGTLinkSrc *self)
{
  GstStructure *stats = gst_structure_new_empty ("openigtlinksrc-stats");

  GST_OBJECT_LOCK (self);
  if (self->input)
    gst_nd_igtl_input_get_stats (self->input, stats);
  gst_structure_set (stats, "volumes-delivered", G_TYPE_UINT64, self->delivered,
      "bad-matrices", G_TYPE_UINT64, self->bad_matrices, "clock-resets",
      G_TYPE_UINT64, self->clock_resets, "latency", G_TYPE_UINT64,
      self->latency, NULL);
  GST_OBJECT_UNLOCK (self);
  return stats;
}

static void
gst_openigtlink_src_set_property (GObject *object, guint id,
    const GValue *value, GParamSpec *pspec)
{
  GstOpenIGTLinkSrc *self = GST_OPENIGTLINK_SRC (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (gst_openigtlink_src_rows,
          gst_openigtlink_src_n_rows, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_openigtlink_src_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstOpenIGTLinkSrc *self = GST_OPENIGTLINK_SRC (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, make_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (gst_openigtlink_src_rows,
          gst_openigtlink_src_n_rows, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_openigtlink_src_finalize (GObject *object)
{
  nd_settings_clear (gst_openigtlink_src_rows, gst_openigtlink_src_n_rows,
      &GST_OPENIGTLINK_SRC (object)->settings);
  G_OBJECT_CLASS (gst_openigtlink_src_parent_class)->finalize (object);
}

static void
gst_openigtlink_src_class_init (GstOpenIGTLinkSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  object_class->set_property = gst_openigtlink_src_set_property;
  object_class->get_property = gst_openigtlink_src_get_property;
  object_class->finalize = gst_openigtlink_src_finalize;

  gst_nd_properties_install (object_class, gst_openigtlink_src_rows,
      gst_openigtlink_src_n_rows);
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "device-name (the device whose images are received), devices (all "
          "devices so far), volumes-received, -delivered, -dropped (replaced "
          "by newer ones), -incomplete (parts or connections ended early), "
          "-without-memory, -of-other-devices, crc-errors, messages-refused, "
          "messages-of-other-types, fields, fields-superseded, "
          "fields-dropped, queries, bad-matrices, clock-resets, latency "
          "(ns), port, connections, refused-connections, broken-connections, "
          "slow-connections, reconnects, "
          "bytes-received, bytes-sent, clients (one structure each)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "OpenIGTLink source",
      "Source/Network",
      "Receives volumes and frames by OpenIGTLink, from PLUS, 3D Slicer and "
      "other programs, with their times, geometry and transforms",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 openigtlinksrc host=localhost ! ndview "
      "mode=orthogonal ! videoconvert ! autovideosink");

  element_class->change_state = gst_openigtlink_src_change_state;
  src_class->start = gst_openigtlink_src_start;
  src_class->unlock = gst_openigtlink_src_unlock;
  src_class->unlock_stop = gst_openigtlink_src_unlock_stop;
  src_class->get_caps = gst_openigtlink_src_get_caps;
  src_class->negotiate = gst_openigtlink_src_negotiate;
  src_class->decide_allocation = gst_openigtlink_src_decide_allocation;
  src_class->query = gst_openigtlink_src_query;
  GST_PUSH_SRC_CLASS (klass)->create = gst_openigtlink_src_create;
}

static void
gst_openigtlink_src_init (GstOpenIGTLinkSrc *self)
{
  nd_settings_init (gst_openigtlink_src_rows, gst_openigtlink_src_n_rows,
      &self->settings);
  gst_base_src_set_live (GST_BASE_SRC (self), TRUE);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_do_timestamp (GST_BASE_SRC (self), FALSE);
}
