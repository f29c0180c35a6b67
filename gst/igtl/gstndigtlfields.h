/* The fields of volumes, which come in events before the volumes that they
 * belong to.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

#include "formats/metadata.h"

G_BEGIN_DECLS

typedef struct
{
  NdMetadata *recording; /* of a source that knows all volumes in advance */
  GQueue live;           /* NdMetadata, one volume each, in order of times */
} GstNdIgtlFields;

void gst_nd_igtl_fields_clear (GstNdIgtlFields *fields);

/* Forgets the fields of volumes that will not arrive because of a flush. */
void gst_nd_igtl_fields_flush (GstNdIgtlFields *fields);

/* Takes @metadata: of one volume if @live, otherwise of a recording. */
void gst_nd_igtl_fields_take (GstNdIgtlFields *fields, NdMetadata *metadata,
    gboolean live);

/* The fields (NdIgtlField) of the volume with this timestamp, whose texts
 * belong to @owner, which the caller unrefs, and to @fields. Counts in
 * @left_out those that ND_IGTL_SMALL_MAX leaves no room for. */
GArray *gst_nd_igtl_fields_find (GstNdIgtlFields *fields, GstClockTime time,
    NdMetadata **owner, guint *left_out);

G_END_DECLS
