/* Buffer pools of sources.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* For GstBaseSrcClass.decide_allocation(): sets the pool of an ALLOCATION query
 * to that of downstream if its buffers have @size bytes, otherwise to a new
 * one. A pool is faster, because new memory for each volume costs a page fault
 * every 4 KiB. Buffers of a pool have less than 4 GiB: the query of larger
 * volumes has no pool afterwards. */
gboolean gst_nd_query_set_pool (GstQuery *query, gsize size);

G_END_DECLS
