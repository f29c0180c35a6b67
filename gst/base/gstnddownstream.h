/* Output caps that change while the stream plays.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Whether downstream accepts those of @possible that negotiation would choose.
 * They are the output caps that new settings allow. ND_ERROR_FORMAT if not. */
gboolean gst_nd_downstream_accepts (GstBaseTransform *trans, GstCaps *possible,
    GError **error);

G_END_DECLS
