/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndcuda.h"

#include <gmodule.h>

#define GST_CAT_DEFAULT gst_nd_context_debug

gboolean
gst_nd_cuda_caps (const GstCaps *caps, guint i)
{
  GstCapsFeatures *features = gst_caps_get_features (caps, i);

  return features && !gst_caps_features_is_any (features)
      && gst_caps_features_contains (features, GST_ND_FEATURE_CUDA);
}

void
gst_nd_cuda_prefer (GstQuery *query)
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

void
gst_nd_cuda_remove_caps (GstCaps *caps)
{
  for (guint i = gst_caps_get_size (caps); i > 0; i--) {
    if (gst_nd_cuda_caps (caps, i - 1))
      gst_caps_remove_structure (caps, i - 1);
  }
}

void
gst_nd_cuda_add_caps (GstCaps *caps)
{
  const guint n = gst_caps_get_size (caps);

  for (guint i = 0; i < n; i++) {
    GstCapsFeatures *features = gst_nd_cuda_caps (caps, i)
        ? NULL
        : gst_caps_features_new_single (GST_ND_FEATURE_CUDA);

    gst_caps_append_structure_full (caps,
        gst_structure_copy (gst_caps_get_structure (caps, i)), features);
  }
}

GstCaps *
gst_nd_cuda_choose_caps (GstPad *pad, GstCaps *caps)
{
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (pad, NULL);
  g_autoptr (GstCaps) chosen = gst_caps_new_empty ();
  gboolean device = FALSE;

  for (guint i = 0; peer && i < gst_caps_get_size (peer); i++)
    device |= gst_nd_cuda_caps (peer, i);
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    if (gst_nd_cuda_caps (caps, i) == device)
      gst_caps_append_structure_full (chosen,
          gst_structure_copy (gst_caps_get_structure (caps, i)),
          gst_caps_features_copy (gst_caps_get_features (caps, i)));
  }
  if (!gst_caps_is_empty (chosen))
    gst_caps_replace (&caps, chosen);
  return caps;
}

void
gst_nd_context_init (GstNdContext *context)
{
  g_mutex_init (&context->lock);
  context->object = NULL;
}

void
gst_nd_context_clear (GstNdContext *context)
{
  gst_clear_object (&context->object);
  g_mutex_clear (&context->lock);
}

void
gst_nd_context_set (GstNdContext *context, GstObject *object)
{
  g_mutex_lock (&context->lock);
  gst_object_replace (&context->object, object);
  g_mutex_unlock (&context->lock);
}

GstObject *
gst_nd_context_get (GstNdContext *context)
{
  GstObject *object;

  g_mutex_lock (&context->lock);
  object = context->object ? gst_object_ref (context->object) : NULL;
  g_mutex_unlock (&context->lock);
  return object;
}

/* Whether @context still works; after an error on the device it does not. */
static gboolean
cuda_is_usable (GstObject *context, const NdBackend *backend)
{
  gpointer memory;

  gst_nd_cuda_enter (context);
  memory = backend->memory->alloc (-1, 256, NULL);
  if (memory)
    backend->memory->free (memory);
  gst_nd_cuda_leave (context);
  return memory != NULL;
}

/* One context per device for the process, because making one takes longer than
 * filtering a thousand volumes, and pipelines that share a context can use the
 * device at the same time. */
static GMutex own_lock;
static GHashTable *own_contexts; /* by device */

/* Replaces the context of @key by @replacement, if that is not NULL and the
 * context is still @old. Returns a reference to the context of @key. */
static GstObject *
update_own_context (gpointer key, GstObject *old, GstObject *replacement)
{
  GstObject *context;

  g_mutex_lock (&own_lock);
  if (!own_contexts)
    own_contexts = g_hash_table_new_full (NULL, NULL, NULL, gst_object_unref);
  context = g_hash_table_lookup (own_contexts, key);
  if (context == old && replacement) {
    context = replacement;
    g_hash_table_replace (own_contexts, key, gst_object_ref (context));
  }
  if (context)
    gst_object_ref (context);
  g_mutex_unlock (&own_lock);
  return context;
}

/* No lock is held while the driver makes a context. If two elements make one at
 * the same time, the first one is kept. */
static GstObject *
own_context (const NdBackend *backend, gint device_id)
{
  gpointer key = GINT_TO_POINTER (MAX (device_id, 0));
  g_autoptr (GstObject) old = update_own_context (key, NULL, NULL);
  g_autoptr (GstObject) made = NULL;

  if (old && cuda_is_usable (old, backend))
    return g_steal_pointer (&old);
  made = gst_nd_cuda_library ()->cuda_context_new (MAX (device_id, 0));
  if (!made)
    return NULL;
  GST_OBJECT_FLAG_SET (made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return update_own_context (key, old, made);
}

/* Whether @context was set. */
static gboolean
is_set (GstNdContext *context)
{
  g_autoptr (GstObject) object = gst_nd_context_get (context);

  return object != NULL;
}

/* Queries the peers of @pads until set_context() has accepted a context. */
static void
ask_neighbours (GstElement *element, GList *pads, GstNdContext *context)
{
  for (GList *l = pads; l && !is_set (context); l = l->next) {
    g_autoptr (GstQuery) query =
        gst_query_new_context (GST_ND_CUDA_CONTEXT_TYPE);
    GstContext *message;

    if (!gst_pad_peer_query (l->data, query))
      continue;
    gst_query_parse_context (query, &message);
    if (message)
      gst_element_set_context (element, message);
  }
}

/* Sets the context that the application gave @element before NULL, which
 * elements forget there: only bins answer NEED_CONTEXT with stored contexts. */
static void
cuda_recall (GstElement *element)
{
  g_autoptr (GstContext) stored =
      gst_element_get_context (element, GST_ND_CUDA_CONTEXT_TYPE);

  if (stored)
    gst_element_set_context (element, stored);
}

void
gst_nd_cuda_ensure_context (GstElement *element, const NdBackend *backend,
    gint device_id, GstNdContext *context)
{
  g_autoptr (GstObject) object = NULL;
  GstContext *message;

  if (!gst_nd_cuda_library_open ())
    return;
  /* Answers arrive by set_context(), which ignores other devices. */
  ask_neighbours (element, element->srcpads, context);
  ask_neighbours (element, element->sinkpads, context);
  if (!is_set (context))
    gst_element_post_message (element,
        gst_message_new_need_context (GST_OBJECT (element),
            GST_ND_CUDA_CONTEXT_TYPE));
  if (!is_set (context))
    cuda_recall (element);
  object = gst_nd_context_get (context);
  if (object && cuda_is_usable (object, backend)) {
    GST_INFO_OBJECT (element, "shares %" GST_PTR_FORMAT, object);
    return;
  }
  if (object)
    GST_WARNING_OBJECT (element, "%" GST_PTR_FORMAT " does not work any more",
        object);
  gst_clear_object (&object);
  object = own_context (backend, device_id);
  gst_nd_context_set (context, object);
  if (!object) {
    GST_WARNING_OBJECT (element,
        "no CUDA context for device-id %d: the back end uses its own",
        device_id);
    return;
  }
  GST_INFO_OBJECT (element, "uses %" GST_PTR_FORMAT, object);
  message = gst_nd_cuda_library ()->context_new_cuda_context (object);
  gst_element_set_context (element, message);
  gst_element_post_message (element,
      gst_message_new_have_context (GST_OBJECT (element), message));
}

/* A context of another type does not open the library. */
void
gst_nd_cuda_set_context (GstElement *element, GstContext *message,
    gint device_id, GstNdContext *context)
{
  const GstNdCudaLibrary *library;

  if (!message
      || !gst_context_has_context_type (message, GST_ND_CUDA_CONTEXT_TYPE))
    return;
  library = gst_nd_cuda_library_open ();
  if (!library)
    return;
  g_mutex_lock (&context->lock);
  library->cuda_handle_set_context (element, message, device_id,
      &context->object);
  g_mutex_unlock (&context->lock);
}

gboolean
gst_nd_cuda_answer (GstElement *element, GstQuery *query, GstObject *context)
{
  return context
      && gst_nd_cuda_library ()->cuda_handle_context_query (element, query,
          context);
}

void
gst_nd_cuda_enter (GstObject *context)
{
  if (context)
    gst_nd_cuda_library ()->cuda_context_push (context);
}

void
gst_nd_cuda_leave (GstObject *context)
{
  if (context)
    gst_nd_cuda_library ()->cuda_context_pop (NULL);
}

gboolean
gst_nd_cuda_is_memory (GstMemory *memory)
{
  const GstNdCudaLibrary *library = gst_nd_cuda_library ();

  return library && library->is_cuda_memory (memory);
}

/* From version 1.24 on, work on the memory may be pending in its stream. */
void
gst_nd_cuda_sync (GstMemory *memory)
{
  const GstNdCudaLibrary *library = gst_nd_cuda_library ();

  if (library && library->cuda_memory_sync)
    library->cuda_memory_sync (memory);
}

GstBufferPool *
gst_nd_cuda_pool_new (GstObject *context, GstCaps *caps, guint min, guint max,
    guint *size)
{
  static GstStaticCaps known =
      GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_ND_FEATURE_CUDA,
          GST_ND_CUDA_VIDEO_FORMATS));
  g_autoptr (GstCaps) allowed = gst_static_caps_get (&known);
  g_autoptr (GstBufferPool) pool = NULL;
  GstStructure *config;
  GstVideoInfo info;

  if (!context || !gst_caps_is_subset (caps, allowed)
      || !gst_video_info_from_caps (&info, caps))
    return NULL;
  pool = gst_nd_cuda_library ()->cuda_buffer_pool_new (context);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, info.size, min, max);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config (pool, config))
    return NULL;
  /* The pool knows how rows are padded. */
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, NULL, size, NULL, NULL);
  gst_structure_free (config);
  return g_steal_pointer (&pool);
}

/* GStreamer's CUDA library, opened at run time: it links to X11, GL and
 * Wayland, which a filter on the CPU does not need, and its headers want the
 * CUDA Toolkit. The types are those of GStreamer 1.22 to 1.28; contexts are
 * GstObjects.
 */

#define LIBRARY "libgstcuda-1.0.so.0"

GST_DEBUG_CATEGORY (gst_nd_context_debug);
#define GST_CAT_DEFAULT gst_nd_context_debug

static GstNdCudaLibrary functions;
static const GstNdCudaLibrary *library; /* atomic; NULL until it is opened */

#define FUNCTION(name) \
  { "gst_" #name, G_STRUCT_OFFSET (GstNdCudaLibrary, name), TRUE }

static const struct
{
  const gchar *name;
  gsize offset;
  gboolean needed;
} symbols[] = {
  FUNCTION (cuda_load_library),
  FUNCTION (cuda_memory_init_once),
  FUNCTION (cuda_context_new),
  FUNCTION (cuda_context_push),
  FUNCTION (cuda_context_pop),
  FUNCTION (context_new_cuda_context),
  FUNCTION (cuda_handle_set_context),
  FUNCTION (cuda_handle_context_query),
  FUNCTION (is_cuda_memory),
  FUNCTION (cuda_buffer_pool_new),
  { "gst_cuda_memory_sync",
      G_STRUCT_OFFSET (GstNdCudaLibrary, cuda_memory_sync), FALSE },
};

static gboolean
look_up (GModule *module)
{
  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++) {
    gpointer *function = G_STRUCT_MEMBER_P (&functions, symbols[i].offset);

    if (g_module_symbol (module, symbols[i].name, function))
      continue;
    *function = NULL;
    if (symbols[i].needed) {
      GST_WARNING (LIBRARY " has no %s: streams do not share contexts with "
                           "GStreamer's CUDA elements",
          symbols[i].name);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
cuda_open_library (void)
{
  GModule *module =
      g_module_open (LIBRARY, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);

  if (!module) {
    GST_INFO ("GStreamer's CUDA library is not installed: %s",
        g_module_error ());
    return FALSE;
  }
  /* It registers types. */
  g_module_make_resident (module);
  if (!look_up (module))
    return FALSE;
  if (!functions.cuda_load_library ()) {
    GST_INFO ("GStreamer's CUDA library found no driver");
    return FALSE;
  }
  GST_INFO ("GStreamer's CUDA library found the driver");
  /* Pools of 1.22 find no allocator without this. */
  functions.cuda_memory_init_once ();
  return TRUE;
}

const GstNdCudaLibrary *
gst_nd_cuda_library_open (void)
{
  static gsize tried = 0;

  if (g_once_init_enter (&tried)) {
    GST_DEBUG_CATEGORY_INIT (gst_nd_context_debug, "ndcontext", 0,
        "CUDA contexts that elements share");
    if (cuda_open_library ())
      g_atomic_pointer_set (&library, &functions);
    g_once_init_leave (&tried, 1);
  }
  return gst_nd_cuda_library ();
}

const GstNdCudaLibrary *
gst_nd_cuda_library (void)
{
  return g_atomic_pointer_get (&library);
}
