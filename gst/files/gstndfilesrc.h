/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_ND_FILE_SRC (gst_nd_file_src_get_type ())
G_DECLARE_FINAL_TYPE (GstNdFileSrc, gst_nd_file_src, GST, ND_FILE_SRC,
    GstPushSrc)

G_END_DECLS
