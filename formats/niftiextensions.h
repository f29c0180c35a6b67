/* The extensions between the header of a NIfTI file and its samples. One of
 * them is a comment with metadata for which NIfTI has no field. For
 * formats/nifti.c only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* Reads the extensions of @bytes from @at up to @n into the metadata of
 * @header. A damaged extension is a warning. */
void nd_nifti_parse_extensions (NdHeader *header, guint8 *bytes, gsize at,
    gsize n, const gchar *path);

/* Appends extensions to the header in @bytes, padded to @room bytes. FALSE
 * without memory. */
gboolean nd_nifti_build_extensions (GByteArray *bytes,
    const NdRecording *recording, const NdMetadata *metadata, gsize room);

G_END_DECLS
