/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndflush.h"

static gboolean
is_flushing (GstPad *pad)
{
  gboolean flushing;

  GST_OBJECT_LOCK (pad);
  flushing = GST_PAD_IS_FLUSHING (pad);
  GST_OBJECT_UNLOCK (pad);
  return flushing;
}

GstFlowReturn
gst_nd_flush_result (GstElement *element, GstFlowReturn ret)
{
  GList *pads;
  gboolean flushing = FALSE;

  if (ret != GST_FLOW_ERROR && ret != GST_FLOW_NOT_NEGOTIATED)
    return ret;
  GST_OBJECT_LOCK (element);
  pads = g_list_copy (element->pads);
  for (GList *i = pads; i; i = i->next)
    gst_object_ref (i->data);
  GST_OBJECT_UNLOCK (element);
  for (GList *i = pads; i; i = i->next) {
    g_autoptr (GstPad) peer = gst_pad_get_peer (i->data);

    flushing |= is_flushing (i->data) || (peer && is_flushing (peer));
  }
  g_list_free_full (pads, gst_object_unref);
  return flushing ? GST_FLOW_FLUSHING : ret;
}

static gboolean
is_negotiation_warning (GstMessage *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *debug = NULL;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING)
    return FALSE;
  gst_message_parse_warning (message, &error, &debug);
  return debug && g_str_has_suffix (debug, "not negotiated");
}

gboolean
gst_nd_flush_post_message (GstElement *element, GstMessage *message)
{
  const GstElementClass *base = g_type_class_peek (GST_TYPE_ELEMENT);

  if (is_negotiation_warning (message)
      && gst_nd_flush_result (element, GST_FLOW_NOT_NEGOTIATED)
          == GST_FLOW_FLUSHING) {
    gst_message_unref (message);
    return TRUE;
  }
  return base->post_message (element, message);
}

/* Whether a negotiation of @trans was interrupted. Belongs to the streaming
 * thread. */

static GQuark
interrupted_quark (void)
{
  return g_quark_from_static_string ("nd-negotiation-interrupted");
}

static gboolean
is_interrupted (GstBaseTransform *trans)
{
  return g_object_get_qdata (G_OBJECT (trans), interrupted_quark ()) != NULL;
}

static void
set_interrupted (GstBaseTransform *trans, gboolean interrupted)
{
  g_object_set_qdata (G_OBJECT (trans), interrupted_quark (),
      GINT_TO_POINTER (interrupted));
}

/* Calls set_caps() with the caps of the pads, for which the base class does not
 * call it, because the pads have them already. If @trans makes other caps of
 * them by now, the base class calls it. */
static gboolean
set_caps_again (GstBaseTransform *trans)
{
  GstBaseTransformClass *klass = GST_BASE_TRANSFORM_GET_CLASS (trans);
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) out = gst_pad_get_current_caps (trans->srcpad);
  g_autoptr (GstCaps) possible = NULL;

  if (!in || !out)
    return TRUE;
  possible = klass->transform_caps (trans, GST_PAD_SINK, in, NULL);
  return !gst_caps_is_subset (out, possible)
      || klass->set_caps (trans, in, out);
}

/* The functions of the base class. They are stored with the element, because an
 * application that wraps functions of a pad replaces the data of the pad. */
typedef struct
{
  GstPadEventFunction event;
  GstPadChainFunction chain;
} Functions;

static GQuark
functions_quark (void)
{
  return g_quark_from_static_string ("nd-base-functions");
}

static const Functions *
base_functions (GstObject *element)
{
  return g_object_get_qdata (G_OBJECT (element), functions_quark ());
}

static gboolean
flush_caps_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (parent);
  g_autoptr (GstCaps) current = gst_pad_get_current_caps (pad);
  GstCaps *caps;
  gboolean ok = TRUE;

  gst_event_parse_caps (event, &caps);
  if (is_interrupted (trans) && current && gst_caps_is_equal (caps, current))
    ok = set_caps_again (trans);
  if (ok)
    ok = base_functions (parent)->event (pad, parent, event);
  else
    gst_event_unref (event);
  set_interrupted (trans, !ok);
  return ok;
}

static GstFlowReturn
flush_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  const gboolean is_caps = GST_EVENT_TYPE (event) == GST_EVENT_CAPS;

  if (is_caps && GST_IS_BASE_TRANSFORM (parent)
          ? flush_caps_event (pad, parent, event)
          : base_functions (parent)->event (pad, parent, event))
    return GST_FLOW_OK;
  return gst_nd_flush_result (GST_ELEMENT (parent),
      is_caps ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR);
}

static GstFlowReturn
flush_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  return gst_nd_flush_result (GST_ELEMENT (parent),
      base_functions (parent)->chain (pad, parent, buffer));
}

void
gst_nd_flush_install (GstPad *pad)
{
  Functions *base = g_new (Functions, 1);

  base->event = GST_PAD_EVENTFUNC (pad);
  base->chain = GST_PAD_CHAINFUNC (pad);
  g_object_set_qdata_full (G_OBJECT (GST_OBJECT_PARENT (pad)),
      functions_quark (), base, g_free);
  gst_pad_set_event_full_function (pad, flush_event);
  gst_pad_set_chain_function (pad, flush_chain);
}

GstFlowReturn
gst_nd_flush_submit (GstBaseTransform *trans, gboolean is_discont,
    GstBuffer *input)
{
  const GstBaseTransformClass *base =
      g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
  GstFlowReturn ret;

  if (is_interrupted (trans)) {
    if (!set_caps_again (trans)) {
      gst_buffer_unref (input);
      return GST_FLOW_NOT_NEGOTIATED;
    }
    gst_base_transform_reconfigure_src (trans);
  }
  ret = base->submit_input_buffer (trans, is_discont, input);
  set_interrupted (trans, ret != GST_FLOW_OK);
  return ret;
}
