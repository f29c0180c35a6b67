/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndmemory.h"

#include "core/memory.h"
#include "gst/base/gstndcuda.h"
#include <stdlib.h>

struct _GstNdAllocator
{
  GstAllocator parent;

  const NdBackend *backend;
  GstObject *context;
  gint device_id;
  GstNdMemoryKind kind;
};

typedef struct
{
  GstMemory parent;

  gpointer data; /* device memory, or pinned host memory */
  gboolean pinned;

  /* For device memory only. */
  GMutex lock; /* of the fence */
  NdFence *fence;
  GMutex host_lock; /* of host and host_maps; held while copying */
  gpointer host;    /* copy while host_maps > 0 */
  guint host_maps;
} GstNdMemory;

G_DEFINE_TYPE (GstNdAllocator, gst_nd_allocator, GST_TYPE_ALLOCATOR);

GST_DEBUG_CATEGORY_STATIC (nd_memory_debug);
#define GST_CAT_DEFAULT nd_memory_debug

/* If pinning fails, the memory still works, but slower. */
static gpointer
new_pinned (GstNdAllocator *self, gsize size, gboolean *pinned)
{
  g_autoptr (GError) error = NULL;
  gpointer data = nd_pages_new (&size);

  if (!data)
    return NULL;
  *pinned = self->backend->memory->pin (self->device_id, data, size, &error);
  if (!*pinned)
    GST_WARNING_OBJECT (self,
        "memory is not pinned, so transfers are slower: %s", error->message);
  return data;
}

static GstMemory *
gst_nd_allocator_alloc (GstAllocator *allocator, gsize size,
    GstAllocationParams *params)
{
  GstNdAllocator *self = GST_ND_ALLOCATOR (allocator);
  const gsize all = size + params->prefix + params->padding;
  g_autoptr (GError) error = NULL;
  gboolean pinned = FALSE;
  GstNdMemory *memory;
  gpointer data;

  gst_nd_cuda_enter (self->context);
  if (self->kind == GST_ND_MEMORY_DEVICE)
    data = self->backend->memory->alloc (self->device_id, all, &error);
  else
    data = new_pinned (self, all, &pinned);
  gst_nd_cuda_leave (self->context);
  if (!data) {
    GST_WARNING_OBJECT (self, "no memory of %" G_GSIZE_FORMAT " bytes: %s", all,
        error ? error->message : "the machine has none left");
    return NULL;
  }
  GST_DEBUG_OBJECT (self, "%" G_GSIZE_FORMAT " bytes of %s memory", all,
      self->kind == GST_ND_MEMORY_DEVICE ? "device" : "pinned");
  memory = g_new0 (GstNdMemory, 1);
  gst_memory_init (GST_MEMORY_CAST (memory), GST_MEMORY_FLAG_NO_SHARE,
      allocator, NULL, all, 0, params->prefix, size);
  memory->data = data;
  memory->pinned = pinned;
  g_mutex_init (&memory->lock);
  g_mutex_init (&memory->host_lock);
  return GST_MEMORY_CAST (memory);
}

static void
gst_nd_allocator_free (GstAllocator *allocator, GstMemory *mem)
{
  GstNdAllocator *self = GST_ND_ALLOCATOR (allocator);
  GstNdMemory *memory = (GstNdMemory *) mem;
  g_autoptr (NdFence) fence = gst_nd_memory_get_fence (mem);

  /* A buffer that downstream dropped may still be written to. */
  if (fence)
    nd_fence_synchronize (fence, NULL, NULL);
  gst_nd_memory_set_fence (mem, NULL);
  gst_nd_cuda_enter (self->context);
  if (self->kind == GST_ND_MEMORY_DEVICE)
    self->backend->memory->free (memory->data);
  else if (memory->pinned)
    self->backend->memory->unpin (memory->data);
  gst_nd_cuda_leave (self->context);
  if (self->kind == GST_ND_MEMORY_PINNED)
    free (memory->data);
  g_mutex_clear (&memory->lock);
  g_mutex_clear (&memory->host_lock);
  g_free (memory);
}

/* Copies from the device to memory->host, or back. */
static gboolean
memory_copy (GstNdMemory *memory, gboolean to_host)
{
  GstNdAllocator *self = GST_ND_ALLOCATOR (memory->parent.allocator);
  g_autoptr (NdFence) fence =
      gst_nd_memory_get_fence (GST_MEMORY_CAST (memory));
  g_autoptr (GError) error = NULL;
  gboolean ok = !fence || nd_fence_synchronize (fence, NULL, &error);

  gst_nd_cuda_enter (self->context);
  ok = ok
      && self->backend->memory->copy (to_host ? memory->host : memory->data,
          to_host ? memory->data : memory->host, memory->parent.maxsize,
          &error);
  gst_nd_cuda_leave (self->context);
  if (ok)
    GST_LOG_OBJECT (self, "copied %" G_GSIZE_FORMAT " bytes %s the device",
        memory->parent.maxsize, to_host ? "from" : "to");
  else
    GST_WARNING_OBJECT (self, "copy %s the device failed: %s",
        to_host ? "from" : "to", error->message);
  return ok;
}

/* Several threads may map memory for reading at once; the locks of GstMemory
 * only keep writers apart. */
static gpointer
map_host (GstNdMemory *memory)
{
  gpointer host = NULL;

  g_mutex_lock (&memory->host_lock);
  if (memory->host_maps == 0) {
    memory->host = g_try_malloc (memory->parent.maxsize);
    if (memory->host && !memory_copy (memory, TRUE))
      g_clear_pointer (&memory->host, g_free);
  }
  host = memory->host;
  if (host)
    memory->host_maps++;
  g_mutex_unlock (&memory->host_lock);
  return host;
}

static gpointer
gst_nd_memory_map (GstMemory *mem, GstMapInfo *info, gsize size)
{
  GstNdMemory *memory = (GstNdMemory *) mem;

  if (gst_nd_memory_is_device (mem) && !(info->flags & GST_ND_MAP_CUDA))
    return map_host (memory);
  return memory->data;
}

static void
gst_nd_memory_unmap (GstMemory *mem, GstMapInfo *info)
{
  GstNdMemory *memory = (GstNdMemory *) mem;

  if (!gst_nd_memory_is_device (mem) || info->flags & GST_ND_MAP_CUDA)
    return;
  g_mutex_lock (&memory->host_lock);
  if (info->flags & GST_MAP_WRITE)
    memory_copy (memory, FALSE);
  if (--memory->host_maps == 0)
    g_clear_pointer (&memory->host, g_free);
  g_mutex_unlock (&memory->host_lock);
}

gboolean
gst_nd_memory_is_device (GstMemory *memory)
{
  return GST_IS_ND_ALLOCATOR (memory->allocator)
      && GST_ND_ALLOCATOR (memory->allocator)->kind == GST_ND_MEMORY_DEVICE;
}

const NdBackend *
gst_nd_memory_backend (GstMemory *memory)
{
  return gst_nd_memory_is_device (memory)
      ? GST_ND_ALLOCATOR (memory->allocator)->backend
      : NULL;
}

void
gst_nd_memory_set_fence (GstMemory *mem, NdFence *fence)
{
  GstNdMemory *memory = (GstNdMemory *) mem;
  NdFence *old;

  g_mutex_lock (&memory->lock);
  old = memory->fence;
  memory->fence = fence;
  g_mutex_unlock (&memory->lock);
  if (old)
    nd_fence_unref (old);
}

NdFence *
gst_nd_memory_get_fence (GstMemory *mem)
{
  GstNdMemory *memory = (GstNdMemory *) mem;
  NdFence *fence;

  g_mutex_lock (&memory->lock);
  fence = memory->fence ? nd_fence_ref (memory->fence) : NULL;
  g_mutex_unlock (&memory->lock);
  return fence;
}

static void
gst_nd_allocator_finalize (GObject *object)
{
  gst_clear_object (&GST_ND_ALLOCATOR (object)->context);
  G_OBJECT_CLASS (gst_nd_allocator_parent_class)->finalize (object);
}

static void
gst_nd_allocator_class_init (GstNdAllocatorClass *klass)
{
  GST_DEBUG_CATEGORY_INIT (nd_memory_debug, "ndmemory", 0,
      "memory for volumes on a device");
  G_OBJECT_CLASS (klass)->finalize = gst_nd_allocator_finalize;
  GST_ALLOCATOR_CLASS (klass)->alloc = gst_nd_allocator_alloc;
  GST_ALLOCATOR_CLASS (klass)->free = gst_nd_allocator_free;
}

static void
gst_nd_allocator_init (GstNdAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_type = "NdMemory";
  allocator->mem_map_full = gst_nd_memory_map;
  allocator->mem_unmap_full = gst_nd_memory_unmap;
}

GstAllocator *
gst_nd_allocator_new (const NdBackend *backend, GstObject *context,
    gint device_id, GstNdMemoryKind kind)
{
  GstNdAllocator *self = g_object_new (GST_TYPE_ND_ALLOCATOR, NULL);

  gst_object_ref_sink (self);
  self->backend = backend;
  self->context = context ? gst_object_ref (context) : NULL;
  self->device_id = device_id;
  self->kind = kind;
  return GST_ALLOCATOR_CAST (self);
}
