/**
 * SECTION:element-ndconv3d
 * @title: ndconv3d
 *
 * Filters volumes in x, y and z, or streams of frames (video/x-raw, and
 * other/tensors with Z = 1) in x, y and time. The property axes overrides this
 * choice.
 *
 * Over time the element keeps a window of frames. N frames in give N frames
 * out, each with the timestamp of its anchor. If the filter reads later frames,
 * outputs are delayed by their number, which is reported as latency.
 * time-border defines the frames before the first and after the last one.
 *
 * Sizes and sigmas of a filter refer to the three axes in order:
 * box,size=3:3:5 over x, y and time averages five frames.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=100 ! video/x-raw,format=I420 ! ndconv3d filter="box,size=1:1:5" ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 ndtestsrc pattern=heart num-buffers=50 ! ndconv3d filter="gaussian,sigma=1.5" ! ndview ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconv.h"

#include "gst/gstndelements.h"

G_DECLARE_FINAL_TYPE (GstNdConv3d, gst_nd_conv3d, GST, ND_CONV3D, GstNdConv)

struct _GstNdConv3d
{
  GstNdConv parent;
};

G_DEFINE_TYPE (GstNdConv3d, gst_nd_conv3d, GST_TYPE_ND_CONV);
GST_ELEMENT_REGISTER_DEFINE (ndconv3d, "ndconv3d", GST_RANK_NONE,
    gst_nd_conv3d_get_type ());

static NdAxes
gst_nd_conv3d_axes (const GstNdConvSettings *settings, gboolean frames)
{
  if (settings->axes == GST_ND_AXES_XYT
      || (settings->axes == GST_ND_AXES_AUTO && frames))
    return (NdAxes){ 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_T } };
  return (NdAxes){ 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z } };
}

static void
gst_nd_conv3d_init (GstNdConv3d *self)
{
}

static void
gst_nd_conv3d_class_init (GstNdConv3dClass *klass)
{
  GST_ND_CONV_CLASS (klass)->axes = gst_nd_conv3d_axes;
  gst_nd_conv_settings_install_axes (GST_ND_TEMPORAL_CLASS (klass));
  gst_nd_conv_class_set_caps (GST_ND_CONV_CLASS (klass), TRUE);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "3D convolution of volumes, or of frames over time",
      "Filter/Effect/Video",
      "Filters volumes in x, y, z, or frames over time, with non-separable 3D "
      "filters",
      "The ndconv developers");
  gst_element_class_add_static_metadata (GST_ELEMENT_CLASS (klass), "example",
      "gst-launch-1.0 videotestsrc pattern=snow ! ndconv3d "
      "filter=\"box,size=1:1:5\" ! videoconvert ! autovideosink");
}
