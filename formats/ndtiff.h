/* NDTiff, the folder that Micro-Manager 2 writes: NDTiff.index says where the
 * samples of each plane are in the files beside it.
 * https://github.com/micro-manager/NDTiffStorage
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* TRUE if the folder @path has an index. */
gboolean nd_ndtiff_detect (const gchar *path);

/* TRUE if the @n bytes begin like a file of NDTiff and an index is beside it,
 * the file @path. */
gboolean nd_ndtiff_detect_file (const guint8 *bytes, gsize n,
    const gchar *path);

/* Reads the index in the folder @path, or beside the file @path. Channels are
 * components; planes that the index lacks have samples of 0, with a warning; of
 * several positions the first one is read. header->slices reads a plane at a
 * time. ND_ERROR_READ, _FORMAT, _NOT_FOUND, _MEMORY. */
gboolean nd_ndtiff_open (NdHeader *header, const gchar *path, GError **error);

G_END_DECLS
