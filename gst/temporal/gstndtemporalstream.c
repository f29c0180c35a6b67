/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalstream.h"
#include "gst/temporal/gstndtemporalprivate.h"

#include "gst/base/gstndanchor.h"
#include "gst/base/gstndpool.h"
#include "gst/temporal/gstndtemporallatency.h"
#include "gst/temporal/gstndtemporalpending.h"
#include <gst/video/video.h>

#define GST_CAT_DEFAULT gst_nd_temporal_debug

void
gst_nd_temporal_reset (GstNdTemporal *self, GstFlowReturn reason)
{
  GstNdTemporalPrivate *priv = self->priv;
  gboolean is_event;
  gpointer item;

  gst_nd_temporal_release_inputs (self);
  gst_nd_temporal_pending_drop (self, reason);
  if (priv->processor)
    priv->processor->klass->reset (priv->processor);
  gst_nd_temporal_count_missed (self, priv->order.remaining, reason);
  while ((item = nd_order_drop (&priv->order, &is_event))) {
    if (is_event)
      gst_nd_temporal_discard_event (self, item);
    else
      gst_buffer_unref (item);
  }
  nd_order_reset (&priv->order);
  gst_nd_timing_reset (&priv->timing);
  priv->spent.push = priv->spent.ahead = 0;
  g_clear_pointer (&priv->kept, gst_nd_temporal_release_input);
  gst_nd_temporal_release_disarm (self);
}

GstFlowReturn
gst_nd_temporal_drain (GstNdTemporal *self, const gchar *reason)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstFlowReturn ret = GST_FLOW_OK;
  GstEvent *event;

  if (priv->processor && !g_atomic_int_get (&priv->failed)) {
    if (priv->order.arrived > 0)
      GST_INFO_OBJECT (self,
          "stretch ends after %" G_GINT64_FORMAT
          " positions, %u outputs remain: %s",
          priv->order.arrived, priv->order.remaining, reason);
    priv->processor->klass->end (priv->processor);
    ret = gst_nd_temporal_push_ready (self);
  }
  if (!gst_nd_flow_is_final (ret))
    ret = gst_nd_flow_join (ret, gst_nd_temporal_pending_complete_all (self));
  while (!gst_nd_flow_is_final (ret)
      && (event = nd_order_take_event (&priv->order)))
    gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
  if (ret != GST_FLOW_OK)
    GST_DEBUG_OBJECT (self, "drain: %s", gst_flow_get_name (ret));
  gst_nd_temporal_reset (self, ret);
  return ret;
}

GstFlowReturn
gst_nd_temporal_end_stretch (GstNdTemporal *self, const gchar *reason)
{
  GstFlowReturn ret = gst_nd_temporal_drain (self, reason);

  self->priv->order.discont = TRUE;
  return ret;
}

/* Takes the timestamp of the next input. In trick modes volumes are left out on
 * purpose, and the rest counts as evenly spaced (docs/checklist.md, 15 and
 * 18). */
static GstNdTimingStep
temporal_stream_take_time (GstNdTemporal *self, GstBuffer *buffer)
{
  GstNdTemporalPrivate *priv = self->priv;
  const gboolean tricks =
      (GST_BASE_TRANSFORM (self)->segment.flags & GST_SEGMENT_FLAG_TRICKMODE)
      != 0;

  return gst_nd_timing_step (&priv->timing, &priv->active->timing,
      gst_nd_format_duration (&priv->in),
      tricks ? GST_CLOCK_TIME_NONE : GST_BUFFER_PTS (buffer),
      !tricks && GST_BUFFER_IS_DISCONT (buffer), priv->reverse,
      priv->spent.busy);
}

/* Posts a QOS message for @buffer, which the element does not compute
 * (docs/checklist.md, 21). */
static void
post_skipped (GstNdTemporal *self, GstBuffer *buffer)
{
  GstNdTemporalPrivate *priv = self->priv;
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const GstClockTime pts = GST_BUFFER_PTS (buffer);
  guint64 out, skipped;
  GstMessage *message;

  GST_OBJECT_LOCK (self);
  priv->stats.in++;
  skipped = ++priv->stats.skipped;
  out = priv->stats.out;
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, "overloaded: skipping %" GST_PTR_FORMAT, buffer);
  message = gst_message_new_qos (GST_OBJECT (self), TRUE,
      gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts),
      gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts), pts,
      GST_BUFFER_DURATION (buffer));
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, out, skipped);
  gst_element_post_message (GST_ELEMENT (self), message);
}

/* Whether the volume enters the window. An overloaded element of a live stream
 * leaves out volumes before it computes anything (NdThin). A volume that is
 * there before its time, or that has no time, is not late. */
static gboolean
temporal_stream_is_taken (GstNdTemporal *self, GstBuffer *buffer,
    gboolean begins_stretch)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  const GstClockTime time = gst_segment_to_running_time (&trans->segment,
      GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  const GstClockTime now =
      gst_element_get_current_running_time (GST_ELEMENT (self));
  gboolean taken;

  if (!priv->live || !gst_base_transform_is_qos_enabled (trans)
      || !GST_CLOCK_TIME_IS_VALID (time) || !GST_CLOCK_TIME_IS_VALID (now)
      || time > now)
    return TRUE;
  GST_OBJECT_LOCK (self);
  if (begins_stretch)
    nd_thin_restart (&priv->thin);
  taken = nd_thin_take (&priv->thin, time, gst_nd_temporal_interval (self));
  GST_OBJECT_UNLOCK (self);
  return taken;
}

/* Warns once if stretches are so short that most outputs lack volumes. */
static void
count_restart (GstNdTemporal *self, const gchar *reason)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdRestarts *restarts = &priv->restarts;
  const guint window = priv->processor->before + 1 + priv->processor->after;

  if (!gst_nd_restarts_add (restarts, priv->order.arrived, window))
    return;
  GST_ELEMENT_WARNING (self, STREAM, DECODE,
      ("An output needs %u volumes, but the stream breaks after every %.1f "
       "volumes, so most outputs lack volumes and the element hardly works. "
       "The last reason: %s. The properties gap, gap-limit, gap-jitter and "
       "gap-discont say which gaps break a stretch; new caps, segments and "
       "streams always do",
          window, gst_nd_restarts_mean (restarts), reason),
      (NULL));
}

GstFlowReturn
gst_nd_temporal_break_stretch (GstNdTemporal *self, const gchar *reason)
{
  if (self->priv->processor && self->priv->order.arrived > 0)
    count_restart (self, reason);
  return gst_nd_temporal_end_stretch (self, reason);
}

/* Forgets the volume that the element keeps for gap=hold, or takes @map. */
static void
temporal_stream_keep (GstNdTemporal *self, GstNdMap *map)
{
  g_clear_pointer (&self->priv->kept, gst_nd_temporal_release_input);
  self->priv->kept = map;
}

/* A copy of the volume in @map, or NULL without memory for it. */
static GstBuffer *
copy_volume (const GstNdMap *map)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (map->buffer);
  GstBuffer *copy = gst_nd_buffer_copy_bytes (map->buffer);

  if (copy && meta)
    gst_buffer_add_video_meta_full (copy, meta->flags, meta->format,
        meta->width, meta->height, meta->n_planes, meta->offset, meta->stride);
  return copy;
}

void
gst_nd_temporal_give_back_inputs (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GstBuffer) copy = NULL;
  GstNdMap *map = NULL;

  gst_nd_temporal_pending_complete_all (self);
  if (!priv->kept)
    return;
  copy = copy_volume (priv->kept);
  if (copy) {
    map = g_new (GstNdMap, 1);
    if (gst_nd_map (map, &priv->in, copy, GST_MAP_READ,
            gst_nd_processor_device (priv->processor) != NULL))
      gst_buffer_ref (copy);
    else
      g_clear_pointer (&map, g_free);
  }
  temporal_stream_keep (self, map);
}

/* FALSE without an error if the last volume is not there any more. */
static gboolean
temporal_stream_repeat (GstNdTemporal *self, GError **error)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdProcessor *processor = priv->processor;

  if (processor->klass->repeat)
    return processor->klass->repeat (processor, error);
  return priv->kept
      && processor->klass->push (processor, priv->kept->planes, error);
}

/* Puts the last volume @missing more times into the window. These positions
 * have no output. */
static GstFlowReturn
hold_volume (GstNdTemporal *self, guint missing)
{
  GstNdTemporalPrivate *priv = self->priv;
  const guint size = priv->processor->before + 1 + priv->processor->after;
  /* More would only push the same volume through the whole window. */
  const guint n = MIN (missing, size);
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n && !gst_nd_flow_is_final (ret); i++) {
    if (!temporal_stream_repeat (self, &error))
      /* After a change of settings that needed none of the volumes before it,
       * no output reads the missing ones. */
      return error ? gst_nd_temporal_fail (self, error) : ret;
    nd_order_add_held (&priv->order);
    GST_OBJECT_LOCK (self);
    priv->stats.held++;
    GST_OBJECT_UNLOCK (self);
    ret = gst_nd_flow_join (ret, gst_nd_temporal_push_ready (self));
  }
  return ret;
}

/* Ends the stretch before @buffer if that does not continue it
 * (docs/checklist.md, 2 and 15). Sets @taken if @buffer enters the window. */
static GstFlowReturn
begin_volume (GstNdTemporal *self, GstBuffer *buffer, gboolean *taken)
{
  GstNdTemporalPrivate *priv = self->priv;
  const GstNdTimingStep step = temporal_stream_take_time (self, buffer);
  GstFlowReturn ret = GST_FLOW_OK;

  *taken = temporal_stream_is_taken (self, buffer,
      step.break_reason != NULL || priv->order.arrived == 0);
  if (step.break_reason && priv->order.arrived > 0) {
    const GstNdTiming timing = priv->timing;

    ret = gst_nd_temporal_break_stretch (self, step.break_reason);
    priv->timing = timing;
  } else if (step.missing > 0) {
    GST_DEBUG_OBJECT (self, "%u volumes are missing before %" GST_TIME_FORMAT,
        step.missing, GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));
    GST_OBJECT_LOCK (self);
    priv->stats.gaps++;
    priv->stats.missing += step.missing;
    GST_OBJECT_UNLOCK (self);
    /* An overloaded element has no time for them. */
    if (priv->active->timing.gap == GST_ND_GAP_HOLD && priv->thin.distance == 0)
      ret = hold_volume (self, step.missing);
  }
  return ret;
}

static GstFlowReturn
fail_to_map (GstNdTemporal *self, GstBuffer *buffer)
{
  GstNdTemporalPrivate *priv = self->priv;
  g_autofree gchar *text = gst_nd_format_wrong_size (&priv->in, buffer);
  g_autoptr (GError) error = NULL;

  /* If the device is lost, report that. */
  if (!gst_nd_processor_synchronize (priv->processor, &error))
    return gst_nd_temporal_fail (self, error);
  if (gst_nd_posting_begin (&priv->failed)) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE, ("%s", text), (NULL));
    gst_nd_posting_end (&priv->failed);
  }
  return GST_FLOW_ERROR;
}

static GstFlowReturn
push_volume (GstNdTemporal *self, GstBuffer *buffer)
{
  GstNdTemporalPrivate *priv = self->priv;
  const gint64 position = priv->order.arrived;
  GstNdProcessor *processor = priv->processor;
  g_autoptr (NdFence) written = NULL;
  g_autoptr (GError) error = NULL;
  GstNdMap *map = g_new (GstNdMap, 1);
  gint64 begin;

  if (!gst_nd_map (map, &priv->in, buffer, GST_MAP_READ,
          gst_nd_processor_device (processor) != NULL)) {
    g_free (map);
    return fail_to_map (self, buffer);
  }
  gst_buffer_ref (buffer);
  g_queue_push_tail (&priv->inputs, map);
  written = gst_nd_map_fence (map);
  begin = g_get_monotonic_time ();
  if ((written && !gst_nd_processor_wait (processor, written, &error))
      || !processor->klass->push (processor, map->planes, &error))
    return gst_nd_temporal_fail (self, error);
  priv->spent.last_push = (g_get_monotonic_time () - begin) * 1e-6;
  priv->spent.push += priv->spent.last_push;
  GST_LOG_OBJECT (self, "pushed volume %" G_GINT64_FORMAT ": %" GST_PTR_FORMAT,
      position, buffer);
  nd_order_add_volume (&priv->order, gst_nd_anchor_new (buffer, &priv->in),
      GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
  if (!processor->klass->repeat)
    temporal_stream_keep (self,
        priv->active->timing.gap == GST_ND_GAP_HOLD
            ? g_queue_pop_tail (&priv->inputs)
            : NULL);
  GST_OBJECT_LOCK (self);
  priv->stats.stretches += position == 0;
  priv->stats.in++;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_nd_temporal_take_volume (GstNdTemporal *self, GstBuffer *buffer)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstFlowReturn begun, ret;
  gboolean taken;

  priv->spent.arrived = g_get_monotonic_time ();
  begun = begin_volume (self, buffer, &taken);
  priv->left_out = !taken;
  if (!taken)
    post_skipped (self, buffer);
  /* The outputs before this volume found nobody; it may be others for its. */
  if (gst_nd_flow_is_final (begun) || !taken)
    return begun;
  ret = push_volume (self, buffer);
  if (ret == GST_FLOW_OK) {
    gst_nd_temporal_update_latency (self);
    ret = gst_nd_temporal_push_ready (self);
  }
  /* A volume that completes no output is given back too. */
  if (ret == GST_FLOW_OK)
    ret = gst_nd_temporal_send_inputs (self);
  return gst_nd_flow_join (begun, ret);
}

/* Begins the next output of a live stream while its last volume has not
 * arrived. A volume that is left out costs nothing. */
static void
temporal_stream_begin_next (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  const gint64 begin = g_get_monotonic_time ();
  gdouble seconds;

  if (!priv->live || !priv->processor || priv->left_out
      || !priv->processor->klass->begin
      || !priv->processor->klass->begin (priv->processor))
    return;
  seconds = (g_get_monotonic_time () - begin) * 1e-6;
  priv->spent.ahead += seconds;
  GST_LOG_OBJECT (self, "next output begun in %.3f ms", seconds * 1e3);
  GST_OBJECT_LOCK (self);
  gst_nd_temporal_range_add (&priv->stats.ahead, seconds);
  GST_OBJECT_UNLOCK (self);
}

void
gst_nd_temporal_finish_volume (GstNdTemporal *self, gint64 begin)
{
  GstNdTemporalPrivate *priv = self->priv;

  temporal_stream_begin_next (self);
  gst_nd_temporal_release_arm (self);
  priv->spent.busy =
      priv->live ? (g_get_monotonic_time () - begin) * GST_USECOND : 0;
}
gboolean
gst_nd_temporal_take_gap (GstNdTemporal *self, GstEvent *event)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstClockTime start, duration;
  const gchar *reason = NULL;

  gst_event_parse_gap (event, &start, &duration);
  /* In a trick mode volumes are left out on purpose. */
  if (!(GST_BASE_TRANSFORM (self)->segment.flags & GST_SEGMENT_FLAG_TRICKMODE))
    reason = gst_nd_timing_gap (&priv->timing, &priv->active->timing,
        gst_nd_format_duration (&priv->in), start, duration, priv->reverse);
  if (reason)
    gst_nd_temporal_break_stretch (self, reason);
  return gst_nd_temporal_take_event (self, event);
}

gboolean
gst_nd_temporal_take_event (GstNdTemporal *self, GstEvent *event)
{
  if (nd_order_add_event (&self->priv->order, event))
    return TRUE;
  gst_nd_temporal_pending_complete_all (self);
  return gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
}
