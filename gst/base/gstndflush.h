/* Events and volumes that a flush interrupts.
 *
 * GStreamer's base classes return FALSE for an event if a pad flushes, and the
 * pad makes an error of it: upstream ends the stream with "Internal data stream
 * error" although an application only seeks. The elements return FLUSHING.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* Call in init() with the sink pad of a GstBaseTransform or GstBaseSink, once
 * for each element. */
void gst_nd_flush_install (GstPad *pad);

/* post_message() of a GstBaseTransform, without a warning of the base class: if
 * a flush interrupts a negotiation, that warns "not negotiated", although it
 * negotiates again after the flush. */
gboolean gst_nd_flush_post_message (GstElement *element, GstMessage *message);

/* FLUSHING if @ret is ERROR or NOT_NEGOTIATED and a pad of @element or a peer
 * flushes; otherwise @ret. */
GstFlowReturn gst_nd_flush_result (GstElement *element, GstFlowReturn ret);

/* submit_input_buffer() of the base class, which negotiates. After a
 * negotiation that was interrupted, the format of @trans may not be that of its
 * pads; this calls set_caps() with their caps, and negotiates again. */
GstFlowReturn gst_nd_flush_submit (GstBaseTransform *trans, gboolean is_discont,
    GstBuffer *input);

/* Results of pushes.
 */

/* Whether @ret ends the stream. NOT_LINKED passes when the application links
 * the pad again. */
static inline gboolean
gst_nd_flow_is_final (GstFlowReturn ret)
{
  return ret != GST_FLOW_OK && ret != GST_FLOW_NOT_LINKED;
}

/* The result of two pushes: that of the second one, unless it is OK. */
static inline GstFlowReturn
gst_nd_flow_join (GstFlowReturn first, GstFlowReturn second)
{
  return second == GST_FLOW_OK ? first : second;
}

G_END_DECLS
