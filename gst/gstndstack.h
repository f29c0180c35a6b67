/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_ND_STACK (gst_nd_stack_get_type ())
G_DECLARE_FINAL_TYPE (GstNdStack, gst_nd_stack, GST, ND_STACK, GstBaseTransform)

G_END_DECLS
