/* Writes multi-page TIFF without a library: ImageJ's description or OME-XML,
 * one strip for each slice of each component, BigTIFF if the file is 4 GiB or
 * larger. Three or four components of uint8 are colours, which stay together
 * unless they were channels in the file that they come from.
 *
 * The first directory lies before the samples, so that a file that was not
 * finished can be read as a stack of ImageJ; the others lie after them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/metadata.h"
#include "formats/recording.h"

G_BEGIN_DECLS

/* ND_ERROR_FORMAT if TIFF cannot store @recording. */
gboolean nd_tiff_supports (const NdRecording *recording, const gchar *path,
    GError **error);

/* A field of recordings whose channels were pages of their own. */
#define ND_TIFF_CHANNELS "TIFF.channels"

/* The pages of a slice: one, or one for each component. */
gsize nd_tiff_planes (const NdRecording *recording, const NdMetadata *metadata);

/* Copies component @c of a slice. */
void nd_tiff_get_plane (const NdRecording *recording, guint8 *plane,
    const guint8 *slice, gsize c);

/* Builds the bytes before the samples, equally many for every number of
 * volumes. Without volumes the file has no directory. With @ended, the
 * directories of nd_tiff_build_pages() follow the samples; only then the
 * description of @ome is OME-XML. */
void nd_tiff_build (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gboolean ended, gboolean ome);

/* Appends the directories of up to @n pages from @first (1 or more) on, to be
 * written after the samples one after the other. Returns how many there are; 0
 * after the last page. */
guint64 nd_tiff_build_pages (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gboolean ome, guint64 first, guint64 n);

/* The description of a TIFF file that is written.
 */

/* The unit of lengths in mm. */
gdouble nd_tiff_unit (const NdGeometry *geometry);

/* ImageJ's lines, or OME-XML. */
GString *nd_tiff_describe (const NdRecording *recording,
    const NdMetadata *metadata, gboolean ome);

/* The bytes that suffice for any number of volumes. */
gsize nd_tiff_description_room (gsize channels, gboolean ome);

G_END_DECLS
