/* Samples as files store them: types wider than a stream's, either byte order,
 * scaled; and the one place that makes a stream's samples of them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndshape.h"

G_BEGIN_DECLS

typedef enum
{
  ND_STORED_INT8,
  ND_STORED_UINT8,
  ND_STORED_INT16,
  ND_STORED_UINT16,
  ND_STORED_INT32,
  ND_STORED_UINT32,
  ND_STORED_INT64,
  ND_STORED_UINT64,
  ND_STORED_FLOAT32,
  ND_STORED_FLOAT64,
  ND_STORED_TYPES
} NdStoredType;

typedef struct
{
  NdStoredType type;
  gboolean swapped;             /* in the other byte order than the machine's */
  gboolean scaled;              /* slope * sample + intercept is meant */
  gdouble slope, intercept;
} NdStored;

gsize nd_stored_size (NdStoredType type);
const gchar *nd_stored_name (NdStoredType type);

/* The type of a stream's samples: the same where a stream has it, int16 for
 * int8, otherwise, and where they are scaled, float32. */
NdSampleType nd_stored_becomes (const NdStored * stored);

/* FALSE where samples may be rounded on the way. */
gboolean nd_stored_is_exact (const NdStored * stored);

/* TRUE where nothing is left to do with the samples of the file. */
gboolean nd_stored_is_plain (const NdStored * stored);

/* @n samples from @from, in the byte order of the file, to @to, of the type
 * nd_stored_becomes(). They may be the same memory where the sizes of both
 * are. */
void nd_stored_convert (const NdStored * stored, gpointer to,
    gconstpointer from, gsize n);

/* How a stream's samples are stored. */
NdStoredType nd_stored_of (NdSampleType type);

G_END_DECLS
