/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
/**
 * SECTION:element-ndstack
 * @title: ndstack
 *
 * Stacks 'slices' frames along z to one volume, for example the frames of a
 * probe that sweeps a plane through a body. The input is video (GRAY8, RGB and
 * RGBA give uint8 of 1, 3 and 4 components, GRAY16 gives uint16) or
 * other/tensors; volumes of several slices are stacked in the same way.
 *
 * A volume has the timestamp of its first frame, and its duration ends with its
 * last frame. The rate is divided by 'slices'. If the stream ends, breaks
 * (DISCONT, GAP) or changes within a volume, its frames are discarded, and
 * reported by a QoS message and a warning. QoS events stay in the element:
 * elements upstream would leave out frames, and each of these would cost a
 * volume.
 *
 * A volume has the fields of its first frame, but no pose: slices are at equal
 * distances. A warning tells if frames with poses come.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=256 ! video/x-raw,format=GRAY8,width=128,height=128 ! ndstack slices=32 ! ndconv3d filter="gaussian,sigma=1.5" ! ndfilesink location=sweep.nii.gz
 * ]| Smooths eight volumes of 128 x 128 x 32 and writes them to a file.
 *
 * Since: 0.1
 */
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndlatency.h"
#include "gst/base/gstndpool.h"
#include "gst/base/gstndseek.h"
#include "gst/base/gstndtiming.h"
#include "gst/base/gstndvideolayout.h"
#include "gst/gstndelements.h"
#include "gst/gstndstackcaps.h"

#include <gst/base/gstbasetransform.h>

#define GST_TYPE_ND_STACK (gst_nd_stack_get_type ())
G_DECLARE_FINAL_TYPE (GstNdStack, gst_nd_stack, GST, ND_STACK, GstBaseTransform)

GST_DEBUG_CATEGORY_STATIC (nd_stack_debug);
#define GST_CAT_DEFAULT nd_stack_debug

#define DEFAULT_SLICES 32

enum
{
  PROP_0,
  PROP_SLICES
};

struct _GstNdStack
{
  GstBaseTransform parent;

  guint wanted_slices; /* property, protected by the object lock */

  /* Protected by the object lock; only the streaming thread writes. */
  guint slices;
  gint rate_n, rate_d;  /* of the frames; 0/1: variable, 0/0: no caps yet */
  GstClockTime latency; /* NONE before caps */

  gboolean is_video;
  GstVideoInfo video;
  gsize slice_size;

  GstBuffer *volume;          /* has slices up to `filled` */
  guint filled;               /* frames in it */
  GstClockTime end;           /* end of the last frame in it */
  GstNdTiming timing;         /* of the frames */
  GstBuffer *complete;        /* volume for generate_output() */
  guint64 stacked, discarded; /* frames since start() */
  gboolean failed;            /* an error was posted */
  gboolean warned;            /* of poses */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (
        GST_VIDEO_CAPS_MAKE (GST_ND_FRAME_FORMATS) "; " GST_ND_TENSORS_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));

G_DEFINE_TYPE (GstNdStack, gst_nd_stack, GST_TYPE_BASE_TRANSFORM);
GST_ELEMENT_REGISTER_DEFINE (ndstack, "ndstack", GST_RANK_NONE,
    GST_TYPE_ND_STACK);

static void
gst_nd_stack_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdStack *self = GST_ND_STACK (object);

  if (id != PROP_SLICES) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  self->wanted_slices = g_value_get_uint (value);
  if (self->rate_d == 0)
    self->slices = self->wanted_slices;
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_stack_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdStack *self = GST_ND_STACK (object);

  if (id != PROP_SLICES) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  g_value_set_uint (value, self->wanted_slices);
  GST_OBJECT_UNLOCK (self);
}

static void
forget_volume (GstNdStack *self)
{
  gst_clear_buffer (&self->volume);
  gst_clear_buffer (&self->complete);
  self->filled = 0;
}

/* Discards the frames of an incomplete volume, and reports them. */
static void
discard_volume (GstNdStack *self, const gchar *reason)
{
  GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  guint filled = self->filled;
  GstClockTime pts, end = self->end;
  GstMessage *message;

  if (filled == 0)
    return;
  pts = GST_BUFFER_PTS (self->volume);
  self->discarded += filled;
  forget_volume (self);
  message = gst_message_new_qos (GST_OBJECT (self), FALSE,
      gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts),
      gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts), pts,
      GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (end)
              && end >= pts
          ? end - pts
          : GST_CLOCK_TIME_NONE);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, self->stacked,
      self->discarded);
  gst_element_post_message (GST_ELEMENT (self), message);
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("%u frames are discarded because %s: a volume needs %u (property "
       "'slices')",
          filled, reason, self->slices),
      (NULL));
}

/* The time between frames by the caps, or NONE. */
static GstClockTime
nominal_interval (GstNdStack *self)
{
  return self->rate_n > 0
      ? gst_util_uint64_scale (GST_SECOND, self->rate_d, self->rate_n)
      : GST_CLOCK_TIME_NONE;
}

/* The first frame of a volume waits for the others. */
static void
stack_update_latency (GstNdStack *self)
{
  const GstClockTime interval =
      gst_nd_timing_expected (&self->timing, nominal_interval (self));
  const GstClockTime latency = (self->slices - 1) * interval;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = gst_nd_latency_differs (self->latency, latency);
  if (changed)
    self->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return;
  GST_INFO_OBJECT (self,
      "latency %" GST_TIME_FORMAT ": %u frames of %" GST_TIME_FORMAT,
      GST_TIME_ARGS (latency), self->slices - 1, GST_TIME_ARGS (interval));
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_latency (GST_OBJECT (self)));
}

/* Whether downstream accepts volumes of @slices. If not, the old number goes
 * on. */
static gboolean
check_slices (GstNdStack *self, guint slices)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstCaps) frames = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) volumes = NULL;
  g_autoptr (GError) error = NULL;
  gboolean changed;

  if (!frames)
    return TRUE;
  volumes = gst_nd_stack_caps_of_volumes (frames, slices);
  if (gst_nd_downstream_accepts (trans, volumes, &error))
    return TRUE;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
      ("slices=%u stays in use", self->slices));
  GST_OBJECT_LOCK (self);
  changed = self->wanted_slices == slices;
  if (changed)
    self->wanted_slices = self->slices;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    g_object_notify (G_OBJECT (self), "slices");
  return FALSE;
}

/* Applies a new number of slices between two volumes. */
static void
update_slices (GstNdStack *self)
{
  guint slices;

  GST_OBJECT_LOCK (self);
  slices = self->wanted_slices;
  GST_OBJECT_UNLOCK (self);
  if (slices == self->slices || !check_slices (self, slices))
    return;
  discard_volume (self, "the number of slices changes");
  GST_OBJECT_LOCK (self);
  self->slices = slices;
  GST_OBJECT_UNLOCK (self);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static gboolean
gst_nd_stack_start (GstBaseTransform *trans)
{
  GstNdStack *self = GST_ND_STACK (trans);

  GST_OBJECT_LOCK (self);
  self->slices = self->wanted_slices;
  self->rate_n = self->rate_d = 0;
  self->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  self->timing = (GstNdTiming){ 0 };
  gst_nd_timing_reset (&self->timing);
  self->stacked = self->discarded = 0;
  self->failed = self->warned = FALSE;
  return TRUE;
}

static gboolean
gst_nd_stack_stop (GstBaseTransform *trans)
{
  forget_volume (GST_ND_STACK (trans));
  return TRUE;
}

static GstCaps *
gst_nd_stack_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, GstCaps *filter)
{
  GstNdStack *self = GST_ND_STACK (trans);
  GstCaps *result;
  guint slices;

  GST_OBJECT_LOCK (self);
  slices = self->slices;
  GST_OBJECT_UNLOCK (self);
  result = direction == GST_PAD_SINK
      ? gst_nd_stack_caps_of_volumes (caps, slices)
      : gst_nd_stack_caps_of_frames (caps, slices);
  if (filter) {
    GstCaps *filtered =
        gst_caps_intersect_full (filter, result, GST_CAPS_INTERSECT_FIRST);

    gst_caps_unref (result);
    result = filtered;
  }
  return result;
}

static gboolean
gst_nd_stack_set_caps (GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  GstNdStack *self = GST_ND_STACK (trans);
  g_autoptr (GError) error = NULL;
  GstNdVolumeInfo frame, volume;
  gint rate_n, rate_d;
  gsize frame_size;

  discard_volume (self, "the caps change");
  if (!gst_nd_volume_info_from_caps (&volume, out, &error)) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  self->is_video =
      !gst_structure_has_name (gst_caps_get_structure (in, 0), GST_ND_TENSORS);
  if (self->is_video) {
    if (!gst_video_info_from_caps (&self->video, in)) {
      GST_ELEMENT_ERROR (self, STREAM, FORMAT,
          ("The caps of the frames are incomplete: they must be GRAY8, GRAY16, "
           "RGB or RGBA with width and height"),
          ("%" GST_PTR_FORMAT, in));
      return FALSE;
    }
    rate_n = GST_VIDEO_INFO_FPS_N (&self->video);
    rate_d = GST_VIDEO_INFO_FPS_D (&self->video);
    frame_size =
        gst_nd_frame_row (&self->video) * GST_VIDEO_INFO_HEIGHT (&self->video);
  } else {
    if (!gst_nd_volume_info_from_caps (&frame, in, &error)) {
      gst_nd_element_error (GST_ELEMENT (self), error);
      return FALSE;
    }
    rate_n = frame.rate_n;
    rate_d = frame.rate_d;
    frame_size = gst_nd_volume_info_size (&frame);
  }
  self->slice_size = frame_size;
  GST_OBJECT_LOCK (self);
  /* From the caps, because the property may have changed meanwhile. */
  self->slices = gst_nd_volume_info_size (&volume) / frame_size;
  self->rate_n = rate_n;
  self->rate_d = rate_d;
  GST_OBJECT_UNLOCK (self);
  GST_INFO_OBJECT (self,
      "stacks %u of %" GST_PTR_FORMAT " to one of %" GST_PTR_FORMAT,
      self->slices, in, out);
  stack_update_latency (self);
  return TRUE;
}

static gboolean
gst_nd_stack_transform_size (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, gsize size, GstCaps *othercaps, gsize *othersize)
{
  GstNdVolumeInfo info;

  if (direction != GST_PAD_SINK
      || !gst_nd_volume_info_from_caps (&info, othercaps, NULL))
    return FALSE;
  *othersize = gst_nd_volume_info_size (&info);
  return TRUE;
}

static gboolean
gst_nd_stack_propose_allocation (GstBaseTransform *trans,
    GstQuery *decide_query, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return GST_BASE_TRANSFORM_CLASS (gst_nd_stack_parent_class)
      ->propose_allocation (trans, decide_query, query);
}

/* Copies the rows of @frame, which may be padded, to @data. */
static gboolean
copy_slice (GstNdStack *self, GstBuffer *frame, guint8 *data)
{
  if (self->is_video) {
    GstVideoFrame video;

    if (!gst_video_frame_map (&video, &self->video, frame, GST_MAP_READ))
      return FALSE;
    gst_nd_frame_copy (&video, data);
    gst_video_frame_unmap (&video);
    return TRUE;
  }
  return gst_buffer_get_size (frame) == self->slice_size
      && gst_buffer_extract (frame, 0, data, self->slice_size)
      == self->slice_size;
}

/* Copies @frame to the next slices of the volume. */
static GstFlowReturn
add_frame (GstNdStack *self, GstBuffer *frame)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstMapInfo map;
  gboolean ok;

  if (GST_BUFFER_IS_DISCONT (frame))
    discard_volume (self, "the stream has a break (DISCONT)");
  if (!self->volume) {
    const gsize size = self->slice_size * self->slices;

    self->volume = gst_nd_buffer_new (size);
    if (!self->volume) {
      self->failed = TRUE;
      GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
          ("Not enough memory for a volume of %" G_GSIZE_FORMAT
           " bytes: use fewer slices",
              size),
          (NULL));
      return GST_FLOW_ERROR;
    }
    GST_BASE_TRANSFORM_GET_CLASS (trans)->copy_metadata (trans, frame,
        self->volume);
  }
  ok = gst_buffer_map (self->volume, &map, GST_MAP_WRITE);
  if (ok) {
    ok = map.size >= self->slice_size * self->slices
        && copy_slice (self, frame, map.data + self->filled * self->slice_size);
    gst_buffer_unmap (self->volume, &map);
  }
  if (!ok) {
    forget_volume (self);
    self->failed = TRUE;
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A frame has %" G_GSIZE_FORMAT
         " bytes, but a frame of its caps has %" G_GSIZE_FORMAT
         " bytes: upstream must send one whole frame in each buffer",
            gst_buffer_get_size (frame), self->slice_size),
        (NULL));
    return GST_FLOW_ERROR;
  }
  self->end = GST_BUFFER_PTS (frame);
  if (GST_CLOCK_TIME_IS_VALID (self->end)) {
    const GstClockTime duration = GST_BUFFER_DURATION_IS_VALID (frame)
        ? GST_BUFFER_DURATION (frame)
        : nominal_interval (self);

    self->end = GST_CLOCK_TIME_IS_VALID (duration) ? self->end + duration
                                                   : GST_CLOCK_TIME_NONE;
  }
  self->filled++;
  GST_LOG_OBJECT (self, "frame %u of %u: %" GST_PTR_FORMAT, self->filled,
      self->slices, frame);
  if (self->filled == self->slices) {
    GstClockTime pts = GST_BUFFER_PTS (self->volume);

    GST_BUFFER_DURATION (self->volume) = GST_CLOCK_TIME_IS_VALID (pts)
            && GST_CLOCK_TIME_IS_VALID (self->end) && self->end >= pts
        ? self->end - pts
        : GST_CLOCK_TIME_NONE;
    GST_BUFFER_OFFSET (self->volume) = self->stacked / self->slices;
    GST_BUFFER_OFFSET_END (self->volume) = self->stacked / self->slices + 1;
    self->stacked += self->slices;
    self->complete = g_steal_pointer (&self->volume);
    self->filled = 0;
    GST_LOG_OBJECT (self, "volume complete: %" GST_PTR_FORMAT, self->complete);
  }
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_nd_stack_submit_input (GstBaseTransform *trans, gboolean is_discont,
    GstBuffer *input)
{
  GstNdStack *self = GST_ND_STACK (trans);
  g_autoptr (GstBuffer) frame = NULL;
  GstFlowReturn ret;

  update_slices (self);
  ret = gst_nd_flush_submit (trans, is_discont, input);
  if (ret != GST_FLOW_OK)
    return ret;
  frame = g_steal_pointer (&trans->queued_buf);
  if (!frame)
    return GST_FLOW_OK;
  gst_nd_timing_step (&self->timing, &gst_nd_timing_default_rule,
      nominal_interval (self), GST_BUFFER_PTS (frame),
      GST_BUFFER_IS_DISCONT (frame), trans->segment.rate < 0, 0);
  stack_update_latency (self);
  return add_frame (self, frame);
}

static GstFlowReturn
gst_nd_stack_generate_output (GstBaseTransform *trans, GstBuffer **output)
{
  *output = g_steal_pointer (&GST_ND_STACK (trans)->complete);
  return GST_FLOW_OK;
}

/* Takes @event, the metadata of frames. Returns that of volumes, or NULL if the
 * next frame is not the first one of a volume. */
static GstEvent *
stack_metadata (GstNdStack *self, GstEvent *event, const NdMetadata *frames,
    guint64 n)
{
  const gboolean live = gst_nd_metadata_is_live (event);
  g_autoptr (NdMetadata) volumes = NULL;
  const gchar *pose;

  if (self->slices == 1)
    return event;
  volumes = gst_nd_stack_metadata (frames, self->slices, &pose);
  if (pose && !self->warned) {
    self->warned = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("The frames have poses (%s), which are left out: ndstack stacks "
         "frames at equal distances. A program like PLUS's VolumeReconstructor "
         "makes a volume of frames with poses",
            pose),
        (NULL));
  }
  gst_event_unref (event);
  if (live)
    return self->filled == 0 ? gst_nd_metadata_to_live_event (volumes) : NULL;
  return gst_nd_metadata_to_event (volumes, n / self->slices);
}

static gboolean
gst_nd_stack_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdStack *self = GST_ND_STACK (trans);
  g_autoptr (GError) error = NULL;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_EOS:
      discard_volume (self, "the stream ends");
      /* After an error no EOS goes downstream: a sink would finish a file that
       * is not complete. */
      if (self->failed) {
        gst_event_unref (event);
        return TRUE;
      }
      break;
    case GST_EVENT_GAP:
      discard_volume (self, "frames are missing");
      break;
    case GST_EVENT_STREAM_START:
      discard_volume (self, "a new stream starts");
      break;
    case GST_EVENT_SEGMENT: {
      const GstSegment *segment;

      if (!gst_nd_segment_check_decoded (trans->sinkpad, event, &error))
        gst_nd_element_error (GST_ELEMENT (trans), error);
      gst_event_parse_segment (event, &segment);
      if (!gst_segment_is_equal (segment, &trans->segment)) {
        discard_volume (self, "a new segment starts");
        gst_nd_timing_reset (&self->timing);
      }
      break;
    }
    case GST_EVENT_FLUSH_STOP:
      /* The application flushes on purpose: no warning. */
      forget_volume (self);
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY: {
      guint64 volumes;
      g_autoptr (NdMetadata) frames =
          gst_nd_metadata_from_event (event, &volumes);

      if (frames)
        event = stack_metadata (self, event, frames, volumes);
      if (!event)
        return TRUE;
      break;
    }
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nd_stack_parent_class)
      ->sink_event (trans, event);
}

/* The base class would leave out late frames, and so would elements upstream
 * (docs/checklist.md, 21). */
static gboolean
gst_nd_stack_src_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdStack *self = GST_ND_STACK (trans);
  gboolean stacks;

  GST_OBJECT_LOCK (self);
  stacks = self->slices > 1;
  GST_OBJECT_UNLOCK (self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS && stacks) {
    gst_event_unref (event);
    return TRUE;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nd_stack_parent_class)
      ->src_event (trans, event);
}

static gboolean
gst_nd_stack_query (GstBaseTransform *trans, GstPadDirection direction,
    GstQuery *query)
{
  GstNdStack *self = GST_ND_STACK (trans);
  GstClockTime latency;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY || direction != GST_PAD_SRC)
    return GST_BASE_TRANSFORM_CLASS (gst_nd_stack_parent_class)
        ->query (trans, direction, query);
  GST_OBJECT_LOCK (self);
  latency = self->latency;
  GST_OBJECT_UNLOCK (self);
  return gst_nd_latency_query (trans, query, latency);
}

static void
gst_nd_stack_class_init (GstNdStackClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (nd_stack_debug, "ndstack", 0, "frames to volumes");

  object_class->set_property = gst_nd_stack_set_property;
  object_class->get_property = gst_nd_stack_get_property;

  g_object_class_install_property (object_class, PROP_SLICES,
      g_param_spec_uint ("slices", "Slices",
          "Frames in one volume, 1 or more; a change while playing starts a "
          "new volume",
          1, G_MAXINT, DEFAULT_SLICES,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_PLAYING));

  element_class->post_message = gst_nd_flush_post_message;

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Frames to volumes",
      "Filter/Converter/Video",
      "Stacks frames along z to volumes: N frames give N / 'slices' volumes, "
      "each with the timestamp of its first frame. An incomplete volume is "
      "discarded and reported",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 videotestsrc num-buffers=256 ! "
      "video/x-raw,format=GRAY8 ! ndstack slices=32 ! ndfilesink "
      "location=sweep.nii.gz");

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = gst_nd_stack_start;
  trans_class->stop = gst_nd_stack_stop;
  trans_class->transform_caps = gst_nd_stack_transform_caps;
  trans_class->fixate_caps = gst_nd_downstream_fixate;
  trans_class->set_caps = gst_nd_stack_set_caps;
  trans_class->transform_size = gst_nd_stack_transform_size;
  trans_class->propose_allocation = gst_nd_stack_propose_allocation;
  trans_class->submit_input_buffer = gst_nd_stack_submit_input;
  trans_class->generate_output = gst_nd_stack_generate_output;
  trans_class->sink_event = gst_nd_stack_sink_event;
  trans_class->src_event = gst_nd_stack_src_event;
  trans_class->query = gst_nd_stack_query;
}

static void
gst_nd_stack_init (GstNdStack *self)
{
  self->wanted_slices = self->slices = DEFAULT_SLICES;
  self->latency = GST_CLOCK_TIME_NONE;
  gst_nd_flush_install (GST_BASE_TRANSFORM_SINK_PAD (self));
  /* Without transform() the base class switches to passthrough. */
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), FALSE);
}
