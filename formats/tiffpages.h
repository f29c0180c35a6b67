/* The pages of a TIFF file, found and decoded by libtiff.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"
#include "formats/input.h"
#include <tiffio.h>

G_BEGIN_DECLS

/* The fields that all pages of a recording have in common. */
typedef struct
{
  guint32 width, height;
  guint32 depth; /* slices, of which each is one of the pages; usually 1 */
  guint16 bits, format, samples, planar, compression;
} NdTiffPage;

typedef struct
{
  NdInput *input;   /* of the caller */
  NdBudget *budget; /* set by the caller */
  gboolean
      keep; /* set by the caller: a directory that is not whole ends them */
  TIFF *library;
  guint64 position;   /* of the library in the file */
  gchar message[256]; /* why the last call failed, or empty */
  NdTiffPage page;
  guint64 places;     /* of a stack of MetaMorph, whose planes are slices of its
                         directory: 24 bytes each; 0: it is none */
  gboolean predicted; /* see NdTiffDirectories */
  NdList *offsets;    /* guint64: of the directories of the pages */
  gsize width;        /* bytes of a stored sample; set by the caller */
  guint64 contiguous; /* set by the caller: the place of the samples of
                         @images pages, one after the other, in the byte order
                         of the file; 0: each page has a directory */
  guint64 images;
  gboolean differences; /* samples of some bits have predictor 2, which libtiff
                           does not undo */
  guint8 *strip;        /* or a tile, or NULL */
  gsize strip_size;
} NdTiffPages;

/* TRUE if both have the same size and type. */
gboolean nd_tiff_pages_are_alike (const NdTiffPage *a, const NdTiffPage *b);

/* Finds all pages of @input, the file @path. Those of another size or type than
 * the first are counted in @others; copies of smaller size and masks are left
 * out. */
gboolean nd_tiff_pages_open (NdTiffPages *pages, NdInput *input,
    const gchar *path, guint64 *others);
void nd_tiff_pages_clear (NdTiffPages *pages);

/* The pages, of which a directory may have several. */
guint64 nd_tiff_pages_count (const NdTiffPages *pages);

/* Makes the directory @page the current one of the library. */
gboolean nd_tiff_pages_go_to (NdTiffPages *pages, guint64 page);

/* Reads the samples of @page into a slice with @stride bytes from pixel to
 * pixel. */
gboolean nd_tiff_pages_read (NdTiffPages *pages, guint64 page, guint8 *slice,
    gsize stride);

G_END_DECLS
