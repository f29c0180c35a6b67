/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndbackend.h"

#include <gmodule.h>
#include <string.h>
#include "nderror.h"

#define MAX_BACKENDS 4

static GMutex lock;
static const NdBackend *backends[MAX_BACKENDS];
static guint n_backends;
static gchar *not_opened;       /* why the last module that failed did */

static void
insert (const NdBackend * backend, guint at)
{
  g_mutex_lock (&lock);
  for (guint i = 0; i < n_backends; i++) {
    if (backends[i] == backend)
      goto done;
  }
  if (n_backends < MAX_BACKENDS) {
    memmove (backends + at + 1, backends + at,
        (n_backends - at) * sizeof (*backends));
    backends[at] = backend;
    n_backends++;
  }
done:
  g_mutex_unlock (&lock);
}

void
nd_backend_register (const NdBackend * backend)
{
  insert (backend, n_backends);
}

gboolean
nd_backend_open (const gchar * path, GError ** error)
{
  GModule *module = g_module_open (path, G_MODULE_BIND_LOCAL);
  NdBackendModule get;

  if (!module || !g_module_symbol (module, ND_BACKEND_MODULE,
          (gpointer *) & get)) {
    g_mutex_lock (&lock);
    g_free (not_opened);
    not_opened = g_strdup_printf ("The back end module \"%s\" cannot be "
        "opened: %s", path, g_module_error ());
    g_set_error_literal (error, ND_ERROR, ND_ERROR_INIT, not_opened);
    g_mutex_unlock (&lock);
    if (module)
      g_module_close (module);
    return FALSE;
  }
  g_module_make_resident (module);
  insert (get (), 0);
  return TRUE;
}

const NdBackend *
nd_backend_find (const gchar * name, gint device_id, GError ** error)
{
  const NdBackend *found = NULL;
  gboolean known = FALSE;

  g_mutex_lock (&lock);
  for (guint i = 0; i < n_backends && !found; i++) {
    if (name && g_strcmp0 (name, backends[i]->name) != 0)
      continue;
    known = TRUE;
    if (backends[i]->available (device_id, name ? error : NULL)) {
      found = backends[i];
    } else if (name) {
      g_prefix_error (error, "Back end '%s': ", name);
      break;
    }
  }
  if (!found && !(name && known))
    g_set_error (error, ND_ERROR, ND_ERROR_INIT, "Back end '%s' is not "
        "here: %s; use backend=cpu", name ? name : "auto",
        not_opened ? not_opened : "its module was not built (with nvcc: meson "
        "compile -C build) or not installed");
  g_mutex_unlock (&lock);
  return found;
}
