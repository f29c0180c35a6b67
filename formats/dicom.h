/* DICOM: frames of ultrasound, volumes and their times (Enhanced US Volume),
 * slices, uncompressed, RLE, or by the codecs of the build (dicomcodecs.h).
 * Other files are refused with a command.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"
#include "formats/input.h"

G_BEGIN_DECLS

/* TRUE if the @n first bytes of a file are those of DICOM. */
gboolean nd_dicom_detect (const guint8 *bytes, gsize n);

/* Reads the elements of @input, the file @path, into @header. If they do not
 * say whether frames are slices, header->z_or_time is set. header->slices uses
 * @input until it is freed. ND_ERROR_FORMAT, ND_ERROR_READ. */
gboolean nd_dicom_open (NdHeader *header, NdInput *input, const gchar *path,
    GError **error);

G_END_DECLS
