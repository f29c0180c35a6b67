/* The properties of ndview change between two volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/view/gstndview.h"

G_BEGIN_DECLS

/* Updates the properties that the application controls over time. */
void gst_nd_view_sync_values (GstBaseTransform *trans, GstBuffer *input);

/* Applies the properties between two volumes. FALSE if they are wrong from the
 * start. */
gboolean gst_nd_view_update_settings (GstNdView *self, GError **error);

/* Refuses a response that the volumes do not have if there is one to go on
 * with. */
void gst_nd_view_check_response (GstNdView *self, GstNdViewSettings *settings);

/* After property @name has changed from @before: `position` takes back planes
 * that mouse or keys moved away from it. With the object lock. */
void gst_nd_view_follow_position (GstNdView *self,
    const GstNdViewSettings *before, const gchar *name);

G_END_DECLS
