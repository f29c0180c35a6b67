/* The chunks of an HDF5 array: unpacking them, and copying from them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/hdf5array.h"

G_BEGIN_DECLS

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
