/* Multi-page TIFF and BigTIFF, read a slice at a time with libtiff: ImageJ
 * hyperstacks, OME-TIFF and plain stacks (formats/tiffaxes.h). Strips and
 * tiles, plain or compressed without loss (LZW, deflate, PackBits,
 * Zstandard).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"
#include "formats/input.h"

G_BEGIN_DECLS

/* TRUE if the @n first bytes of a file are those of TIFF or BigTIFF. */
gboolean nd_tiff_detect (const guint8 *bytes, gsize n);

/* Reads the directories of @input, the file @path, into @header. If the file
 * does not say what its pages are, they are slices, and header->z_or_time is
 * set. header->slices uses @input until it is freed. ND_ERROR_FORMAT, also in
 * a build without libtiff; ND_ERROR_READ if the file is damaged. */
gboolean nd_tiff_open (NdHeader *header, NdInput *input, const gchar *path,
    GError **error);

G_END_DECLS
