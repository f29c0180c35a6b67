/* The contents of a buffer as planes of samples: a volume of other/tensors, or
 * the planes of a video frame.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/convolver.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstndvideolayout.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean is_video;
  GstVideoInfo video;      /* if is_video */
  GstNdVideoLayout layout; /* if is_video */
  GstNdVolumeInfo tensors; /* otherwise */

  NdSampleType type;     /* in buffers */
  NdPrecision precision; /* of the computed type */
  NdSampleType computed; /* of the planes of a map, for filters */
  guint n_planes;
  NdShape planes[ND_MAX_PLANES];
  guint responses;     /* of a bank; 1 for video */
  gint rate_n, rate_d; /* 0/1: unknown; of a variable rate the highest */
  gboolean is_variable;
  gboolean device;  /* memory:CUDAMemory */
  gsize size;       /* bytes of a dense buffer */
  gsize row, slice; /* bytes of padded tensors; 0: they are dense */
} GstNdFormat;

/* @caps must be fixed. The precision is single. Error: ND_ERROR_FORMAT. */
gboolean gst_nd_format_from_caps (GstNdFormat *format, const GstCaps *caps,
    GError **error);

/* Sets the type in which samples of tensors are computed. Video ignores it. */
void gst_nd_format_set_precision (GstNdFormat *format, NdPrecision precision);

/* Rows and slices of tensors may be padded as @strides says: "row" or
 * "row:slice" in bytes, or "" for dense ones. Video has a GstVideoMeta for
 * that, and ignores it. Error: ND_ERROR_SETTINGS; then the format is as
 * before. */
gboolean gst_nd_format_set_strides (GstNdFormat *format, const gchar *strides,
    GError **error);

/* The error message if @buffer does not have the size of a volume, with the
 * strides that would fit. */
gchar *gst_nd_format_wrong_size (const GstNdFormat *format, GstBuffer *buffer);

/* Whether both have the same samples in the same places, in any memory. */
gboolean gst_nd_format_is_equal (const GstNdFormat *a, const GstNdFormat *b);

/* The sample value that means zero in @plane: half of the range for chroma,
 * otherwise 0. */
gdouble gst_nd_format_zero (const GstNdFormat *format, guint plane);

/* The components of @plane that are not colours, one bit each: alpha, and
 * padding of a pixel. */
guint64 gst_nd_format_kept (const GstNdFormat *format, guint plane);
gboolean gst_nd_format_is_alpha (const GstNdFormat *format, guint plane);

/* Whether the slices of frames are fields. */
gboolean gst_nd_format_has_fields (const GstNdFormat *format);

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
  gboolean on_device; /* the planes are in memory of a device */
  gboolean writes;    /* to the host */
  guint8 *staging;    /* holds the planes if those of the frame do not serve */
  NdSamples frame_planes[ND_MAX_PLANES]; /* if there is staging memory */
} GstNdMap;

/* Maps @buffer with the strides of its GstVideoMeta, or of @format if tensors
 * are larger than dense ones. With @device, the planes of frames have no gaps
 * between their samples, device memory is mapped as a device pointer if its
 * samples can be used as they are, and the caller waits for
 * gst_nd_map_fence(). FALSE if mapping fails or the size is not that of
 * @format, which must outlive the map. Bytes of a frame that no plane covers
 * are cleared before it is written. */
gboolean gst_nd_map (GstNdMap *map, const GstNdFormat *format,
    GstBuffer *buffer, GstMapFlags flags, gboolean device);

/* The fence after the work that writes the buffer, or NULL if none is pending.
 * */
NdFence *gst_nd_map_fence (const GstNdMap *map);

/* All work on the planes must be done, unless they are on a device. */
void gst_nd_unmap (GstNdMap *map);

G_END_DECLS
