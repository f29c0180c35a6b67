/* Copies of recordings in other formats, and checks of whole folders.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/recording.h"
#include <glib.h>

G_BEGIN_DECLS

/* What a copy changes; NULL keeps what the recording has. */
typedef struct
{
  const gchar *type;    /* of the samples: rounded half to even and saturated */
  const gchar *crop;    /* ranges along x, y, z, t: "10:20,:,5:" */
  const gchar *axes;    /* the axes of the copy: "y-xz" */
  const gchar *spacing; /* along x, y, z of the recording: "0.3um:0.3um:1um" */
  const gchar *rate;    /* volumes per second, which replaces its times */
  gboolean compress;
} NdConversion;

/* Writes the recording of @reader to @path, whose extension names the format.
 * Prints to stderr what is lost. ND_ERROR_SETTINGS for a wrong conversion, and
 * the errors of readers and writers. */
gboolean nd_recording_convert (NdReader *reader, const gchar *path,
    const NdConversion *conversion, GError **error);

/* Reads all volumes of all recordings in the folder @path, or of that
 * recording, and prints those that cannot be read, warnings, and totals. TRUE
 * if all of them can be read. */
gboolean nd_folder_check (const gchar *path, guint64 max_memory,
    NdTruncated truncated);

/* Messages of ndconv-file.
 */

/* @text without control characters, and with the options of the program where
 * readers name the properties of elements. */
gchar *nd_message_text (const gchar *text);

G_END_DECLS
