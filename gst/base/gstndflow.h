/* Results of pushes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Whether @ret ends the stream. NOT_LINKED passes when the application links
 * the pad again. */
static inline gboolean
gst_nd_flow_is_final (GstFlowReturn ret)
{
  return ret != GST_FLOW_OK && ret != GST_FLOW_NOT_LINKED;
}

/* The result of two pushes: that of the second one, unless it is OK. */
static inline GstFlowReturn
gst_nd_flow_join (GstFlowReturn first, GstFlowReturn second)
{
  return second == GST_FLOW_OK ? first : second;
}

G_END_DECLS
