/* Buffers of any size, and pools of them for sources.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstnddevice.h"
#include "gst/base/gstndformat.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* A buffer of @size bytes whose content is undefined, or NULL without memory:
 * gst_buffer_new_allocate() and gst_buffer_copy_deep() would end the
 * process. */
GstBuffer *gst_nd_buffer_new (gsize size);

/* A new buffer with the bytes of @buffer and nothing else of it. NULL without
 * memory, or if they cannot be read. */
GstBuffer *gst_nd_buffer_copy_bytes (GstBuffer *buffer);

/* A pool of buffers in the memory of the machine, not started. Without memory
 * it returns GST_FLOW_ERROR; GStreamer's own would end the process. */
GstBufferPool *gst_nd_pool_new (void);

/* For GstBaseSrcClass.decide_allocation(): sets the pool of an ALLOCATION query
 * to that of downstream if its buffers have @size bytes and it is no plain
 * one, otherwise to a new one. A pool is faster, because new memory for each
 * volume costs a page fault every 4 KiB. Buffers of a pool have less than
 * 4 GiB: the query of larger volumes has no pool afterwards. */
gboolean gst_nd_query_set_pool (GstQuery *query, gsize size);

/* For GstBaseTransformClass.decide_allocation(), before that of the parent:
 * puts gst_nd_pool_new() where downstream offers no pool, for outputs of @size
 * bytes in memory of the system. */
void gst_nd_query_fill_pool (GstQuery *query, gsize size);

/* Pools of buffers that a device reads and writes by itself.
 */

/* An allocator for volumes of @format: memory of the device if the caps say so,
 * otherwise pinned memory of the host. */
GstAllocator *gst_nd_device_allocator_new (GstNdDevice *device,
    const NdBackend *backend, gint device_id, const GstNdFormat *format);

/* A configured pool for volumes of @format with memory of @allocator, or of the
 * host if that is NULL. If GStreamer's CUDA memory can hold them, clears
 * @allocator: that pool has its own. @size is the bytes of a buffer. */
GstBufferPool *gst_nd_device_pool_new (GstNdDevice *device,
    const GstNdFormat *format, GstCaps *caps, GstAllocator **allocator,
    guint min, guint max, guint *size);

G_END_DECLS
