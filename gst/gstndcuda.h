/* GStreamer's CUDA library: contexts that elements share, and its memory.
 * Everything that differs between versions of it, or without it, stands in
 * gstndcuda.c. A context is NULL where the library or the driver is absent;
 * then the back end has one of its own.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/video/video.h>
#include "engine/ndbackend.h"

G_BEGIN_DECLS

#define GST_ND_FEATURE_CUDA "memory:CUDAMemory"

/* GST_MAP_CUDA: map memory of a device where it is. */
#define GST_ND_MAP_CUDA ((GstMapFlags) (GST_MAP_FLAG_LAST << 1))

/* Formats that go to and from GStreamer's CUDA elements. Its memory knows no
 * GRAY: 1.22 aborts on it. */
#define GST_ND_CUDA_VIDEO_FORMATS "{ NV12, I420, RGBA, BGRA, NV21, YV12, " \
  "Y444, RGBx, BGRx, ARGB, ABGR }"

/* The context @element uses, found as GStreamer's own elements find it: from
 * neighbours, the application, or a new one. One that an error has spoilt is
 * replaced. */
void gst_nd_cuda_ensure_context (GstElement * element,
    const NdBackend * backend, gint device_id, GstObject ** context);

/* For set_context() of an element, before it chains up. */
void gst_nd_cuda_set_context (GstElement * element, GstContext * message,
    gint device_id, GstObject ** context);

/* Answers a CONTEXT query. FALSE where it is of another type. */
gboolean gst_nd_cuda_answer (GstElement * element, GstQuery * query,
    GstObject * context);

/* In pairs, around what uses the back end's device. */
void gst_nd_cuda_enter (GstObject * context);
void gst_nd_cuda_leave (GstObject * context);

/* Whether @memory is GStreamer's CUDA memory. */
gboolean gst_nd_cuda_is_memory (GstMemory * memory);

/* Waits for what others do with such @memory, which is mapped. */
void gst_nd_cuda_sync (GstMemory * memory);

/* A pool of GStreamer's CUDA memory, configured; its buffers have @size bytes.
 * NULL where the caps are not for it. */
GstBufferPool *gst_nd_cuda_pool_new (GstObject * context, GstCaps * caps,
    guint min, guint max, guint * size);

/* Puts what has that feature first in the answer to a CAPS query: where
 * upstream can choose, it chooses that. */
void gst_nd_cuda_prefer (GstQuery * query);

/* Whether caps have the feature memory:CUDAMemory at @i. */
gboolean gst_nd_cuda_caps (const GstCaps * caps, guint i);

G_END_DECLS
