/* Accurate seeks of elements whose outputs need several volumes. The element
 * requests more volumes from upstream than the application needs, so that each
 * output equals that of continuous playback, and hides the others from
 * downstream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  guint32 seqnum;           /* of the seek and of its segment */
  GstClockTime start, stop; /* for downstream; stop is NONE if there is none */
} GstNdSeekRange;

/* Protected by the object lock of the element. */
typedef struct
{
  guint before, after;   /* volumes that an output needs, in stream time */
  GstClockTime interval; /* between two volumes; NONE: unknown */
  GQueue asked;          /* GstNdSeekRange of seeks whose segment has not
                            arrived */
  GstNdSeekRange range;  /* of the segment in use */
  gboolean narrowed;     /* upstream has a wider segment */
} GstNdSeek;

/* Called once, before the element has pads. */
void gst_nd_seek_init (GstNdSeek *seek);

/* Forgets the seeks and the reach. Takes the object lock of @element. */
void gst_nd_seek_reset (GstNdSeek *seek, GstElement *element);

/* An output needs @before volumes before its anchor and @after after it, in the
 * order of stream time, which does not depend on the direction of playback.
 * Takes the object lock of @element. */
void gst_nd_seek_set_reach (GstNdSeek *seek, GstElement *element, guint before,
    guint after, GstClockTime interval);

/* Sends @event, a SEEK event from downstream, through the sink pad @pad of an
 * element. If the seek is accurate, asks for the volumes that the outputs at
 * both ends need. Takes @event. */
gboolean gst_nd_seek_send (GstNdSeek *seek, GstPad *pad, GstEvent *event);

/* Takes a SEGMENT or SEGMENT_DONE event from upstream. Returns the event for
 * downstream: if it follows from a seek of gst_nd_seek_send(), it has the range
 * that downstream requested. The running time and the stream time of a volume
 * stay the same, because other branches of the pipeline may see the segment of
 * upstream. */
GstEvent *gst_nd_seek_narrow (GstNdSeek *seek, GstElement *element,
    GstEvent *event);

/* Checks of segments that elements for volumes have in common.
 */

/* FALSE with ND_ERROR_FORMAT if the stream before @sink is the bytes of files
 * that nobody has read: a segment in bytes, and no caps. The message names the
 * elements to use. */
gboolean gst_nd_segment_check_decoded (GstPad *sink, GstEvent *segment,
    GError **error);

/* The same, and FALSE with ND_ERROR_FORMAT for every segment that is not in
 * time. */
gboolean gst_nd_segment_check_time (GstPad *sink, GstEvent *segment,
    GError **error);

/* Whether @event repeats the segment @current. Their positions may differ. */
gboolean gst_nd_segment_is_repeated (const GstSegment *current,
    GstEvent *event);

G_END_DECLS
