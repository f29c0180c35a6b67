/* The bytes of one file, from an offset on, as they are or unpacked.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _NdStream NdStream;

/* Opens the regular file @path, which is no symbolic link unless @follow.
 * ND_ERROR_NOT_FOUND, _OPEN_READ. */
NdStream *nd_stream_open (const gchar * path, gboolean follow,
    GError ** error);
void nd_stream_close (NdStream * stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdStream, nd_stream_close)

guint64 nd_stream_size (NdStream * stream);

/* How many bytes can come from @offset on at most, read or unpacked. */
guint64 nd_stream_most (NdStream * stream, guint64 offset, gboolean unpack);

/* It begins as gzip does. */
gboolean nd_stream_is_gzip (NdStream * stream);

/* The next byte read is the one at @offset of the file; with @unpack the first
 * that zlib or gzip data make that begin there. */
void nd_stream_begin (NdStream * stream, guint64 offset, gboolean unpack);

/* The bytes got, below @size only at the end; -1 where they cannot be read or
 * unpacked: nd_stream_reason() says why. Reading on at the end of what is
 * unpacked checks its sum. */
gssize nd_stream_read (NdStream * stream, gpointer data, gsize size);
const gchar *nd_stream_reason (NdStream * stream);

/* Reads @n bytes, and forgets them; FALSE where there are fewer. */
gboolean nd_stream_skip (NdStream * stream, guint64 n);

G_END_DECLS
