/* Frames of packed video (gray, RGB, RGBA) as volumes of one slice.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndcaps.h"
#include <gst/video/video.h>

G_BEGIN_DECLS

/* The formats that sinks and ndstack accept. */
#define GST_ND_FRAME_FORMATS "{ GRAY8, " GST_VIDEO_NE (GRAY16) ", RGB, RGBA }"

/* The volume of one frame: type, shape and rate, without geometry. */
void gst_nd_frame_get_info (const GstVideoInfo *video, GstNdVolumeInfo *info);

/* Bytes of a row without padding. */
gsize gst_nd_frame_row (const GstVideoInfo *video);

/* Copies the samples of @frame to @data, without the padding of rows. */
void gst_nd_frame_copy (const GstVideoFrame *frame, guint8 *data);

G_END_DECLS
