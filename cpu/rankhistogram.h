/* Order statistics by a histogram that runs along a row: each step takes out
 * the samples that leave the footprint and adds those that enter it (T. Huang,
 * G. Yang, G. Tang, "A Fast Two-Dimensional Median Filtering Algorithm", IEEE
 * Trans. ASSP 27(1), 1979), with counts of 16 or 256 bins together.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/rankkernels.h"

G_BEGIN_DECLS

/* Bytes of the histogram for @key, uint8 or int16; 0 for others. */
gsize nd_rank_histogram_bytes (NdKey key);

/* out[x] = the key at @rank of the runs of @footprint at x, 0 <= x < @n.
 * rows[r] is the row of run r; its sample 0 is that at offset footprint->low[0]
 * of x = 0. @histogram is zeroed memory, and is zeroed again on return. */
void nd_rank_histogram_row (NdKey key, const NdFootprint *footprint,
    gconstpointer const *rows, gsize rank, gsize n, guint32 *histogram,
    gpointer out);

G_END_DECLS
