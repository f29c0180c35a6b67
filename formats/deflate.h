/* Blocks of bytes become pieces of one deflate stream (RFC 1951), by ISA-L if
 * the build has it, which is ten times as fast as zlib, otherwise by zlib.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _NdDeflater NdDeflater;

/* NULL without memory. */
NdDeflater *nd_deflater_new (void);
void nd_deflater_free (NdDeflater *deflater);

/* Packs a block of up to 1 GiB into at most @most bytes at @piece. The piece
 * ends at a byte, refers to no bytes before it, and is not the last of a
 * stream. Returns its size, or 0 if it needs more bytes. */
gsize nd_deflater_pack (NdDeflater *deflater, const guint8 *bytes, gsize n,
    guint8 *piece, gsize most);

/* Adler-32 of @bytes after bytes with the sum @sum, which is 1 at first. */
guint32 nd_deflate_adler32 (guint32 sum, const guint8 *bytes, gsize n);

G_END_DECLS
