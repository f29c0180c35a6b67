/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewsecond.h"

/* Times that differ by less are equal. */
#define TOLERANCE GST_MSECOND

static void
view_second_drop (GstNdViewSecond *self)
{
  gst_clear_buffer (&self->next.buffer);
  gst_clear_buffer (&self->current.buffer);
}

void
gst_nd_view_second_init (GstNdViewSecond *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  self->stopped = TRUE;
}

void
gst_nd_view_second_clear (GstNdViewSecond *self)
{
  view_second_drop (self);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
}

static GstFlowReturn
view_second_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstNdViewSecond *self = gst_pad_get_element_private (pad);
  GstFlowReturn ret = GST_FLOW_OK;

  g_mutex_lock (&self->lock);
  while (self->next.buffer && !self->flushing && !self->stopped)
    g_cond_wait (&self->cond, &self->lock);
  if (self->flushing)
    ret = GST_FLOW_FLUSHING;
  else if (!self->has_info)
    ret = GST_FLOW_NOT_NEGOTIATED;
  if (ret != GST_FLOW_OK || self->stopped) {
    gst_buffer_unref (buffer);
  } else {
    self->next = (GstNdViewInput){ buffer, self->info, self->oriented,
      gst_segment_to_running_time (&self->segment, GST_FORMAT_TIME,
          GST_BUFFER_PTS (buffer)) };
    g_cond_broadcast (&self->cond);
  }
  g_mutex_unlock (&self->lock);
  return ret;
}

static gboolean
handle_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstNdViewSecond *self = gst_pad_get_element_private (pad);
  gboolean ok = TRUE;
  GstCaps *caps;

  g_mutex_lock (&self->lock);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      ok = self->has_info =
          gst_nd_volume_info_from_caps (&self->info, caps, NULL);
      self->oriented =
          gst_structure_has_field (gst_caps_get_structure (caps, 0),
              "directions");
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      break;
    case GST_EVENT_STREAM_START:
      self->eos = FALSE;
      break;
    case GST_EVENT_EOS:
      self->eos = TRUE;
      break;
    case GST_EVENT_FLUSH_START:
      self->flushing = TRUE;
      break;
    case GST_EVENT_FLUSH_STOP:
      self->flushing = self->eos = FALSE;
      view_second_drop (self);
      gst_segment_init (&self->segment, GST_FORMAT_TIME);
      break;
    default:
      break;
  }
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  gst_event_unref (event);
  return ok;
}

GstPad *
gst_nd_view_second_request (GstNdViewSecond *self, GstElement *element,
    GstPadTemplate *template, GstPadQueryFunction query)
{
  GstPad *pad = NULL;

  g_mutex_lock (&self->lock);
  if (!self->pad) {
    pad = self->pad = gst_pad_new_from_template (template, "second");
    self->eos = self->flushing = self->has_info = FALSE;
  }
  g_mutex_unlock (&self->lock);
  if (!pad)
    return NULL;
  gst_pad_set_element_private (pad, self);
  gst_pad_set_chain_function (pad, view_second_chain);
  gst_pad_set_event_function (pad, handle_event);
  gst_pad_set_query_function (pad, query);
  gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (element, pad);
  return pad;
}

void
gst_nd_view_second_release (GstNdViewSecond *self, GstElement *element,
    GstPad *pad)
{
  g_mutex_lock (&self->lock);
  self->flushing = TRUE;
  self->pad = NULL;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
  g_mutex_lock (&self->lock);
  view_second_drop (self);
  g_mutex_unlock (&self->lock);
}

void
gst_nd_view_second_stop (GstNdViewSecond *self, gboolean stopped)
{
  g_mutex_lock (&self->lock);
  self->stopped = stopped;
  if (stopped)
    view_second_drop (self);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

void
gst_nd_view_second_end (GstNdViewSecond *self)
{
  g_mutex_lock (&self->lock);
  self->stopped = TRUE;
  gst_clear_buffer (&self->next.buffer);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

/* Makes `current` the volume of @time. FALSE if that is not known yet. */
static gboolean
view_second_find (GstNdViewSecond *self, GstClockTime time)
{
  const gboolean timed = GST_CLOCK_TIME_IS_VALID (time);

  while (self->next.buffer) {
    if (self->current.buffer && timed
        && GST_CLOCK_TIME_IS_VALID (self->next.time)
        && self->next.time > time + TOLERANCE)
      return TRUE;
    gst_clear_buffer (&self->current.buffer);
    self->current = self->next;
    self->next.buffer = NULL;
    g_cond_broadcast (&self->cond);
    if (!timed || !GST_CLOCK_TIME_IS_VALID (self->current.time))
      return TRUE;
  }
  return self->current.buffer && timed
      && GST_CLOCK_TIME_IS_VALID (self->current.time)
      && self->current.time + TOLERANCE >= time;
}

gboolean
gst_nd_view_second_take (GstNdViewSecond *self, GstClockTime time,
    GstNdViewInput *input)
{
  gboolean found;

  g_mutex_lock (&self->lock);
  while (self->pad && !self->stopped && !view_second_find (self, time)
      && !self->eos && !self->flushing)
    g_cond_wait (&self->cond, &self->lock);
  found = self->pad && self->current.buffer;
  if (found) {
    *input = self->current;
    gst_buffer_ref (input->buffer);
  }
  g_mutex_unlock (&self->lock);
  return found;
}

void
gst_nd_view_second_latency (GstNdViewSecond *self, GstQuery *query)
{
  g_autoptr (GstQuery) ours = gst_query_new_latency ();
  g_autoptr (GstPad) pad = NULL;
  GstClockTime min[2], max[2];
  gboolean live[2];

  g_mutex_lock (&self->lock);
  if (self->pad)
    pad = gst_object_ref (self->pad);
  g_mutex_unlock (&self->lock);
  if (!pad || !gst_pad_peer_query (pad, ours))
    return;
  gst_query_parse_latency (query, &live[0], &min[0], &max[0]);
  gst_query_parse_latency (ours, &live[1], &min[1], &max[1]);
  if (!live[1])
    return;
  gst_query_set_latency (query, TRUE, live[0] ? MAX (min[0], min[1]) : min[1],
      live[0] ? MIN (max[0], max[1]) : max[1]);
}
