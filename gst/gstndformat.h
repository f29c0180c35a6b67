/* The contents of a buffer as planes of samples: a volume of other/tensors, or
 * the planes of a video frame.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/convolver.h"
#include "gst/gstndcaps.h"
#include <gst/video/video.h>

G_BEGIN_DECLS

/* 8 and 16 bit gray, packed RGB, planar and semi-planar YUV. */
#define GST_ND_VIDEO_FORMATS                   \
  "{ GRAY8, GRAY16_LE, RGB, BGR, RGBA, BGRA, " \
  "ARGB, ABGR, RGBx, BGRx, xRGB, xBGR, I420, YV12, Y42B, Y444, NV12, NV21 }"

typedef struct
{
  gboolean is_video;
  GstVideoInfo video;      /* if is_video */
  GstNdVolumeInfo tensors; /* otherwise */

  NdSampleType type;
  guint n_planes;
  NdShape planes[ND_MAX_PLANES];
  guint responses;     /* of a bank; 1 for video */
  gint rate_n, rate_d; /* 0/1: unknown; of a variable rate the highest */
  gboolean is_variable;
  gboolean device;  /* memory:CUDAMemory */
  gsize size;       /* bytes of a dense buffer */
  gsize row, slice; /* bytes of padded tensors; 0: they are dense */
} GstNdFormat;

/* @caps must be fixed. Error: ND_ERROR_FORMAT. */
gboolean gst_nd_format_from_caps (GstNdFormat *format, const GstCaps *caps,
    GError **error);

/* Rows and slices of tensors may be padded as @strides says: "row" or
 * "row:slice" in bytes, or "" for dense ones. Video has a GstVideoMeta for
 * that, and ignores it. Error: ND_ERROR_SETTINGS; then the format is as
 * before. */
gboolean gst_nd_format_set_strides (GstNdFormat *format, const gchar *strides,
    GError **error);

/* The same samples in the same places, in any memory. */
gboolean gst_nd_format_is_equal (const GstNdFormat *a, const GstNdFormat *b);

/* The sample value that means zero in @plane: 128 for chroma, otherwise 0. */
gdouble gst_nd_format_zero (const GstNdFormat *format, guint plane);

/* Duration of one volume, or GST_CLOCK_TIME_NONE if the rate is variable. */
GstClockTime gst_nd_format_duration (const GstNdFormat *format);

typedef struct
{
  const GstNdFormat *format;
  GstVideoFrame frame;
  GstBuffer *buffer;
  GstMapInfo map;
  gpointer copy; /* of samples at an odd address */
  NdSamples planes[ND_MAX_PLANES];
} GstNdMap;

/* Maps @buffer with the strides of its GstVideoMeta, or of @format if tensors
 * are larger than dense ones. With @device, device
 * memory is mapped as a device pointer, and the caller waits for
 * gst_nd_map_fence(). FALSE if mapping fails or the size is not that of
 * @format, which must outlive the map. */
gboolean gst_nd_map (GstNdMap *map, const GstNdFormat *format,
    GstBuffer *buffer, GstMapFlags flags, gboolean device);

/* The fence after the work that writes the buffer, or NULL if none is pending.
 * */
NdFence *gst_nd_map_fence (const GstNdMap *map);
void gst_nd_unmap (GstNdMap *map);

G_END_DECLS
