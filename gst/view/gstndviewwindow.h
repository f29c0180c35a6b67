/* The automatic window of ndview: the range of sample values between black and
 * white, which slowly follows the volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/picture.h"

G_BEGIN_DECLS

/* Known if low <= high. */
typedef struct
{
  gdouble low, high;
} GstNdViewWindow;

void gst_nd_view_window_forget (GstNdViewWindow *window);
gboolean gst_nd_view_window_is_known (const GstNdViewWindow *window);

/* Moves the window towards the range of the volume at @data, or takes that
 * range if none is known. */
gboolean gst_nd_view_window_follow (GstNdViewWindow *window, NdPicture *picture,
    gconstpointer data, GError **error);

/* The same with the threshold of the volume (nd_picture_threshold()), which is
 * both ends of @window. */
gboolean gst_nd_view_threshold_follow (GstNdViewWindow *window,
    NdPicture *picture, gconstpointer data, GError **error);

/* The width; 1 for a volume of one value. */
gdouble gst_nd_view_window_width (const GstNdViewWindow *window);

G_END_DECLS
