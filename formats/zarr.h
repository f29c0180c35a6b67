/* OME-Zarr 0.1 to 0.5 in local folders (0.4 and 0.5 are written), over Zarr 2
 * and Zarr 3 with and without shards; chunks are plain or compressed by blosc,
 * gzip, zlib or Zstandard.
 * https://ngff.openmicroscopy.org and https://zarr-specs.readthedocs.io
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/part.h"
#include "formats/header.h"

G_BEGIN_DECLS

/* TRUE if the folder @path has metadata of Zarr. */
gboolean nd_zarr_detect (const gchar *path);

/* Reads the metadata of the folder @path: an array, or the first image of a
 * group in full resolution. header->slices decodes a volume at a time.
 * ND_ERROR_FORMAT, also in a build without the libraries; ND_ERROR_READ. */
gboolean nd_zarr_open (NdHeader *header, const gchar *path, GError **error);

typedef struct _NdZarrWriter NdZarrWriter;

/* Makes the unfinished folder of @path, for version 0.4, or else 0.5: see
 * nd_part_create_folder(). NULL and an errno in @reason if that fails; ENOSYS
 * in a build without the libraries. */
NdZarrWriter *nd_zarr_writer_new (const gchar *path, gboolean old,
    gboolean compress, gint *reason);

/* ND_ERROR_FORMAT if OME-Zarr cannot store @recording. */
gboolean nd_zarr_supports (const NdRecording *recording, const gchar *path,
    GError **error);

/* These return 0 or an errno. Begin removes earlier output. */
gint nd_zarr_writer_begin (NdZarrWriter *writer, const NdRecording *recording);
gint nd_zarr_writer_write (NdZarrWriter *writer, guint64 volume,
    gconstpointer data);

/* Writes the metadata of @volumes volumes, the first at @begin, that are
 * @seconds apart; 0: unknown. */
gint nd_zarr_writer_describe (NdZarrWriter *writer, guint64 volumes,
    gdouble begin, gdouble seconds);

/* That folder, which @writer owns. */
const NdPart *nd_zarr_writer_part (NdZarrWriter *writer);

/* Removes the folder if @remove. */
void nd_zarr_writer_free (NdZarrWriter *writer, gboolean remove);

G_END_DECLS
