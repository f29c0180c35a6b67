/* Memory of a back end's device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  /* Allocates @bytes of zeros. ND_ERROR_MEMORY if the device does not have
   * enough memory. */
  gpointer (*alloc) (gint device_id, gsize bytes, GError **error);
  void (*free) (gpointer memory);

  /* Copies between memory of devices and of the host, in any combination.
   * Returns when the bytes have arrived. */
  gboolean (*copy) (gpointer to, gconstpointer from, gsize bytes,
      GError **error);

  /* Page-locks host memory, which must be whole pages, so that the device
   * reads and writes it directly. If the device is lost, the memory stays valid
   * for the host. */
  gboolean (*pin) (gint device_id, gpointer memory, gsize bytes,
      GError **error);
  void (*unpin) (gpointer memory);

  /* Whether @memory is of the host and not page-locked, so that a thread that
   * enqueues a copy from or to it waits for the copy. NULL: may be. */
  gboolean (*is_pageable) (gconstpointer memory);
} NdDeviceMemoryFuncs;

G_END_DECLS
