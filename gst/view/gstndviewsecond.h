/* The second input of ndview, a request pad. Its volumes wait there until the
 * thread of the first input takes them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndcaps.h"
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstBuffer *buffer; /* NULL: none */
  GstNdVolumeInfo info;
  gboolean oriented; /* its caps have directions */
  GstClockTime time; /* running time */
} GstNdViewInput;

typedef struct
{
  GMutex lock; /* of all below */
  GCond cond;  /* something changed */
  GstPad *pad; /* NULL: not requested */
  GstSegment segment;
  GstNdVolumeInfo info; /* of the next buffer, if has_info */
  gboolean has_info, oriented;
  GstNdViewInput next, current;
  gboolean eos, flushing; /* of the pad */
  gboolean stopped;       /* the first input takes no more volumes */
} GstNdViewSecond;

/* Called by init() and finalize() of the element. */
void gst_nd_view_second_init (GstNdViewSecond *second);
void gst_nd_view_second_clear (GstNdViewSecond *second);

/* Adds the pad to @element, with @query; NULL if there is one. */
GstPad *gst_nd_view_second_request (GstNdViewSecond *second,
    GstElement *element, GstPadTemplate *template, GstPadQueryFunction query);
void gst_nd_view_second_release (GstNdViewSecond *second, GstElement *element,
    GstPad *pad);

/* With @stopped, gst_nd_view_second_take() does not wait, and volumes of the
 * second input are dropped: while the first input flushes, and below PAUSED. */
void gst_nd_view_second_stop (GstNdViewSecond *second, gboolean stopped);

/* The same at the end of the first input, but its last picture may still be
 * drawn again. */
void gst_nd_view_second_end (GstNdViewSecond *second);

/* Waits for the volume that belongs to running time @time: that at this time,
 * or else the last one before it, or else the first one. Sets @input, with a
 * reference to its buffer. FALSE if there is none. */
gboolean gst_nd_view_second_take (GstNdViewSecond *second, GstClockTime time,
    GstNdViewInput *input);

/* Raises the latency in @query to that of the second input. */
void gst_nd_view_second_latency (GstNdViewSecond *second, GstQuery *query);

G_END_DECLS
