/* Contexts that elements share, and the memory of GStreamer's CUDA elements, by
 * its CUDA library. gstndcuda.c hides the differences between versions of the
 * library, and its absence. If the library or the driver is missing, contexts
 * are NULL, and the back end uses its own.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"
#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

#define GST_ND_FEATURE_CUDA "memory:CUDAMemory"

/* GST_MAP_CUDA: map device memory as a device pointer. */
#define GST_ND_MAP_CUDA ((GstMapFlags) (GST_MAP_FLAG_LAST << 1))

/* Formats to and from GStreamer's CUDA elements. The library does not support
 * GRAY formats; version 1.22 aborts on them. */
#define GST_ND_CUDA_VIDEO_FORMATS          \
  "{ NV12, I420, RGBA, BGRA, NV21, YV12, " \
  "Y444, RGBx, BGRx, ARGB, ABGR }"

/* A context that several threads read and set. */
typedef struct
{
  GMutex lock;
  GstObject *object;
} GstNdContext;

/* Any thread may call these functions, init() and clear() the owner alone.
 * set() takes a reference of its own; @object may be NULL. */
void gst_nd_context_init (GstNdContext *context);
void gst_nd_context_clear (GstNdContext *context);
void gst_nd_context_set (GstNdContext *context, GstObject *object);
/* A reference, or NULL. */
GstObject *gst_nd_context_get (GstNdContext *context);

/* Sets @context to the one that @element uses, in the order of GStreamer's own
 * elements: the context of a neighbour, of the application, or a new one. A
 * context that an error has destroyed is replaced. */
void gst_nd_cuda_ensure_context (GstElement *element, const NdBackend *backend,
    gint device_id, GstNdContext *context);

/* For set_context() of an element, before it chains up. */
void gst_nd_cuda_set_context (GstElement *element, GstContext *message,
    gint device_id, GstNdContext *context);

/* Answers a CONTEXT query. FALSE if it is about another type of context. */
gboolean gst_nd_cuda_answer (GstElement *element, GstQuery *query,
    GstObject *context);

/* Make @context current, and back. Call in pairs around functions of the back
 * end. */
void gst_nd_cuda_enter (GstObject *context);
void gst_nd_cuda_leave (GstObject *context);

/* Whether @memory is GStreamer's CUDA memory. */
gboolean gst_nd_cuda_is_memory (GstMemory *memory);

/* Waits for the work of other elements on @memory, which is CUDA memory and
 * mapped. */
void gst_nd_cuda_sync (GstMemory *memory);

/* A configured pool of GStreamer's CUDA memory; sets @size to the bytes of its
 * buffers. NULL if it does not support @caps. */
GstBufferPool *gst_nd_cuda_pool_new (GstObject *context, GstCaps *caps,
    guint min, guint max, guint *size);

/* Sorts caps with memory:CUDAMemory to the front of the answer to a CAPS query,
 * so that upstream prefers them. */
void gst_nd_cuda_prefer (GstQuery *query);

/* Whether structure @i of @caps has the feature memory:CUDAMemory. */
gboolean gst_nd_cuda_caps (const GstCaps *caps, guint i);

/* Adds all structures of @caps with the other kind of memory, after those that
 * are there. */
void gst_nd_cuda_add_caps (GstCaps *caps);

/* Removes the structures with memory:CUDAMemory. */
void gst_nd_cuda_remove_caps (GstCaps *caps);

/* For fixate_caps() of the caps of @pad: if both kinds of memory are possible,
 * keeps the device's if the peer names that, otherwise the host's. Takes and
 * returns a reference. */
GstCaps *gst_nd_cuda_choose_caps (GstPad *pad, GstCaps *caps);

/* GStreamer's CUDA library, opened at run time: it links to X11, GL and
 * Wayland, which a filter on the CPU does not need, and its headers want the
 * CUDA Toolkit. The types are those of GStreamer 1.22 to 1.28; contexts are
 * GstObjects.
 */

/* "ndcontext", from gst_nd_cuda_library_open() on. */
GST_DEBUG_CATEGORY_EXTERN (gst_nd_context_debug);

/* GST_CUDA_CONTEXT_TYPE */
#define GST_ND_CUDA_CONTEXT_TYPE "gst.cuda.context"

/* The functions of the same names, with gst_ before them. */
typedef struct
{
  gboolean (*cuda_load_library) (void);
  void (*cuda_memory_init_once) (void);
  GstObject *(*cuda_context_new) (guint device_id);
  gboolean (*cuda_context_push) (GstObject *context);
  gboolean (*cuda_context_pop) (gpointer *handle);
  GstContext *(*context_new_cuda_context) (GstObject *context);
  gboolean (*cuda_handle_set_context) (GstElement *element, GstContext *message,
      gint device_id, GstObject **context);
  gboolean (*cuda_handle_context_query) (GstElement *element, GstQuery *query,
      GstObject *context);
  gboolean (*is_cuda_memory) (GstMemory *memory);
  GstBufferPool *(*cuda_buffer_pool_new) (GstObject *context);
  void (*cuda_memory_sync) (GstMemory *memory); /* NULL before 1.24 */
} GstNdCudaLibrary;

/* Opens the library at the first call. NULL if the library is not installed or
 * finds no driver. */
const GstNdCudaLibrary *gst_nd_cuda_library_open (void);

/* The library if gst_nd_cuda_library_open() has opened it. */
const GstNdCudaLibrary *gst_nd_cuda_library (void);

G_END_DECLS
