/* Assembles the volumes of one peer, from one message or from subvolumes.
 * Samples are received directly in their buffer, unless they are a subvolume.
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

/* The header of @image has arrived. Returns memory for its samples, or NULL if
 * there is none. The buffer is taken from @pool if that is not NULL and has one
 * at once. @lost: whether an earlier volume will never be complete. */
guint8 *gst_nd_igtl_assembly_begin (GstNdIgtlAssembly *assembly,
    const NdIgtlImage *image, GstBufferPool *pool, gboolean *lost);

typedef enum
{
  GST_ND_IGTL_SUBVOLUME, /* subvolumes are missing */
  GST_ND_IGTL_COMPLETE,  /* the volume is complete */
  GST_ND_IGTL_NO_MEMORY  /* the volume is left out */
} GstNdIgtlAssembled;

/* All samples of @image have arrived. Sets @volume if it is complete. */
GstNdIgtlAssembled gst_nd_igtl_assembly_end (GstNdIgtlAssembly *assembly,
    const NdIgtlImage *image, guint64 timestamp, GstBufferPool *pool,
    GstBuffer **volume, gboolean *lost);

/* The samples of a message were refused. Earlier subvolumes are kept. */
void gst_nd_igtl_assembly_refuse (GstNdIgtlAssembly *assembly);

/* TRUE if a volume has begun and is not complete. */
gboolean gst_nd_igtl_assembly_is_pending (const GstNdIgtlAssembly *assembly);

G_END_DECLS
