/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/algorithm/gstndalgorithmprivate.h"
#include "gst/base/gstndcuda.h"
#include "gst/base/gstndlatency.h"
#include "gst/base/gstndsegment.h"

#define GST_CAT_DEFAULT gst_nd_algorithm_debug

static gboolean
check_format (GstNdAlgorithm *self, const GstNdFormat *format, GError **error)
{
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);

  return klass->check_settings (self, error)
      && klass->check_input (self, format, error);
}

/* Puts the properties in use; if they do not suit @format, those before them.
 * Properties that are set meanwhile are checked as well. */
static gboolean
choose_settings (GstNdAlgorithm *self, const GstNdFormat *format,
    GError **error)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);
  g_autoptr (GError) refused = NULL;
  gboolean ok, again;

  do {
    GST_OBJECT_LOCK (self);
    priv->settings_changed = FALSE;
    GST_OBJECT_UNLOCK (self);
    g_clear_error (error);
    ok = check_format (self, format, error);
    GST_OBJECT_LOCK (self);
    again = priv->settings_changed;
    if (!again && ok) {
      klass->activate (self);
      priv->negotiated = TRUE;
    } else if (!again && priv->negotiated && !refused) {
      refused = g_steal_pointer (error);
      klass->revert (self);
      again = TRUE;
    }
    GST_OBJECT_UNLOCK (self);
  } while (again);
  if (ok && refused)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", refused->message),
        ("The old settings stay in use"));
  return ok;
}

/* Drains while the old caps are valid (docs/checklist.md, 11). */
static gboolean
caps_event (GstNdAlgorithm *self, GstEvent *event)
{
  g_autoptr (GstCaps) current =
      gst_pad_get_current_caps (GST_BASE_TRANSFORM_SINK_PAD (self));
  g_autoptr (GError) error = NULL;
  GstNdFormat format;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (current && gst_caps_is_equal (current, caps))
    return TRUE;
  GST_INFO_OBJECT (self, "input caps %" GST_PTR_FORMAT, caps);
  gst_nd_algorithm_break_stretch (self, "new input caps");
  gst_nd_algorithm_clear (self);
  if (gst_nd_format_from_caps (&format, caps, &error)
      && choose_settings (self, &format, &error))
    return TRUE;
  gst_nd_algorithm_fail (self, error);
  return FALSE;
}

static gboolean
segment_event (GstNdAlgorithm *self, GstEvent *event)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  g_autoptr (GError) error = NULL;
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  if (!gst_nd_segment_check_time (GST_BASE_TRANSFORM_SINK_PAD (self), event,
          &error)) {
    gst_nd_algorithm_fail (self, error);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "segment %" GST_SEGMENT_FORMAT, segment);
  gst_nd_algorithm_break_stretch (self, "new segment");
  priv->reverse = segment->rate < 0;
  return TRUE;
}

gboolean
gst_nd_algorithm_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  gboolean ok = TRUE;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      ok = caps_event (self, event);
      break;
    case GST_EVENT_SEGMENT:
      event = gst_nd_seek_narrow (&priv->seek, GST_ELEMENT (self), event);
      if (gst_nd_segment_is_repeated (&trans->segment, event))
        return gst_nd_algorithm_take_event (self, event);
      ok = segment_event (self, event);
      break;
    case GST_EVENT_EOS:
      /* After an error no EOS goes downstream: a sink would finish a file that
       * is not complete. */
      gst_nd_algorithm_end_stretch (self, "end of the stream");
      if (g_atomic_int_get (&priv->failed)) {
        gst_event_unref (event);
        return TRUE;
      }
      gst_element_post_message (GST_ELEMENT (self),
          gst_message_new_element (GST_OBJECT (self),
              gst_nd_algorithm_stats (self)));
      break;
    case GST_EVENT_STREAM_START:
      gst_nd_algorithm_break_stretch (self, "a new stream");
      break;
    case GST_EVENT_SEGMENT_DONE:
      gst_nd_algorithm_end_stretch (self, "the end of a segment seek");
      event = gst_nd_seek_narrow (&priv->seek, GST_ELEMENT (self), event);
      break;
    case GST_EVENT_GAP:
      return gst_nd_algorithm_take_gap (self, event);
    case GST_EVENT_FLUSH_STOP:
      GST_INFO_OBJECT (self,
          "flush: discarding %" G_GINT64_FORMAT " volumes that have no output",
          priv->pushed - priv->pulled);
      gst_nd_algorithm_reset (self, GST_FLOW_FLUSHING);
      priv->discont = TRUE;
      GST_OBJECT_LOCK (self);
      priv->earliest_time = GST_CLOCK_TIME_NONE;
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return gst_nd_algorithm_take_event (self, event);
      break;
  }
  if (!ok) {
    gst_event_unref (event);
    return FALSE;
  }
  return gst_nd_algorithm_parent ()->sink_event (trans, event);
}

/* The base class must not see QoS events: it would drop volumes before they
 * enter the window. Elements upstream would drop them too, so that the event is
 * forwarded only if no window needs them (docs/checklist.md, 21). */
gboolean
gst_nd_algorithm_src_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  gboolean spans_time;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK)
    return gst_nd_seek_send (&priv->seek, GST_BASE_TRANSFORM_SINK_PAD (trans),
        event);
  if (GST_EVENT_TYPE (event) != GST_EVENT_QOS)
    return gst_nd_algorithm_parent ()->src_event (trans, event);
  GST_OBJECT_LOCK (self);
  priv->earliest_time = gst_nd_latency_earliest_time (event);
  spans_time = priv->seek.before + priv->seek.after > 0;
  GST_OBJECT_UNLOCK (self);
  if (!spans_time)
    return gst_pad_push_event (GST_BASE_TRANSFORM_SINK_PAD (trans), event);
  gst_event_unref (event);
  return TRUE;
}

/* Queries */

static gboolean
latency_query (GstNdAlgorithm *self, GstQuery *query)
{
  GstClockTime own;

  GST_OBJECT_LOCK (self);
  own = gst_nd_algorithm_private (self)->latency;
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, "latency %" GST_TIME_FORMAT " of %" GST_PTR_FORMAT,
      GST_TIME_ARGS (own), query);
  return gst_nd_latency_query (GST_BASE_TRANSFORM (self), query, own);
}

/* Accepts fixed caps that are no input. If upstream finds no caps in common, it
 * can name no reason, but the CAPS event fails with one. */
static void
accept_refused_caps (GstNdAlgorithm *self, GstQuery *query)
{
  GstCaps *filter, *caps;
  GstNdFormat format;

  gst_query_parse_caps (query, &filter);
  gst_query_parse_caps_result (query, &caps);
  if (!filter || !caps || !gst_caps_is_empty (caps))
    return;
  if (gst_nd_caps_have_alternate_fields (filter))
    gst_query_set_caps_result (query, filter);
  if (!gst_caps_is_fixed (filter) || gst_nd_cuda_caps (filter, 0)
      || !gst_nd_format_from_caps (&format, filter, NULL))
    return;
  if (!GST_ND_ALGORITHM_GET_CLASS (self)->check_input (self, &format, NULL))
    gst_query_set_caps_result (query, filter);
}

gboolean
gst_nd_algorithm_query (GstBaseTransform *trans, GstPadDirection direction,
    GstQuery *query)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);

  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return latency_query (self, query);
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT
      && gst_nd_device_answer (&gst_nd_algorithm_private (self)->device,
          GST_ELEMENT (self), query))
    return TRUE;
  if (direction == GST_PAD_SINK
      && GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    GstCaps *caps;

    gst_query_parse_accept_caps (query, &caps);
    if (gst_caps_is_fixed (caps) && !gst_nd_cuda_caps (caps, 0)
        && (gst_nd_caps_have_alternate_fields (caps)
            || gst_structure_has_name (gst_caps_get_structure (caps, 0),
                GST_ND_TENSORS)
            || gst_structure_has_name (gst_caps_get_structure (caps, 0),
                "other/tensor"))) {
      gst_query_set_accept_caps_result (query, TRUE);
      return TRUE;
    }
  }
  if (!gst_nd_algorithm_parent ()->query (trans, direction, query))
    return FALSE;
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    accept_refused_caps (self, query);
    gst_nd_cuda_prefer (query);
  }
  return TRUE;
}
