/* Arrays of HDF5: the type, the sizes and the place of their samples, in one
 * piece or in chunks, which are plain or packed by deflate.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/hdf5file.h"
#include "formats/stored.h"

G_BEGIN_DECLS

/* Axes of an array, the slowest first. */
#define ND_HDF5_AXES 5

typedef struct
{
  gchar path[ND_HDF5_TEXT];
  NdStoredType type;
  gboolean swapped; /* byte order differs from the machine's */
  guint axes;
  guint64 size[ND_HDF5_AXES], chunk[ND_HDF5_AXES];
  gboolean is_chunked;
  guint64 place; /* of the samples, or of the tree of chunks; G_MAXUINT64: of
                    none */
  guint filters[4], n_filters; /* in the order of writing */
  guint8 fill[8];              /* a sample of absent chunks */

  /* The chunk that was read last. */
  guint8 *unpacked, *packed;
  gsize unpacked_size, packed_size;
  guint64 at[ND_HDF5_AXES];
  gboolean has_chunk;
} NdHdf5Array;

/* Describes the array @path. FALSE with a reason, as a part of a sentence. */
gboolean nd_hdf5_array_open (NdHdf5Array *array, NdHdf5File *file,
    const gchar *path, const gchar **reason);
void nd_hdf5_array_clear (NdHdf5Array *array, NdHdf5File *file);

/* Reads @count samples from @start on along each axis, which must be there, and
 * writes them @stride bytes apart, in the byte order of the file. FALSE with a
 * reason. */
gboolean nd_hdf5_array_read (NdHdf5Array *array, NdHdf5File *file,
    const guint64 *start, const guint64 *count, guint8 *samples, gsize stride,
    const gchar **reason);

/* The chunks of an HDF5 array: unpacking them, and copying from them.
 */

/* TRUE for shuffle, deflate and Fletcher's sum. */
gboolean nd_hdf5_has_filter (guint filter);

/* Samples of the part of an array that begins at @origin and has @size: in
 * memory, or in the file at @address, or neither (the fill value). */
typedef struct
{
  NdInput *input;
  const guint8 *memory;
  guint64 address;
  const guint64 *origin, *size;
} NdHdf5Box;

/* Unpacks the @n bytes in array->packed to the @wanted bytes of a chunk in
 * array->unpacked. Bit i of @skipped: without filter i. FALSE with a reason, or
 * if @budget refused memory. */
gboolean nd_hdf5_unpack (NdHdf5Array *array, NdBudget *budget, gsize n,
    guint32 skipped, gsize wanted, const gchar **reason);

/* Copies what is in @box and in @count samples from @start on, which must
 * overlap, to samples that are @stride bytes apart. FALSE if reading fails. */
gboolean nd_hdf5_copy (const NdHdf5Array *array, const NdHdf5Box *box,
    const guint64 *start, const guint64 *count, guint8 *samples, gsize stride);

G_END_DECLS
