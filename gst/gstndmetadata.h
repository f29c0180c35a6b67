/* What a recording says beside its samples, on its way from the file it comes
 * from to the one it is written to: a sticky event, which any element passes
 * on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>
#include "formats/ndmetadata.h"

G_BEGIN_DECLS

#define GST_TYPE_ND_METADATA (gst_nd_metadata_get_type ())
GType gst_nd_metadata_get_type (void);

/* Its times and origin are those of the stream: a volume with the timestamp
 * that times has for it has its fields. @volumes come; 0: not known. */
GstEvent *gst_nd_metadata_to_event (NdMetadata * metadata, guint64 volumes);

/* FALSE where @event is another; @metadata is a reference of the caller's. */
gboolean gst_nd_metadata_from_event (GstEvent * event, NdMetadata ** metadata,
    guint64 * volumes);

G_END_DECLS
