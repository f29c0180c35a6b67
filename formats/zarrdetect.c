/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarr.h"

gboolean
nd_zarr_detect (const gchar *path)
{
  static const gchar *const names[] = { "zarr.json", ".zarray", ".zgroup",
    ".zattrs" };
  gboolean found = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (names) && !found; i++) {
    g_autofree gchar *name = g_build_filename (path, names[i], NULL);

    found = g_file_test (name, G_FILE_TEST_EXISTS);
  }
  return found;
}
