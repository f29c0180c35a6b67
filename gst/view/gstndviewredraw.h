/* The picture of a paused ndview: if a property changes, the last volume is
 * drawn again.
 *
 * A sink that has its picture holds the thread that brought it. A flush
 * downstream makes the sink wait for another one; the thread of the stream, or
 * another one if that is not here, then draws the last volume. Upstream does
 * not see the flush.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

typedef struct
{
  /* Held while events that begin or end a flush pass. */
  GMutex lock;
  gboolean flushed; /* downstream flushes, to get a new picture */
  gboolean blocked; /* upstream flushes */

  /* Protected by the object lock. */
  GstBuffer *last; /* the volume of the last picture */
  gboolean wanted; /* a thread will begin a flush */
  gboolean ended;  /* the end of the stream has passed */

  /* Protected by the stream lock. */
  gboolean again; /* the last volume is being drawn again */

  GstPadChainFunction chain; /* that of the base class */
} GstNdViewRedraw;

/* Puts itself before the chain function of @trans, the base class of the
 * element. */
void gst_nd_view_redraw_init (GstNdViewRedraw *redraw, GstBaseTransform *trans);
void gst_nd_view_redraw_clear (GstNdViewRedraw *redraw);

/* Forgets the last volume. */
void gst_nd_view_redraw_reset (GstNdViewRedraw *redraw,
    GstBaseTransform *trans);

/* The picture of @input has been drawn. */
void gst_nd_view_redraw_take (GstNdViewRedraw *redraw, GstBaseTransform *trans,
    GstBuffer *input);

/* Asks for a new picture of the last volume if the element is paused and all
 * sinks after it show pictures. To be called without locks. */
void gst_nd_view_redraw_request (GstNdViewRedraw *redraw,
    GstBaseTransform *trans);

/* Properties that this thread changes need no new picture. */
void gst_nd_view_redraw_ignore (gboolean ignore);

/* Handles @event with @handle, the function of the base class. */
gboolean gst_nd_view_redraw_event (GstNdViewRedraw *redraw,
    GstBaseTransform *trans, GstEvent *event,
    gboolean (*handle) (GstBaseTransform *trans, GstEvent *event));

G_END_DECLS
