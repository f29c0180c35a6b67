/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_ND_DEMUX (gst_nd_demux_get_type ())
G_DECLARE_FINAL_TYPE (GstNdDemux, gst_nd_demux, GST, ND_DEMUX, GstElement)

G_END_DECLS
