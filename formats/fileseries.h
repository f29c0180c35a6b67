/* A recording of many files, of which each is a slice or has volumes: numbered
 * files, a folder of Micro-Manager or of 3D Slicer, in any format that is read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* Reads the files of the folder @path, or those that the pattern @path names
 * (nd_file_names_is_pattern()). Files of one slice are slices, unless their
 * names say that they count times or channels; files of volumes follow each
 * other in time. Type, size, geometry and fields are those of the first file,
 * the distance of slices that of the origins of the first and the last one.
 * All files are opened, so that errors come before the first volume; with
 * header->keep the recording ends before the first file that cannot be read.
 * header->slices opens a file at a time. ND_ERROR_OPEN_READ, _NOT_FOUND,
 * _FORMAT, _READ, _MEMORY. */
gboolean nd_file_series_open (NdHeader *header, const gchar *path,
    GError **error);

G_END_DECLS
