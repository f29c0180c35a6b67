/* What each format holds beside the samples: the table from which a writer says
 * what is lost, and a reader what a file cannot have.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/metadata.h"
#include "formats/target.h"

G_BEGIN_DECLS

/* A list like "origin, directions, fields" of what the format with the name
 * @format of messages ("TIFF") does not hold; NULL if it holds all, or if it is
 * raw. The caller frees it. */
gchar *nd_holds_not (const gchar *format);

/* A sentence about what @target does not hold of a recording with the metadata
 * @source, which may be NULL, and the first time @origin; NULL if that is
 * nothing. The caller frees it. */
gchar *nd_holds_lost (const NdTarget *target, const NdRecording *recording,
    const NdMetadata *source, gint64 origin);

G_END_DECLS
