/* The axes of an image of NGFF (OME-Zarr): their names, and what their scales
 * and translations are in space and time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/recording.h"
#include "formats/zarrmetadata.h"

G_BEGIN_DECLS

/* Names the axes of @image: those that it has, those of @array, or by their
 * number. ND_ERROR_FORMAT if the numbers differ, if a name comes twice, or
 * without x and y. */
gboolean nd_zarr_find_axes (const NdZarrArray *array, NdZarrImage *image,
    GError **error);

/* Spacing and origin, which are unknown if they are not finite, or if nothing
 * states them. */
void nd_zarr_set_geometry (const NdZarrImage *image, NdRecording *recording);

/* Volumes per second; @time is the number of the axis t, or -1. */
void nd_zarr_set_rate (const NdZarrImage *image, gint time,
    NdRecording *recording);

G_END_DECLS
