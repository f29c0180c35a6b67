/* The bytes of a file that is written: room for a header, then samples as they
 * are or packed.
 *
 * Functions give 0 or an errno.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ND_PACKING_NONE,
  ND_PACKING_GZIP,
  ND_PACKING_ZLIB
} NdPacking;

typedef struct _NdOutput NdOutput;

/* Creates or empties @path. */
gint nd_output_open (NdOutput ** output, const gchar * path, NdPacking packing);

/* Does not end what is packed. */
gint nd_output_close (NdOutput * output);

/* Forgets what was written; samples begin behind @room bytes. */
gint nd_output_begin (NdOutput * output, gsize room);

gint nd_output_write (NdOutput * output, gconstpointer data, gsize size);

/* Ends what is packed. */
gint nd_output_end (NdOutput * output);

/* Bytes that samples take, packed. */
guint64 nd_output_size (NdOutput * output);

/* Makes @room of what was less, at once where the file system can (Linux'
 * FALLOC_FL_INSERT_RANGE), otherwise by moving the samples. It may be more room
 * then: nd_output_room(). */
gint nd_output_grow (NdOutput * output, gsize room, gboolean exactly);
gsize nd_output_room (NdOutput * output);

/* Writes the header; @size is the room. */
gint nd_output_write_header (NdOutput * output, gconstpointer header,
    gsize size);

/* Appends @bytes to @member as a gzip member of stored blocks (RFC 1951,
 * 3.2.4): it keeps its length whatever they say, so that it can be
 * overwritten. Members in a row read as one. */
void nd_output_store (GByteArray * member, const guint8 * bytes, gsize n);

/* The bytes of that for @n. */
gsize nd_output_stored_size (gsize n);

G_END_DECLS
