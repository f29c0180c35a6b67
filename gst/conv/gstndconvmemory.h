/* Buffer pools: the one that outputs come from, and the one that is proposed
 * upstream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

/* Virtual functions of GstBaseTransform. */
gboolean gst_nd_conv_decide_allocation (GstBaseTransform *trans,
    GstQuery *query);
gboolean gst_nd_conv_propose_allocation (GstBaseTransform *trans,
    GstQuery *decide_query, GstQuery *query);

G_END_DECLS
