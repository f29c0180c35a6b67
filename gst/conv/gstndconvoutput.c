/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvoutput.h"

#include "gst/base/gstndflush.h"
#include "gst/base/gstndmemory.h"
#include "gst/base/gstndtensormeta.h"
#include "gst/conv/gstndconvlatency.h"
#include "gst/conv/gstndconvpending.h"
#include "gst/conv/gstndconvplan.h"

#define GST_CAT_DEFAULT gst_nd_conv_debug

void
gst_nd_conv_release_inputs (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;

  if (g_queue_is_empty (&priv->inputs))
    return;
  if (priv->convolver)
    nd_convolver_synchronize (priv->convolver, NULL);
  g_queue_clear_full (&priv->inputs,
      (GDestroyNotify) gst_nd_conv_release_input);
}

static gboolean
is_clipped (GstNdConv *self, GstBuffer *anchor)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const GstClockTime start = GST_BUFFER_PTS (anchor);
  GstClockTime duration = GST_BUFFER_DURATION (anchor);

  if (!GST_CLOCK_TIME_IS_VALID (start) || segment->format != GST_FORMAT_TIME)
    return FALSE;
  /* Without a duration no volume would be before the segment. */
  if (!GST_CLOCK_TIME_IS_VALID (duration) && self->priv->seek.narrowed)
    duration = self->priv->seek.interval;
  return !gst_segment_clip (segment, GST_FORMAT_TIME, start,
      GST_CLOCK_TIME_IS_VALID (duration) ? start + duration
                                         : GST_CLOCK_TIME_NONE,
      NULL, NULL);
}

/* TRUE if the output of @anchor would be late according to QoS; then counts it
 * and posts a QOS message (docs/checklist.md, 21). */
static gboolean
is_late (GstNdConv *self, GstBuffer *anchor)
{
  GstNdConvPrivate *priv = self->priv;
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime earliest, running_time, stream_time;
  guint64 out, late;
  GstMessage *message;

  if (!GST_BUFFER_PTS_IS_VALID (anchor) || segment->format != GST_FORMAT_TIME
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

  GST_DEBUG_OBJECT (self,
      "skipping output at running time %" GST_TIME_FORMAT
      ": earliest on time is %" GST_TIME_FORMAT,
      GST_TIME_ARGS (running_time), GST_TIME_ARGS (earliest));
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

/* Moves the timestamp of @anchor to the time of its content. */
static void
stamp (GstNdConv *self, GstBuffer *anchor)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const GstClockTimeDiff lag = gst_nd_conv_content_lag (self);
  const GstClockTime pts = GST_BUFFER_PTS (anchor);
  GstClockTime first = 0;

  if (lag == 0 || !GST_CLOCK_TIME_IS_VALID (pts))
    return;
  if (segment->format == GST_FORMAT_TIME)
    first = MIN (segment->start, pts);
  GST_BUFFER_PTS (anchor) =
      lag > (GstClockTimeDiff) (pts - first) ? first : pts - lag;
}

/* Whether to skip the output of @anchor, which gets its timestamp. Counts
 * skipped outputs. */
static gboolean
is_skipped (GstNdConv *self, GstBuffer *anchor)
{
  GstNdConvPrivate *priv = self->priv;

  if (GST_BUFFER_FLAG_IS_SET (anchor, GST_ND_ANCHOR_HELD))
    return TRUE;
  if (is_clipped (self, anchor)) {
    GST_OBJECT_LOCK (self);
    priv->stats.outside++;
    GST_OBJECT_UNLOCK (self);
    GST_LOG_OBJECT (self,
        "skipping output at %" GST_TIME_FORMAT ": outside the segment",
        GST_TIME_ARGS (GST_BUFFER_PTS (anchor)));
    return TRUE;
  }
  stamp (self, anchor);
  if (!is_late (self, anchor))
    return FALSE;
  priv->discont = TRUE;
  return TRUE;
}

/* Sets the position with which the base class answers POSITION queries
 * (docs/checklist.md, 20). */
static void
set_position (GstNdConv *self, GstBuffer *anchor)
{
  GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;

  if (!GST_BUFFER_PTS_IS_VALID (anchor))
    return;
  segment->position = GST_BUFFER_PTS (anchor);
  if (segment->rate > 0 && GST_BUFFER_DURATION_IS_VALID (anchor))
    segment->position += GST_BUFFER_DURATION (anchor);
  segment->position = CLAMP (segment->position, segment->start, segment->stop);
}

/* Takes the anchor of the next output from the queue, and moves the events
 * before it to @output. */
static GstBuffer *
take_anchor (GstNdConv *self, GstNdPendingOutput *output)
{
  GQueue *anchors = &self->priv->anchors;

  while (GST_IS_EVENT (g_queue_peek_head (anchors)))
    g_queue_push_tail (&output->events, g_queue_pop_head (anchors));
  return g_queue_pop_head (anchors);
}

/* Waits, because enqueued work may still write to the buffer. */
static void
drop_buffer (GstNdConv *self, GstNdPendingOutput *output)
{
  if (output->is_mapped) {
    nd_convolver_synchronize (self->priv->convolver, NULL);
    gst_nd_unmap (&output->map);
  }
  output->is_mapped = output->is_output = FALSE;
  gst_clear_buffer (&output->buffer);
}

/* Takes a buffer for the output of @anchor from the pool. */
static GstFlowReturn
acquire_buffer (GstNdConv *self, GstBuffer *anchor, GstBuffer **buffer)
{
  GstNdConvPrivate *priv = self->priv;
  const NdWindow *window = nd_convolver_window (priv->convolver);
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret;

  ret = GST_BASE_TRANSFORM_GET_CLASS (self)
            ->prepare_output_buffer (GST_BASE_TRANSFORM (self), anchor, buffer);
  if (ret == GST_FLOW_ERROR) {
    /* If the device is lost, report that rather than the lack of memory. */
    if (nd_convolver_synchronize (priv->convolver, &error))
      g_set_error (&error, ND_ERROR, ND_ERROR_MEMORY,
          "No memory for an output of %" G_GSIZE_FORMAT
          " bytes: use smaller volumes, or fewer of them at a time",
          priv->out.size);
    return gst_nd_conv_fail (self, error);
  }
  if (ret != GST_FLOW_OK) {
    GST_DEBUG_OBJECT (self, "no buffer for an output: %s",
        gst_flow_get_name (ret));
    return ret;
  }
  if (priv->discont)
    GST_BUFFER_FLAG_SET (*buffer, GST_BUFFER_FLAG_DISCONT);
  else
    GST_BUFFER_FLAG_UNSET (*buffer, GST_BUFFER_FLAG_DISCONT);
  if (priv->last_sample < window->anchor - (gint64) window->before)
    GST_BUFFER_FLAG_SET (*buffer, GST_BUFFER_FLAG_GAP);
  return GST_FLOW_OK;
}

/* Computes the next response, or enqueues its work. */
static gboolean
respond (GstNdConv *self, GstNdPendingOutput *output, GError **error)
{
  GstNdConvPrivate *priv = self->priv;
  const gint64 begin = g_get_monotonic_time ();
  const gint64 position = nd_convolver_window (priv->convolver)->anchor;

  /* Buffers of a pool from downstream may be larger. */
  if (!priv->out.is_video)
    gst_buffer_set_size (output->buffer, priv->out.size);
  output->is_mapped = gst_nd_map (&output->map, &priv->out, output->buffer,
      GST_MAP_WRITE, gst_nd_conv_device_in_use (self) != NULL);
  if (!output->is_mapped) {
    if (nd_convolver_synchronize (priv->convolver, error))
      g_set_error (error, ND_ERROR, ND_ERROR_FAILED,
          "An output buffer cannot be mapped for writing: the buffers of the "
          "pool from downstream do not fit its caps");
    return FALSE;
  }
  if (!nd_convolver_respond (priv->convolver, priv->scale, output->map.planes,
          error))
    return FALSE;
  output->host_seconds =
      priv->push_seconds + (g_get_monotonic_time () - begin) * 1e-6;
  priv->push_seconds = 0;
  GST_LOG_OBJECT (self,
      "response of volume %" G_GINT64_FORMAT " at %" GST_TIME_FORMAT
      " took %.3f ms on this thread, with the pushes before it",
      position, GST_TIME_ARGS (GST_BUFFER_PTS (output->buffer)),
      output->host_seconds * 1e3);
  return TRUE;
}

/* Pushes @output before its work is complete: its memory carries the fence, and
 * an element of ours waits for that on the device. */
static GstFlowReturn
push_with_fence (GstNdConv *self, GstNdPendingOutput *output, GstMemory *memory)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  GstBuffer *buffer = g_steal_pointer (&output->buffer);
  GstFlowReturn ret;

  gst_nd_memory_set_fence (memory, nd_fence_ref (output->fence));
  gst_nd_unmap (&output->map);
  output->is_mapped = FALSE;
  while (!g_queue_is_empty (&output->events))
    gst_pad_push_event (pad, g_queue_pop_head (&output->events));
  gst_nd_tensor_meta_attach (buffer, &self->priv->out);
  GST_LOG_OBJECT (self, "pushing with a fence %" GST_PTR_FORMAT, buffer);
  ret = gst_nd_flush_result (GST_ELEMENT (self), gst_pad_push (pad, buffer));
  if (ret != GST_FLOW_OK)
    gst_nd_conv_count_missed (self, 1, ret);
  return ret;
}

/* Records a fence after all work so far, and adds @output to the pending
 * ones. */
static GstFlowReturn
send (GstNdConv *self, GstNdPendingOutput *output)
{
  GstNdConvPrivate *priv = self->priv;
  g_autoptr (GError) error = NULL;
  GstMemory *memory;
  GstFlowReturn ret = GST_FLOW_OK, ret_pending;

  if (!nd_convolver_record (priv->convolver, &output->fence, &error)) {
    ret = gst_nd_conv_fail (self, error);
    /* If one of several devices has failed, the others still read inputs. */
    nd_convolver_synchronize (priv->convolver, NULL);
    drop_buffer (self, output);
  }
  output->inputs = priv->inputs;
  g_queue_init (&priv->inputs);
  output->arrived = priv->arrived;
  memory = output->buffer ? gst_buffer_peek_memory (output->buffer, 0) : NULL;
  if (output->fence && memory && output->map.on_device
      && gst_nd_memory_is_device (memory))
    ret = push_with_fence (self, output, memory);
  ret_pending = gst_nd_conv_pending_add (self, output);
  return ret == GST_FLOW_OK ? ret_pending : ret;
}

GstFlowReturn
gst_nd_conv_send_inputs (GstNdConv *self)
{
  if (g_queue_is_empty (&self->priv->inputs))
    return GST_FLOW_OK;
  return send (self, g_new0 (GstNdPendingOutput, 1));
}

/* If the application controls gain and offset, sets them to their values at the
 * time of @anchor. */
static void
sync_scale (GstNdConv *self, GstBuffer *anchor)
{
  GstNdConvPrivate *priv = self->priv;
  GstClockTime time;

  if (!gst_object_has_active_control_bindings (GST_OBJECT (self)))
    return;
  time = gst_segment_to_stream_time (&GST_BASE_TRANSFORM (self)->segment,
      GST_FORMAT_TIME, GST_BUFFER_PTS (anchor));
  if (!GST_CLOCK_TIME_IS_VALID (time))
    return;
  gst_object_sync_values (GST_OBJECT (self), time);
  GST_OBJECT_LOCK (self);
  priv->active.gain = priv->settings.gain;
  priv->active.offset = priv->settings.offset;
  GST_OBJECT_UNLOCK (self);
  gst_nd_conv_set_scales (self);
}

/* Computes or skips the output of the next anchor, and sends it. */
static GstFlowReturn
push_one (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  GstNdPendingOutput *output = g_new0 (GstNdPendingOutput, 1);
  g_autoptr (GstBuffer) anchor = take_anchor (self, output);
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  if (is_skipped (self, anchor)) {
    set_position (self, anchor);
    nd_convolver_skip (priv->convolver);
    return send (self, output);
  }
  set_position (self, anchor);
  sync_scale (self, anchor);
  ret = acquire_buffer (self, anchor, &output->buffer);
  if (ret == GST_FLOW_OK && !respond (self, output, &error))
    ret = gst_nd_conv_fail (self, error);
  if (ret != GST_FLOW_OK) {
    drop_buffer (self, output);
    gst_nd_conv_count_missed (self, 1, ret);
    while (!g_queue_is_empty (&output->events))
      gst_nd_conv_discard_event (self, g_queue_pop_head (&output->events));
    g_free (output);
    return ret;
  }
  priv->discont = FALSE;
  output->is_output = TRUE;
  return send (self, output);
}

GstFlowReturn
gst_nd_conv_push_ready (GstNdConv *self)
{
  GstFlowReturn ret = GST_FLOW_OK;

  while (!gst_nd_flow_is_final (ret)
      && nd_convolver_ready (self->priv->convolver))
    ret = gst_nd_flow_join (ret, push_one (self));
  return ret;
}
