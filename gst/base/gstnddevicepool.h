/* Pools of buffers that a device reads and writes by itself.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/base/gstnddevice.h"
#include "gst/base/gstndformat.h"

G_BEGIN_DECLS

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
