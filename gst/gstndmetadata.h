/* What a recording says beside its samples, on its way from the file it comes
 * from to the one it is written to: an event before the first volume, which any
 * element passes on. It is not sticky: GDP has 16 bits for the type of an
 * event, and what it makes of a sticky one upsets the order of caps behind it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>
#include "formats/ndmetadata.h"

G_BEGIN_DECLS

/* Its times and origin are those of the stream: a volume with the timestamp
 * that times has for it has its fields. @volumes come; 0: not known. */
GstEvent *gst_nd_metadata_to_event (const NdMetadata * metadata,
    guint64 volumes);

/* NULL where @event is another. */
NdMetadata *gst_nd_metadata_from_event (GstEvent * event, guint64 * volumes);

G_END_DECLS
