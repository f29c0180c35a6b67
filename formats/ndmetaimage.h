/* The header of a MetaImage file, with its samples behind it (.mha) or in
 * others (.mhd), read and made in memory.
 * https://itk.org/Wiki/ITK/MetaIO/Documentation, and for sequences
 * PlusLib's docs/file-formats/FileSequenceFile.md.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndheader.h"

G_BEGIN_DECLS

/* The field that ends a header. */
#define ND_METAIMAGE_LAST "ElementDataFile"

gboolean nd_metaimage_detect (const guint8 * bytes, gsize n);

/* Bytes up to the samples: with the line ElementDataFile, its last; 0 where
 * that is not in @bytes. Names behind "ElementDataFile = LIST" go to the end of
 * the file: @to_end is TRUE then. */
gsize nd_metaimage_header_size (const guint8 * bytes, gsize n,
    gboolean * to_end);

/* @bytes are the header, and nothing behind it but names of files.
 * ND_ERROR_FORMAT says what is wrong with it, ND_ERROR_NOT_FOUND which file it
 * names is missing. */
gboolean nd_metaimage_parse (NdHeader * header, const guint8 * bytes, gsize n,
    const gchar * path, GError ** error);

/* TRUE where @key would be read as a field of MetaImage's own. */
gboolean nd_metaimage_is_field (const gchar * key);

/* ND_ERROR_FORMAT where MetaImage cannot hold volumes like @recording. */
gboolean nd_metaimage_supports (const NdRecording * recording,
    const gchar * path, GError ** error);

/* The header without its last line. @compressed: bytes of the compressed
 * samples, -1 where they are not. Frames become three dimensions, x, y and
 * time, as PLUS has them; more than one volume four. Gives the number of
 * fields that were left out, too long for MetaImage. */
guint nd_metaimage_build (GString * text, const NdRecording * recording,
    const NdMetadata * metadata, gint64 compressed);

/* The last line. @data is the name of the file with the samples, NULL where
 * they follow. */
void nd_metaimage_end (GString * text, const gchar * data);

G_END_DECLS
