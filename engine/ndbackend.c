/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndbackend.h"

#include "nderror.h"

#define MAX_BACKENDS 4

static const NdBackend *backends[MAX_BACKENDS];
static guint n_backends;

void
nd_backend_register (const NdBackend * backend)
{
  for (guint i = 0; i < n_backends; i++) {
    if (backends[i] == backend)
      return;
  }
  g_return_if_fail (n_backends < MAX_BACKENDS);
  backends[n_backends++] = backend;
}

const NdBackend *
nd_backend_find (const gchar * name, gint device_id, GError ** error)
{
  for (guint i = 0; i < n_backends; i++) {
    if (name && g_strcmp0 (name, backends[i]->name) == 0)
      return backends[i]->available (device_id, error) ? backends[i] : NULL;
    if (!name && backends[i]->available (device_id, NULL))
      return backends[i];
  }
  g_set_error (error, ND_ERROR, ND_ERROR_INIT, "Back end '%s' is not part of "
      "this build: use backend=cpu or backend=auto", name ? name : "auto");
  return NULL;
}
