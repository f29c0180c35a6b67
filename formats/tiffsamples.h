/* The types of samples and the compressions of TIFF that are read, and what to
 * do about others.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/stored.h"
#include "formats/tiffpages.h"

G_BEGIN_DECLS

/* A command, for messages. */
#define ND_TIFF_BY_TIFFFILE                                            \
  "python3 -c \"import sys, tifffile; tifffile.imwrite (sys.argv[2], " \
  "tifffile.imread (sys.argv[1]))\" FILE NEW.tif converts it (pip "    \
  "install tifffile imagecodecs)"

/* Sets the type of the samples of @page; @parts is 2 if they are complex. FALSE
 * if it is not read. */
gboolean nd_tiff_samples_type (const NdTiffPage *page, NdStored *stored,
    gsize *parts);

/* The largest number of samples' bytes that one byte of the file can become; 0
 * if the compression is lossy or the library cannot decompress it. */
guint64 nd_tiff_samples_ratio (guint16 compression);

/* Returns FALSE with ND_ERROR_FORMAT, for a page that is not read. */
gboolean nd_tiff_samples_refuse (const NdTiffPage *page, const gchar *path,
    GError **error);

G_END_DECLS
