/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewredraw.h"

#include "gst/view/gstndview.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_nd_view_debug

#define MOST_ELEMENTS 64 /* in a row, from here to a sink */

static GPrivate ignored;

void
gst_nd_view_redraw_ignore (gboolean ignore)
{
  g_private_set (&ignored, GINT_TO_POINTER (ignore));
}

/* Whether @element shows what it gets. A flush would empty a file. */
static gboolean
is_screen (GstElement *element)
{
  const gchar *class =
      gst_element_class_get_metadata (GST_ELEMENT_GET_CLASS (element),
          GST_ELEMENT_METADATA_KLASS);

  return strstr (class, "Sink")
      && (strstr (class, "Video") || g_str_equal (class, "Sink")
          || g_str_equal (class, "Generic/Sink"));
}

static gboolean
leads_to_screens (GstPad *src, guint depth)
{
  g_autoptr (GstPad) sink = gst_pad_get_peer (src);
  g_autoptr (GstObject) parent = sink ? gst_pad_get_parent (sink) : NULL;
  g_auto (GValue) item = G_VALUE_INIT;
  GstIterator *links;
  gboolean shows = TRUE;
  guint n = 0;

  if (!parent || depth == 0)
    return FALSE;
  links = gst_pad_iterate_internal_links (sink);
  while (links && shows
      && gst_iterator_next (links, &item) == GST_ITERATOR_OK) {
    shows = leads_to_screens (g_value_get_object (&item), depth - 1);
    g_value_reset (&item);
    n++;
  }
  g_clear_pointer (&links, gst_iterator_free);
  return n > 0 ? shows
               : GST_IS_ELEMENT (parent) && is_screen (GST_ELEMENT (parent));
}

static gboolean
is_paused (GstBaseTransform *trans)
{
  return (GST_STATE_NEXT (trans) == GST_STATE_VOID_PENDING
                 ? GST_STATE (trans)
                 : GST_STATE_NEXT (trans))
      == GST_STATE_PAUSED;
}

/* Ends the flush with a new picture. With the stream lock. Returns FALSE if
 * there is no flush. */
static gboolean
view_redraw_finish (GstNdViewRedraw *self, GstBaseTransform *trans,
    GstFlowReturn *ret)
{
  gboolean any = FALSE;

  for (;;) {
    g_autoptr (GstEvent) segment = NULL;
    GstBuffer *last;
    gboolean flushed, ended;
    guint32 seqnum;

    g_mutex_lock (&self->lock);
    flushed = self->flushed && !self->blocked;
    if (flushed) {
      self->flushed = FALSE;
      gst_pad_push_event (trans->srcpad, gst_event_new_flush_stop (FALSE));
    }
    g_mutex_unlock (&self->lock);
    if (!flushed)
      return any;
    any = TRUE;
    segment = gst_pad_get_sticky_event (trans->sinkpad, GST_EVENT_SEGMENT, 0);
    seqnum = segment ? gst_event_get_seqnum (segment) : GST_SEQNUM_INVALID;
    if (segment)
      gst_pad_push_event (trans->srcpad, g_steal_pointer (&segment));
    GST_OBJECT_LOCK (trans);
    last = self->last ? gst_buffer_ref (self->last) : NULL;
    ended = self->ended;
    GST_OBJECT_UNLOCK (trans);
    if (!last)
      continue;
    GST_DEBUG_OBJECT (trans, "draws the last volume again");
    self->again = TRUE;
    *ret = self->chain (trans->sinkpad, GST_OBJECT (trans), last);
    self->again = FALSE;
    if (*ret == GST_FLOW_OK && ended) {
      GstEvent *eos = gst_event_new_eos ();

      if (seqnum != GST_SEQNUM_INVALID)
        gst_event_set_seqnum (eos, seqnum);
      gst_pad_push_event (trans->srcpad, eos);
    }
  }
}

static GstFlowReturn
view_redraw_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (parent);
  GstNdViewRedraw *self = &GST_ND_VIEW (parent)->redraw;
  GstFlowReturn ret;

  view_redraw_finish (self, trans, &ret);
  ret = self->chain (pad, parent, buffer);
  view_redraw_finish (self, trans, &ret);
  return ret;
}

static GstElement *
find_pipeline (GstElement *element)
{
  GstElement *top = gst_object_ref (element);
  GstObject *parent;

  while ((parent = gst_object_get_parent (GST_OBJECT (top)))) {
    gst_object_unref (top);
    top = GST_ELEMENT (parent);
  }
  return top;
}

/* In a thread of its own: a flush waits for the threads that it wakes. The
 * pipeline does not change its state when the flush begins, because a sink that
 * loses its preroll between two states never reaches the second one. */
static void
view_redraw_begin (GstElement *element, gpointer data)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (element);
  GstNdViewRedraw *self = data;
  g_autoptr (GstElement) pipeline = find_pipeline (element);
  gboolean begins;
  GstFlowReturn ret;

  GST_STATE_LOCK (pipeline);
  g_mutex_lock (&self->lock);
  GST_OBJECT_LOCK (trans);
  self->wanted = FALSE;
  begins = self->last && is_paused (trans);
  GST_OBJECT_UNLOCK (trans);
  /* The picture after a flush that has begun has the new properties too. */
  begins = begins && !self->flushed && !self->blocked
      && leads_to_screens (trans->srcpad, MOST_ELEMENTS);
  if (begins) {
    self->flushed = TRUE;
    gst_pad_push_event (trans->srcpad, gst_event_new_flush_start ());
  }
  g_mutex_unlock (&self->lock);
  GST_STATE_UNLOCK (pipeline);
  if (!begins)
    return;
  GST_PAD_STREAM_LOCK (trans->sinkpad);
  view_redraw_finish (self, trans, &ret);
  GST_PAD_STREAM_UNLOCK (trans->sinkpad);
}

void
gst_nd_view_redraw_request (GstNdViewRedraw *self, GstBaseTransform *trans)
{
  gboolean starts;

  if (g_private_get (&ignored))
    return;
  GST_OBJECT_LOCK (trans);
  starts = !self->wanted && self->last && is_paused (trans);
  self->wanted |= starts;
  GST_OBJECT_UNLOCK (trans);
  if (starts)
    gst_element_call_async (GST_ELEMENT (trans), view_redraw_begin, self, NULL);
}

void
gst_nd_view_redraw_take (GstNdViewRedraw *self, GstBaseTransform *trans,
    GstBuffer *input)
{
  GST_OBJECT_LOCK (trans);
  gst_buffer_replace (&self->last, input);
  GST_OBJECT_UNLOCK (trans);
}

static void
view_redraw_forget (GstNdViewRedraw *self, GstBaseTransform *trans)
{
  GST_OBJECT_LOCK (trans);
  gst_clear_buffer (&self->last);
  self->ended = FALSE;
  GST_OBJECT_UNLOCK (trans);
}

void
gst_nd_view_redraw_reset (GstNdViewRedraw *self, GstBaseTransform *trans)
{
  g_mutex_lock (&self->lock);
  self->flushed = self->blocked = FALSE;
  view_redraw_forget (self, trans);
  g_mutex_unlock (&self->lock);
}

gboolean
gst_nd_view_redraw_event (GstNdViewRedraw *self, GstBaseTransform *trans,
    GstEvent *event, gboolean (*handle) (GstBaseTransform *, GstEvent *))
{
  const GstEventType type = GST_EVENT_TYPE (event);
  g_autoptr (GstEvent) again = NULL;
  GstFlowReturn ret;
  gboolean ok;

  if (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP) {
    g_mutex_lock (&self->lock);
    self->blocked = type == GST_EVENT_FLUSH_START;
    if (!self->blocked) {
      self->flushed = FALSE;
      view_redraw_forget (self, trans);
    }
    ok = handle (trans, event);
    g_mutex_unlock (&self->lock);
    return ok;
  }
  if (!GST_EVENT_IS_SERIALIZED (event))
    return handle (trans, event);
  view_redraw_finish (self, trans, &ret);
  if (type == GST_EVENT_EOS || type == GST_EVENT_STREAM_START) {
    GST_OBJECT_LOCK (trans);
    self->ended = type == GST_EVENT_EOS;
    GST_OBJECT_UNLOCK (trans);
  }
  again = gst_event_ref (event);
  ok = handle (trans, event);
  /* A flush that began meanwhile has taken the event with it. */
  if (view_redraw_finish (self, trans, &ret) && !ok)
    ok = type == GST_EVENT_EOS || handle (trans, g_steal_pointer (&again));
  return ok;
}

void
gst_nd_view_redraw_init (GstNdViewRedraw *self, GstBaseTransform *trans)
{
  g_mutex_init (&self->lock);
  self->chain = GST_PAD_CHAINFUNC (trans->sinkpad);
  gst_pad_set_chain_function (trans->sinkpad, view_redraw_chain);
}

void
gst_nd_view_redraw_clear (GstNdViewRedraw *self)
{
  gst_clear_buffer (&self->last);
  g_mutex_clear (&self->lock);
}
