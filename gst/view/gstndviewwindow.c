/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewwindow.h"

/* The part of the distance to its own range by which each volume moves the
 * window. Small, so that the picture does not flicker. */
#define STEP 0.2

void
gst_nd_view_window_forget (GstNdViewWindow *window)
{
  window->low = 1;
  window->high = 0;
}

gboolean
gst_nd_view_window_is_known (const GstNdViewWindow *window)
{
  return window->low <= window->high;
}

static void
follow (GstNdViewWindow *window, gdouble low, gdouble high)
{
  if (gst_nd_view_window_is_known (window)) {
    window->low += STEP * (low - window->low);
    window->high += STEP * (high - window->high);
  } else {
    window->low = low;
    window->high = high;
  }
}

gboolean
gst_nd_view_window_follow (GstNdViewWindow *window, NdPicture *picture,
    gconstpointer data, GError **error)
{
  gdouble low, high;

  if (!nd_picture_range (picture, data, &low, &high, error))
    return FALSE;
  if (low <= high)
    follow (window, low, high);
  return TRUE;
}

gboolean
gst_nd_view_threshold_follow (GstNdViewWindow *window, NdPicture *picture,
    gconstpointer data, GError **error)
{
  gdouble level;

  if (!nd_picture_threshold (picture, data, &level, error))
    return FALSE;
  follow (window, level, level);
  return TRUE;
}

gdouble
gst_nd_view_window_width (const GstNdViewWindow *window)
{
  return window->high > window->low ? window->high - window->low : 1;
}
