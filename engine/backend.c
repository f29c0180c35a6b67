/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/backend.h"

#include "core/error.h"
#include "core/fork.h"
#include "engine/slabs.h"

#include <gmodule.h>
#include <string.h>

#define MAX_BACKENDS 4

static GMutex lock;
ND_HOLD_AT_FORK (lock, 2)
static const NdBackend *backends[MAX_BACKENDS];
static guint n_backends;
static gint used[MAX_BACKENDS]; /* with devices: 1 + nd_fork_count() of the
                                   process that used it; 0: none did */
static gchar *not_opened;       /* the error of the last module that failed */

static void
insert (const NdBackend *backend, guint at)
{
  g_mutex_lock (&lock);
  for (guint i = 0; i < n_backends; i++) {
    if (backends[i] == backend)
      goto done;
  }
  if (n_backends < MAX_BACKENDS) {
    memmove (backends + at + 1, backends + at,
        (n_backends - at) * sizeof (*backends));
    memmove (used + at + 1, used + at, (n_backends - at) * sizeof (*used));
    backends[at] = backend;
    used[at] = 0;
    n_backends++;
  }
done:
  g_mutex_unlock (&lock);
}

void
nd_backend_register (const NdBackend *backend)
{
  insert (backend, n_backends);
}

/* The back end of an open module, or NULL and @why, a sentence that
 * continues "The back end module cannot be opened: ". */
static const NdBackend *
get_backend (GModule *module, gchar **why)
{
  const NdBackend *backend;
  NdBackendModule get;

  if (!module
      || !g_module_symbol (module, ND_BACKEND_MODULE, (gpointer *) &get)) {
    *why = g_strdup (g_module_error ());
    return NULL;
  }
  backend = get ();
  if (backend->version == ND_BACKEND_VERSION
      && backend->size == ND_BACKEND_SIZE)
    return backend;
  *why = g_strdup_printf ("it is of another build of ndconv (%08x, not %08x); "
                          "install the plugin and its modules from one build",
      backend->version, ND_BACKEND_VERSION);
  return NULL;
}

gboolean
nd_backend_open (const gchar *path, GError **error)
{
  GModule *module = g_module_open (path, G_MODULE_BIND_LOCAL);
  g_autofree gchar *why = NULL;
  const NdBackend *backend = get_backend (module, &why);
  NdSlabsModule slabs;

  if (!backend) {
    g_mutex_lock (&lock);
    g_free (not_opened);
    not_opened = g_strdup_printf ("The back end module \"%s\" cannot be "
                                  "opened: %s",
        path, why);
    g_set_error_literal (error, ND_ERROR, ND_ERROR_INIT, not_opened);
    g_mutex_unlock (&lock);
    if (module)
      g_module_close (module);
    return FALSE;
  }
  g_module_make_resident (module);
  if (g_module_symbol (module, ND_SLABS_MODULE, (gpointer *) &slabs))
    nd_backend_register_slabs (backend, slabs ());
  if (backend->set_log_handler)
    nd_log_add_copy (backend->set_log_handler);
  ND_INFO ("back end '%s' opened from %s", backend->name, path);
  insert (backend, 0);
  return TRUE;
}

/* Copies the list, because available() may wait for a driver. */
static guint
copy_backends (const NdBackend *copy[MAX_BACKENDS], gchar **not_opened_copy)
{
  guint n;

  g_mutex_lock (&lock);
  n = n_backends;
  memcpy (copy, backends, n * sizeof (*copy));
  *not_opened_copy = g_strdup (not_opened);
  g_mutex_unlock (&lock);
  return n;
}

/* Drivers of devices do not work in a child of a process that used them. */
static gboolean
check_fork (const NdBackend *backend, gint user, GError **error)
{
  if (user == 0 || user == 1 + (gint) nd_fork_count ())
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_INIT,
      "%s does not work in this process, because it was forked from one that "
      "had used the device: start processes by spawn or forkserver instead of "
      "fork, or use backend=cpu",
      backend->name);
  return FALSE;
}

gboolean
nd_backend_check_fork (GError **error)
{
  gboolean ok = TRUE;

  g_mutex_lock (&lock);
  for (guint i = 0; i < n_backends && ok; i++)
    ok = check_fork (backends[i], used[i], error);
  g_mutex_unlock (&lock);
  return ok;
}

/* Sets who used @backend, and returns who had before. */
static gint
set_used (const NdBackend *backend, gint user)
{
  gint before = 0;

  g_mutex_lock (&lock);
  for (guint i = 0; i < n_backends; i++) {
    if (backends[i] == backend) {
      before = used[i];
      if (before == 0 || user == 0)
        used[i] = user;
    }
  }
  g_mutex_unlock (&lock);
  return before;
}

/* available(), unless the process that this one was forked from used it. */
static gboolean
is_available (const NdBackend *backend, gint device_id, GError **error)
{
  gint before;

  if (!backend->memory)
    return backend->available (device_id, error);
  before = set_used (backend, 1 + nd_fork_count ());
  if (!check_fork (backend, before, error))
    return FALSE;
  if (backend->available (device_id, error))
    return TRUE;
  if (before == 0)
    set_used (backend, 0);
  return FALSE;
}

const NdBackend *
nd_backend_find (const gchar *name, gint device_id, GError **error)
{
  const NdBackend *all[MAX_BACKENDS];
  g_autofree gchar *reason = NULL;
  const guint n = copy_backends (all, &reason);

  for (guint i = 0; i < n; i++) {
    g_autoptr (GError) why = NULL;

    if (name && g_strcmp0 (name, all[i]->name) != 0)
      continue;
    if (is_available (all[i], device_id, &why))
      return all[i];
    ND_DEBUG ("back end '%s' is not available: %s", all[i]->name, why->message);
    if (name) {
      g_propagate_prefixed_error (error, g_steal_pointer (&why),
          "Back end '%s': ", name);
      return NULL;
    }
  }
  g_set_error (error, ND_ERROR, ND_ERROR_INIT,
      "Back end '%s' is not available: %s; use backend=cpu",
      name ? name : "auto",
      reason ? reason
             : "its module was not built (with nvcc: meson "
               "compile -C build) or not installed");
  return NULL;
}

const NdBackend *
nd_backend_fallback (void)
{
  const NdBackend *found = NULL;

  g_mutex_lock (&lock);
  for (guint i = 0; i < n_backends && !found; i++) {
    if (backends[i]->flags & ND_BACKEND_FALLBACK)
      found = backends[i];
  }
  g_mutex_unlock (&lock);
  return found;
}

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
