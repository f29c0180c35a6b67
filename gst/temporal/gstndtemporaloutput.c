/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalprivate.h"

#include "gst/base/gstndanchor.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndmemory.h"
#include "gst/base/gstndpool.h"
#include "gst/temporal/gstndtemporalbuilder.h"
#include "gst/temporal/gstndtemporalpending.h"

#define GST_CAT_DEFAULT gst_nd_temporal_debug

void
gst_nd_temporal_release_inputs (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;

  if (g_queue_is_empty (&priv->inputs))
    return;
  if (priv->processor)
    gst_nd_processor_synchronize (priv->processor, NULL);
  g_queue_clear_full (&priv->inputs,
      (GDestroyNotify) gst_nd_temporal_release_input);
}

/* See NdOrderClock. */
static gboolean
is_outside (gpointer data, gpointer volume)
{
  GstNdTemporal *self = data;
  GstBuffer *anchor = volume;
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

/* The timestamp of the output of @anchor. */
static GstClockTime
find_stamp (GstNdTemporal *self, GstBuffer *anchor)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const GstClockTimeDiff lag = gst_nd_temporal_content_lag (self);
  const GstClockTime pts = GST_BUFFER_PTS (anchor);
  GstClockTime first = 0;

  if (lag == 0 || !GST_CLOCK_TIME_IS_VALID (pts))
    return pts;
  if (segment->format == GST_FORMAT_TIME)
    first = MIN (segment->start, pts);
  return lag > (GstClockTimeDiff) (pts - first) ? first : pts - lag;
}

static GstClockTime
find_running_time (GstNdTemporal *self, GstClockTime pts)
{
  return gst_segment_to_running_time (&GST_BASE_TRANSFORM (self)->segment,
      GST_FORMAT_TIME, pts);
}

/* See NdOrderClock. While the element leaves out volumes it keeps up, but a
 * sink may not know its latency: outputs that are late by no more than that are
 * computed. */
static gboolean
is_late (gpointer data, gpointer volume)
{
  GstNdTemporal *self = data;
  GstNdTemporalPrivate *priv = self->priv;
  const GstClockTime pts = find_stamp (self, volume);
  GstClockTime earliest, running_time, excused = 0;

  if (!GST_CLOCK_TIME_IS_VALID (pts)
      || GST_BASE_TRANSFORM (self)->segment.format != GST_FORMAT_TIME
      || !gst_base_transform_is_qos_enabled (GST_BASE_TRANSFORM (self)))
    return FALSE;
  running_time = find_running_time (self, pts);
  GST_OBJECT_LOCK (self);
  earliest = priv->earliest_time;
  if (priv->thin.distance > 0)
    excused = priv->latency.needed;
  GST_OBJECT_UNLOCK (self);
  if (!GST_CLOCK_TIME_IS_VALID (earliest)
      || !GST_CLOCK_TIME_IS_VALID (running_time) || running_time > earliest)
    return FALSE;
  priv->latency.missed = TRUE;
  return earliest - running_time >= excused;
}

const NdOrderClock gst_nd_temporal_clock = { is_outside, is_late };

/* Counts the late output of @anchor, and posts a QOS message
 * (docs/checklist.md, 21). */
static void
post_late (GstNdTemporal *self, GstBuffer *anchor)
{
  GstNdTemporalPrivate *priv = self->priv;
  const GstClockTime pts = GST_BUFFER_PTS (anchor);
  const GstClockTime running_time = find_running_time (self, pts);
  GstClockTime earliest;
  guint64 out, late;
  GstMessage *message;

  GST_OBJECT_LOCK (self);
  earliest = priv->earliest_time;
  late = ++priv->stats.late;
  out = priv->stats.out;
  GST_OBJECT_UNLOCK (self);

  GST_DEBUG_OBJECT (self,
      "skipping output at running time %" GST_TIME_FORMAT
      ": earliest on time is %" GST_TIME_FORMAT,
      GST_TIME_ARGS (running_time), GST_TIME_ARGS (earliest));
  message = gst_message_new_qos (GST_OBJECT (self), FALSE, running_time,
      gst_segment_to_stream_time (&GST_BASE_TRANSFORM (self)->segment,
          GST_FORMAT_TIME, pts),
      pts, GST_BUFFER_DURATION (anchor));
  gst_message_set_qos_values (message, GST_CLOCK_DIFF (running_time, earliest),
      1.0, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, out, late);
  gst_element_post_message (GST_ELEMENT (self), message);
}

static void
count_outside (GstNdTemporal *self, GstBuffer *anchor)
{
  GST_OBJECT_LOCK (self);
  self->priv->stats.outside++;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self,
      "skipping output at %" GST_TIME_FORMAT ": outside the segment",
      GST_TIME_ARGS (GST_BUFFER_PTS (anchor)));
}

/* Sets the position with which the base class answers POSITION queries
 * (docs/checklist.md, 20). */
static void
temporal_output_set_position (GstNdTemporal *self, GstBuffer *anchor)
{
  GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;

  if (!GST_BUFFER_PTS_IS_VALID (anchor))
    return;
  segment->position = GST_BUFFER_PTS (anchor);
  if (segment->rate > 0 && GST_BUFFER_DURATION_IS_VALID (anchor))
    segment->position += GST_BUFFER_DURATION (anchor);
  segment->position = CLAMP (segment->position, segment->start, segment->stop);
}

/* Waits, because enqueued work may still write to the buffer. */
static void
temporal_output_drop_buffer (GstNdTemporal *self, GstNdPendingOutput *output)
{
  if (output->is_mapped) {
    gst_nd_processor_synchronize (self->priv->processor, NULL);
    gst_nd_unmap (&output->map);
  }
  output->is_mapped = output->is_output = FALSE;
  gst_clear_buffer (&output->buffer);
}

/* Takes a buffer for the output of @anchor from the pool. */
static GstFlowReturn
acquire_buffer (GstNdTemporal *self, const NdOrderOutput *next,
    GstBuffer **buffer)
{
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret;

  ret = GST_BASE_TRANSFORM_GET_CLASS (self)
            ->prepare_output_buffer (GST_BASE_TRANSFORM (self), next->volume,
                buffer);
  if (ret == GST_FLOW_ERROR) {
    /* If the device is lost, report that rather than the lack of memory. */
    if (gst_nd_processor_synchronize (priv->processor, &error))
      g_set_error (&error, ND_ERROR, ND_ERROR_MEMORY,
          "No memory for an output of %" G_GSIZE_FORMAT
          " bytes: use smaller volumes, or fewer of them at a time",
          priv->out.size);
    return gst_nd_temporal_fail (self, error);
  }
  if (ret != GST_FLOW_OK) {
    GST_DEBUG_OBJECT (self, "no buffer for an output: %s",
        gst_flow_get_name (ret));
    return ret;
  }
  if (next->discont)
    GST_BUFFER_FLAG_SET (*buffer, GST_BUFFER_FLAG_DISCONT);
  else
    GST_BUFFER_FLAG_UNSET (*buffer, GST_BUFFER_FLAG_DISCONT);
  if (next->gap)
    GST_BUFFER_FLAG_SET (*buffer, GST_BUFFER_FLAG_GAP);
  return GST_FLOW_OK;
}

/* The next output has not cost anything yet. */
static void
forget_work (GstNdTemporalPrivate *priv)
{
  priv->spent.push = priv->spent.last_push = priv->spent.ahead = 0;
}

/* Computes the next response, or enqueues its work. */
static gboolean
temporal_output_respond (GstNdTemporal *self, GstNdPendingOutput *output,
    GError **error)
{
  GstNdTemporalPrivate *priv = self->priv;
  const gint64 begin = g_get_monotonic_time ();
  GstNdTemporalClass *klass = GST_ND_TEMPORAL_GET_CLASS (self);
  const gint64 position = priv->order.taken - 1;
  GstNdProcessor *processor = priv->processor;

  /* Buffers of a pool from downstream may be larger. */
  if (!priv->out.is_video)
    gst_buffer_set_size (output->buffer, priv->out.size);
  output->is_mapped = gst_nd_map (&output->map, &priv->out, output->buffer,
      GST_MAP_WRITE, gst_nd_processor_device (processor) != NULL);
  if (!output->is_mapped) {
    if (gst_nd_processor_synchronize (priv->processor, error))
      g_set_error (error, ND_ERROR, ND_ERROR_FAILED,
          "An output buffer cannot be mapped for writing: the buffers of the "
          "pool from downstream do not fit its caps");
    return FALSE;
  }
  if (!processor->klass->respond (processor, output->map.planes, error))
    return FALSE;
  output->last_seconds =
      priv->spent.last_push + (g_get_monotonic_time () - begin) * 1e-6;
  output->host_seconds =
      priv->spent.push + output->last_seconds - priv->spent.last_push;
  output->ahead_seconds = priv->spent.ahead;
  forget_work (priv);
  if (klass->responded) {
    GST_OBJECT_LOCK (self);
    klass->responded (self, processor);
    GST_OBJECT_UNLOCK (self);
  }
  if (klass->annotate)
    klass->annotate (self, processor, output->buffer);
  GST_LOG_OBJECT (self,
      "response of volume %" G_GINT64_FORMAT " at %" GST_TIME_FORMAT
      " took %.3f ms on this thread, with the pushes before it",
      position, GST_TIME_ARGS (GST_BUFFER_PTS (output->buffer)),
      output->host_seconds * 1e3);
  return TRUE;
}

/* Records a fence after all work so far, and adds @output to the pending
 * ones. */
static GstFlowReturn
temporal_output_send (GstNdTemporal *self, GstNdPendingOutput *output)
{
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK, ret_pending;

  if (!gst_nd_processor_record (priv->processor, &output->fence, &error)) {
    ret = gst_nd_temporal_fail (self, error);
    /* If one of several devices has failed, the others still read inputs. */
    gst_nd_processor_synchronize (priv->processor, NULL);
    temporal_output_drop_buffer (self, output);
  }
  output->inputs = priv->inputs;
  g_queue_init (&priv->inputs);
  output->arrived = priv->spent.arrived;
  ret_pending = gst_nd_temporal_pending_add (self, output);
  return ret == GST_FLOW_OK ? ret_pending : ret;
}

GstFlowReturn
gst_nd_temporal_send_inputs (GstNdTemporal *self)
{
  if (g_queue_is_empty (&self->priv->inputs))
    return GST_FLOW_OK;
  return temporal_output_send (self, g_new0 (GstNdPendingOutput, 1));
}

/* Sets the properties that the application controls to their values at the time
 * of @anchor. */
static void
sync_settings (GstNdTemporal *self, GstBuffer *anchor)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstClockTime time;

  if (!gst_object_has_active_control_bindings (GST_OBJECT (self)))
    return;
  time = gst_segment_to_stream_time (&GST_BASE_TRANSFORM (self)->segment,
      GST_FORMAT_TIME, GST_BUFFER_PTS (anchor));
  if (!GST_CLOCK_TIME_IS_VALID (time))
    return;
  gst_object_sync_values (GST_OBJECT (self), time);
  GST_OBJECT_LOCK (self);
  gst_nd_temporal_settings_copy_controlled (priv->active, priv->settings);
  GST_OBJECT_UNLOCK (self);
  gst_nd_temporal_use_settings (self);
}

/* Discards @output because of @ret, which it returns. */
static GstFlowReturn
temporal_output_fail (GstNdTemporal *self, GstNdPendingOutput *output,
    GstFlowReturn ret)
{
  temporal_output_drop_buffer (self, output);
  while (!g_queue_is_empty (&output->events))
    gst_nd_temporal_discard_event (self, g_queue_pop_head (&output->events));
  g_free (output);
  return ret;
}

/* Skips the output that is @next. */
static GstFlowReturn
temporal_output_skip (GstNdTemporal *self, const NdOrderOutput *next,
    GstNdPendingOutput *output)
{
  GstNdProcessor *processor = self->priv->processor;
  g_autoptr (GError) error = NULL;

  /* Otherwise the next output would seem slow, and after many late ones the
   * element would nearly stop. */
  forget_work (self->priv);
  if (next->kind == ND_OUTPUT_OUTSIDE)
    count_outside (self, next->volume);
  else if (next->kind == ND_OUTPUT_LATE)
    post_late (self, next->volume);
  if (!processor->klass->respond (processor, NULL, &error))
    return temporal_output_fail (self, output,
        gst_nd_temporal_fail (self, error));
  return temporal_output_send (self, output);
}

/* Computes the output that is @next, and sends it. */
static GstFlowReturn
temporal_output_compute (GstNdTemporal *self, const NdOrderOutput *next,
    GstNdPendingOutput *output)
{
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret;

  sync_settings (self, next->volume);
  ret = acquire_buffer (self, next, &output->buffer);
  if (ret == GST_FLOW_OK && !temporal_output_respond (self, output, &error))
    ret = gst_nd_temporal_fail (self, error);
  if (ret != GST_FLOW_OK) {
    gst_nd_temporal_count_missed (self, 1, ret);
    return temporal_output_fail (self, output, ret);
  }
  nd_order_computed (&priv->order);
  output->is_output = TRUE;
  return temporal_output_send (self, output);
}

static GstFlowReturn
push_one (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdPendingOutput *output = g_new0 (GstNdPendingOutput, 1);
  const NdOrderOutput next =
      nd_order_take (&priv->order, priv->processor->before, &output->events);
  g_autoptr (GstBuffer) anchor = next.volume;

  if (next.kind == ND_OUTPUT_COMPUTED || next.kind == ND_OUTPUT_LATE)
    GST_BUFFER_PTS (anchor) = find_stamp (self, anchor);
  if (anchor)
    temporal_output_set_position (self, anchor);
  return next.kind == ND_OUTPUT_COMPUTED
      ? temporal_output_compute (self, &next, output)
      : temporal_output_skip (self, &next, output);
}

GstFlowReturn
gst_nd_temporal_push_ready (GstNdTemporal *self)
{
  GstFlowReturn ret = GST_FLOW_OK;

  while (!gst_nd_flow_is_final (ret)
      && self->priv->processor->klass->ready (self->priv->processor))
    ret = gst_nd_flow_join (ret, push_one (self));
  return ret;
}

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* NULL for memory of the host that no device reads. */
static GstAllocator *
make_allocator (GstNdTemporal *self, const GstNdFormat *format)
{
  GstNdTemporalPrivate *priv = self->priv;
  const NdBackend *backend = gst_nd_processor_device (priv->processor);

  /* The processor may compute on the CPU all the same. */
  if (!backend && format->device)
    backend = gst_nd_device_backend (&priv->device, NULL);
  return backend ? gst_nd_device_allocator_new (&priv->device, backend,
                       gst_nd_temporal_settings_device (priv->active), format)
                 : NULL;
}

static gboolean
fits_in_pool (GstNdTemporal *self)
{
  g_autoptr (GError) error = NULL;

  if (self->priv->out.size <= G_MAXUINT)
    return TRUE;
  g_set_error (&error, ND_ERROR, ND_ERROR_MEMORY,
      "An output volume has %" G_GSIZE_FORMAT
      " bytes, but a buffer of a pool holds less than 4 GiB: use smaller "
      "volumes",
      self->priv->out.size);
  gst_nd_temporal_fail (self, error);
  return FALSE;
}

/* Always ends with a pool, because the base class would size outputs by the
 * anchors, which have no memory (docs/checklist.md, 22). */
gboolean
gst_nd_temporal_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = make_allocator (self, &priv->out);
  guint size = 0, min = 0, max = 0;
  gboolean update = gst_query_get_n_allocation_pools (query) > 0;
  GstCaps *caps;

  if (!fits_in_pool (self))
    return FALSE;
  if (!allocator && !priv->out.device) {
    gst_nd_query_fill_pool (query, priv->out.size);
    return gst_nd_temporal_parent ()->decide_allocation (trans, query);
  }
  gst_query_parse_allocation (query, &caps, NULL);
  if (update)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  /* On a device several outputs are in flight, for which a pool with a maximum
   * may have too few buffers, and outputs must be in the context of this
   * element. */
  if (allocator && (priv->out.device || max > 0)) {
    GST_DEBUG_OBJECT (self, "replacing the pool from downstream: %s",
        max > 0 ? "it has a maximum" : "outputs need memory in our context");
    gst_clear_object (&pool);
    min = max = size = 0;
  }
  size = MAX (size, priv->out.size);
  if (!pool) {
    pool = gst_nd_device_pool_new (&priv->device, &priv->out, caps, &allocator,
        min, max, &size);
    /* The base class configures the pool again, with these parameters. */
    while (gst_nd_processor_device (priv->processor)
        && gst_query_get_n_allocation_params (query) > 0)
      gst_query_remove_nth_allocation_param (query, 0);
    if (allocator)
      gst_query_add_allocation_param (query, allocator, NULL);
  }
  GST_INFO_OBJECT (self,
      "output pool %" GST_PTR_FORMAT ": buffers of %u bytes, %u to %u, %s",
      pool, size, min, max,
      priv->out.device ? "memory of the device"
          : allocator  ? "pinned memory"
                       : "host memory");
  if (update)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  return gst_nd_temporal_parent ()->decide_allocation (trans, query);
}

/* Upstream may use any memory with any strides, because the window copies each
 * volume. For a device this proposes memory that it reads by itself. */
gboolean
gst_nd_temporal_propose_allocation (GstBaseTransform *trans,
    GstQuery *decide_query, GstQuery *query)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = NULL;
  GstNdFormat format;
  GstCaps *caps;
  guint size;

  if (!gst_nd_temporal_parent ()->propose_allocation (trans, decide_query,
          query))
    return FALSE;
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_nd_format_from_caps (&format, caps, NULL)
      || format.size > G_MAXUINT)
    return TRUE;
  allocator = make_allocator (self, &format);
  if (!allocator)
    return TRUE;
  size = format.size;
  pool = gst_nd_device_pool_new (&self->priv->device, &format, caps, &allocator,
      0, 0, &size);
  if (allocator)
    gst_query_add_allocation_param (query, allocator, NULL);
  gst_query_add_allocation_pool (query, pool, size, 0, 0);
  GST_DEBUG_OBJECT (self, "proposing pool %" GST_PTR_FORMAT, pool);
  return TRUE;
}
