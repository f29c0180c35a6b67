/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/algorithm/gstndalgorithmprivate.h"

#include "core/threads.h"
#include "gst/base/gstndanchor.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflow.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndtensormeta.h"

#define GST_CAT_DEFAULT gst_nd_algorithm_debug

GstFlowReturn
gst_nd_algorithm_fail (GstNdAlgorithm *self, const GError *error)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  if (gst_nd_posting_begin (&priv->failed)) {
    gst_nd_element_error_once (GST_ELEMENT (self), error);
    gst_nd_posting_end (&priv->failed);
  }
  return GST_FLOW_ERROR;
}

/* Counts @n volumes whose outputs nobody gets because of @ret. */
static void
count_missed (GstNdAlgorithm *self, guint64 n, GstFlowReturn ret)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  GST_OBJECT_LOCK (self);
  if (ret == GST_FLOW_FLUSHING)
    priv->flushed += n;
  else
    priv->lost += n;
  GST_OBJECT_UNLOCK (self);
}

/* A sticky event follows with the next volume. */
static void
discard_event (GstNdAlgorithm *self, GstEvent *event)
{
  if (GST_EVENT_IS_STICKY (event))
    gst_pad_store_sticky_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
  gst_event_unref (event);
}

void
gst_nd_algorithm_reset (GstNdAlgorithm *self, GstFlowReturn reason)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  for (guint i = 0; i < priv->n_algorithms; i++)
    nd_algorithm_reset (priv->algorithms[i]);
  while (!g_queue_is_empty (&priv->anchors)) {
    gpointer anchor = g_queue_pop_head (&priv->anchors);

    if (GST_IS_EVENT (anchor)) {
      discard_event (self, anchor);
      continue;
    }
    count_missed (self, 1, reason);
    gst_buffer_unref (anchor);
  }
  priv->pushed = priv->pulled = 0;
  priv->last_sample = -1;
  gst_nd_timing_reset (&priv->timing);
  priv->push_seconds = 0;
}

/* Outputs */

static gboolean
is_clipped (GstNdAlgorithm *self, GstBuffer *anchor)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const GstNdSeek *seek = &gst_nd_algorithm_private (self)->seek;
  const GstClockTime start = GST_BUFFER_PTS (anchor);
  GstClockTime duration = GST_BUFFER_DURATION (anchor);

  if (!GST_CLOCK_TIME_IS_VALID (start) || segment->format != GST_FORMAT_TIME)
    return FALSE;
  /* Without a duration no volume would be before the segment. */
  if (!GST_CLOCK_TIME_IS_VALID (duration) && seek->narrowed)
    duration = seek->interval;
  return !gst_segment_clip (segment, GST_FORMAT_TIME, start,
      GST_CLOCK_TIME_IS_VALID (duration) ? start + duration
                                         : GST_CLOCK_TIME_NONE,
      NULL, NULL);
}

/* Whether @anchor would come too late for downstream; then a message tells
 * (docs/checklist.md, 21). */
static gboolean
is_late (GstNdAlgorithm *self, GstBuffer *anchor)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const GstClockTime pts = GST_BUFFER_PTS (anchor);
  GstClockTime earliest, running_time;
  GstMessage *message;
  guint64 out, late;

  if (!GST_CLOCK_TIME_IS_VALID (pts) || segment->format != GST_FORMAT_TIME
      || !gst_base_transform_is_qos_enabled (GST_BASE_TRANSFORM (self)))
    return FALSE;
  running_time = gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts);
  GST_OBJECT_LOCK (self);
  earliest = priv->earliest_time;
  if (!GST_CLOCK_TIME_IS_VALID (earliest)
      || !GST_CLOCK_TIME_IS_VALID (running_time) || running_time > earliest) {
    GST_OBJECT_UNLOCK (self);
    return FALSE;
  }
  late = ++priv->late;
  out = priv->out_count;
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self,
      "skipping output at running time %" GST_TIME_FORMAT
      ": earliest on time is %" GST_TIME_FORMAT,
      GST_TIME_ARGS (running_time), GST_TIME_ARGS (earliest));
  message = gst_message_new_qos (GST_OBJECT (self), FALSE, running_time,
      gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts), pts,
      GST_BUFFER_DURATION (anchor));
  gst_message_set_qos_values (message, GST_CLOCK_DIFF (running_time, earliest),
      1.0, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, out, late);
  gst_element_post_message (GST_ELEMENT (self), message);
  return TRUE;
}

static gboolean
is_skipped (GstNdAlgorithm *self, GstBuffer *anchor)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  if (is_clipped (self, anchor)) {
    GST_OBJECT_LOCK (self);
    priv->clipped++;
    GST_OBJECT_UNLOCK (self);
    GST_LOG_OBJECT (self,
        "skipping output at %" GST_TIME_FORMAT ": outside the segment",
        GST_TIME_ARGS (GST_BUFFER_PTS (anchor)));
    return TRUE;
  }
  if (!is_late (self, anchor))
    return FALSE;
  priv->discont = TRUE;
  return TRUE;
}

/* The position with which the base class answers a POSITION query
 * (docs/checklist.md, 20). */
static void
set_position (GstNdAlgorithm *self, GstBuffer *anchor)
{
  GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;

  if (!GST_BUFFER_PTS_IS_VALID (anchor))
    return;
  segment->position = GST_BUFFER_PTS (anchor);
  if (segment->rate > 0 && GST_BUFFER_DURATION_IS_VALID (anchor))
    segment->position += GST_BUFFER_DURATION (anchor);
  segment->position = CLAMP (segment->position, segment->start, segment->stop);
}

static GstFlowReturn
fail_without_memory (GstNdAlgorithm *self)
{
  g_autoptr (GError) error = g_error_new (ND_ERROR, ND_ERROR_MEMORY,
      "No memory for an output of %" G_GSIZE_FORMAT
      " bytes: use smaller volumes",
      gst_nd_algorithm_private (self)->output.size);

  return gst_nd_algorithm_fail (self, error);
}

/* A buffer with the metadata of @anchor (docs/checklist.md, 6). */
static GstFlowReturn
make_output (GstNdAlgorithm *self, GstBuffer *anchor, GstBuffer **out)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstFlowReturn ret = gst_buffer_pool_acquire_buffer (priv->pool, out, NULL);

  if (ret == GST_FLOW_ERROR)
    return fail_without_memory (self);
  if (ret != GST_FLOW_OK)
    return ret;
  GST_BASE_TRANSFORM_GET_CLASS (self)->copy_metadata (trans, anchor, *out);
  if (priv->discont)
    GST_BUFFER_FLAG_SET (*out, GST_BUFFER_FLAG_DISCONT);
  else
    GST_BUFFER_FLAG_UNSET (*out, GST_BUFFER_FLAG_DISCONT);
  if (priv->last_sample < priv->pulled - (gint64) priv->before)
    GST_BUFFER_FLAG_SET (*out, GST_BUFFER_FLAG_GAP);
  else
    GST_BUFFER_FLAG_UNSET (*out, GST_BUFFER_FLAG_GAP);
  return GST_FLOW_OK;
}

/* Makes the next output of all planes in @out; if @out is NULL, skips it. */
static gboolean
respond (GstNdAlgorithm *self, GstBuffer *out, GError **error)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdMap map;
  gboolean ok = TRUE;
  guint before;

  if (out
      && !gst_nd_map (&map, &priv->output, out, GST_MAP_WRITE,
          gst_nd_algorithm_device_in_use (self) != NULL)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory to write an output of %" G_GSIZE_FORMAT
        " bytes: use smaller volumes",
        priv->output.size);
    return FALSE;
  }
  before = nd_threads_enter (priv->n_threads);
  for (guint i = 0; i < priv->n_algorithms && ok; i++)
    ok = nd_algorithm_respond (priv->algorithms[i], out ? &map.planes[i] : NULL,
        error);
  nd_threads_leave (before);
  if (out)
    gst_nd_unmap (&map);
  return ok;
}

/* An output that took @seconds with all pushes before it, and @last with the
 * last one, for which a sink waits. */
static void
count_output (GstNdAlgorithm *self, gdouble seconds, gdouble last)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);

  GST_OBJECT_LOCK (self);
  if (priv->out_count == 0 || seconds < priv->seconds_min)
    priv->seconds_min = seconds;
  priv->seconds_max = MAX (priv->seconds_max, seconds);
  priv->seconds_sum += seconds;
  priv->compute_peak = gst_nd_latency_peak (priv->compute_peak, last);
  priv->out_count++;
  if (klass->update_stats)
    klass->update_stats (self, priv->algorithms, priv->n_algorithms);
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
push_one (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  g_autoptr (GstBuffer) anchor = NULL, out = NULL;
  g_autoptr (GError) error = NULL;
  const gint64 begin = g_get_monotonic_time ();
  GstFlowReturn ret = GST_FLOW_OK;
  gdouble response, seconds;

  while (GST_IS_EVENT (g_queue_peek_head (&priv->anchors)))
    gst_pad_push_event (pad, g_queue_pop_head (&priv->anchors));
  anchor = g_queue_pop_head (&priv->anchors);
  set_position (self, anchor);
  if (!is_skipped (self, anchor))
    ret = make_output (self, anchor, &out);
  if (ret == GST_FLOW_OK && !respond (self, out, &error))
    ret = gst_nd_algorithm_fail (self, error);
  if (ret != GST_FLOW_OK) {
    count_missed (self, 1, ret);
    return ret;
  }
  priv->pulled++;
  if (!out)
    return GST_FLOW_OK;
  response = (g_get_monotonic_time () - begin) * 1e-6;
  seconds = priv->push_seconds + response;
  count_output (self, seconds, priv->last_push_seconds + response);
  priv->push_seconds = priv->last_push_seconds = 0;
  priv->discont = FALSE;
  gst_nd_tensor_meta_attach (out, &priv->output);
  GST_LOG_OBJECT (self,
      "response of volume %" G_GINT64_FORMAT " at %" GST_TIME_FORMAT
      " took %.3f ms on this thread, with the pushes before it",
      priv->pulled - 1, GST_TIME_ARGS (GST_BUFFER_PTS (out)), seconds * 1e3);
  GST_LOG_OBJECT (self, "pushing %" GST_PTR_FORMAT, out);
  ret = gst_nd_flush_result (GST_ELEMENT (self),
      gst_pad_push (pad, g_steal_pointer (&out)));
  if (ret != GST_FLOW_OK) {
    GST_DEBUG_OBJECT (self, "downstream returned %s", gst_flow_get_name (ret));
    count_missed (self, 1, ret);
  }
  return ret;
}

static GstFlowReturn
push_ready (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstFlowReturn ret = GST_FLOW_OK;

  while (!gst_nd_flow_is_final (ret)
      && nd_algorithm_ready (priv->algorithms[0]))
    ret = gst_nd_flow_join (ret, push_one (self));
  return ret;
}

GstFlowReturn
gst_nd_algorithm_end_stretch (GstNdAlgorithm *self, const gchar *reason)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstFlowReturn ret = GST_FLOW_OK;

  if (priv->n_algorithms > 0 && !g_atomic_int_get (&priv->failed)) {
    if (priv->pushed > 0)
      GST_INFO_OBJECT (self,
          "stretch ends after %" G_GINT64_FORMAT " positions, %" G_GINT64_FORMAT
          " outputs remain: %s",
          priv->pushed, priv->pushed - priv->pulled, reason);
    for (guint i = 0; i < priv->n_algorithms; i++)
      nd_algorithm_end (priv->algorithms[i]);
    ret = push_ready (self);
  }
  while (!gst_nd_flow_is_final (ret)
      && GST_IS_EVENT (g_queue_peek_head (&priv->anchors)))
    gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self),
        g_queue_pop_head (&priv->anchors));
  gst_nd_algorithm_reset (self, ret);
  priv->discont = TRUE;
  return ret;
}

GstFlowReturn
gst_nd_algorithm_break_stretch (GstNdAlgorithm *self, const gchar *reason)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const guint window = priv->before + 1 + priv->after;

  if (priv->n_algorithms > 0 && priv->pushed > 0
      && gst_nd_restarts_add (&priv->restarts, priv->pushed, window))
    GST_ELEMENT_WARNING (self, STREAM, DECODE,
        ("An output needs %u volumes, but the stream breaks after every %.1f "
         "volumes, so most outputs lack volumes and the element hardly works. "
         "The last reason: %s. Gaps of more than %.0f intervals, DISCONT, new "
         "caps, segments and streams break it",
            window, gst_nd_restarts_mean (&priv->restarts), reason,
            gst_nd_timing_default_rule.limit),
        (NULL));
  return gst_nd_algorithm_end_stretch (self, reason);
}

/* Inputs */

/* Ends the stretch before @buffer if that does not continue it. In trick modes
 * volumes are left out on purpose (docs/checklist.md, 2, 15 and 18). */
static GstFlowReturn
begin_volume (GstNdAlgorithm *self, GstBuffer *buffer)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const gboolean tricks =
      (GST_BASE_TRANSFORM (self)->segment.flags & GST_SEGMENT_FLAG_TRICKMODE)
      != 0;
  const GstNdTimingStep step = gst_nd_timing_step (&priv->timing,
      &gst_nd_timing_default_rule, gst_nd_format_duration (&priv->input),
      tricks ? GST_CLOCK_TIME_NONE : GST_BUFFER_PTS (buffer),
      !tricks && GST_BUFFER_IS_DISCONT (buffer), priv->reverse);
  const GstNdTiming timing = priv->timing;
  GstFlowReturn ret;

  if (!step.break_reason && step.missing > 0) {
    GST_DEBUG_OBJECT (self, "%u volumes are missing before %" GST_TIME_FORMAT,
        step.missing, GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));
    GST_OBJECT_LOCK (self);
    priv->gaps++;
    priv->missing += step.missing;
    GST_OBJECT_UNLOCK (self);
  }
  if (!step.break_reason || priv->pushed == 0)
    return GST_FLOW_OK;
  ret = gst_nd_algorithm_break_stretch (self, step.break_reason);
  priv->timing = timing;
  return ret;
}

static GstFlowReturn
push_volume (GstNdAlgorithm *self, GstBuffer *buffer)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const gint64 begin = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  g_autoptr (NdFence) written = NULL;
  gboolean ok = TRUE;
  guint before;
  GstNdMap map;

  if (!gst_nd_map (&map, &priv->input, buffer, GST_MAP_READ,
          gst_nd_algorithm_device_in_use (self) != NULL)) {
    g_autofree gchar *text = gst_nd_format_wrong_size (&priv->input, buffer);

    g_set_error_literal (&error, ND_ERROR, ND_ERROR_FORMAT, text);
    return gst_nd_algorithm_fail (self, error);
  }
  written = gst_nd_map_fence (&map);
  ok = !written || nd_fence_synchronize (written, NULL, &error);
  before = nd_threads_enter (priv->n_threads);
  for (guint i = 0; i < priv->n_algorithms && ok; i++)
    ok = nd_algorithm_push (priv->algorithms[i], &map.planes[i], &error);
  nd_threads_leave (before);
  gst_nd_unmap (&map);
  if (!ok)
    return gst_nd_algorithm_fail (self, error);
  priv->last_push_seconds = (g_get_monotonic_time () - begin) * 1e-6;
  priv->push_seconds += priv->last_push_seconds;
  if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP))
    priv->last_sample = priv->pushed;
  GST_LOG_OBJECT (self, "pushed volume %" G_GINT64_FORMAT ": %" GST_PTR_FORMAT,
      priv->pushed, buffer);
  g_queue_push_tail (&priv->anchors, gst_nd_anchor_new (buffer, &priv->input));
  GST_OBJECT_LOCK (self);
  priv->stretches += priv->pushed == 0;
  priv->in++;
  GST_OBJECT_UNLOCK (self);
  priv->pushed++;
  return GST_FLOW_OK;
}

GstFlowReturn
gst_nd_algorithm_take_volume (GstNdAlgorithm *self, GstBuffer *buffer)
{
  const GstFlowReturn begun = begin_volume (self, buffer);
  GstFlowReturn ret;

  if (gst_nd_flow_is_final (begun))
    return begun;
  ret = push_volume (self, buffer);
  gst_nd_algorithm_update_latency (self, FALSE);
  if (ret == GST_FLOW_OK)
    ret = push_ready (self);
  return gst_nd_flow_join (begun, ret);
}

gboolean
gst_nd_algorithm_take_gap (GstNdAlgorithm *self, GstEvent *event)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstClockTime start, duration;
  const gchar *reason = NULL;

  gst_event_parse_gap (event, &start, &duration);
  /* In a trick mode volumes are left out on purpose. */
  if (!(GST_BASE_TRANSFORM (self)->segment.flags & GST_SEGMENT_FLAG_TRICKMODE))
    reason = gst_nd_timing_gap (&priv->timing, &gst_nd_timing_default_rule,
        gst_nd_format_duration (&priv->input), start, duration, priv->reverse);
  if (reason)
    gst_nd_algorithm_break_stretch (self, reason);
  return gst_nd_algorithm_take_event (self, event);
}

gboolean
gst_nd_algorithm_take_event (GstNdAlgorithm *self, GstEvent *event)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  if (g_queue_is_empty (&priv->anchors))
    return gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
  g_queue_push_tail (&priv->anchors, event);
  return TRUE;
}
