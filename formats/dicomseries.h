/* A series of DICOM in a folder, with a slice in each file, as MR and CT have
 * it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* TRUE if the folder @path has a file of DICOM. */
gboolean nd_dicom_series_detect (const gchar *path);

/* Reads the elements of all files in the folder @path, of which the series with
 * the most files is read. Their places along the normal are slices; files of
 * the same place are volumes over time, in the order of their temporal
 * position, trigger time, acquisition time or number. header->slices opens a
 * file for each slice. ND_ERROR_OPEN_READ, _FORMAT, _READ, _MEMORY. */
gboolean nd_dicom_series_open (NdHeader *header, const gchar *path,
    GError **error);

G_END_DECLS
