/* Recordings in HDF5: Imaris (.ims), BigDataViewer (.h5 and .xml) and the
 * Ultrasound File Format of USTB (.uff).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* TRUE if @bytes begin like HDF5. */
gboolean nd_hdf5_detect (const guint8 *bytes, gsize n);

/* Reads the groups of @input, the file @path; header->slices reads a volume.
 * ND_ERROR_FORMAT for other kinds of HDF5; ND_ERROR_READ, _MEMORY. */
gboolean nd_hdf5_open (NdHeader *header, NdInput *input, const gchar *path,
    GError **error);

G_END_DECLS
