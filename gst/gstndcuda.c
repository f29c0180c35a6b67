/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstndcuda.h"

#include <gmodule.h>

gboolean
gst_nd_cuda_caps (const GstCaps * caps, guint i)
{
  GstCapsFeatures *features = gst_caps_get_features (caps, i);

  return features && !gst_caps_features_is_any (features)
      && gst_caps_features_contains (features, GST_ND_FEATURE_CUDA);
}

void
gst_nd_cuda_prefer (GstQuery * query)
{
  g_autoptr (GstCaps) sorted = gst_caps_new_empty ();
  GstCaps *caps;

  gst_query_parse_caps_result (query, &caps);
  if (!caps || gst_caps_is_any (caps))
    return;
  for (gint device = 1; device >= 0; device--) {
    for (guint i = 0; i < gst_caps_get_size (caps); i++) {
      if (gst_nd_cuda_caps (caps, i) == device)
        gst_caps_append_structure_full (sorted,
            gst_structure_copy (gst_caps_get_structure (caps, i)),
            gst_caps_features_copy (gst_caps_get_features (caps, i)));
    }
  }
  gst_query_set_caps_result (query, sorted);
}

#ifdef HAVE_GST_CUDA

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>

static gboolean
loaded (void)
{
  static gsize state = 0;

  if (g_once_init_enter (&state)) {
    gboolean ok = gst_cuda_load_library ();

    /* Without it, pools of 1.22 find no allocator. */
    if (ok)
      gst_cuda_memory_init_once ();
    g_once_init_leave (&state, ok ? 1 : 2);
  }
  return state == 1;
}

static gboolean
is_well (GstObject * context, const NdBackend * backend)
{
  gpointer memory;

  gst_nd_cuda_enter (context);
  memory = backend->memory_new (-1, 256, NULL);
  if (memory)
    backend->memory_free (memory);
  gst_nd_cuda_leave (context);
  return memory != NULL;
}

/* Our own contexts, by device: making one takes longer than a thousand volumes,
 * and pipelines in one context do not take turns on the device. */
static GstObject *
own_context (const NdBackend * backend, gint device_id)
{
  static GMutex lock;
  static GHashTable *all;
  gpointer key = GINT_TO_POINTER (MAX (device_id, 0));
  GstObject *context;

  g_mutex_lock (&lock);
  if (!all)
    all = g_hash_table_new_full (NULL, NULL, NULL, gst_object_unref);
  context = g_hash_table_lookup (all, key);
  if (!context || !is_well (context, backend)) {
    context = (GstObject *) gst_cuda_context_new (MAX (device_id, 0));
    if (context) {
      GST_OBJECT_FLAG_SET (context, GST_OBJECT_FLAG_MAY_BE_LEAKED);
      g_hash_table_replace (all, key, context);
    } else {
      g_hash_table_remove (all, key);
    }
  }
  if (context)
    gst_object_ref (context);
  g_mutex_unlock (&lock);
  return context;
}

/* Asks what is linked to @element's pads until one has a context that will do.
 */
static void
ask_neighbours (GstElement * element, GList * pads, GstObject ** context)
{
  for (GList * l = pads; l && !*context; l = l->next) {
    g_autoptr (GstQuery) query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
    GstContext *message;

    if (!gst_pad_peer_query (l->data, query))
      continue;
    gst_query_parse_context (query, &message);
    if (message)
      gst_element_set_context (element, message);
  }
}

/* What was set on @element before it went to NULL, where elements forget it:
 * only bins answer NEED_CONTEXT with what they were given. */
static void
recall (GstElement * element)
{
  g_autoptr (GstContext) stored = gst_element_get_context (element,
      GST_CUDA_CONTEXT_TYPE);

  if (stored)
    gst_element_set_context (element, stored);
}

void
gst_nd_cuda_ensure_context (GstElement * element, const NdBackend * backend,
    gint device_id, GstObject ** context)
{
  GstContext *message;

  if (!loaded ())
    return;
  /* Each answer comes by set_context(), which takes none of another device. */
  ask_neighbours (element, element->srcpads, context);
  ask_neighbours (element, element->sinkpads, context);
  if (!*context)
    gst_element_post_message (element, gst_message_new_need_context (GST_OBJECT
            (element), GST_CUDA_CONTEXT_TYPE));
  if (!*context)
    recall (element);
  if (*context && is_well (*context, backend))
    return;
  gst_clear_object (context);
  *context = own_context (backend, device_id);
  if (!*context)
    return;
  message = gst_context_new_cuda_context ((GstCudaContext *) * context);
  gst_element_set_context (element, message);
  gst_element_post_message (element, gst_message_new_have_context (GST_OBJECT
          (element), message));
}

void
gst_nd_cuda_set_context (GstElement * element, GstContext * message,
    gint device_id, GstObject ** context)
{
  if (loaded ())
    gst_cuda_handle_set_context (element, message, device_id,
        (GstCudaContext **) context);
}

gboolean
gst_nd_cuda_answer (GstElement * element, GstQuery * query, GstObject * context)
{
  return gst_cuda_handle_context_query (element, query,
      (GstCudaContext *) context);
}

void
gst_nd_cuda_enter (GstObject * context)
{
  if (context)
    gst_cuda_context_push ((GstCudaContext *) context);
}

void
gst_nd_cuda_leave (GstObject * context)
{
  if (context)
    gst_cuda_context_pop (NULL);
}

gboolean
gst_nd_cuda_is_memory (GstMemory * memory)
{
  return gst_is_cuda_memory (memory);
}

/* From 1.24 on memory may still be in use by its stream. */
void
gst_nd_cuda_sync (GstMemory * memory)
{
  static gsize looked = 0;
  static void (*sync) (GstMemory *);

  if (g_once_init_enter (&looked)) {
    GModule *self = g_module_open (NULL, G_MODULE_BIND_LAZY);

    /* The library may be known to the plugin only. */
    if (!g_module_symbol (self, "gst_cuda_memory_sync", (gpointer *) & sync)) {
      GModule *library = g_module_open ("libgstcuda-1.0.so.0",
          G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);

      if (library && !g_module_symbol (library, "gst_cuda_memory_sync",
              (gpointer *) & sync))
        sync = NULL;
    }
    g_once_init_leave (&looked, 1);
  }
  if (sync)
    sync (memory);
}

GstBufferPool *
gst_nd_cuda_pool_new (GstObject * context, GstCaps * caps, guint min,
    guint max, guint * size)
{
  static GstStaticCaps known = GST_STATIC_CAPS
      (GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_ND_FEATURE_CUDA,
          GST_ND_CUDA_VIDEO_FORMATS));
  g_autoptr (GstCaps) allowed = gst_static_caps_get (&known);
  g_autoptr (GstBufferPool) pool = NULL;
  GstStructure *config;
  GstVideoInfo info;

  if (!context || !gst_caps_is_subset (caps, allowed)
      || !gst_video_info_from_caps (&info, caps))
    return NULL;
  pool = gst_cuda_buffer_pool_new ((GstCudaContext *) context);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, info.size, min, max);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config (pool, config))
    return NULL;
  /* Rows are padded: the pool knows by how much. */
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, NULL, size, NULL, NULL);
  gst_structure_free (config);
  return g_steal_pointer (&pool);
}

#else

void
gst_nd_cuda_ensure_context (GstElement * element, const NdBackend * backend,
    gint device_id, GstObject ** context)
{
}

void
gst_nd_cuda_set_context (GstElement * element, GstContext * message,
    gint device_id, GstObject ** context)
{
}

gboolean
gst_nd_cuda_answer (GstElement * element, GstQuery * query, GstObject * context)
{
  return FALSE;
}

void
gst_nd_cuda_enter (GstObject * context)
{
}

void
gst_nd_cuda_leave (GstObject * context)
{
}

gboolean
gst_nd_cuda_is_memory (GstMemory * memory)
{
  return FALSE;
}

void
gst_nd_cuda_sync (GstMemory * memory)
{
}

GstBufferPool *
gst_nd_cuda_pool_new (GstObject * context, GstCaps * caps, guint min,
    guint max, guint * size)
{
  return NULL;
}

#endif
