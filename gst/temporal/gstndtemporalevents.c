/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalprivate.h"

#include "gst/base/gstndcuda.h"
#include "gst/base/gstndlatency.h"
#include "gst/base/gstndseek.h"
#include "gst/temporal/gstndtemporalbuilder.h"
#include "gst/temporal/gstndtemporalchange.h"
#include "gst/temporal/gstndtemporalpending.h"
#include "gst/temporal/gstndtemporalstream.h"

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* Drains while the old caps and the old pool are valid (docs/checklist.md, 11).
 */
static gboolean
caps_event (GstNdTemporal *self, GstEvent *event)
{
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GstCaps) current =
      gst_pad_get_current_caps (GST_BASE_TRANSFORM_SINK_PAD (self));
  g_autoptr (GError) error = NULL;
  GstNdFormat format;
  gboolean known;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (current && gst_caps_is_equal (current, caps))
    return TRUE;
  GST_INFO_OBJECT (self, "input caps %" GST_PTR_FORMAT, caps);
  gst_nd_temporal_break_stretch (self, "new input caps");
  gst_nd_temporal_dispose_processor (self);
  known = gst_nd_format_from_caps (&format, caps, &error);
  GST_OBJECT_LOCK (self);
  priv->in.is_video = known && format.is_video;
  if (priv->settings_held == 0) {
    gst_nd_temporal_get_settings (self, priv->active);
    priv->settings_changed = FALSE;
  }
  priv->negotiated = TRUE;
  GST_OBJECT_UNLOCK (self);
  if (known && gst_nd_temporal_check_input (self, &format, &error))
    return TRUE;
  /* Settings that were set with the old caps and never in use. */
  if (known && gst_nd_temporal_fall_back (self, &format)) {
    gst_nd_temporal_refuse_settings (self, error);
    return TRUE;
  }
  gst_nd_temporal_fail (self, error);
  return FALSE;
}

static gboolean
segment_event (GstNdTemporal *self, GstEvent *event)
{
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GError) error = NULL;
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  if (!gst_nd_segment_check_time (GST_BASE_TRANSFORM_SINK_PAD (self), event,
          &error)) {
    gst_nd_temporal_fail (self, error);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "segment %" GST_SEGMENT_FORMAT, segment);
  gst_nd_temporal_break_stretch (self, "new segment");
  if (priv->reverse != (segment->rate < 0)) {
    priv->reverse = segment->rate < 0;
    if (priv->processor)
      gst_nd_processor_set_reverse (priv->processor, priv->reverse);
  }
  return TRUE;
}

gboolean
gst_nd_temporal_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  gboolean ok = TRUE;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      ok = caps_event (self, event);
      break;
    case GST_EVENT_SEGMENT:
      event = gst_nd_seek_narrow (&priv->seek, GST_ELEMENT (self), event);
      if (gst_nd_segment_is_repeated (&trans->segment, event))
        return gst_nd_temporal_take_event (self, event);
      ok = segment_event (self, event);
      break;
    case GST_EVENT_EOS:
      /* After an error no EOS goes downstream: a sink would finish a file that
       * is not complete. */
      gst_nd_temporal_end_stretch (self, "end of the stream");
      if (g_atomic_int_get (&priv->failed)) {
        gst_event_unref (event);
        return TRUE;
      }
      gst_nd_temporal_post_stats (self);
      break;
    case GST_EVENT_GAP:
      return gst_nd_temporal_take_gap (self, event);
    case GST_EVENT_STREAM_START:
      gst_nd_temporal_break_stretch (self, "a new stream");
      break;
    case GST_EVENT_SEGMENT_DONE:
      gst_nd_temporal_end_stretch (self, "the end of a segment seek");
      event = gst_nd_seek_narrow (&priv->seek, GST_ELEMENT (self), event);
      break;
    case GST_EVENT_FLUSH_START:
      gst_nd_temporal_builder_set_flushing (self, TRUE);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_nd_temporal_builder_set_flushing (self, FALSE);
      GST_INFO_OBJECT (self, "flush: discarding %u volumes that have no output",
          priv->order.remaining);
      gst_nd_temporal_reset (self, GST_FLOW_FLUSHING);
      priv->order.discont = TRUE;
      GST_OBJECT_LOCK (self);
      priv->earliest_time = GST_CLOCK_TIME_NONE;
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return gst_nd_temporal_take_event (self, event);
      break;
  }
  if (!ok) {
    gst_event_unref (event);
    return FALSE;
  }
  return gst_nd_temporal_parent ()->sink_event (trans, event);
}

/* Late outputs are not computed. The base class must not see QoS events: it
 * would drop volumes before they enter the window. Elements upstream would drop
 * them too, so that the event is forwarded only if no window needs them
 * (docs/checklist.md, 21). */
gboolean
gst_nd_temporal_src_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  gboolean spans_time;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK)
    return gst_nd_seek_send (&priv->seek, GST_BASE_TRANSFORM_SINK_PAD (trans),
        event);
  if (GST_EVENT_TYPE (event) != GST_EVENT_QOS)
    return gst_nd_temporal_parent ()->src_event (trans, event);
  GST_OBJECT_LOCK (self);
  priv->earliest_time = gst_nd_latency_earliest_time (event);
  spans_time = priv->seek.before + priv->seek.after > 0;
  GST_OBJECT_UNLOCK (self);
  if (!spans_time)
    return gst_pad_push_event (GST_BASE_TRANSFORM_SINK_PAD (trans), event);
  gst_event_unref (event);
  return TRUE;
}

static gboolean
latency_query (GstNdTemporal *self, GstQuery *query)
{
  GstClockTime own;

  GST_OBJECT_LOCK (self);
  own = self->priv->latency.answer;
  GST_OBJECT_UNLOCK (self);
  if (!gst_nd_latency_query (GST_BASE_TRANSFORM (self), query, own))
    return FALSE;
  GST_DEBUG_OBJECT (self, "latency %" GST_TIME_FORMAT " of %" GST_PTR_FORMAT,
      GST_TIME_ARGS (own), query);
  return TRUE;
}

static gboolean
accepts_device (GstNdTemporal *self, const GstStructure *s)
{
  g_autoptr (GstNdTemporalSettings) settings =
      gst_nd_temporal_copy_active (self);

  return gst_nd_temporal_may_use_device (self, settings)
      && (settings->device.precision == ND_PRECISION_DOUBLE
          || g_strcmp0 (gst_structure_get_string (s, "types"), "float64") != 0);
}

/* Accepts fixed caps that cannot be filtered. If upstream finds no caps in
 * common, it can name no reason, but the CAPS event fails with one. */
static void
accept_refused_caps (GstNdTemporal *self, GstQuery *query)
{
  g_autoptr (GstNdTemporalSettings) settings = NULL;
  GstCaps *filter, *caps;
  GstNdFormat format;

  gst_query_parse_caps (query, &filter);
  gst_query_parse_caps_result (query, &caps);
  if (!filter || !caps || !gst_caps_is_empty (caps))
    return;
  if (gst_nd_caps_have_alternate_fields (filter))
    gst_query_set_caps_result (query, filter);
  if (!gst_caps_is_fixed (filter)
      || !gst_nd_format_from_caps (&format, filter, NULL))
    return;
  settings = gst_nd_temporal_copy_active (self);
  if (!settings->klass->check_input (self, settings, &format, NULL))
    gst_query_set_caps_result (query, filter);
}

/* FALSE if the base class decides. See accept_refused_caps(). */
static gboolean
answer_accept_caps (GstNdTemporal *self, GstQuery *query)
{
  g_autoptr (GstCaps) template =
      gst_pad_get_pad_template_caps (GST_BASE_TRANSFORM_SINK_PAD (self));
  GstCaps *caps;

  gst_query_parse_accept_caps (query, &caps);
  if (gst_nd_cuda_caps (caps, 0)
      && !accepts_device (self, gst_caps_get_structure (caps, 0))) {
    gst_query_set_accept_caps_result (query, FALSE);
    return TRUE;
  }
  if (!gst_caps_is_fixed (caps)
      || (!gst_caps_is_subset (caps, template)
          && !gst_nd_caps_have_alternate_fields (caps)
          && !gst_structure_has_name (gst_caps_get_structure (caps, 0),
              GST_ND_TENSORS)
          && !gst_structure_has_name (gst_caps_get_structure (caps, 0),
              "other/tensor")))
    return FALSE;
  gst_query_set_accept_caps_result (query, TRUE);
  return TRUE;
}

gboolean
gst_nd_temporal_query (GstBaseTransform *trans, GstPadDirection direction,
    GstQuery *query)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);

  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return latency_query (self, query);
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT
      && gst_nd_device_answer (&self->priv->device, GST_ELEMENT (self), query))
    return TRUE;
  /* Upstream wants its buffers back. Or the base class negotiates if it has to,
   * and its own ALLOCATION query makes the source pad repeat its events, which
   * must not happen during a push. */
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN
      || (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION
          && direction == GST_PAD_SINK))
    gst_nd_temporal_give_back_inputs (self);
  if (direction == GST_PAD_SINK
      && GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS
      && answer_accept_caps (self, query))
    return TRUE;
  if (!gst_nd_temporal_parent ()->query (trans, direction, query))
    return FALSE;
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    accept_refused_caps (self, query);
    gst_nd_cuda_prefer (query);
  }
  return TRUE;
}
