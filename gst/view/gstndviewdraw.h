/* The pictures of ndview, of one or of both inputs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/view/gstndview.h"

G_BEGIN_DECLS

/* Draws @input to @output. */
gboolean gst_nd_view_make_frame (GstNdView *self, GstBuffer *input,
    GstBuffer *output, GError **error);

/* Frees the renderers; the next picture makes new ones. */
void gst_nd_view_drop_pictures (GstNdView *self);

/* The picture that the user sees; FALSE if there is none yet, or if mouse and
 * keys must not change it. */
gboolean gst_nd_view_get_seen (GstNdView *self, GstNdViewSeen *seen);

G_END_DECLS
