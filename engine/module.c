/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/module.h"

#define CUDA_MODULE "ndconv-cuda.so"

gchar *
nd_module_find (const gchar *folder, const gchar *const *places)
{
  const gchar *named = g_getenv ("NDCONV_CUDA_MODULE");

  if (named)
    return g_file_test (named, G_FILE_TEST_EXISTS) ? g_strdup (named) : NULL;
  for (; folder && *places; places++) {
    g_autofree gchar *path =
        g_build_filename (folder, *places, CUDA_MODULE, NULL);

    if (g_file_test (path, G_FILE_TEST_EXISTS))
      return g_steal_pointer (&path);
  }
  return NULL;
}
