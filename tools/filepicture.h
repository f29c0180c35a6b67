/* Pictures of recordings: a frame, or three planes through the middle of a
 * volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/recording.h"

G_BEGIN_DECLS

/* Draws volume number @volume to the PNG file @path. Black and white are the
 * smallest and the largest sample of the picture. */
gboolean nd_recording_draw (NdReader *reader, gint64 volume, const gchar *path,
    GError **error);

/* Draws the volumes with this number of two recordings of equal shape side by
 * side, with the range of @a, and b - a to their right: grey is 0, and white
 * the largest magnitude. */
gboolean nd_recordings_draw (NdReader *a, NdReader *b, gint64 volume,
    const gchar *path, GError **error);

G_END_DECLS
