/* The header of a NIfTI file, read and made in memory.
 *
 * NIfTI-1: https://nifti.nimh.nih.gov/nifti-1, nifti1.h; NIfTI-2: nifti2.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndheader.h"

G_BEGIN_DECLS

/* Bytes that decide whether a file is NIfTI. */
#define ND_NIFTI_HEADER 540

/* Bytes before the samples at least: either header fits, so that NIfTI-2 can
 * be chosen when the number of volumes is known. */
#define ND_NIFTI_ROOM 544

/* TRUE where @bytes, of which @n are there, begin as NIfTI-1 or -2 do, in
 * either byte order; also where the magic behind that says a kind that
 * nd_nifti_parse() refuses by name. */
gboolean nd_nifti_detect (const guint8 * bytes, gsize n);

/* Bytes up to the samples, with the extensions; @n where @bytes are no sound
 * header. */
gsize nd_nifti_header_size (const guint8 * bytes, gsize n);

/* header->skip is the offset of the samples. ND_ERROR_FORMAT says what is
 * wrong with the header. */
gboolean nd_nifti_parse (NdHeader * header, const guint8 * bytes, gsize n,
    const gchar * path, GError ** error);

/* ND_ERROR_FORMAT where NIfTI cannot hold volumes like @recording. */
gboolean nd_nifti_supports (const NdRecording * recording,
    const gchar * path, GError ** error);

/* The header of a supported @recording and the extensions behind it, @room
 * bytes (a multiple of 16) or as many more as it takes. NIfTI-1 where all sizes
 * are below 32768, otherwise NIfTI-2. */
void nd_nifti_build (GByteArray * bytes, const NdRecording * recording,
    const NdMetadata * metadata, gsize room);

G_END_DECLS
