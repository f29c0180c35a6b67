/**
 * SECTION:element-ndconv2d
 * @title: ndconv2d
 *
 * Filters each frame of a video, or each slice of a volume, in x and y with one
 * filter or a bank of filters. It reads no other frames or slices, so it has no
 * delay.
 *
 * Filters are flipped (true convolution, like scipy.ndimage.convolve). Each
 * plane of YUV video is filtered; chroma is filtered around its zero, 128.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! video/x-raw,format=GRAY8 ! ndconv2d filter="gaussian,sigma=2" ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! videoconvert ! ndconv2d filter="sobel,direction=x" gain=0.5 offset=128 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconv.h"

#include "gst/gstndelements.h"

G_DECLARE_FINAL_TYPE (GstNdConv2d, gst_nd_conv2d, GST, ND_CONV2D, GstNdConv)

struct _GstNdConv2d
{
  GstNdConv parent;
};

G_DEFINE_TYPE (GstNdConv2d, gst_nd_conv2d, GST_TYPE_ND_CONV);
GST_ELEMENT_REGISTER_DEFINE (ndconv2d, "ndconv2d", GST_RANK_NONE,
    gst_nd_conv2d_get_type ());

static NdAxes
gst_nd_conv2d_axes (const GstNdConvSettings *settings, gboolean frames)
{
  return (NdAxes){ 2, { ND_AXIS_X, ND_AXIS_Y } };
}

static void
gst_nd_conv2d_init (GstNdConv2d *self)
{
}

static void
gst_nd_conv2d_class_init (GstNdConv2dClass *klass)
{
  GST_ND_CONV_CLASS (klass)->axes = gst_nd_conv2d_axes;
  gst_nd_conv_class_set_caps (GST_ND_CONV_CLASS (klass), TRUE);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "2D convolution of each frame or slice", "Filter/Effect/Video",
      "Filters frames and slices with non-separable 2D filters",
      "The ndconv developers");
  gst_element_class_add_static_metadata (GST_ELEMENT_CLASS (klass), "example",
      "gst-launch-1.0 videotestsrc ! video/x-raw,format=GRAY8 ! ndconv2d "
      "filter=\"gaussian,sigma=2\" ! videoconvert ! autovideosink");
}
