/* GStreamer's CUDA library, opened at run time: it links to X11, GL and
 * Wayland, which a filter on the CPU does not need, and its headers want the
 * CUDA Toolkit. The types are those of GStreamer 1.22 to 1.28; contexts are
 * GstObjects.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

/* "ndcontext", from gst_nd_cuda_library_open() on. */
GST_DEBUG_CATEGORY_EXTERN (gst_nd_context_debug);

G_BEGIN_DECLS

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
