/* Blocks: parts of a recording that are filtered one by one, each with the
 * input samples that its outputs need.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

G_BEGIN_DECLS

/* Samples @start to @start + @size - 1 along x, y, z, t. */
typedef struct
{
  gsize start[ND_AXES];
  gsize size[ND_AXES];
} NdBox;

/* The number of blocks of @block outputs each, or fewer at the ends, that cover
 * @size; G_MAXSIZE if there are too many to count. */
gsize nd_blocks_count (const gsize size[ND_AXES], const gsize block[ND_AXES]);

/* Block @index, counted along x first: its outputs, and the box of the input
 * that they need. If that box is filtered with the same borders, its samples
 * at the place of @out are those of the whole recording.
 *
 * @low and @high are those of NdReach. At an edge, the box also has the samples
 * that the border repeats; with ND_BORDER_WRAP these are at the other end, so
 * that the box has the whole axis. */
void nd_blocks_get (gsize index, const gsize size[ND_AXES],
    const gsize block[ND_AXES], const gint low[ND_AXES],
    const gint high[ND_AXES], NdBorder border, NdBorder time_border, NdBox *out,
    NdBox *in);

G_END_DECLS
