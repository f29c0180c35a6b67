/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndcudalibrary.h"

#include <gmodule.h>

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
open_library (void)
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
    if (open_library ())
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
