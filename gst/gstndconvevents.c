/* Events and queries. Numbers in parentheses are those of the checklist.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstndconvflight.h"

#include "gstndconvcaps.h"
#include "gstndcuda.h"
#include "gstnderror.h"

/* Drains in the old caps, whose pool and pad are still there (11). */
static gboolean
caps_event (GstNdConv * self, GstEvent * event)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_autoptr (GstCaps) current = gst_pad_get_current_caps
      (GST_BASE_TRANSFORM_SINK_PAD (self));
  g_autoptr (GError) error = NULL;
  GstNdFormat format;
  gboolean known;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (current && gst_caps_is_equal (current, caps))
    return TRUE;
  gst_nd_conv_end_stretch (self);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  known = gst_nd_format_from_caps (&format, caps, &error);
  GST_OBJECT_LOCK (self);
  priv->in.is_video = known && format.is_video;
  gst_nd_conv_activate (self, &priv->settings);
  priv->negotiated = TRUE;
  priv->settings_changed = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (!known) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  if (!gst_nd_conv_check_input (&priv->active, &priv->bank, &format, &error)) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  return TRUE;
}

static gboolean
segment_event (GstNdConv * self, GstEvent * event)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstSegment current = GST_BASE_TRANSFORM (self)->segment;
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  if (segment->format != GST_FORMAT_TIME) {
    if (g_atomic_int_compare_and_exchange (&priv->failed, FALSE, TRUE))
      GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("The segment is in %s, not in "
              "time: a source with do-timestamp or format=time is needed",
              gst_format_get_name (segment->format)), (NULL));
    return FALSE;
  }
  current.position = segment->position;
  if (gst_segment_is_equal (segment, &current))
    return TRUE;
  gst_nd_conv_end_stretch (self);
  if (priv->reverse != (segment->rate < 0)) {
    priv->reverse = segment->rate < 0;
    if (priv->convolver)
      nd_convolver_set_reverse (priv->convolver, priv->reverse);
  }
  return TRUE;
}

gboolean
gst_nd_conv_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  gboolean ok = TRUE;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      ok = caps_event (self, event);
      break;
    case GST_EVENT_SEGMENT:
      ok = segment_event (self, event);
      break;
    case GST_EVENT_EOS:
      /* After an error the stream is not whole: a sink that finishes its file
       * at EOS must not take it for that. */
      gst_nd_conv_end_stretch (self);
      if (g_atomic_int_get (&priv->failed)) {
        gst_event_unref (event);
        return TRUE;
      }
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
      gst_nd_conv_end_stretch (self);
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM:
      return gst_nd_conv_take_event (self, event);
    case GST_EVENT_FLUSH_STOP:
      gst_nd_conv_reset (self);
      priv->discont = TRUE;
      GST_OBJECT_LOCK (self);
      priv->earliest_time = GST_CLOCK_TIME_NONE;
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      break;
  }
  if (!ok) {
    gst_event_unref (event);
    return FALSE;
  }
  return gst_nd_conv_parent ()->sink_event (trans, event);
}

/* The base class, told of QoS, would drop volumes before they enter the
 * window (21). */
gboolean
gst_nd_conv_src_event (GstBaseTransform * trans, GstEvent * event)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstClockTimeDiff diff;
  GstClockTime timestamp;

  if (GST_EVENT_TYPE (event) != GST_EVENT_QOS)
    return gst_nd_conv_parent ()->src_event (trans, event);
  gst_event_parse_qos (event, NULL, NULL, &diff, &timestamp);
  GST_OBJECT_LOCK (self);
  if (!GST_CLOCK_TIME_IS_VALID (timestamp))
    priv->earliest_time = GST_CLOCK_TIME_NONE;
  else if (diff > 0)
    priv->earliest_time = timestamp + 2 * diff;
  else
    priv->earliest_time = timestamp + MAX (diff, -(gint64) timestamp);
  GST_OBJECT_UNLOCK (self);
  return gst_pad_push_event (GST_BASE_TRANSFORM_SINK_PAD (trans), event);
}

static gboolean
latency_query (GstNdConv * self, GstQuery * query)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstClockTime own, min, max;
  gboolean live;

  GST_OBJECT_LOCK (self);
  own = priv->latency;
  GST_OBJECT_UNLOCK (self);
  if (!GST_CLOCK_TIME_IS_VALID (own)
      || !gst_pad_peer_query (GST_BASE_TRANSFORM_SINK_PAD (self), query))
    return FALSE;
  gst_query_parse_latency (query, &live, &min, &max);
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += own;
  gst_query_set_latency (query, live, min + own, max);
  return TRUE;
}

static gboolean
answer_context (GstNdConv * self, GstQuery * query)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_autoptr (GstObject) context = NULL;

  g_rec_mutex_lock (&priv->context_lock);
  if (priv->context)
    context = gst_object_ref (priv->context);
  g_rec_mutex_unlock (&priv->context_lock);
  return gst_nd_cuda_answer (GST_ELEMENT (self), query, context);
}

static gboolean
accepts_device (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_auto (GstNdConvSettings) settings = { 0 };

  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->active);
  GST_OBJECT_UNLOCK (self);
  return gst_nd_conv_device (&settings) != NULL;
}

/* Upstream that finds no caps in common has nothing to say of the reason: what
 * cannot be filtered is let in as far as the CAPS event, which has. */
static void
let_in_refused (GstNdConv * self, GstQuery * query)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_auto (GstNdConvSettings) settings = { 0 };
  GstCaps *filter, *caps;
  NdResponses bank;
  GstNdFormat format;

  gst_query_parse_caps (query, &filter);
  gst_query_parse_caps_result (query, &caps);
  if (!filter || !caps || !gst_caps_is_empty (caps)
      || !gst_caps_is_fixed (filter)
      || !gst_nd_format_from_caps (&format, filter, NULL))
    return;
  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->active);
  bank = priv->bank;
  GST_OBJECT_UNLOCK (self);
  if (!gst_nd_conv_check_input (&settings, &bank, &format, NULL))
    gst_query_set_caps_result (query, filter);
}

gboolean
gst_nd_conv_query (GstBaseTransform * trans, GstPadDirection direction,
    GstQuery * query)
{
  GstNdConv *self = GST_ND_CONV (trans);

  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return latency_query (self, query);
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT
      && answer_context (self, query))
    return TRUE;
  /* Upstream wants its buffers back. */
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN)
    gst_nd_conv_flight_land (self);
  /* See let_in_refused(). */
  if (direction == GST_PAD_SINK
      && GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    g_autoptr (GstCaps) template =
        gst_pad_get_pad_template_caps (trans->sinkpad);
    GstCaps *caps;

    gst_query_parse_accept_caps (query, &caps);
    if (gst_nd_cuda_caps (caps, 0) && !accepts_device (self)) {
      gst_query_set_accept_caps_result (query, FALSE);
      return TRUE;
    }
    if (gst_caps_is_fixed (caps) && (gst_caps_is_subset (caps, template)
            || gst_structure_has_name (gst_caps_get_structure (caps, 0),
                GST_ND_TENSORS))) {
      gst_query_set_accept_caps_result (query, TRUE);
      return TRUE;
    }
  }
  if (!gst_nd_conv_parent ()->query (trans, direction, query))
    return FALSE;
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    let_in_refused (self, query);
    gst_nd_cuda_prefer (query);
  }
  return TRUE;
}
