/* GstTensorMeta, by which GStreamer 1.26 and later describe tensors. Elements
 * that know it need no caps of NNStreamer.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstndformat.h"

G_BEGIN_DECLS

/* Attaches a GstTensorMeta to @buffer, a volume of @format that is complete and
 * writable. Its one tensor "ndconv-volume" has the memory of @buffer and the
 * sizes [K,]Z,Y,X,C in row-major order, the order of NumPy. Does nothing for
 * video, and if the plugin was built without GStreamer 1.26. */
void gst_nd_tensor_meta_attach (GstBuffer *buffer, const GstNdFormat *format);

/* Whether @meta is a GstTensorMeta. It describes the samples of an input, and
 * no output of other samples may have it. */
gboolean gst_nd_is_tensor_meta (const GstMeta *meta);

G_END_DECLS
