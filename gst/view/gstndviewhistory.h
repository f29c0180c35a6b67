/* A line of samples over time: mode=mmode of ndview.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/canvas.h"
#include "view/layout.h"

G_BEGIN_DECLS

typedef struct _GstNdViewHistory GstNdViewHistory;

/* The last @columns lines along @axis of volumes. */
GstNdViewHistory *gst_nd_view_history_new (const NdSceneJob *job, NdAxis axis,
    guint columns, GError **error);
void gst_nd_view_history_free (GstNdViewHistory *history);
gboolean gst_nd_view_history_is_of (const GstNdViewHistory *history,
    NdAxis axis, guint columns);

/* Adds the line through sample @at of the volume that @scene of @funcs has
 * taken. */
gboolean gst_nd_view_history_add (GstNdViewHistory *history,
    const NdSceneFuncs *funcs, NdScene *scene, const gsize at[3],
    GError **error);

/* Draws the lines over the whole of @canvas, the last one at the right. */
gboolean gst_nd_view_history_draw (GstNdViewHistory *history,
    const NdLook *look, const NdCanvas *canvas, GError **error);

G_END_DECLS
