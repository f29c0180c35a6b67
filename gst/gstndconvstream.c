/* What volumes do to the window. All outputs leave through push_ready(), on the
 * streaming thread. Numbers in parentheses are those of the checklist for
 * elements that keep history.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstndconvflight.h"

#include <string.h>
#include "gstndcuda.h"
#include "gstnderror.h"
#include "gstndmemory.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nd_conv_debug);
#define GST_CAT_DEFAULT gst_nd_conv_debug

GstFlowReturn
gst_nd_conv_fail (GstNdConv * self, const GError * error)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  if (g_atomic_int_compare_and_exchange (&priv->failed, FALSE, TRUE))
    gst_nd_element_error_once (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

/* Outputs */

/* What is in flight holds its inputs itself; these are of volumes whose push
 * failed, or that have no fence yet. */
static void
release_inputs (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  if (g_queue_is_empty (&priv->inputs))
    return;
  if (priv->convolver)
    nd_convolver_wait (priv->convolver, NULL);
  while (!g_queue_is_empty (&priv->inputs)) {
    GstNdMap *map = g_queue_pop_head (&priv->inputs);

    gst_nd_unmap (map);
    gst_buffer_unref (map->buffer);
    g_free (map);
  }
}

void
gst_nd_conv_reset (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  release_inputs (self);
  gst_nd_conv_flight_drop (self);
  if (priv->convolver)
    nd_convolver_reset (priv->convolver);
  g_queue_clear_full (&priv->anchors, (GDestroyNotify) gst_mini_object_unref);
  priv->expected = GST_CLOCK_TIME_NONE;
  priv->push_seconds = 0;
  priv->last_sample = -1;
}

static gboolean
is_clipped (GstNdConv * self, GstBuffer * anchor)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime start = GST_BUFFER_PTS (anchor), stop;

  if (!GST_CLOCK_TIME_IS_VALID (start)
      || segment->format != GST_FORMAT_TIME)
    return FALSE;
  stop = GST_BUFFER_DURATION_IS_VALID (anchor)
      ? start + GST_BUFFER_DURATION (anchor) : GST_CLOCK_TIME_NONE;
  return !gst_segment_clip (segment, GST_FORMAT_TIME, start, stop, NULL, NULL);
}

/* QoS says that @anchor would come too late; then tells it on the bus (21). */
static gboolean
is_late (GstNdConv * self, GstBuffer * anchor)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime earliest, running_time, stream_time;
  guint64 out, late;
  GstMessage *message;

  if (!GST_BUFFER_PTS_IS_VALID (anchor)
      || segment->format != GST_FORMAT_TIME
      || !gst_base_transform_is_qos_enabled (GST_BASE_TRANSFORM (self)))
    return FALSE;
  running_time = gst_segment_to_running_time (segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (anchor));
  GST_OBJECT_LOCK (self);
  earliest = priv->earliest_time;
  if (!GST_CLOCK_TIME_IS_VALID (earliest)
      || !GST_CLOCK_TIME_IS_VALID (running_time) || running_time > earliest) {
    GST_OBJECT_UNLOCK (self);
    return FALSE;
  }
  late = ++priv->stats.late;
  out = priv->stats.out;
  GST_OBJECT_UNLOCK (self);

  stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (anchor));
  message = gst_message_new_qos (GST_OBJECT (self), FALSE, running_time,
      stream_time, GST_BUFFER_PTS (anchor), GST_BUFFER_DURATION (anchor));
  gst_message_set_qos_values (message, GST_CLOCK_DIFF (running_time, earliest),
      1.0, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, out, late);
  gst_element_post_message (GST_ELEMENT (self), message);
  return TRUE;
}

/* Enqueues the next response into load->buffer, and what is behind it. */
static gboolean
respond (GstNdConv * self, GstNdLoad * load, GError ** error)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  gint64 begin = g_get_monotonic_time ();

  /* Downstream's pool may have larger ones. */
  if (!priv->out.is_video)
    gst_buffer_set_size (load->buffer, priv->out.size);
  /* What the CPU combines, it writes. */
  load->is_mapped = gst_nd_map (&load->map, &priv->out, load->buffer,
      GST_MAP_WRITE, gst_nd_conv_device_in_use (self)
      && !nd_convolver_plan (priv->convolver, 0)->responses);
  if (!load->is_mapped) {
    if (nd_convolver_wait (priv->convolver, error))
      g_set_error (error, ND_ERROR, ND_ERROR_FAILED, "The memory for an output "
          "cannot be written: downstream's buffers do not fit its caps");
    return FALSE;
  }
  if (!nd_convolver_respond (priv->convolver, priv->scale, load->map.planes,
          error))
    return FALSE;
  load->host_seconds = priv->push_seconds
      + (g_get_monotonic_time () - begin) * 1e-6;
  priv->push_seconds = 0;
  return TRUE;
}

static void
drop_output (GstNdLoad * load)
{
  if (load->is_mapped)
    gst_nd_unmap (&load->map);
  load->is_mapped = load->is_output = FALSE;
  gst_clear_buffer (&load->buffer);
}

/* Puts @load behind all work so far. It goes out when that is done; memory of
 * ours on a device goes at once, with the fence. */
static GstFlowReturn
send (GstNdConv * self, GstNdLoad * load)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_autoptr (GError) error = NULL;
  GstMemory *memory;
  GstFlowReturn ret = GST_FLOW_OK, ret_flight;

  if (!nd_convolver_fence (priv->convolver, &load->fence, &error)) {
    ret = gst_nd_conv_fail (self, error);
    drop_output (load);
  }
  load->inputs = priv->inputs;
  g_queue_init (&priv->inputs);
  load->arrived = priv->arrived;
  memory = load->buffer ? gst_buffer_peek_memory (load->buffer, 0) : NULL;
  if (ret == GST_FLOW_OK && memory && gst_nd_memory_is_device (memory)
      && load->fence) {
    GstBuffer *buffer = g_steal_pointer (&load->buffer);

    gst_nd_memory_set_fence (memory, nd_fence_ref (load->fence));
    gst_nd_unmap (&load->map);
    load->is_mapped = FALSE;
    while (!g_queue_is_empty (&load->events))
      gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self),
          g_queue_pop_head (&load->events));
    ret = gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (self), buffer);
  }
  ret_flight = gst_nd_conv_flight_add (self, load);
  return ret == GST_FLOW_OK ? ret_flight : ret;
}

/* What the base class answers a POSITION query with (20). */
static void
set_position (GstNdConv * self, GstBuffer * anchor)
{
  GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;

  if (!GST_BUFFER_PTS_IS_VALID (anchor))
    return;
  segment->position = GST_BUFFER_PTS (anchor);
  if (segment->rate > 0 && GST_BUFFER_DURATION_IS_VALID (anchor))
    segment->position += GST_BUFFER_DURATION (anchor);
}

/* The anchor of the next output; what came before it goes to load->events. */
static GstBuffer *
take_anchor (GstNdConv * self, GstNdLoad * load)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  while (GST_IS_EVENT (g_queue_peek_head (&priv->anchors)))
    g_queue_push_tail (&load->events, g_queue_pop_head (&priv->anchors));
  return g_queue_pop_head (&priv->anchors);
}

/* Whether the output of @anchor is left out; then it is counted. */
static gboolean
is_skipped (GstNdConv * self, GstBuffer * anchor)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  if (is_clipped (self, anchor)) {
    GST_OBJECT_LOCK (self);
    priv->stats.clipped++;
    GST_OBJECT_UNLOCK (self);
    return TRUE;
  }
  if (!is_late (self, anchor))
    return FALSE;
  priv->discont = TRUE;
  return TRUE;
}

/* The buffer for the output of @anchor. */
static GstFlowReturn
make_output (GstNdConv * self, GstBuffer * anchor, GstBuffer ** out)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  const NdWindow *window = nd_convolver_window (priv->convolver);
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret;

  ret = GST_BASE_TRANSFORM_GET_CLASS (self)->prepare_output_buffer
      (GST_BASE_TRANSFORM (self), anchor, out);
  if (ret == GST_FLOW_ERROR) {
    /* A device that was lost gives none: then that is what went wrong. */
    if (nd_convolver_wait (priv->convolver, &error))
      g_set_error (&error, ND_ERROR, ND_ERROR_NO_SPACE, "There is no memory "
          "for an output of %" G_GSIZE_FORMAT " bytes", priv->out.size);
    return gst_nd_conv_fail (self, error);
  }
  if (ret != GST_FLOW_OK)
    return ret;
  if (priv->discont)
    GST_BUFFER_FLAG_SET (*out, GST_BUFFER_FLAG_DISCONT);
  else
    GST_BUFFER_FLAG_UNSET (*out, GST_BUFFER_FLAG_DISCONT);
  if (priv->last_sample < window->anchor - (gint64) window->behind)
    GST_BUFFER_FLAG_SET (*out, GST_BUFFER_FLAG_GAP);
  return GST_FLOW_OK;
}

/* Makes the output of the convolver's anchor, or skips it, and sends it. */
static GstFlowReturn
push_one (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstNdLoad *load = g_new0 (GstNdLoad, 1);
  g_autoptr (GstBuffer) anchor = take_anchor (self, load);
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  set_position (self, anchor);
  if (is_skipped (self, anchor)) {
    nd_convolver_skip (priv->convolver);
    return send (self, load);
  }
  ret = make_output (self, anchor, &load->buffer);
  if (ret == GST_FLOW_OK && !respond (self, load, &error))
    ret = gst_nd_conv_fail (self, error);
  if (ret != GST_FLOW_OK) {
    drop_output (load);
    g_queue_clear_full (&load->events, (GDestroyNotify) gst_event_unref);
    g_free (load);
    return ret;
  }
  priv->discont = FALSE;
  load->is_output = TRUE;
  return send (self, load);
}

static GstFlowReturn
push_ready (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstFlowReturn ret = GST_FLOW_OK;

  while (ret == GST_FLOW_OK && nd_convolver_ready (priv->convolver))
    ret = push_one (self);
  return ret;
}

/* What remains comes out with the time border beyond the end; then the stream
 * is forgotten. A push that fails ends it, and the rest is dropped (5). */
static GstFlowReturn
drain (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstFlowReturn ret = GST_FLOW_OK;

  if (priv->convolver && !g_atomic_int_get (&priv->failed)) {
    nd_convolver_end (priv->convolver);
    ret = push_ready (self);
  }
  if (ret == GST_FLOW_OK)
    ret = gst_nd_conv_flight_land (self);
  while (ret == GST_FLOW_OK && GST_IS_EVENT (g_queue_peek_head
          (&priv->anchors)))
    gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self),
        g_queue_pop_head (&priv->anchors));
  gst_nd_conv_reset (self);
  return ret;
}

GstFlowReturn
gst_nd_conv_end_stretch (GstNdConv * self)
{
  GstFlowReturn ret = drain (self);

  gst_nd_conv_private (self)->discont = TRUE;
  return ret;
}

/* Changes while playing (30) */

/* The type of the output for @settings. */
static NdSampleType
output_type (GstNdConv * self, const GstNdConvSettings * settings)
{
  if (settings->output_type == GST_ND_OUTPUT_SAME)
    return gst_nd_conv_private (self)->in.type;
  return (NdSampleType) settings->output_type;
}

/* Goes on with what the window holds, where it holds enough. */
static GstFlowReturn
change_convolver (GstNdConv * self, NdConvolver * next)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  NdConvolver *old = priv->convolver;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  if (!nd_convolver_continue (next, old)) {
    ret = drain (self);
    gst_nd_conv_use (self, next);
    return ret;
  }
  priv->convolver = NULL;
  gst_nd_conv_use (self, next);
  while (ret == GST_FLOW_OK && nd_convolver_replay (next, old, &error))
    ret = push_ready (self);
  /* What old keeps may still be read. */
  nd_convolver_wait (next, error ? NULL : &error);
  nd_convolver_free (old);
  if (error)
    ret = gst_nd_conv_fail (self, error);
  if (ret != GST_FLOW_OK)
    gst_nd_conv_reset (self);
  return ret;
}

/* The bank or type of the output are others, and caps with them: the base class
 * negotiates before the next volume, and set_caps() builds. */
static GstFlowReturn
change_caps (GstNdConv * self)
{
  GstFlowReturn ret = drain (self);

  g_clear_pointer (&gst_nd_conv_private (self)->convolver, nd_convolver_free);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  return ret;
}

GstFlowReturn
gst_nd_conv_apply_settings (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (NdConvolver) next = NULL;
  g_autoptr (GError) error = NULL;
  const NdBank *bank;
  gboolean keeps_caps;

  GST_OBJECT_LOCK (self);
  if (!priv->settings_changed || !priv->convolver) {
    GST_OBJECT_UNLOCK (self);
    return GST_FLOW_OK;
  }
  priv->settings_changed = FALSE;
  gst_nd_conv_settings_copy (&settings, &priv->settings);
  if (gst_nd_conv_settings_equal_but_scale (&settings, &priv->active)) {
    gst_nd_conv_activate (self, &settings);
    GST_OBJECT_UNLOCK (self);
    gst_nd_conv_set_scales (self);
    return GST_FLOW_OK;
  }
  GST_OBJECT_UNLOCK (self);

  next = gst_nd_conv_build (self, &settings, output_type (self, &settings),
      &error);
  if (!next) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
        ("the old settings stay in use"));
    GST_OBJECT_LOCK (self);
    if (!priv->settings_changed)
      gst_nd_conv_settings_copy (&priv->settings, &priv->active);
    GST_OBJECT_UNLOCK (self);
    return GST_FLOW_OK;
  }
  bank = nd_convolver_plan (next, 0)->bank;
  keeps_caps = output_type (self, &settings) == priv->out.type
      && nd_response_count (settings.response, nd_bank_responses (bank))
      == priv->out.responses
      && nd_response_components (settings.response, bank->is_complex,
      priv->in.planes[0].components) == priv->out.planes[0].components;
  GST_OBJECT_LOCK (self);
  gst_nd_conv_activate (self, &settings);
  GST_OBJECT_UNLOCK (self);
  if (keeps_caps)
    return change_convolver (self, g_steal_pointer (&next));
  return change_caps (self);
}

/* Inputs */

/* TRUE where the stream does not go on from the last volume (2, 15). In trick
 * modes timestamps jump, and what comes is taken as evenly spaced (18). */
static gboolean
is_discontinuous (GstNdConv * self, GstBuffer * buffer)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstClockTime duration = gst_nd_format_duration (&priv->in);
  gboolean discont = GST_BUFFER_IS_DISCONT (buffer);

  if (!GST_CLOCK_TIME_IS_VALID (pts) || GST_BASE_TRANSFORM (self)->segment.flags
      & GST_SEGMENT_FLAG_TRICKMODE) {
    priv->expected = GST_CLOCK_TIME_NONE;
  } else if (GST_CLOCK_TIME_IS_VALID (duration)) {
    if (GST_CLOCK_TIME_IS_VALID (priv->expected))
      discont |= ABS (GST_CLOCK_DIFF (priv->expected, pts))
          > (GstClockTimeDiff) duration / 2;
    if (!priv->reverse)
      priv->expected = pts + duration;
    else
      priv->expected = pts > duration ? pts - duration : 0;
  }
  return discont && nd_convolver_window (priv->convolver)->pushed > 0;
}

/* What an output takes from its anchor: all but the memory (6). */
static GstBuffer *
make_anchor (GstNdConv * self, GstBuffer * buffer)
{
  GstBuffer *anchor = gst_buffer_new ();

  gst_buffer_copy_into (anchor, buffer, GST_BUFFER_COPY_FLAGS
      | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  if (!GST_BUFFER_DURATION_IS_VALID (anchor))
    GST_BUFFER_DURATION (anchor) =
        gst_nd_format_duration (&gst_nd_conv_private (self)->in);
  return anchor;
}

static GstFlowReturn
push_volume (GstNdConv * self, GstBuffer * buffer)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  gint64 position = nd_convolver_window (priv->convolver)->pushed, begin;
  g_autoptr (NdFence) written = NULL;
  g_autoptr (GError) error = NULL;
  GstNdMap *map = g_new (GstNdMap, 1);

  if (!gst_nd_map (map, &priv->in, buffer, GST_MAP_READ,
          gst_nd_conv_device_in_use (self) != NULL)) {
    if (!nd_convolver_wait (priv->convolver, &error))
      gst_nd_conv_fail (self, error);
    else if (g_atomic_int_compare_and_exchange (&priv->failed, FALSE, TRUE))
      GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE, ("A buffer of %"
              G_GSIZE_FORMAT " bytes came where the caps ask for %"
              G_GSIZE_FORMAT ": upstream must send one whole volume in each "
              "buffer", gst_buffer_get_size (buffer), priv->in.size), (NULL));
    g_free (map);
    return GST_FLOW_ERROR;
  }
  gst_buffer_ref (buffer);
  g_queue_push_tail (&priv->inputs, map);
  written = gst_nd_map_fence (map);
  begin = g_get_monotonic_time ();
  if ((written && !nd_convolver_after (priv->convolver, written, &error))
      || !nd_convolver_push (priv->convolver, map->planes, &error))
    return gst_nd_conv_fail (self, error);
  priv->push_seconds += (g_get_monotonic_time () - begin) * 1e-6;
  if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP))
    priv->last_sample = position;
  g_queue_push_tail (&priv->anchors, make_anchor (self, buffer));
  GST_OBJECT_LOCK (self);
  priv->stats.in++;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_nd_conv_take_volume (GstNdConv * self, GstBuffer * buffer)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstFlowReturn ret;

  priv->arrived = g_get_monotonic_time ();
  if (is_discontinuous (self, buffer)) {
    GstClockTime expected = priv->expected;

    ret = gst_nd_conv_end_stretch (self);
    priv->expected = expected;
    if (ret != GST_FLOW_OK)
      return ret;
  }
  ret = push_volume (self, buffer);
  if (ret == GST_FLOW_OK)
    ret = push_ready (self);
  /* A volume that completed no output is let go as well. */
  if (ret == GST_FLOW_OK && !g_queue_is_empty (&priv->inputs))
    ret = send (self, g_new0 (GstNdLoad, 1));
  return ret;
}

gboolean
gst_nd_conv_take_event (GstNdConv * self, GstEvent * event)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  if (!g_queue_is_empty (&priv->anchors)) {
    g_queue_push_tail (&priv->anchors, event);
    return TRUE;
  }
  gst_nd_conv_flight_land (self);
  return gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
}
