/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndpool.h"

#include "gst/base/gstndmemory.h"

typedef struct
{
  GstBufferPool parent;
  guint size; /* bytes of a buffer */
} GstNdPool;
typedef GstBufferPoolClass GstNdPoolClass;

static GType gst_nd_pool_get_type (void);
G_DEFINE_TYPE (GstNdPool, gst_nd_pool, GST_TYPE_BUFFER_POOL);

GstBuffer *
gst_nd_buffer_new (gsize size)
{
  gpointer memory = g_try_malloc (size);

  return memory ? gst_buffer_new_wrapped (memory, size) : NULL;
}

GstBuffer *
gst_nd_buffer_copy_bytes (GstBuffer *buffer)
{
  const gsize size = gst_buffer_get_size (buffer);
  GstBuffer *copy = gst_nd_buffer_new (size);
  GstMapInfo map;

  if (!copy)
    return NULL;
  if (!gst_buffer_map (copy, &map, GST_MAP_WRITE)) {
    gst_buffer_unref (copy);
    return NULL;
  }
  if (gst_buffer_extract (buffer, 0, map.data, size) == size) {
    gst_buffer_unmap (copy, &map);
    return copy;
  }
  gst_buffer_unmap (copy, &map);
  gst_buffer_unref (copy);
  return NULL;
}

static gboolean
gst_nd_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstNdPool *self = (GstNdPool *) pool;

  return gst_buffer_pool_config_get_params (config, NULL, &self->size, NULL,
             NULL)
      && GST_BUFFER_POOL_CLASS (gst_nd_pool_parent_class)
             ->set_config (pool, config);
}

static GstFlowReturn
gst_nd_pool_alloc_buffer (GstBufferPool *pool, GstBuffer **buffer,
    GstBufferPoolAcquireParams *params)
{
  *buffer = gst_nd_buffer_new (((GstNdPool *) pool)->size);
  return *buffer ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static void
gst_nd_pool_class_init (GstNdPoolClass *klass)
{
  klass->set_config = gst_nd_pool_set_config;
  klass->alloc_buffer = gst_nd_pool_alloc_buffer;
}

static void
gst_nd_pool_init (GstNdPool *self)
{
}

GstBufferPool *
gst_nd_pool_new (void)
{
  return g_object_new (gst_nd_pool_get_type (), NULL);
}

/* Whether its buffers are in the memory that GStreamer takes by default. */
static gboolean
pool_is_plain (GstBufferPool *pool, GstAllocator *allocator)
{
  return G_OBJECT_TYPE (pool) == GST_TYPE_BUFFER_POOL && !allocator;
}

gboolean
gst_nd_query_set_pool (GstQuery *query, gsize size)
{
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = NULL;
  GstAllocationParams params;
  guint min = 0, max = 0, pool_size = 0;
  GstStructure *config;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &pool_size, &min,
        &max);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  else
    gst_allocation_params_init (&params);
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  if (!caps || size > G_MAXUINT)
    return TRUE;
  if (pool && (pool_size != size || pool_is_plain (pool, allocator)))
    gst_clear_object (&pool);
  if (!pool) {
    pool = allocator ? gst_buffer_pool_new () : gst_nd_pool_new ();
    min = max = 0;
  }
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  if (!gst_buffer_pool_set_config (pool, config))
    return FALSE;
  gst_query_add_allocation_pool (query, pool, size, min, max);
  return TRUE;
}

void
gst_nd_query_fill_pool (GstQuery *query, gsize size)
{
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = NULL;
  const gboolean update = gst_query_get_n_allocation_pools (query) > 0;
  guint pool_size = 0, min = 0, max = 0;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (update)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &pool_size, &min,
        &max);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  size = MAX (size, pool_size);
  if (size > G_MAXUINT || pool
      || (caps
          && !gst_caps_features_is_equal (gst_caps_get_features (caps, 0),
              GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)))
    return;
  pool = allocator ? gst_buffer_pool_new () : gst_nd_pool_new ();
  if (update)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
}

/* Pools of buffers that a device reads and writes by itself.
 */

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
  if (!*allocator)
    pool = gst_nd_pool_new ();
  else
    pool = format->is_video ? gst_video_buffer_pool_new ()
                            : gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, *size, min, max);
  if (*allocator)
    gst_buffer_pool_config_set_allocator (config, *allocator, NULL);
  gst_buffer_pool_set_config (pool, config);
  return pool;
}
