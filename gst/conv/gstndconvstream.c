/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvstream.h"

#include "gst/base/gstndanchor.h"
#include "gst/conv/gstndconvlatency.h"
#include "gst/conv/gstndconvoutput.h"
#include "gst/conv/gstndconvpending.h"
#include "gst/conv/gstndconvplan.h"
#include "gst/conv/gstndconvstats.h"

#define GST_CAT_DEFAULT gst_nd_conv_debug

/* The outputs that the window still lacks. Held positions have none. */
static guint
count_remaining (GstNdConv *self)
{
  guint remaining = 0;

  for (GList *i = self->priv->anchors.head; i; i = i->next)
    remaining += GST_IS_BUFFER (i->data)
        && !GST_BUFFER_FLAG_IS_SET (i->data, GST_ND_ANCHOR_HELD);
  return remaining;
}

void
gst_nd_conv_reset (GstNdConv *self, GstFlowReturn reason)
{
  GstNdConvPrivate *priv = self->priv;

  gst_nd_conv_release_inputs (self);
  gst_nd_conv_pending_drop (self);
  if (priv->convolver)
    nd_convolver_reset (priv->convolver);
  gst_nd_conv_count_missed (self, count_remaining (self), reason);
  while (!g_queue_is_empty (&priv->anchors)) {
    gpointer anchor = g_queue_pop_head (&priv->anchors);

    if (GST_IS_EVENT (anchor))
      gst_nd_conv_discard_event (self, anchor);
    else
      gst_buffer_unref (anchor);
  }
  gst_nd_timing_reset (&priv->timing);
  priv->push_seconds = 0;
  priv->last_sample = -1;
}

GstFlowReturn
gst_nd_conv_drain (GstNdConv *self, const gchar *reason)
{
  GstNdConvPrivate *priv = self->priv;
  GQueue *anchors = &priv->anchors;
  GstFlowReturn ret = GST_FLOW_OK;

  if (priv->convolver && !g_atomic_int_get (&priv->failed)) {
    const NdWindow *window = nd_convolver_window (priv->convolver);

    if (window->pushed > 0)
      GST_INFO_OBJECT (self,
          "stretch ends after %" G_GINT64_FORMAT
          " positions, %u outputs remain: %s",
          window->pushed, count_remaining (self), reason);
    nd_convolver_end (priv->convolver);
    ret = gst_nd_conv_push_ready (self);
  }
  if (!gst_nd_flow_is_final (ret))
    ret = gst_nd_flow_join (ret, gst_nd_conv_pending_complete_all (self));
  while (!gst_nd_flow_is_final (ret)
      && GST_IS_EVENT (g_queue_peek_head (anchors)))
    gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self),
        g_queue_pop_head (anchors));
  if (ret != GST_FLOW_OK)
    GST_DEBUG_OBJECT (self, "drain: %s", gst_flow_get_name (ret));
  gst_nd_conv_reset (self, ret);
  return ret;
}

GstFlowReturn
gst_nd_conv_end_stretch (GstNdConv *self, const gchar *reason)
{
  GstFlowReturn ret = gst_nd_conv_drain (self, reason);

  self->priv->discont = TRUE;
  return ret;
}

/* Takes the timestamp of the next input. In trick modes volumes are left out on
 * purpose, and the rest counts as evenly spaced (docs/checklist.md, 15 and
 * 18). */
static GstNdTimingStep
take_time (GstNdConv *self, GstBuffer *buffer)
{
  GstNdConvPrivate *priv = self->priv;
  const gboolean tricks =
      (GST_BASE_TRANSFORM (self)->segment.flags & GST_SEGMENT_FLAG_TRICKMODE)
      != 0;

  return gst_nd_timing_step (&priv->timing, &priv->active.timing,
      gst_nd_format_duration (&priv->in),
      tricks ? GST_CLOCK_TIME_NONE : GST_BUFFER_PTS (buffer),
      !tricks && GST_BUFFER_IS_DISCONT (buffer), priv->reverse);
}

/* Warns once if stretches are so short that most outputs lack volumes. */
static void
count_restart (GstNdConv *self, const gchar *reason)
{
  GstNdConvPrivate *priv = self->priv;
  GstNdRestarts *restarts = &priv->restarts;
  const NdWindow *window = nd_convolver_window (priv->convolver);

  if (!gst_nd_restarts_add (restarts, window->pushed, nd_window_size (window)))
    return;
  GST_ELEMENT_WARNING (self, STREAM, DECODE,
      ("The filter spans %u volumes, but the stream breaks after every %.1f "
       "volumes, so most outputs lack volumes and the filter hardly works. The "
       "last reason: %s. The properties gap, gap-limit, gap-jitter and "
       "gap-discont say which gaps break a stretch; new caps, segments and "
       "streams always do",
          nd_window_size (window), gst_nd_restarts_mean (restarts), reason),
      (NULL));
}

GstFlowReturn
gst_nd_conv_break_stretch (GstNdConv *self, const gchar *reason)
{
  const NdConvolver *convolver = self->priv->convolver;

  if (convolver && nd_convolver_window (convolver)->pushed > 0)
    count_restart (self, reason);
  return gst_nd_conv_end_stretch (self, reason);
}

/* Puts the last volume @missing more times into the window. These positions
 * have no output. */
static GstFlowReturn
hold_volume (GstNdConv *self, guint missing)
{
  GstNdConvPrivate *priv = self->priv;
  const NdWindow *window = nd_convolver_window (priv->convolver);
  const guint size = nd_window_size (window);
  /* More would only push the same volume through the whole window. */
  const guint n = MIN (missing, size);
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  /* After a change of settings that needed none of the volumes before it, no
   * output reads the missing ones. */
  if (!nd_convolver_can_repeat (priv->convolver))
    return GST_FLOW_OK;
  for (guint i = 0; i < n && !gst_nd_flow_is_final (ret); i++) {
    GstBuffer *anchor = gst_buffer_new ();

    if (!nd_convolver_repeat (priv->convolver, &error)) {
      gst_buffer_unref (anchor);
      return gst_nd_conv_fail (self, error);
    }
    GST_BUFFER_FLAG_SET (anchor, GST_ND_ANCHOR_HELD);
    g_queue_push_tail (&priv->anchors, anchor);
    GST_OBJECT_LOCK (self);
    priv->stats.held++;
    GST_OBJECT_UNLOCK (self);
    ret = gst_nd_flow_join (ret, gst_nd_conv_push_ready (self));
  }
  return ret;
}

/* Ends the stretch before @buffer if that does not continue it
 * (docs/checklist.md, 2 and 15). */
static GstFlowReturn
begin_volume (GstNdConv *self, GstBuffer *buffer)
{
  GstNdConvPrivate *priv = self->priv;
  const GstNdTimingStep step = take_time (self, buffer);
  GstFlowReturn ret = GST_FLOW_OK;

  if (step.break_reason && nd_convolver_window (priv->convolver)->pushed > 0) {
    const GstNdTiming timing = priv->timing;

    ret = gst_nd_conv_break_stretch (self, step.break_reason);
    priv->timing = timing;
  } else if (step.missing > 0) {
    GST_DEBUG_OBJECT (self, "%u volumes are missing before %" GST_TIME_FORMAT,
        step.missing, GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));
    GST_OBJECT_LOCK (self);
    priv->stats.gaps++;
    priv->stats.missing += step.missing;
    GST_OBJECT_UNLOCK (self);
    if (priv->active.timing.gap == GST_ND_GAP_HOLD)
      ret = hold_volume (self, step.missing);
  }
  return ret;
}

static GstFlowReturn
fail_to_map (GstNdConv *self, GstBuffer *buffer)
{
  GstNdConvPrivate *priv = self->priv;
  g_autofree gchar *text = gst_nd_format_wrong_size (&priv->in, buffer);
  g_autoptr (GError) error = NULL;

  /* If the device is lost, report that. */
  if (!nd_convolver_synchronize (priv->convolver, &error))
    return gst_nd_conv_fail (self, error);
  if (gst_nd_posting_begin (&priv->failed)) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE, ("%s", text), (NULL));
    gst_nd_posting_end (&priv->failed);
  }
  return GST_FLOW_ERROR;
}

static GstFlowReturn
push_volume (GstNdConv *self, GstBuffer *buffer)
{
  GstNdConvPrivate *priv = self->priv;
  const gint64 position = nd_convolver_window (priv->convolver)->pushed;
  g_autoptr (NdFence) written = NULL;
  g_autoptr (GError) error = NULL;
  GstNdMap *map = g_new (GstNdMap, 1);
  gint64 begin;

  if (!gst_nd_map (map, &priv->in, buffer, GST_MAP_READ,
          gst_nd_conv_device_in_use (self) != NULL)) {
    g_free (map);
    return fail_to_map (self, buffer);
  }
  gst_buffer_ref (buffer);
  g_queue_push_tail (&priv->inputs, map);
  written = gst_nd_map_fence (map);
  begin = g_get_monotonic_time ();
  if ((written && !nd_convolver_wait (priv->convolver, written, &error))
      || !nd_convolver_push (priv->convolver, map->planes, &error))
    return gst_nd_conv_fail (self, error);
  priv->push_seconds += (g_get_monotonic_time () - begin) * 1e-6;
  GST_LOG_OBJECT (self, "pushed volume %" G_GINT64_FORMAT ": %" GST_PTR_FORMAT,
      position, buffer);
  if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP))
    priv->last_sample = position;
  g_queue_push_tail (&priv->anchors, gst_nd_anchor_new (buffer, &priv->in));
  GST_OBJECT_LOCK (self);
  priv->stats.stretches += position == 0;
  priv->stats.in++;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_nd_conv_take_volume (GstNdConv *self, GstBuffer *buffer)
{
  GstNdConvPrivate *priv = self->priv;
  GstFlowReturn begun, ret;

  priv->arrived = g_get_monotonic_time ();
  begun = begin_volume (self, buffer);
  /* The outputs before this volume found nobody; it may be others for its. */
  if (gst_nd_flow_is_final (begun))
    return begun;
  ret = push_volume (self, buffer);
  if (ret == GST_FLOW_OK) {
    gst_nd_conv_update_latency (self);
    ret = gst_nd_conv_push_ready (self);
  }
  /* A volume that completes no output is given back too. */
  if (ret == GST_FLOW_OK)
    ret = gst_nd_conv_send_inputs (self);
  return gst_nd_flow_join (begun, ret);
}

void
gst_nd_conv_begin_next (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  const gint64 begin = g_get_monotonic_time ();
  gdouble seconds;

  if (!priv->live || !priv->convolver || !nd_convolver_begin (priv->convolver))
    return;
  seconds = (g_get_monotonic_time () - begin) * 1e-6;
  GST_LOG_OBJECT (self, "next output begun in %.3f ms", seconds * 1e3);
  GST_OBJECT_LOCK (self);
  gst_nd_conv_range_add (&priv->stats.ahead, seconds);
  GST_OBJECT_UNLOCK (self);
}

gboolean
gst_nd_conv_take_gap (GstNdConv *self, GstEvent *event)
{
  GstNdConvPrivate *priv = self->priv;
  GstClockTime start, duration;
  const gchar *reason = NULL;

  gst_event_parse_gap (event, &start, &duration);
  /* In a trick mode volumes are left out on purpose. */
  if (!(GST_BASE_TRANSFORM (self)->segment.flags & GST_SEGMENT_FLAG_TRICKMODE))
    reason = gst_nd_timing_gap (&priv->timing, &priv->active.timing,
        gst_nd_format_duration (&priv->in), start, duration, priv->reverse);
  if (reason)
    gst_nd_conv_break_stretch (self, reason);
  return gst_nd_conv_take_event (self, event);
}

gboolean
gst_nd_conv_take_event (GstNdConv *self, GstEvent *event)
{
  GstNdConvPrivate *priv = self->priv;

  if (!g_queue_is_empty (&priv->anchors)) {
    g_queue_push_tail (&priv->anchors, event);
    return TRUE;
  }
  gst_nd_conv_pending_complete_all (self);
  return gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
}
