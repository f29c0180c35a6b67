/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstnddownstream.h"

#include "core/error.h"

static gboolean
is_accepted (GstBaseTransform *trans, GstCaps *possible)
{
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (trans->srcpad, possible);
  g_autoptr (GstCaps) chosen =
      gst_caps_intersect_full (peer, possible, GST_CAPS_INTERSECT_FIRST);

  if (gst_caps_is_empty (chosen))
    return FALSE;
  chosen = GST_BASE_TRANSFORM_GET_CLASS (trans)->fixate_caps (trans,
      GST_PAD_SINK, in, g_steal_pointer (&chosen));
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
