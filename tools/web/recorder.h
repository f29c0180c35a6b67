/* Records the volumes that pass a pad to a file, in threads of its own. If the
 * disk is too slow, volumes are missing from the file, and the stream goes on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _WebRecorder WebRecorder;

typedef struct
{
  guint64 bytes; /* of samples of one recording */
  guint64 total; /* bytes of all recordings in the folder */
  guint files;   /* recordings in the folder */
} WebRecorderLimits;

/* Records to a new file in @folder, until a limit is reached.
 * Errors: the folder is full, or cannot be written to. */
WebRecorder *web_recorder_new (GstPad *pad, const gchar *folder,
    const WebRecorderLimits *limits, GError **error);

/* Begins to end the recording. */
void web_recorder_stop (WebRecorder *self);

/* Whether the recording has ended, and @error if its file is not complete. */
gboolean web_recorder_has_ended (WebRecorder *self, GError **error);

/* Ends the recording if it has not ended, and waits for that. */
void web_recorder_free (WebRecorder *self);

const gchar *web_recorder_path (WebRecorder *self);
guint64 web_recorder_volumes (WebRecorder *self);
guint64 web_recorder_missing (WebRecorder *self);

G_END_DECLS
