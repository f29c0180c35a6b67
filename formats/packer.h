/* Packs bytes into one deflate stream (RFC 1951), with the sum that gzip or
 * zlib have after it. Blocks of it are packed in parallel, as pigz does, while
 * the caller makes the next bytes. The stream does not depend on the number of
 * threads. Used by one thread at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Bytes of a block; the last one of a stream may be smaller. */
#define ND_PACKER_BLOCK ((gsize) 256 * 1024)

typedef struct _NdPacker NdPacker;

/* Writes the next bytes of the stream; 0 or an errno. Called by one thread at a
 * time, which may be any. */
typedef gint (*NdPackerWrite) (gpointer data, const guint8 *bytes, gsize n);

/* With the threads of nd_threads(), at most 16, or fewer if not all can be
 * started. It takes up to 2 MiB of memory for each. NULL if there is no
 * memory. */
NdPacker *nd_packer_new (gboolean gzip, NdPackerWrite write, gpointer data);

/* Stops the threads. What was not written yet is lost. */
void nd_packer_free (NdPacker *packer);

/* Packs and writes @n bytes, some of them after it returns. Returns 0 or the
 * first errno of @write, also that for earlier bytes; nothing is written after
 * that. */
gint nd_packer_add (NdPacker *packer, const guint8 *bytes, gsize n);

/* Drops what is not written yet; nd_packer_end() may follow. */
void nd_packer_stop (NdPacker *packer);

/* Writes what is left and the end of the stream. Nothing follows it. */
gint nd_packer_end (NdPacker *packer);

/* After nd_packer_stop() or nd_packer_end(): how many of the bytes that were
 * added are written, and their CRC-32 (gzip) or Adler-32 (zlib). */
guint64 nd_packer_written (NdPacker *packer);
guint32 nd_packer_sum (NdPacker *packer);

G_END_DECLS
