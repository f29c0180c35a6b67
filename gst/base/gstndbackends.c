/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndbackends.h"

#include "core/fork.h"
#include "cpu/cpu.h"
#include "engine/backend.h"
#include "gst/base/gstndlog.h"

GST_DEBUG_CATEGORY_STATIC (nd_backends_debug);
#define GST_CAT_DEFAULT nd_backends_debug

static GMutex lock; /* of gst_nd_backends_open() */
ND_HOLD_AT_FORK (lock, 3)
static gchar *plugin_folder;
static gchar *cuda_module; /* path, or NULL if not found */

gboolean
gst_nd_backends_init (GstPlugin *plugin)
{
  static gsize done = 0;
  static gboolean works;

  if (g_once_init_enter (&done)) {
    g_autoptr (GError) error = NULL;

    gst_nd_log_init ();
    if (gst_plugin_get_filename (plugin))
      plugin_folder = g_path_get_dirname (gst_plugin_get_filename (plugin));
    works = nd_cpu_backend.available (-1, &error);
    if (!works)
      g_warning ("%s", error->message);
    g_once_init_leave (&done, 1);
  }
  return works;
}

static void
open_backends (void)
{
  static const gchar *const places[] = { "../ndconv", "../cuda", NULL };

  GST_DEBUG_CATEGORY_INIT (nd_backends_debug, "ndbackends", 0,
      "back ends and their modules");
  nd_backend_register (&nd_cpu_backend);
  cuda_module = nd_module_find (plugin_folder, places);
  if (cuda_module) {
    g_autoptr (GError) error = NULL;

    if (nd_backend_open (cuda_module, &error))
      GST_INFO ("opened %s", cuda_module);
    else
      GST_WARNING ("%s", error->message);
  } else {
    const gchar *named = g_getenv ("NDCONV_CUDA_MODULE");

    GST_INFO ("no CUDA module %s %s", named ? "named" : "beside the plugin in",
        named ? named : plugin_folder);
  }
}

void
gst_nd_backends_open (void)
{
  static gboolean opened = FALSE;

  g_mutex_lock (&lock);
  if (!opened)
    open_backends ();
  opened = TRUE;
  g_mutex_unlock (&lock);
}

gboolean
gst_nd_backends_have_device (void)
{
  return cuda_module != NULL;
}

void
gst_nd_backends_explain_auto (GstElement *element, const GError *error)
{
  static gint said = 0;

  if (!g_atomic_int_compare_and_exchange (&said, 0, 1))
    return;
  /* No warning, because a machine without a GPU is not a problem. The text
   * stands twice because gst-launch-1.0 prints only the second text of an
   * INFO message. */
  GST_ELEMENT_INFO (element, LIBRARY, INIT,
      ("Filtering on the CPU: %s", error->message),
      ("Filtering on the CPU: %s", error->message));
}
