/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/viewharness.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

const NdSceneJob job = { ND_UINT8, { 1, { X, Y, Z } }, { 1, 1.5, 2 } };

void
fill_volume (guint8 *data)
{
  for (gint z = 0; z < Z; z++) {
    for (gint y = 0; y < Y; y++) {
      for (gint x = 0; x < X; x++) {
        const gdouble a = hypot (hypot (x - 9, 1.5 * (y - 7)), 2 * (z - 6));
        const gdouble b = hypot (hypot (x - 15, 1.5 * (y - 4)), 2 * (z - 3));

        *data++ = 20 + 130 * exp (-a * a / 40) + 200 * exp (-b * b / 16);
      }
    }
  }
}

GstBuffer *
new_volume (guint64 number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, X * Y * Z, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  fill_volume (map.data);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  GST_BUFFER_OFFSET (buffer) = number;
  return buffer;
}

GstHarness *
new_harness (const gchar *properties)
{
  g_autofree gchar *line = g_strconcat ("ndview ", properties, NULL);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

GstElement *
view_of (GstHarness *h)
{
  return gst_harness_find_element (h, "ndview");
}

guint8 *
pull (GstHarness *h, gint *width, gint *height)
{
  GstBuffer *buffer = gst_harness_try_pull (h);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->sinkpad);
  GstVideoInfo info;
  GstVideoFrame frame;
  guint8 *pixels;

  fail_unless (buffer != NULL);
  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_RGB);
  fail_unless_equals_int (GST_VIDEO_INFO_PAR_N (&info), 1);
  fail_unless_equals_int (GST_VIDEO_INFO_PAR_D (&info), 1);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  *width = GST_VIDEO_INFO_WIDTH (&info);
  *height = GST_VIDEO_INFO_HEIGHT (&info);
  pixels = g_malloc (3 * *width * *height);
  for (gint y = 0; y < *height; y++)
    memcpy (pixels + y * 3 * *width,
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
            + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        3 * *width);
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (buffer);
  return pixels;
}

guint8 *
show (GstHarness *h, guint64 number, gint *width, gint *height)
{
  fail_unless_equals_int (gst_harness_push (h, new_volume (number)),
      GST_FLOW_OK);
  return pull (h, width, height);
}

GstHarness *
new_first (const gchar *properties)
{
  GstElement *view = gst_parse_launch (properties, NULL);
  GstHarness *h = gst_harness_new_with_element (view, "sink", "src");

  gst_harness_set_src_caps_str (h, CAPS);
  gst_object_unref (view);
  return h;
}

guint
count_changes (const guint8 *a, const guint8 *b, gint left, gint top,
    gint right, gint bottom)
{
  guint n = 0;

  for (gint y = top; y < bottom; y++)
    for (gint x = left; x < right; x++)
      n += memcmp (a + 3 * (y * WIDTH * 4 + x), b + 3 * (y * WIDTH * 4 + x), 3)
          != 0;
  return n;
}
