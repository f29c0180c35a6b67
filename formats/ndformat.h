/* Which format a file has, by its content; its header in any of them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndheader.h"
#include "formats/ndstream.h"

G_BEGIN_DECLS

/* Reads the header of the file @path, which @stream is; without one it is raw
 * samples like @hint, which may be NULL. Offsets in @header count from the
 * beginning of the file that has the samples. Errors are those of
 * nd_reader_open(). */
gboolean nd_format_read_header (NdHeader * header, NdStream * stream,
    const gchar * path, const NdRecording * hint, GError ** error);

G_END_DECLS
