/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_ND_VIEW (gst_nd_view_get_type ())
G_DECLARE_FINAL_TYPE (GstNdView, gst_nd_view, GST, ND_VIEW, GstBaseTransform)

G_END_DECLS
