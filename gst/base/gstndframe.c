/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndframe.h"

#include <string.h>

void
gst_nd_frame_get_info (const GstVideoInfo *video, GstNdVolumeInfo *info)
{
  *info = (GstNdVolumeInfo){
    .type = GST_VIDEO_INFO_COMP_DEPTH (video, 0) > 8 ? ND_UINT16 : ND_UINT8,
    .shape = { GST_VIDEO_INFO_N_COMPONENTS (video),
        { GST_VIDEO_INFO_WIDTH (video), GST_VIDEO_INFO_HEIGHT (video), 1 } },
    .rate_n = GST_VIDEO_INFO_FPS_N (video),
    .rate_d = GST_VIDEO_INFO_FPS_D (video),
    .responses = 1,
  };
}

gsize
gst_nd_frame_row (const GstVideoInfo *video)
{
  return GST_VIDEO_INFO_WIDTH (video)
      * (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (video, 0);
}

void
gst_nd_frame_copy (const GstVideoFrame *frame, guint8 *data)
{
  const guint8 *from = GST_VIDEO_FRAME_PLANE_DATA (frame, 0);
  const gsize row = gst_nd_frame_row (&frame->info);

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++) {
    memcpy (data, from, row);
    data += row;
    from += GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
  }
}
