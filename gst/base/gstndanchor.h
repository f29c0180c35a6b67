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

/* GstTensorMeta, by which GStreamer 1.26 and later describe tensors. Elements
 * that know it need no caps of NNStreamer.
 */

/* Attaches a GstTensorMeta to @buffer, a volume of @format that is complete and
 * writable. Its one tensor "ndconv-volume" has the memory of @buffer and the
 * sizes [K,]Z,Y,X,C in row-major order, the order of NumPy. Does nothing for
 * video, and if the plugin was built without GStreamer 1.26. */
void gst_nd_tensor_meta_attach (GstBuffer *buffer, const GstNdFormat *format);

/* Whether @meta is a GstTensorMeta. It describes the samples of an input, and
 * no output of other samples may have it. */
gboolean gst_nd_is_tensor_meta (const GstMeta *meta);

G_END_DECLS
