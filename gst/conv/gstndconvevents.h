/* Events and queries.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

/* Virtual functions of GstBaseTransform. */
gboolean gst_nd_conv_sink_event (GstBaseTransform *trans, GstEvent *event);
gboolean gst_nd_conv_src_event (GstBaseTransform *trans, GstEvent *event);
gboolean gst_nd_conv_query (GstBaseTransform *trans, GstPadDirection direction,
    GstQuery *query);

G_END_DECLS
