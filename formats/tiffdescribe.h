/* The description of a TIFF file that is written.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/metadata.h"
#include "formats/recording.h"

G_BEGIN_DECLS

/* The unit of lengths in mm. */
gdouble nd_tiff_unit (const NdGeometry *geometry);

/* ImageJ's lines, or OME-XML. */
GString *nd_tiff_describe (const NdRecording *recording,
    const NdMetadata *metadata, gboolean ome);

/* The bytes that suffice for any number of volumes. */
gsize nd_tiff_description_room (gsize channels, gboolean ome);

G_END_DECLS
