/**
 * SECTION:element-ndconv4dtemporal
 * @title: ndconv4dtemporal
 *
 * Filters a stream of volumes in x, y, z and time, over a window of volumes. N
 * volumes in give N volumes out, each with the timestamp of its anchor. If the
 * filter reads later volumes, outputs are delayed by their number, which is
 * reported as latency; with causal=true it reads none. time-border defines the
 * volumes before the first and after the last one; reflect and mirror delay the
 * first output until the volumes that they mirror have arrived.
 *
 * With method=fft each volume is transformed once: a response takes one
 * multiply-add of spectra for each volume of the window and one inverse
 * transform.
 *
 * Properties that change while playing take effect at the next volume. The
 * window keeps its volumes if they are enough for the new filter, and is
 * drained otherwise. In reverse playback the filter is reversed in time, so
 * that the outputs equal those of forward playback. In trick modes that skip
 * volumes, the remaining ones count as evenly spaced. Serialized events keep
 * their place between two volumes.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 ndtestsrc pattern=heart is-live=true ! ndconv4dtemporal filter="gaussian,sigma=1.0" ! ndview ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.nii.gz ! ndconv4dtemporal filter="gaussian,sigma=1.0" border=nearest ! progressreport ! ndfilesink location=filtered.nii.gz
 * ]|
 *
 * Since: 0.1
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconv.h"

#include "gst/gstndelements.h"

G_DECLARE_FINAL_TYPE (GstNdConv4dTemporal, gst_nd_conv4d_temporal, GST,
    ND_CONV4D_TEMPORAL, GstNdConv)

struct _GstNdConv4dTemporal
{
  GstNdConv parent;
};

G_DEFINE_TYPE (GstNdConv4dTemporal, gst_nd_conv4d_temporal, GST_TYPE_ND_CONV);
GST_ELEMENT_REGISTER_DEFINE (ndconv4dtemporal, "ndconv4dtemporal",
    GST_RANK_NONE, gst_nd_conv4d_temporal_get_type ());

static NdAxes
gst_nd_conv4d_temporal_axes (const GstNdConvSettings *settings, gboolean frames)
{
  return (NdAxes){ 4, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T } };
}

static void
gst_nd_conv4d_temporal_init (GstNdConv4dTemporal *self)
{
}

static void
gst_nd_conv4d_temporal_class_init (GstNdConv4dTemporalClass *klass)
{
  GST_ND_CONV_CLASS (klass)->axes = gst_nd_conv4d_temporal_axes;
  gst_nd_conv_class_set_caps (GST_ND_CONV_CLASS (klass), FALSE);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "4D convolution, x, y, z and time, of a stream of volumes",
      "Filter/Effect/Volume",
      "Filters streams of volumes in x, y, z and time with non-separable 4D "
      "filters",
      "The ndconv developers");
  gst_element_class_add_static_metadata (GST_ELEMENT_CLASS (klass), "example",
      "gst-launch-1.0 ndtestsrc is-live=true ! ndconv4dtemporal "
      "filter=\"gaussian,sigma=1.0\" ! ndview ! videoconvert ! "
      "autovideosink");
}
