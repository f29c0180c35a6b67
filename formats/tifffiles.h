/* The files of an OME-TIFF recording, beside the one that was opened. A few of
 * them are open at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/tiffpages.h"

G_BEGIN_DECLS

#define ND_TIFF_FILES_OPEN 8

typedef struct
{
  guint file;
  guint64 used; /* when it was used last; 0: never */
  NdInput *input;
  NdTiffPages pages;
} NdTiffFile;

typedef struct
{
  const gchar *path;      /* of the file that was opened; of the caller */
  const NdTiffPages *own; /* its pages; of the caller */
  NdTiffFile open[ND_TIFF_FILES_OPEN];
  guint64 uses;
} NdTiffFiles;

/* The pages of the file @name beside the one that was opened, which has the
 * number @file; they have the type and size of those of files->own. NULL with
 * ND_ERROR_NOT_FOUND, _OPEN_READ, _READ, _FORMAT or _MEMORY. Valid until the
 * next call. */
NdTiffPages *nd_tiff_files_get (NdTiffFiles *files, guint file,
    const gchar *name, GError **error);
void nd_tiff_files_clear (NdTiffFiles *files);

G_END_DECLS
