/* Assembles volumes from parts.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "live/image.h"

G_BEGIN_DECLS

typedef struct _NdIgtlParts NdIgtlParts;

typedef enum
{
  ND_IGTL_PART_ADDED,    /* other parts of the volume are missing */
  ND_IGTL_PART_COMPLETE, /* every sample has arrived */
  ND_IGTL_PART_ANEW      /* the part overlaps another one, or is of another
                            volume: see below */
} NdIgtlPart;

NdIgtlParts *nd_igtl_parts_new (void);
void nd_igtl_parts_free (NdIgtlParts *parts);

/* Adds the part in @image. After ND_IGTL_PART_COMPLETE the next part begins
 * another volume. ND_IGTL_PART_ANEW: the part begins another volume, although
 * parts of this one are missing and will not come. The part is not added; call
 * nd_igtl_parts_reset() and add it again. */
NdIgtlPart nd_igtl_parts_add (NdIgtlParts *parts, const NdIgtlImage *image,
    guint64 timestamp);
void nd_igtl_parts_reset (NdIgtlParts *parts);

/* TRUE if a volume has begun and is not complete. */
gboolean nd_igtl_parts_pending (const NdIgtlParts *parts);

/* Copies the samples of a part, @sample_size bytes each with all components, to
 * their places in the volume. */
void nd_igtl_parts_copy (const NdIgtlImage *image, gsize sample_size,
    guint8 *volume, const guint8 *part);

G_END_DECLS
