/* A file that is written: room for a header, then samples, which may be
 * compressed. Functions return 0 or an errno.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/part.h"

G_BEGIN_DECLS

typedef enum
{
  ND_PACKING_NONE,
  ND_PACKING_GZIP,
  ND_PACKING_ZLIB
} NdPacking;

typedef struct _NdOutput NdOutput;

/* Creates the unfinished file of @path: see nd_part_create(). */
gint nd_output_open (NdOutput **output, const gchar *path, NdPacking packing);

/* That file, which @output owns. */
const NdPart *nd_output_part (NdOutput *output);

/* Does not end the compressed data; nd_output_end() does. */
gint nd_output_close (NdOutput *output);

/* Empties the file. Samples begin at offset @room. */
gint nd_output_begin (NdOutput *output, gsize room);

/* Bytes that are compressed may be written after it returns; an error may be of
 * earlier ones. */
gint nd_output_write (NdOutput *output, gconstpointer data, gsize size);

/* After an error: writes no more, and returns how many of the bytes given to
 * nd_output_write() are in the file. nd_output_end() may follow. */
guint64 nd_output_stop (NdOutput *output);

/* Ends the compressed data. */
gint nd_output_end (NdOutput *output);

/* The bytes of the samples in the file. */
guint64 nd_output_size (NdOutput *output);

/* Grows the room for the header to @room bytes: at once if the file system can
 * (FALLOC_FL_INSERT_RANGE of Linux), otherwise by moving the samples. The room
 * may be larger than @room, unless @exactly: see nd_output_room(). */
gint nd_output_grow (NdOutput *output, gsize room, gboolean exactly);
gsize nd_output_room (NdOutput *output);

/* Writes the header, which fills the room. */
gint nd_output_write_header (NdOutput *output, gconstpointer header,
    gsize size);

/* For a file that gzip compresses as a whole: appends @header to @bytes as the
 * beginning of the gzip stream, in blocks that are not compressed (RFC 1951,
 * 3.2.4), so that it can be overwritten later. The samples continue it. */
void nd_output_store (NdOutput *output, GByteArray *bytes, const guint8 *header,
    gsize n);

/* The bytes that it appends for @n bytes. */
gsize nd_output_stored_size (gsize n);

G_END_DECLS
