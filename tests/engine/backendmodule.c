/* A module with a back end that does nothing. ND_OTHER_VERSION and
 * ND_OTHER_SIZE make it one of another build of ndconv.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/backend.h"

#include <gmodule.h>

static gboolean
available (gint device_id, GError **error)
{
  return TRUE;
}

static NdBackend backend = {
  .size = ND_BACKEND_SIZE + ND_OTHER_SIZE,
  .name = "module",
  .available = available,
  .set_log_handler = nd_log_set_handler,
};

G_MODULE_EXPORT const NdBackend *nd_backend_module (void);

const NdBackend *
nd_backend_module (void)
{
  backend.version = ND_BACKEND_VERSION + ND_OTHER_VERSION;
  ND_WARNING ("logged in the module");
  return &backend;
}
