/* The samples of video formats as planes that filters read: colours together,
 * alpha apart, the parts of packed YUV apart.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/convolver.h"
#include "gst/base/gstndcaps.h"
#include <gst/video/video.h>

G_BEGIN_DECLS

/* Formats whose components have whole bytes of their own: gray, RGB and YUV,
 * packed, semi-planar and planar, of 8 to 16 bit, with and without alpha. Those
 * that filters read as they are come first, so that upstream prefers them. */
#define GST_ND_PLAIN_FORMATS                                           \
  "{ GRAY8, GRAY16_LE, RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBP, BGRP, " \
  "GBR, I420, YV12, Y42B, Y444, Y41B, YUV9, YVU9, NV12, NV21, NV16, "  \
  "NV61, NV24 }"
#define GST_ND_OTHER_FORMATS                                             \
  "{ GRAY16_BE, RGBA, BGRA, ARGB, ABGR, ARGB64, ARGB64_LE, ARGB64_BE, "  \
  "RGBA64_LE, RGBA64_BE, BGRA64_LE, BGRA64_BE, ABGR64_LE, ABGR64_BE, "   \
  "GBR_10LE, GBR_10BE, GBR_12LE, GBR_12BE, GBRA, GBRA_10LE, GBRA_10BE, " \
  "GBRA_12LE, GBRA_12BE, I420_10LE, I420_10BE, I420_12LE, I420_12BE, "   \
  "I422_10LE, I422_10BE, I422_12LE, I422_12BE, Y444_10LE, Y444_10BE, "   \
  "Y444_12LE, Y444_12BE, Y444_16LE, Y444_16BE, A420, A420_10LE, "        \
  "A420_10BE, A422_10LE, A422_10BE, A444_10LE, A444_10BE, AV12, "        \
  "P010_10LE, P010_10BE, P012_LE, P012_BE, P016_LE, P016_BE, YUY2, "     \
  "UYVY, YVYU, VYUY, v308, IYU2, AYUV, VUYA, AYUV64 }"
#define GST_ND_VIDEO_CAPS                    \
  GST_VIDEO_CAPS_MAKE (GST_ND_PLAIN_FORMATS) \
  "; " GST_VIDEO_CAPS_MAKE (GST_ND_OTHER_FORMATS)

/* One plane for filters. */
typedef struct
{
  guint plane;       /* of the frame */
  gsize offset;      /* bytes from the start of a row to the first sample */
  gsize sample;      /* bytes between samples */
  NdShape shape;     /* size[2] is the number of fields */
  guint64 kept;      /* components that are no colours, and stay as they are */
  gboolean is_alpha; /* then all are kept */
} GstNdVideoPlane;

typedef struct
{
  NdSampleType type;
  guint n_planes;
  GstNdVideoPlane planes[ND_MAX_PLANES]; /* Y or colours first, alpha last */
  guint depth;                           /* bits in use */
  guint shift;                           /* zero bits below them */
  gboolean is_swapped;                   /* not the machine's byte order */
  gboolean has_gaps;                     /* between the samples of a plane */
} GstNdVideoLayout;

/* The layout of progressive or interleaved frames. The fields of an interleaved
 * frame are slices of a volume. ND_ERROR_FORMAT for other interlaced video, and
 * for interleaved planes of an odd height. */
gboolean gst_nd_video_layout_init (GstNdVideoLayout *layout,
    const GstVideoInfo *info, GError **error);

/* Whether filters can read and write the samples in place. Samples may have
 * gaps between them. */
gboolean gst_nd_video_layout_is_plain (const GstNdVideoLayout *layout,
    gboolean gaps);

/* The samples of @plane in a mapped frame. FALSE if the strides of @frame do
 * not fit its memory, which GStreamer does not check. */
gboolean gst_nd_video_layout_find (const GstNdVideoLayout *layout, guint plane,
    const GstVideoFrame *frame, NdSamples *samples);

/* Clears the bytes that are not samples: padding, and gaps between planes. Call
 * before they are written. */
void gst_nd_video_layout_clear (const GstNdVideoLayout *layout,
    GstVideoFrame *frame);

/* Copies samples of a frame to dense ones of the machine's byte order, and
 * back. On the way back they are limited to the depth of the format. */
void gst_nd_video_layout_unpack (const GstNdVideoLayout *layout, guint plane,
    const NdSamples *frame, const NdSamples *dense);
void gst_nd_video_layout_pack (const GstNdVideoLayout *layout, guint plane,
    const NdSamples *dense, const NdSamples *frame);

/* Limits plain samples of a frame to the depth of the format. */
void gst_nd_video_layout_limit (const GstNdVideoLayout *layout, guint plane,
    const NdSamples *frame);

/* Frames of packed video (gray, RGB, RGBA) as volumes of one slice.
 */

/* The formats that sinks and ndstack accept. */
#define GST_ND_FRAME_FORMATS "{ GRAY8, " GST_VIDEO_NE (GRAY16) ", RGB, RGBA }"

/* The volume of one frame: type, shape and rate, without geometry. */
void gst_nd_frame_get_info (const GstVideoInfo *video, GstNdVolumeInfo *info);

/* Bytes of a row without padding. */
gsize gst_nd_frame_row (const GstVideoInfo *video);

/* Copies the samples of @frame to @data, without the padding of rows. */
void gst_nd_frame_copy (const GstVideoFrame *frame, guint8 *data);

G_END_DECLS
