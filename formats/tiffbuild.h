/* Writes multi-page TIFF without a library: ImageJ's description, one strip for
 * each slice, BigTIFF if the file is 4 GiB or larger.
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

/* Builds the bytes before the samples, equally many for every number of
 * volumes. Without volumes the file has no directory. With @ended, the
 * directories of nd_tiff_build_pages() follow the samples. */
void nd_tiff_build (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gboolean ended);

/* Appends the directories of up to @n pages from @first (1 or more) on, to be
 * written after the samples one after the other. Returns how many there are; 0
 * after the last page. */
guint64 nd_tiff_build_pages (GByteArray *bytes, const NdRecording *recording,
    guint64 first, guint64 n);

G_END_DECLS
