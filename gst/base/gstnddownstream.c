/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstnddownstream.h"

#include "core/error.h"
#include "gst/base/gstndcuda.h"

static GstCaps *
fixate (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
    GstCaps *other)
{
  const GstBaseTransformClass *base =
      g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
  GstPad *pad = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;

  return base->fixate_caps (trans, direction, caps,
      gst_nd_cuda_choose_caps (pad, other));
}

GstCaps *
gst_nd_downstream_fixate (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, GstCaps *other)
{
  if (direction == GST_PAD_SINK && gst_caps_is_equal (caps, other)) {
    g_autoptr (GstCaps) possible =
        GST_BASE_TRANSFORM_GET_CLASS (trans)->transform_caps (trans, direction,
            caps, NULL);

    if (!gst_caps_is_empty (possible) && !gst_caps_is_subset (other, possible))
      gst_caps_replace (&other, possible);
  }
  return fixate (trans, direction, caps, other);
}

static gboolean
is_accepted (GstBaseTransform *trans, GstCaps *possible)
{
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (trans->srcpad, possible);
  g_autoptr (GstCaps) chosen =
      gst_caps_intersect_full (peer, possible, GST_CAPS_INTERSECT_FIRST);

  if (gst_caps_is_empty (chosen))
    return FALSE;
  chosen = fixate (trans, GST_PAD_SINK, in, g_steal_pointer (&chosen));
  return gst_pad_peer_query_accept_caps (trans->srcpad, chosen);
}

gboolean
gst_nd_downstream_accepts (GstBaseTransform *trans, GstCaps *possible,
    GError **error)
{
  g_autofree gchar *text = NULL;

  if (is_accepted (trans, possible))
    return TRUE;
  text = gst_caps_to_string (possible);
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The new settings change the output caps to \"%.300s\", which the "
      "elements downstream do not accept: choose settings that keep the output "
      "caps, or link elements that accept the new ones",
      text);
  return FALSE;
}

GstFlowReturn
gst_nd_downstream_result (GstBaseTransform *trans, GstFlowReturn ret)
{
  return ret == GST_FLOW_NOT_NEGOTIATED
          && gst_pad_needs_reconfigure (trans->srcpad)
      ? GST_FLOW_OK
      : ret;
}
