/* Buffers of any size, and pools of them for sources.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

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

G_END_DECLS
