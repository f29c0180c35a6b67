/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define GST_TYPE_ND_FILE_SINK (gst_nd_file_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstNdFileSink, gst_nd_file_sink, GST, ND_FILE_SINK,
    GstBaseSink)

G_END_DECLS
