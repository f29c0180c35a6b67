/* The metadata of a recording, in an event before the first volume. All
 * elements between the file that is read and the file that is written pass it
 * on. The event is not sticky, because gdppay stores only 16 bits of the type
 * of an event: after gdpdepay a sticky event would be one that must not come
 * before caps.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/metadata.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* Times and origin in @metadata refer to timestamps of the stream. @volumes:
 * the length of the stream, 0 if unknown. */
GstEvent *gst_nd_metadata_to_event (const NdMetadata *metadata,
    guint64 volumes);

/* NULL if @event is another one. */
NdMetadata *gst_nd_metadata_from_event (GstEvent *event, guint64 *volumes);

/* The same for the next volume of a live stream. The fields are added to those
 * of earlier events. The origin is that of the whole stream. */
GstEvent *gst_nd_metadata_to_live_event (const NdMetadata *metadata);

/* The same for an event that gst_nd_metadata_from_event() has read. */
gboolean gst_nd_metadata_is_live (GstEvent *event);

G_END_DECLS
