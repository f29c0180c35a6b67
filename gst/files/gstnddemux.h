/* The state of nddemux, shared by its files: gstnddemux.c reads and pushes,
 * gstnddemuxseek.c seeks and answers queries.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/files/gstndexcerpt.h"
#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN (gst_nd_demux_debug);

G_BEGIN_DECLS

#define GST_TYPE_ND_DEMUX (gst_nd_demux_get_type ())
G_DECLARE_FINAL_TYPE (GstNdDemux, gst_nd_demux, GST, ND_DEMUX, GstElement)

typedef struct
{
  gint64 max_memory;
  NdTruncated truncated;
} GstNdDemuxSettings;

struct _GstNdDemux
{
  GstElement parent;
  GstNdDemuxSettings settings; /* protected by the object lock */

  GstPad *sink, *src; /* src: NULL before the recording is open */

  /* Written by the task of the sink pad, and by a seek while the task is
   * stopped; other threads read with the object lock held. */
  GstNdExcerpt excerpt; /* the whole recording; without volumes: not open */
  GstSegment segment;
  guint64 next; /* volume; backwards it wraps below 0 */

  /* Used by the task only. */
  gsize size; /* bytes of a volume */
  gboolean needs_segment;
  gboolean discont;
  guint32 seqnum;       /* of the last seek */
  gboolean ended;       /* upstream ended although it has more bytes */
  GstFlowReturn pull;   /* of the last pull */
  gint cancelled;       /* skipping through a file must end; atomic */
  GstBufferPool *pool;  /* NULL for volumes of 4 GiB */
  NdMetadata *metadata; /* sent before the first volume */
};

/* Reads and pushes one volume. A GstTaskFunction. */
void gst_nd_demux_loop (gpointer pad);

/* Whether the volume at @next is part of the segment. */
gboolean gst_nd_demux_is_inside (const GstNdDemux *self);

/* Functions of the source pad. Any thread. */
gboolean gst_nd_demux_src_event (GstPad *pad, GstObject *parent,
    GstEvent *event);
gboolean gst_nd_demux_src_query (GstPad *pad, GstObject *parent,
    GstQuery *query);

G_END_DECLS
