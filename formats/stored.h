/* Stored samples: the types, byte orders and scaling of files, and their
 * conversion to the sample types of a stream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

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
  ND_STORED_FLOAT16,
  ND_STORED_BIASED16, /* int16 + 32768 in the bits of uint16 */
  ND_STORED_TYPES
} NdStoredType;

typedef struct
{
  NdStoredType type;
  gboolean swapped; /* byte order differs from the machine's */
  gboolean scaled;  /* values are slope * sample + intercept */
  gdouble slope, intercept;
} NdStored;

/* Bytes of a sample in a file, and the name of its type in messages. */
gsize nd_stored_size (NdStoredType type);
const gchar *nd_stored_name (NdStoredType type);

/* The sample type after conversion: the same type if streams have it, otherwise
 * (int64 and uint64), and for scaled samples, float32. */
NdSampleType nd_stored_becomes (const NdStored *stored);

/* FALSE if conversion may round samples. */
gboolean nd_stored_is_exact (const NdStored *stored);

/* TRUE if samples need no conversion. */
gboolean nd_stored_is_plain (const NdStored *stored);

/* Converts @n samples from the type and byte order of the file to the type
 * nd_stored_becomes(). @to may be @from if both types have the same size. */
void nd_stored_convert (const NdStored *stored, gpointer to, gconstpointer from,
    gsize n);

/* The stored type that needs no conversion to @type. */
NdStoredType nd_stored_of (NdSampleType type);

/* Copies @n samples of @width bytes that are @stride bytes apart. */
void nd_stored_pick (gpointer to, gconstpointer from, gsize stride, gsize n,
    gsize width);

G_END_DECLS
