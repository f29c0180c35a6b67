/* Memory for volumes that a device works on: memory of the device, between
 * elements of this plugin, or pinned host memory, which the device reads and
 * writes by itself.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/fence.h"
#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_ND_MEMORY_PINNED,
  GST_ND_MEMORY_DEVICE
} GstNdMemoryKind;

#define GST_TYPE_ND_ALLOCATOR (gst_nd_allocator_get_type ())
G_DECLARE_FINAL_TYPE (GstNdAllocator, gst_nd_allocator, GST, ND_ALLOCATOR,
    GstAllocator)

/* @context: see gstndcuda.h. The memory holds a reference to it. */
GstAllocator *gst_nd_allocator_new (const NdBackend *backend,
    GstObject *context, gint device_id, GstNdMemoryKind kind);

/* Whether @memory is device memory of such an allocator. Mapped with
 * GST_ND_MAP_CUDA it is a device pointer, otherwise a copy in host memory. */
gboolean gst_nd_memory_is_device (GstMemory *memory);

/* The back end of device memory, also after the device was lost; NULL for
 * other memory. */
const NdBackend *gst_nd_memory_backend (GstMemory *memory);

/* The fence after the work that writes device memory; NULL if no work is
 * pending. set takes a reference, get returns one. */
void gst_nd_memory_set_fence (GstMemory *memory, NdFence *fence);
NdFence *gst_nd_memory_get_fence (GstMemory *memory);

G_END_DECLS
