/* The choice of output caps, and their change while the stream plays.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* fixate_caps() of all elements. If the source pad is not linked and several
 * output caps are possible, the base class takes the input caps for the output
 * caps; this returns caps that the element makes of them. */
GstCaps *gst_nd_downstream_fixate (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *other);

/* Whether downstream accepts those of @possible that negotiation would choose.
 * They are the output caps that new settings allow. ND_ERROR_FORMAT if not. */
gboolean gst_nd_downstream_accepts (GstBaseTransform *trans, GstCaps *possible,
    GError **error);

/* The result @ret of outputs that new settings end. If another element has been
 * linked that does not take the caps of these outputs, the stream goes on: the
 * base class negotiates before the next output. */
GstFlowReturn gst_nd_downstream_result (GstBaseTransform *trans,
    GstFlowReturn ret);

G_END_DECLS
