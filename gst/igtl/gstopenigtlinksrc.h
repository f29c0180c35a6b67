/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_OPENIGTLINK_SRC (gst_openigtlink_src_get_type ())
G_DECLARE_FINAL_TYPE (GstOpenIGTLinkSrc, gst_openigtlink_src, GST,
    OPENIGTLINK_SRC, GstPushSrc)

G_END_DECLS
