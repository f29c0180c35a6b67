/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/fork.h"
#include "core/memory.h"
#include "cpu/cpu.h"
#include "engine/backend.h"
#include "lib/private.h"

#include <dlfcn.h>

#define MAX_DEVICES 64

static GMutex lock; /* of nd_library_init() */
ND_HOLD_AT_FORK (lock, 3)

const gchar *
nd_version (void)
{
  return ND_VERSION;
}

guint
nd_count_cores (void)
{
  return nd_usable_cores ();
}

GQuark
nd_library_error_quark (void)
{
  return nd_error_quark ();
}

/* The folder of this library; the caller frees it. */
static gchar *
find_folder (void)
{
  Dl_info info;

  /* A program can have an address of its own for an exported function. */
  if (!dladdr (find_folder, &info) || !info.dli_fname)
    return NULL;
  return g_path_get_dirname (info.dli_fname);
}

void
nd_library_init (void)
{
  /* Installed, built, and beside the wheel of the Python package. */
  static const gchar *const places[] = { "ndconv", "../cuda",
    "../ndconv_cuda13", NULL };
  static gboolean done = FALSE;
  g_autofree gchar *folder = NULL, *module = NULL;

  g_mutex_lock (&lock);
  if (!done) {
    nd_backend_register (&nd_cpu_backend);
    folder = find_folder ();
    module = nd_module_find (folder, places);
    /* If it cannot be opened, nd_backend_find() gives the reason. */
    if (module)
      nd_backend_open (module, NULL);
    done = TRUE;
  }
  g_mutex_unlock (&lock);
}

gchar **
nd_list_backends (void)
{
  static const NdBackendKind kinds[] = { ND_BACKEND_GPU, ND_BACKEND_CPU };
  g_autoptr (GPtrArray) found = g_ptr_array_new ();

  nd_library_init ();
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const gchar *name = nd_backend_kind_name (kinds[i]);

    if (nd_backend_find (name, -1, NULL))
      g_ptr_array_add (found, g_strdup (name));
  }
  g_ptr_array_add (found, NULL);
  return (gchar **) g_ptr_array_steal (found, NULL);
}

gchar **
nd_list_devices (const gchar *name, GError **error)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  const NdBackend *backend;

  nd_library_init ();
  backend = nd_backend_find (name, -1, error);
  if (!backend)
    return NULL;
  for (gint i = 0;
       backend->device_name && i < MAX_DEVICES && backend->available (i, NULL);
       i++)
    g_ptr_array_add (found, backend->device_name (i));
  g_ptr_array_add (found, NULL);
  return (gchar **) g_ptr_array_steal (found, NULL);
}
