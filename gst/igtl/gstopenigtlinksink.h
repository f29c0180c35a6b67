/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define GST_TYPE_OPENIGTLINK_SINK (gst_openigtlink_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstOpenIGTLinkSink, gst_openigtlink_sink, GST,
    OPENIGTLINK_SINK, GstBaseSink)

G_END_DECLS
