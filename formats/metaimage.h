/* Parses and builds the header of a MetaImage file, which is followed by its
 * samples (.mha) or names other files (.mhd).
 * https://itk.org/Wiki/ITK/MetaIO/Documentation, and for sequences
 * PlusLib's FileSequenceFile.md.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* The last field of a header. */
#define ND_METAIMAGE_LAST "ElementDataFile"

/* TRUE if the @n first bytes of a file are those of MetaImage. */
gboolean nd_metaimage_detect (const guint8 *bytes, gsize n);

/* The bytes up to and with the line ElementDataFile; 0 if @bytes do not have
 * that line. If it is "ElementDataFile = LIST", names of files follow up to the
 * end of the file, and @to_end is TRUE. */
gsize nd_metaimage_header_size (const guint8 *bytes, gsize n, gboolean *to_end);

/* Parses @bytes, which end with the header and its list of files, as
 * nd_text_init() says.
 * ND_ERROR_FORMAT if the header is wrong, ND_ERROR_NOT_FOUND if a file that it
 * names is missing. */
gboolean nd_metaimage_parse (NdHeader *header, guint8 *bytes, gsize n,
    const gchar *path, GError **error);

/* TRUE if @key is the name of a field of MetaImage. */
gboolean nd_metaimage_is_field (const gchar *key);

/* ND_ERROR_FORMAT if MetaImage cannot store @recording. */
gboolean nd_metaimage_supports (const NdRecording *recording, const gchar *path,
    GError **error);

/* Builds the header without its last line. @compressed is the size of the
 * compressed samples, or -1. Several frames have the three dimensions x, y and
 * time, as in PLUS; several volumes have four. Returns the number of fields
 * that were left out, because they are too long for MetaImage. */
guint nd_metaimage_build (GString *text, const NdRecording *recording,
    const NdMetadata *metadata, gint64 compressed);

/* Builds the last line. @data is the name of the file with the samples, or NULL
 * if they follow the header. */
void nd_metaimage_end (GString *text, const gchar *data);

G_END_DECLS
