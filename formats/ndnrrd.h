/* The header of an NRRD file, attached (.nrrd) or of its own (.nhdr), read and
 * made in memory. https://teem.sourceforge.net/nrrd/format.html
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndheader.h"

G_BEGIN_DECLS

/* Fields of NRRD that are no key/values, and that a stream has no place for, go
 * along as key/values of this name. */
#define ND_NRRD_KEPT "NRRD."

gboolean nd_nrrd_detect (const guint8 * bytes, gsize n);

/* Bytes up to and with the empty line that ends an attached header; 0 where it
 * is not in @bytes. */
gsize nd_nrrd_header_size (const guint8 * bytes, gsize n);

/* @bytes are the header, and nothing behind it. ND_ERROR_FORMAT says what is
 * wrong with it, ND_ERROR_NOT_FOUND which file it names is missing. */
gboolean nd_nrrd_parse (NdHeader * header, const guint8 * bytes, gsize n,
    const gchar * path, GError ** error);

/* The header without the line that ends it. @data is the name of the file
 * with the samples, NULL where they follow. The list axis is last; at one
 * volume it is left out unless @list. @plus: names as PLUS has them, otherwise
 * 3D Slicer's. */
void nd_nrrd_build (GString * text, const NdRecording * recording,
    const NdMetadata * metadata, gboolean compressed, const gchar * data,
    gboolean list, gboolean plus);

G_END_DECLS
