/* The metadata of Zarr and OME-Zarr, which are JSON.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* t, c, z, y, x in any order. */
#define ND_ZARR_AXES 5

/* Bytes of one file of metadata. */
#define ND_ZARR_TEXT_MAX ((gsize) 4 << 20)

typedef enum
{
  ND_ZARR_NONE,
  ND_ZARR_ZLIB, /* and gzip */
  ND_ZARR_ZSTD,
  ND_ZARR_BLOSC
} NdZarrPacking;

typedef struct
{
  guint rank;
  guint64 shape[ND_ZARR_AXES];
  guint64 chunk[ND_ZARR_AXES];
  gchar axes[ND_ZARR_AXES]; /* the name of each axis, if the array has them */
  gboolean named;

  NdStoredType type;
  gboolean swapped;
  guint8 fill[8]; /* the value of absent chunks, in the byte order of chunks */

  NdZarrPacking packing;
  gboolean checked; /* a CRC-32C follows each chunk */

  gboolean sharded;
  guint64 shard[ND_ZARR_AXES]; /* whole chunks; the chunk without shards */
  gboolean index_first, index_checked, index_swapped;

  gboolean prefixed; /* names of files begin with "c" */
  gchar separator;

  gboolean encoded; /* refused: its chunks are encoded in another way */
} NdZarrArray;

/* The image of a group. */
typedef struct
{
  gchar *path; /* of the array in the group; NULL: there is no image */
  guint rank;  /* 0: its axes have no names */
  gchar axes[ND_ZARR_AXES];
  gdouble scale[ND_ZARR_AXES]; /* in mm and s */
  gdouble translation[ND_ZARR_AXES];
  gboolean has_unit[ND_ZARR_AXES];
  gchar newer[16]; /* the version if it is newer than 0.5, else "" */
  gboolean several;
  gboolean collection; /* of bioformats2raw: images in the folders 0, 1, … */
} NdZarrImage;

void nd_zarr_image_clear (NdZarrImage *image);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdZarrImage, nd_zarr_image_clear)

/* Parses @text: .zarray (version 2) or the zarr.json of an array (3).
 * ND_ERROR_FORMAT, ND_ERROR_READ; messages are sentences about "it". */
gboolean nd_zarr_array_parse (NdZarrArray *array, const gchar *text, gsize n,
    guint version, GError **error);

/* Parses @text: .zattrs (2) or the zarr.json of a group (3). FALSE without an
 * error if zarr.json is that of an array. */
gboolean nd_zarr_image_parse (NdZarrImage *image, const gchar *text, gsize n,
    guint version, GError **error);

G_END_DECLS
