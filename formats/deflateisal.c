/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/deflate.h"

#include <isa-l/igzip_lib.h>

/* Its files are about as large as those of zlib's level 1; those of level 1 are
 * 1 % larger, and level 3 takes twice the time for nothing. */
#define LEVEL 2

struct _NdDeflater
{
  struct isal_zstream stream;
  guint8 memory[ISAL_DEF_LVL2_DEFAULT];
};

NdDeflater *
nd_deflater_new (void)
{
  return g_try_malloc0 (sizeof (NdDeflater));
}

void
nd_deflater_free (NdDeflater *deflater)
{
  g_free (deflater);
}

gsize
nd_deflater_pack (NdDeflater *deflater, const guint8 *bytes, gsize n,
    guint8 *piece, gsize most)
{
  struct isal_zstream *stream = &deflater->stream;

  isal_deflate_init (stream);
  stream->level = LEVEL;
  stream->level_buf = deflater->memory;
  stream->level_buf_size = sizeof (deflater->memory);
  stream->flush = SYNC_FLUSH;
  stream->next_in = (guint8 *) bytes;
  stream->avail_in = n;
  stream->next_out = piece;
  stream->avail_out = most;
  return isal_deflate (stream) == COMP_OK && stream->avail_in == 0
          && stream->avail_out > 0
      ? stream->total_out
      : 0;
}

guint32
nd_deflate_adler32 (guint32 sum, const guint8 *bytes, gsize n)
{
  return isal_adler32 (sum, bytes, n);
}
