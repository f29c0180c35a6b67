/* Parses and builds the header of a NIfTI file.
 *
 * NIfTI-1: https://nifti.nimh.nih.gov/nifti-1, nifti1.h; NIfTI-2: nifti2.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* The number of bytes that nd_nifti_detect() needs. */
#define ND_NIFTI_HEADER 540

/* TRUE if the @n bytes begin like NIfTI-1 or NIfTI-2 in either byte order, even
 * if nd_nifti_parse() refuses the kind that the magic names. */
gboolean nd_nifti_detect (const guint8 *bytes, gsize n);

/* The bytes of header and extensions, up to the samples; @n if the header is
 * damaged. */
gsize nd_nifti_header_size (const guint8 *bytes, gsize n);

/* Sets header->skip to the offset of the samples. ND_ERROR_FORMAT if the header
 * is wrong. */
gboolean nd_nifti_parse (NdHeader *header, guint8 *bytes, gsize n,
    const gchar *path, GError **error);

/* ND_ERROR_FORMAT if NIfTI cannot store @recording. */
gboolean nd_nifti_supports (const NdRecording *recording, const gchar *path,
    GError **error);

/* Builds the header of a supported @recording and its extensions: @room bytes
 * (a multiple of 16), or more if they do not fit. NIfTI-1 if all sizes are
 * below 32768, otherwise NIfTI-2. FALSE without memory. */
gboolean nd_nifti_build (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gsize room);

G_END_DECLS
