/* TIFF in a build without libtiff.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiff.h"

#include "core/error.h"

gboolean
nd_tiff_open (NdHeader *header, NdInput *input, const gchar *path,
    GError **error)
{
  nd_header_init (header, "TIFF");
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" is TIFF, which this build cannot read: build ndconv with libtiff "
      "4.5 or later (libtiff-dev), or make .npy of it: numpy.save (name, "
      "tifffile.imread (file))",
      path);
  return FALSE;
}
