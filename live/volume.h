/* Assembles volumes from subvolumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "live/image.h"

G_BEGIN_DECLS

typedef struct _NdIgtlSubvolumes NdIgtlSubvolumes;

typedef enum
{
  ND_IGTL_SUBVOLUME_ADDED,    /* other subvolumes of the volume are missing */
  ND_IGTL_SUBVOLUME_COMPLETE, /* every sample has arrived */
  ND_IGTL_SUBVOLUME_ANEW      /* it overlaps another subvolume, or is of another
                                 volume: see below */
} NdIgtlSubvolume;

NdIgtlSubvolumes *nd_igtl_subvolumes_new (void);
void nd_igtl_subvolumes_free (NdIgtlSubvolumes *subvolumes);

/* Adds the subvolume in @image. After ND_IGTL_SUBVOLUME_COMPLETE the next
 * subvolume begins another volume. ND_IGTL_SUBVOLUME_ANEW: the subvolume begins
 * another volume, although subvolumes of this one are missing and will not
 * come. The subvolume is not added; call nd_igtl_subvolumes_reset() and add it
 * again. */
NdIgtlSubvolume nd_igtl_subvolumes_add (NdIgtlSubvolumes *subvolumes,
    const NdIgtlImage *image, guint64 timestamp);
void nd_igtl_subvolumes_reset (NdIgtlSubvolumes *subvolumes);

/* TRUE if a volume has begun and is not complete. */
gboolean nd_igtl_subvolumes_pending (const NdIgtlSubvolumes *subvolumes);

/* Copies the samples of a subvolume, @sample_size bytes each with all
 * components, to their places in the volume. */
void nd_igtl_subvolumes_copy (const NdIgtlImage *image, gsize sample_size,
    guint8 *volume, const guint8 *subvolume);

G_END_DECLS
