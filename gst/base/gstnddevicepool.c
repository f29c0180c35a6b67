/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstnddevicepool.h"

#include "gst/base/gstndmemory.h"

GstAllocator *
gst_nd_device_allocator_new (GstNdDevice *device, const NdBackend *backend,
    gint device_id, const GstNdFormat *format)
{
  g_autoptr (GstObject) context = gst_nd_context_get (&device->context);

  return gst_nd_allocator_new (backend, context, device_id,
      format->device ? GST_ND_MEMORY_DEVICE : GST_ND_MEMORY_PINNED);
}

GstBufferPool *
gst_nd_device_pool_new (GstNdDevice *device, const GstNdFormat *format,
    GstCaps *caps, GstAllocator **allocator, guint min, guint max, guint *size)
{
  g_autoptr (GstObject) context = gst_nd_context_get (&device->context);
  GstBufferPool *pool = NULL;
  GstStructure *config;

  if (format->device)
    pool = gst_nd_cuda_pool_new (context, caps, min, max, size);
  if (pool) {
    gst_clear_object (allocator);
    return pool;
  }
  pool =
      format->is_video ? gst_video_buffer_pool_new () : gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, *size, min, max);
  if (*allocator)
    gst_buffer_pool_config_set_allocator (config, *allocator, NULL);
  gst_buffer_pool_set_config (pool, config);
  return pool;
}
