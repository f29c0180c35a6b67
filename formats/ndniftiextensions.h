/* What lies between the header of a NIfTI file and its samples: extensions, and
 * our own, a comment of what NIfTI has no field for. Of ndnifti.c only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndheader.h"

G_BEGIN_DECLS

/* Those of @bytes from @at up to @n, where the samples begin or the bytes end:
 * into the metadata of @header. A damaged one is a warning. */
void nd_nifti_parse_extensions (NdHeader * header, const guint8 * bytes,
    gsize at, gsize n, const gchar * path);

/* Behind the header in @bytes, up to @room where that is more. */
void nd_nifti_build_extensions (GByteArray * bytes,
    const NdRecording * recording, const NdMetadata * metadata, gsize room);

G_END_DECLS
