/* Reads the bytes of one file, or of another source, from an offset on, and
 * decompresses them if asked to.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _NdInput NdInput;

/* Bytes that are no file of this machine. @read returns the number of bytes at
 * @offset that it wrote to @data, which is below @size only at the end, or -1
 * and sets @reason. */
typedef struct
{
  gssize (*read) (gpointer data, guint64 offset, guint8 *bytes, gsize size,
      const gchar **reason);
  gpointer data;
  guint64 size;
} NdSource;

/* @source->data must outlive the input. */
NdInput *nd_input_new (const NdSource *source);

/* Opens the regular file @path. It may be a symbolic link only if @follow.
 * ND_ERROR_NOT_FOUND, _OPEN_READ. */
NdInput *nd_input_open (const gchar *path, gboolean follow, GError **error);
void nd_input_close (NdInput *input);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdInput, nd_input_close)

/* The stored bytes of the file, packed ones if it is compressed. */
guint64 nd_input_size (NdInput *input);

/* The largest number of bytes that there can be from @offset on, plain or
 * decompressed. */
guint64 nd_input_most (NdInput *input, guint64 offset, gboolean unpack);

/* TRUE if the file begins like gzip. */
gboolean nd_input_is_gzip (NdInput *input);

/* The number of decompressed bytes that the end of gzip data states, modulo
 * 2^32, if they begin at @offset and are a single member; otherwise any number
 * if they have the file for themselves, or 0. */
guint32 nd_input_gzip_states (NdInput *input, guint64 offset);

/* Makes the byte at @offset the next one. With @unpack, zlib or gzip data begin
 * there and are decompressed. */
void nd_input_begin (NdInput *input, guint64 offset, gboolean unpack);

/* As nd_input_begin() with @unpack, but the deflate data have no frame of zlib
 * or gzip; @sum is the CRC-32 of the decompressed bytes. */
void nd_input_begin_bare (NdInput *input, guint64 offset, guint32 sum);

/* The same without a check sum. */
void nd_input_begin_deflate (NdInput *input, guint64 offset);

/* Returns the number of bytes read, which is below @size only at the end, or -1
 * if reading or decompression fails; nd_input_reason() then has the reason.
 * Reading past the end of compressed data verifies its check sum. */
gssize nd_input_read (NdInput *input, gpointer data, gsize size);
const gchar *nd_input_reason (NdInput *input);

/* Skips @n bytes; FALSE if compressed data has fewer. */
gboolean nd_input_skip (NdInput *input, guint64 n);

G_END_DECLS
