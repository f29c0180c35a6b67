/* Memory for volumes that a device works on: memory of the device, between our
 * elements, or host memory that it reads and writes by itself.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>
#include "engine/ndfence.h"

G_BEGIN_DECLS

typedef enum
{
  GST_ND_MEMORY_PINNED,
  GST_ND_MEMORY_DEVICE
} GstNdMemoryKind;

#define GST_TYPE_ND_ALLOCATOR (gst_nd_allocator_get_type ())
G_DECLARE_FINAL_TYPE (GstNdAllocator, gst_nd_allocator, GST, ND_ALLOCATOR,
    GstAllocator)

/* @context as in gstndcuda.h; memory holds on to it. */
GstAllocator *gst_nd_allocator_new (const NdBackend * backend,
    GstObject * context, gint device_id, GstNdMemoryKind kind);

/* Whether @memory is such memory of a device: mapped with GST_ND_MAP_CUDA it is
 * a pointer there, otherwise a copy in host memory. */
gboolean gst_nd_memory_is_device (GstMemory * memory);

/* Whose memory of a device @memory is, lost or not; NULL where it is none. */
const NdBackend *gst_nd_memory_backend (GstMemory * memory);

/* The fence behind what is being written into @memory of a device; NULL where
 * it is written. Takes, or gives, a reference. */
void gst_nd_memory_set_fence (GstMemory * memory, NdFence * fence);
NdFence *gst_nd_memory_get_fence (GstMemory * memory);

G_END_DECLS
