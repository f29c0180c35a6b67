/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstndbackends.h"

#include "cpu/ndcpu.h"

#define CUDA_MODULE "ndconv-cuda.so"

static gchar *plugin_folder;
static gchar *cuda_module;      /* NULL where there is none */

void
gst_nd_backends_init (GstPlugin * plugin)
{
  const gchar *path = gst_plugin_get_filename (plugin);

  if (path && !plugin_folder)
    plugin_folder = g_path_get_dirname (path);
}

static gchar *
find_cuda_module (void)
{
  static const gchar *const folders[] = { "ndconv", "cuda" };
  const gchar *named = g_getenv ("NDCONV_CUDA_MODULE");

  if (named)
    return g_file_test (named, G_FILE_TEST_EXISTS) ? g_strdup (named) : NULL;
  for (guint i = 0; plugin_folder && i < G_N_ELEMENTS (folders); i++) {
    g_autofree gchar *path = g_build_filename (plugin_folder, "..",
        folders[i], CUDA_MODULE, NULL);

    if (g_file_test (path, G_FILE_TEST_EXISTS))
      return g_steal_pointer (&path);
  }
  return NULL;
}

void
gst_nd_backends_open (void)
{
  static gsize opened = 0;

  if (!g_once_init_enter (&opened))
    return;
  nd_backend_register (&nd_cpu_backend);
  cuda_module = find_cuda_module ();
  if (cuda_module) {
    g_autoptr (GError) error = NULL;

    if (!nd_backend_open (cuda_module, &error))
      GST_WARNING ("%s", error->message);
  }
  g_once_init_leave (&opened, 1);
}

const NdBackend *
gst_nd_backends_device (gint device_id)
{
  return cuda_module ? nd_backend_find ("cuda", device_id, NULL) : NULL;
}

void
gst_nd_backends_explain_auto (GstElement * element, gint device_id)
{
  static gint said = 0;
  g_autoptr (GError) error = NULL;

  if (nd_backend_find ("cuda", device_id, &error)
      || !g_atomic_int_compare_and_exchange (&said, 0, 1))
    return;
  /* No warning: a machine without a GPU is as it should be. Of an INFO
   * gst-launch-1.0 prints the second text only. */
  GST_ELEMENT_INFO (element, LIBRARY, INIT, ("Filtering on the CPU: %s",
          error->message), ("Filtering on the CPU: %s", error->message));
}
