/* Lines and text over scenes: cross-hair, labels, scale bar, pointer, time and
 * keys. The members of a scene are here for both files that draw it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/view/gstndviewscene.h"

G_BEGIN_DECLS

struct _GstNdViewScene
{
  const NdSceneFuncs *funcs;
  NdScene *scene;
  NdSceneJob job;
  gboolean in_mm;          /* the spacing is known */
  const NdBackend *memory; /* in which volumes lie; NULL: host memory */
  gdouble directions[9];   /* row by row, if `oriented` */
  gboolean oriented;
  NdLayout layout;
  GstNdViewHistory *history; /* of the line of ND_VIEW_MMODE */
};

/* Draws the cross-hair, labels and scale bar that @settings ask for over the
 * picture of @scene. */
void gst_nd_view_notes_draw (const GstNdViewScene *scene,
    const GstNdViewSettings *settings, const NdCamera *camera,
    const NdCanvas *canvas);

/* Draws lines of text at the lower right: pointer, number and time. @other may
 * be NULL. With @half above 0 it begins at that column of the whole picture, to
 * which the pointer belongs. */
void gst_nd_view_notes_draw_status (const GstNdViewScene *scene,
    gconstpointer data, const GstNdViewOther *other,
    const GstNdViewSettings *settings, const GstNdViewMoment *moment, gint half,
    const NdCanvas *canvas);

/* Draws page @page of the list of keys. A picture of @width x @height has so
 * many pages. */
void gst_nd_view_notes_draw_keys (guint page, const NdCanvas *canvas);
guint gst_nd_view_notes_pages (gint width, gint height);

G_END_DECLS
