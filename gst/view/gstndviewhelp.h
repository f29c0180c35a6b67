/* The list of keys and buttons of ndview, as text that fits in a picture.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The text of page @page, counted from 0, for a picture of @width x @height
 * dots. If the list needs several pages, each says so. Sets @pages, which may
 * be NULL, to their number. */
gchar *gst_nd_view_help_page (gint width, gint height, guint page,
    guint *pages);

G_END_DECLS
