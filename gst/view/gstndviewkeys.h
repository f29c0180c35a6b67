/* Mouse and keys of ndview: navigation events become values of its properties.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/view/gstndviewsettings.h"
#include <glib.h>

G_BEGIN_DECLS

/* The button that is held (0: none), the last position of the mouse, and the
 * page of the list of keys (atomic). */
typedef struct
{
  gint button;
  gdouble x, y;
  gint page;
} GstNdViewDrag;

/* The picture that the user sees. */
typedef struct
{
  GstNdViewSettings settings; /* resolved */
  NdSceneJob job;
  gint width, height;  /* of the picture */
  gdouble low, window; /* in use */
} GstNdViewSeen;

/* Sets properties of @view as the navigation event @event asks for. FALSE if it
 * asks for nothing. Not to be called with the object lock. */
gboolean gst_nd_view_keys_handle (GObject *view, const GstNdViewSeen *seen,
    GstNdViewDrag *drag, GstEvent *event);

/* The list of keys and buttons of ndview, as text that fits in a picture.
 */

/* The text of page @page, counted from 0, for a picture of @width x @height
 * dots. If the list needs several pages, each says so. Sets @pages, which may
 * be NULL, to their number. */
gchar *gst_nd_view_help_page (gint width, gint height, guint page,
    guint *pages);

G_END_DECLS
