/* Makes frames of received images.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlframe.h"

#include "gst/base/gstndpool.h"

#include <string.h>

/* UNKNOWN if video has no such frames. */
static GstVideoFormat
video_format (const GstNdVolumeInfo *info)
{
  const gsize c = info->shape.components;

  if (info->shape.size[2] != 1)
    return GST_VIDEO_FORMAT_UNKNOWN;
  if (info->type == ND_UINT16 && c == 1)
    return G_BYTE_ORDER == G_LITTLE_ENDIAN ? GST_VIDEO_FORMAT_GRAY16_LE
                                           : GST_VIDEO_FORMAT_GRAY16_BE;
  if (info->type != ND_UINT8)
    return GST_VIDEO_FORMAT_UNKNOWN;
  return c == 1 ? GST_VIDEO_FORMAT_GRAY8
      : c == 3  ? GST_VIDEO_FORMAT_RGB
      : c == 4  ? GST_VIDEO_FORMAT_RGBA
                : GST_VIDEO_FORMAT_UNKNOWN;
}

GstCaps *
gst_nd_igtl_possible_caps (const GstNdVolumeInfo *info)
{
  const GstVideoFormat format = video_format (info);
  GstCaps *caps = gst_nd_volume_info_to_caps (info), *video;

  if (format != GST_VIDEO_FORMAT_UNKNOWN) {
    video = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
        gst_video_format_to_string (format), "width", G_TYPE_INT,
        (gint) info->shape.size[0], "height", G_TYPE_INT,
        (gint) info->shape.size[1], NULL);
    gst_caps_append (video, caps);
    caps = video;
  }
  /* The rate is not known; downstream may state one. */
  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1,
      G_MAXINT, 1, NULL);
  return caps;
}

GstBuffer *
gst_nd_igtl_to_frame (GstBuffer *buffer, const GstVideoInfo *info,
    gboolean has_meta)
{
  const gsize height = GST_VIDEO_INFO_HEIGHT (info);
  const gint row =
      GST_VIDEO_INFO_WIDTH (info) * GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
  const gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  const gint strides[GST_VIDEO_MAX_PLANES] = { row };
  GstBuffer *padded;
  GstVideoFrame frame;
  GstMapInfo map;

  if (GST_VIDEO_INFO_PLANE_STRIDE (info, 0) == row)
    return buffer;
  if (has_meta) {
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_INFO_FORMAT (info), GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info), 1, (gsize *) offsets, (gint *) strides);
    return buffer;
  }
  padded = gst_nd_buffer_new (GST_VIDEO_INFO_SIZE (info));
  if (!padded) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  /* The padding of rows must not be old memory. */
  gst_buffer_memset (padded, 0, 0, -1);
  gst_buffer_copy_into (padded, buffer,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  if (gst_video_frame_map (&frame, info, padded, GST_MAP_WRITE)) {
    if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
      for (gsize y = 0; y < height; y++)
        memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
                + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
            map.data + y * row, row);
      gst_buffer_unmap (buffer, &map);
    }
    gst_video_frame_unmap (&frame);
  }
  gst_buffer_unref (buffer);
  return padded;
}

/* Converts times of senders to running time.
 */

/* The reported latency changes in steps of this size, up to a limit. */
#define LATENCY_STEP (5 * GST_MSECOND)
#define LATENCY_MAX GST_SECOND

/* Two clocks of one computer are read one after the other. A smaller difference
 * is due to reading them. */
#define CLOCK_STEP (2 * GST_MSECOND)

void
gst_nd_igtl_times_reset (GstNdIgtlTimes *times)
{
  *times = (GstNdIgtlTimes){ .last = 0 };
  nd_igtl_clock_init (&times->clock);
}

static guint64
monotonic_now (void)
{
  return (guint64) g_get_monotonic_time () * GST_USECOND;
}

/* Running time of a monotonic time. */
static GstClockTime
to_running_time (GstNdIgtlTimes *times, GstElement *element, guint64 time)
{
  g_autoptr (GstClock) clock = gst_element_get_clock (element);
  const GstClockTime base = gst_element_get_base_time (element);
  gint64 offset;

  if (!clock)
    return times->last;
  offset = (gint64) gst_clock_get_time (clock) - (gint64) monotonic_now ();
  if (!times->has_clock_offset
      || ABS (offset - times->clock_offset) > (gint64) CLOCK_STEP)
    times->clock_offset = offset;
  times->has_clock_offset = TRUE;
  return MAX ((gint64) time + times->clock_offset - (gint64) base, 0);
}

void
gst_nd_igtl_times_see (GstNdIgtlTimes *times, guint64 sent, guint64 arrival)
{
  nd_igtl_clock_map (&times->clock, sent, arrival);
}

GstClockTime
gst_nd_igtl_times_map (GstNdIgtlTimes *times, GstElement *element, guint64 sent,
    guint64 arrival, gboolean use_sender)
{
  guint64 time = arrival;

  if (use_sender)
    time = nd_igtl_clock_map (&times->clock, sent, arrival);
  time = MAX (to_running_time (times, element, time), times->last);
  times->last = time;
  if (!times->has_origin) {
    if (!use_sender || sent == 0)
      sent = (guint64) g_get_real_time () * GST_USECOND
          - (monotonic_now () - arrival);
    times->origin = (gint64) sent - (gint64) time;
    times->has_origin = TRUE;
  }
  return time;
}

GstClockTime
gst_nd_igtl_times_latency (const GstNdIgtlTimes *times)
{
  const GstClockTime delay =
      MIN (nd_igtl_clock_delay (&times->clock), LATENCY_MAX);

  return (delay + LATENCY_STEP - 1) / LATENCY_STEP * LATENCY_STEP;
}
