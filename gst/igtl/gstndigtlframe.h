/* Received images as video: caps and rows.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/video/video.h>

#include "gst/base/gstndcaps.h"

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

G_END_DECLS
