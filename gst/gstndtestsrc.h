/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_ND_TEST_SRC (gst_nd_test_src_get_type ())
G_DECLARE_FINAL_TYPE (GstNdTestSrc, gst_nd_test_src, GST, ND_TEST_SRC,
    GstPushSrc)

G_END_DECLS
