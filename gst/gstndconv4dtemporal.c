/**
 * SECTION:element-ndconv4dtemporal
 * @title: ndconv4dtemporal
 *
 * Keeps a window of volumes in a ring and convolves over x, y, z and time. N
 * volumes in give N volumes out, each with the timestamp of the volume it
 * belongs to; the volumes that the filter looks ahead are the delay, and are
 * reported as latency. causal=true looks back only, and has none. time-border
 * says what stands before the first and after the last volume; reflect and
 * mirror must see as many volumes as they mirror before the first output.
 *
 * With method=fft each volume is transformed once: a response is one
 * multiply-add of spectra for each volume of the window and one inverse
 * transform.
 *
 * Changes of the properties while playing take effect at the next volume; the
 * window is kept where it holds what the new filter needs, otherwise what
 * remains in it comes out first. In reverse playback the filter is reversed in
 * time, so that the volumes are those of forward playback. Trick modes that
 * skip volumes filter what comes, as if it were evenly spaced. Custom events
 * come out between the volumes that they came between; tags are not held back.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 ndtestsrc pattern=heart is-live=true ! ndconv4dtemporal filter="gaussian,sigma=1.0" ! ndview ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.nii.gz ! ndconv4dtemporal filter="gaussian,sigma=1.0" border=nearest ! progressreport ! ndfilesink location=filtered.nii.gz
 * ]|
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstndconv4dtemporal.h"

#include "gstndelements.h"

struct _GstNdConv4dTemporal
{
  GstNdConv parent;
};

G_DEFINE_TYPE (GstNdConv4dTemporal, gst_nd_conv4d_temporal, GST_TYPE_ND_CONV);
GST_ELEMENT_REGISTER_DEFINE (ndconv4dtemporal, "ndconv4dtemporal",
    GST_RANK_NONE, gst_nd_conv4d_temporal_get_type ());

static NdAxes
gst_nd_conv4d_temporal_axes (const GstNdConvSettings * settings,
    gboolean is_video)
{
  return (NdAxes) {
    4, {
    ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T}
  };
}

static void
gst_nd_conv4d_temporal_init (GstNdConv4dTemporal * self)
{
}

static void
gst_nd_conv4d_temporal_class_init (GstNdConv4dTemporalClass * klass)
{
  GST_ND_CONV_CLASS (klass)->axes = gst_nd_conv4d_temporal_axes;
  gst_nd_conv_class_set_caps (GST_ND_CONV_CLASS (klass), FALSE);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "4D convolution, x, y, z and time, of a stream of volumes",
      "Filter/Effect/Volume",
      "Filters streams of volumes in x, y, z and time with non-separable 4D "
      "filters", "The ndconv developers");
  gst_element_class_add_static_metadata (GST_ELEMENT_CLASS (klass), "example",
      "gst-launch-1.0 ndtestsrc is-live=true ! ndconv4dtemporal "
      "filter=\"gaussian,sigma=1.0\" ! ndview ! videoconvert ! "
      "autovideosink");
}
