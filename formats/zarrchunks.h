/* The chunks of a Zarr array: their files, and how they are packed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/zarrmetadata.h"

G_BEGIN_DECLS

/* CRC-32C of @bytes. */
guint32 nd_zarr_sum (const guint8 *bytes, gsize n);

/* That of the bytes with the sum @sum and these together. */
guint32 nd_zarr_add_to_sum (guint32 sum, const guint8 *bytes, gsize n);

/* Bytes of memory that the library takes for itself while it decodes @packed,
 * which nd_zarr_can_be() accepts. */
gsize nd_zarr_work_bytes (NdZarrPacking packing, const guint8 *packed);

/* FALSE if @packed cannot have @size bytes, as far as its beginning tells. */
gboolean nd_zarr_can_be (NdZarrPacking packing, const guint8 *packed, gsize n,
    gsize size);

/* Decodes a chunk that nd_zarr_can_be() of @size bytes. Returns NULL or the
 * reason of failure. */
const gchar *nd_zarr_unpack (NdZarrPacking packing, const guint8 *packed,
    gsize n, guint8 *chunk, gsize size);

/* The most bytes of a packed chunk, and packs one of samples with @width bytes;
 * returns its bytes, 0 if that fails. */
gsize nd_zarr_pack_most (NdZarrPacking packing, gsize size);
gsize nd_zarr_pack (NdZarrPacking packing, const guint8 *chunk, gsize size,
    gsize width, guint8 *packed, gsize most);

/* Opens the regular file @name below the folder @folder, in which no part may
 * be a link. -1 and errno if that fails. */
gint nd_zarr_open_file (gint folder, const gchar *name);

/* Reads @n bytes at @offset; FALSE if there are fewer. */
gboolean nd_zarr_read_at (gint file, guint8 *bytes, gsize n, guint64 offset);

/* The file, a shard or a chunk, with these numbers. */
gchar *nd_zarr_file_name (const NdZarrArray *array, const guint64 *numbers);

/* Bytes of a chunk of @array. */
gsize nd_zarr_chunk_size (const NdZarrArray *array);

/* Chunks in a shard. */
guint64 nd_zarr_shard_chunks (const NdZarrArray *array);

G_END_DECLS
