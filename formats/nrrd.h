/* Parses and builds the header of an NRRD file, attached (.nrrd) or detached
 * (.nhdr). https://teem.sourceforge.net/nrrd/format.html
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* The prefix of the metadata keys that keep fields of NRRD which a stream does
 * not use. */
#define ND_NRRD_KEPT "NRRD."

/* TRUE if the @n first bytes of a file are those of NRRD. */
gboolean nd_nrrd_detect (const guint8 *bytes, gsize n);

/* The bytes up to and with the empty line that ends an attached header; 0 if
 * @bytes do not have it. */
gsize nd_nrrd_header_size (const guint8 *bytes, gsize n);

/* Parses @bytes, which end with the header, as nd_text_init() says.
 * ND_ERROR_FORMAT if the header is wrong, ND_ERROR_NOT_FOUND if a file that it
 * names is missing. */
gboolean nd_nrrd_parse (NdHeader *header, guint8 *bytes, gsize n,
    const gchar *path, GError **error);

/* Builds the header without the empty line at its end. @data is the name of the
 * file with the samples, or NULL if they follow. The list axis is last; for one
 * volume it is left out unless @list. If @plus, fields of volumes have the
 * names that PLUS uses, otherwise those of 3D Slicer. */
void nd_nrrd_build (GString *text, const NdRecording *recording,
    const NdMetadata *metadata, gboolean compressed, const gchar *data,
    gboolean list, gboolean plus);

G_END_DECLS
