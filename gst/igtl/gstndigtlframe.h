/* Received images as video: caps and rows.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndcaps.h"
#include "live/clock.h"
#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* The video formats of received images and of those that are sent. */
#define GST_ND_IGTL_VIDEO_FORMATS \
  "{ GRAY8, " GST_VIDEO_NE (GRAY16) ", RGB, RGBA }"

/* All caps that volumes of this format can have, the preferred ones first. The
 * rate is any. */
GstCaps *gst_nd_igtl_possible_caps (const GstNdVolumeInfo *info);

/* @buffer, whose rows have no padding, as a frame of @info; with a GstVideoMeta
 * or, without @has_meta, copied if rows of @info are padded. Takes @buffer.
 * NULL without memory. */
GstBuffer *gst_nd_igtl_to_frame (GstBuffer *buffer, const GstVideoInfo *info,
    gboolean has_meta);

/* Timestamps of received volumes: times of the sender or of the arrival,
 * converted to running time, and the latency that follows from them.
 */

typedef struct
{
  NdIgtlClock clock;
  gboolean has_clock_offset;
  gint64 clock_offset; /* clock of the pipeline minus monotonic time */
  gboolean has_origin;
  gint64 origin; /* ns since 1970 of running time 0 */
  GstClockTime last;
} GstNdIgtlTimes;

/* Forgets all times and the clock of the sender. */
void gst_nd_igtl_times_reset (GstNdIgtlTimes *times);

/* Takes the times of a volume that nobody gets, for the latency. */
void gst_nd_igtl_times_see (GstNdIgtlTimes *times, guint64 sent,
    guint64 arrival);

/* The running time of a volume of @element that was sent at @sent (ns since
 * 1970; 0: not known) and arrived at @arrival (monotonic, ns). It is not before
 * that of the last volume. */
GstClockTime gst_nd_igtl_times_map (GstNdIgtlTimes *times, GstElement *element,
    guint64 sent, guint64 arrival, gboolean use_sender);

/* The longest delay of a volume in the last 1 to 2 s, in steps of 5 ms and up
 * to 1 s. */
GstClockTime gst_nd_igtl_times_latency (const GstNdIgtlTimes *times);

G_END_DECLS
