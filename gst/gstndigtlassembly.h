/* The volume that one peer sends: in one message, or in parts. Samples go from
 * the socket into the buffer, unless they are a part or of another size than
 * those of the volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

#include "live/image.h"

G_BEGIN_DECLS

typedef struct _GstNdIgtlAssembly GstNdIgtlAssembly;

GstNdIgtlAssembly *gst_nd_igtl_assembly_new (void);
void gst_nd_igtl_assembly_free (GstNdIgtlAssembly *assembly);

/* Bytes of the whole volume in the type that volumes have. */
gsize gst_nd_igtl_assembly_size (const NdIgtlImage *image);

/* The header of @image has come: memory for its samples, or NULL if there is
 * none. A buffer comes from @pool, if that is not NULL and has one at once.
 * @lost: whether a volume that had begun before will never be complete. */
guint8 *gst_nd_igtl_assembly_begin (GstNdIgtlAssembly *assembly,
    const NdIgtlImage *image, GstBufferPool *pool, gboolean *lost);

typedef enum
{
  GST_ND_IGTL_PART,     /* more parts must come */
  GST_ND_IGTL_COMPLETE, /* the volume is there */
  GST_ND_IGTL_NO_MEMORY /* the volume is left out */
} GstNdIgtlAssembled;

/* All samples of @image have come. @volume is set if it is complete. */
GstNdIgtlAssembled gst_nd_igtl_assembly_end (GstNdIgtlAssembly *assembly,
    const NdIgtlImage *image, guint64 timestamp, GstBufferPool *pool,
    GstBuffer **volume, gboolean *lost);

/* The samples that came were refused. Parts that came before stay. */
void gst_nd_igtl_assembly_refuse (GstNdIgtlAssembly *assembly);

/* TRUE if a volume has begun and is not complete. */
gboolean gst_nd_igtl_assembly_is_pending (const GstNdIgtlAssembly *assembly);

G_END_DECLS
