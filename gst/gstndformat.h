/* What a buffer holds, as planes of samples: a volume from other/tensors, or
 * the planes of a video frame.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/video/video.h>
#include "engine/ndconvolver.h"
#include "gstndcaps.h"

G_BEGIN_DECLS

/* 8 and 16 bit gray, packed RGB, planar and semi-planar YUV. */
#define GST_ND_VIDEO_FORMATS "{ GRAY8, GRAY16_LE, RGB, BGR, RGBA, BGRA, " \
  "ARGB, ABGR, RGBx, BGRx, xRGB, xBGR, I420, YV12, Y42B, Y444, NV12, NV21 }"

typedef struct
{
  gboolean is_video;
  GstVideoInfo video;           /* if is_video */
  GstNdVolumeInfo tensors;      /* otherwise */

  NdSampleType type;
  guint n_planes;
  NdShape planes[ND_MAX_PLANES];
  guint responses;              /* of a bank; 1 for video */
  gint rate_n, rate_d;          /* 0/1: variable */
  gboolean device;              /* memory:CUDAMemory */
  gsize size;                   /* bytes of a dense buffer */
} GstNdFormat;

/* ND_ERROR_FORMAT says what is wrong with @caps, which must be fixed. */
gboolean gst_nd_format_from_caps (GstNdFormat * format, const GstCaps * caps,
    GError ** error);

/* The same samples in the same places. */
gboolean gst_nd_format_is_equal (const GstNdFormat * a, const GstNdFormat * b);

/* The sample that stands for zero in @plane: 128 for chroma, otherwise 0. */
gdouble gst_nd_format_zero (const GstNdFormat * format, guint plane);

/* Duration of one volume, or GST_CLOCK_TIME_NONE where the rate varies. */
GstClockTime gst_nd_format_duration (const GstNdFormat * format);

typedef struct
{
  const GstNdFormat *format;
  GstVideoFrame frame;
  GstBuffer *buffer;
  GstMapInfo map;
  NdSamples planes[ND_MAX_PLANES];
} GstNdMap;

/* Maps @buffer, honouring GstVideoMeta; with @device, memory of a device where
 * it is, and what others do with it there is left to gst_nd_map_fence(). FALSE
 * where it cannot be mapped or is of another size than the format says. @format
 * must stay. */
gboolean gst_nd_map (GstNdMap * map, const GstNdFormat * format,
    GstBuffer * buffer, GstMapFlags flags, gboolean device);

/* The fence behind what is written to the buffer, or NULL. */
NdFence *gst_nd_map_fence (const GstNdMap * map);
void gst_nd_unmap (GstNdMap * map);

G_END_DECLS
