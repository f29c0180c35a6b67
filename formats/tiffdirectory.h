/* The directories of a TIFF file, read before libtiff reads them: it has memory
 * for all values of a directory, and values may lie in the same bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/input.h"

G_BEGIN_DECLS

typedef struct
{
  NdInput *input;
  gboolean wide; /* BigTIFF */
  gboolean big_endian;
  guint64 planes; /* of a stack of MetaMorph, in one directory; 0: it is none */
  guint64 places; /* where it has the places and times of its planes */
  gboolean predicted; /* one has a predictor, but no compression */
} NdTiffDirectories;

/* Gives the offset of the first directory. FALSE if it is no TIFF file. */
gboolean nd_tiff_directories_begin (NdTiffDirectories *directories,
    NdInput *input, guint64 *offset);

/* Replaces the offset of a directory by that of the next one; 0: there is none.
 * FALSE if it is truncated, or if its values have more bytes than the file or
 * than @most. */
gboolean nd_tiff_directories_next (NdTiffDirectories *directories,
    guint64 *offset, guint64 most);

G_END_DECLS
