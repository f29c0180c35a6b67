/* Detects the format of a file by its content and reads its header.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"
#include "formats/input.h"

G_BEGIN_DECLS

/* Reads the header of @input, the file @path. A file without a header has raw
 * samples as described by @hint, which may be NULL. Offsets in @header count
 * from the beginning of the file that has the samples. Errors are those of
 * nd_reader_open(). */
gboolean nd_format_read_header (NdHeader *header, NdInput *input,
    const gchar *path, const NdRecording *hint, GError **error);

/* TRUE if @path is a folder, or names files by a pattern (img_%04d.tif). */
gboolean nd_format_is_several (const gchar *path);

/* Reads the headers of the files in the folder @path: OME-Zarr, a series of
 * DICOM, or numbered files; or of those that the pattern @path names. */
gboolean nd_format_read_several (NdHeader *header, const gchar *path,
    const NdRecording *hint, GError **error);

/* The format whose header @bytes begin with, or NULL. */
const gchar *nd_format_of (const guint8 *bytes, gsize n);

G_END_DECLS
