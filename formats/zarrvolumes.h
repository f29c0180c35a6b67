/* Decodes the volumes of an array of Zarr: finds its chunks, in files of their
 * own or in shards, unpacks them on all threads and puts their samples in
 * order.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"
#include "formats/zarrmetadata.h"

G_BEGIN_DECLS

/* Reads the @array in @folder, which it then owns; @axes names its axes by t,
 * c, z, y and x. @recording has their sizes, and @volume_size are the stored
 * bytes of a volume. @budget is the caller's and outlives it. One thread reads
 * at a time; others help it. NULL, with ND_ERROR_FORMAT and a sentence about
 * "it", if there are too many chunks or they are too large; @folder is still
 * the caller's then. */
NdSlices *nd_zarr_volumes_new (gint folder, const NdZarrArray *array,
    const gchar *axes, const NdRecording *recording, gsize volume_size,
    NdBudget *budget, GError **error);

G_END_DECLS
