/* HDF5: groups, attributes, chunks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/hdf5volumes.h"
#include "tests/formats/hdf5made.h"
#include "tests/fuzz/fuzz.h"

#include "core/error.h"

#include <glib/gstdio.h>

const gchar *const fuzz_name = "hdf5";

gboolean
fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "HDF5 is read from a file: %d",
      nd_hdf5_detect (bytes, n));
  return FALSE;
}

void
fuzz_seeds (GPtrArray *seeds)
{
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-seeds-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "seed.h5", NULL);

  for (guint i = 0; i < 6; i++) {
    gchar *bytes;
    gsize n;

    if (i < 2)
      made_imaris (path, i == 0 ? MADE_CHUNKS : MADE_PACKED);
    else if (i < 4)
      made_bigdataviewer (path, i == 2 ? MADE_PLAIN : MADE_PACKED);
    else
      made_uff (path, i == 4 ? MADE_PLAIN : MADE_LARGE);
    g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
    g_ptr_array_add (seeds, g_bytes_new_take (bytes, n));
  }
  g_remove (path);
  g_rmdir (folder);
}
