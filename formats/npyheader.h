/* The header of NumPy's .npy format: magic, version, length of the header, then
 * a Python dictionary with the keys descr, fortran_order and shape.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Arrays of more axes than are supported are parsed for the error message. */
#define ND_NPY_MAX_RANK 64

typedef struct
{
  gchar *descr; /* type, as "<f4"; the caller frees it */
  gboolean fortran_order;
  gboolean has_order, has_shape;
  guint rank;
  gsize shape[ND_NPY_MAX_RANK];
} NdNpyHeader;

/* TRUE if @data begins with the magic. */
gboolean nd_npy_detect (const guint8 *data, gsize length);

/* Parses the header at the begin of @data; @end is the offset of the samples.
 * ND_ERROR_FORMAT for unknown versions, ND_ERROR_READ if the header is
 * truncated or damaged; messages begin with "It". */
gboolean nd_npy_header_parse (NdNpyHeader *header, const guint8 *data,
    gsize length, gsize *end, GError **error);

/* The offset of the samples; 0 if @data do not have the length of the
 * header. */
gsize nd_npy_samples_offset (const guint8 *data, gsize length);

/* Parses the kind ('f', 'i', 'u', 'c'), the bytes and the byte order of descr.
 * The bytes of a complex number are those of its real part. */
gboolean nd_npy_parse_type (const gchar *descr, gchar *kind, gsize *bytes,
    gboolean *swapped);

G_END_DECLS
