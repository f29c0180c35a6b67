/* Anchors: the inputs from which outputs of an element with a window take their
 * times, flags and metas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndformat.h"

G_BEGIN_DECLS

/* Everything that the output of @buffer takes from it: times, flags and metas.
 * Has no memory, and does not hold @buffer back from its pool
 * (docs/checklist.md, 6). A missing duration is that of @format. */
GstBuffer *gst_nd_anchor_new (GstBuffer *buffer, const GstNdFormat *format);

/* Whether @meta of an input is true of its output too. A frame (@is_video)
 * keeps its size and its place in the scene. Like GstVideoFilter, it keeps the
 * metas that describe nothing else. */
gboolean gst_nd_anchor_keeps_meta (const GstMeta *meta, gboolean is_video);

G_END_DECLS
