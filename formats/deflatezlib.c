/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/deflate.h"

#include <zlib.h>

/* Levels 2 to 9 compress speckle at most 2 % better. */
#define LEVEL 1

#define BARE_WINDOW (-15)
#define MEMORY_LEVEL 8

struct _NdDeflater
{
  z_stream stream;
};

NdDeflater *
nd_deflater_new (void)
{
  g_autofree NdDeflater *deflater = g_try_new0 (NdDeflater, 1);

  return deflater
          && deflateInit2 (&deflater->stream, LEVEL, Z_DEFLATED, BARE_WINDOW,
                 MEMORY_LEVEL, Z_DEFAULT_STRATEGY)
              == Z_OK
      ? g_steal_pointer (&deflater)
      : NULL;
}

void
nd_deflater_free (NdDeflater *deflater)
{
  if (deflater)
    deflateEnd (&deflater->stream);
  g_free (deflater);
}

gsize
nd_deflater_pack (NdDeflater *deflater, const guint8 *bytes, gsize n,
    guint8 *piece, gsize most)
{
  z_stream *stream = &deflater->stream;

  deflateReset (stream);
  stream->next_in = (guint8 *) bytes;
  stream->avail_in = n;
  stream->next_out = piece;
  stream->avail_out = most;
  return deflate (stream, Z_SYNC_FLUSH) == Z_OK && stream->avail_out > 0
      ? most - stream->avail_out
      : 0;
}

guint32
nd_deflate_adler32 (guint32 sum, const guint8 *bytes, gsize n)
{
  return adler32_z (sum, bytes, n);
}
