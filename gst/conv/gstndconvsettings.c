/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvsettings.h"

static ND_DEFINE_ENUM (axes_enum, "GstNdAxes",
    { GST_ND_AXES_AUTO,
        "xyt for frames (video/x-raw, and other/tensors with Z = 1), xyz for "
        "volumes",
        "auto" },
    { GST_ND_AXES_XYZ, "x, y and z of each volume", "xyz" },
    { GST_ND_AXES_XYT, "x and y of each frame or slice, and time", "xyt" });

static ND_DEFINE_ENUM (planes_enum, "GstNdPlanes",
    { GST_ND_PLANES_ALL, "All planes; chroma is filtered around its zero",
        "all" },
    { GST_ND_PLANES_LUMA, "Luma only; chroma is copied", "luma" });

#define FIELD(KIND, ...) ND_FIELD_##KIND (GstNdConvSettings, __VA_ARGS__)

static const NdSetting rows[] = {
  /* Since: 0.1 */
  { "filter", "Filter",
      "A filter, or a bank of filters separated by ';', each a design and its "
      "parameters, for example \"gaussian,sigma=1.5\", \"box,size=3:3:5\", "
      "\"laplace\", \"sobel,direction=x\", "
      "\"quadrature-bank,size=9,center-frequency=1.05,bandwidth=2.0\", "
      "\"coefficients,size=3:1,values=<-1.0,0.0,1.0>\", "
      "\"file,location=k.npy\" (.npy, .nii, raw float32 with size=); "
      "docs/filters.md lists all designs. Sizes and sigmas are in samples, in "
      "the order x:y:z:t; the filter is flipped (true convolution)",
      FIELD (STRING, filter, NULL), ND_PLAYING },
  { "planes", "Planes",
      "Planes of YUV video to filter; alpha is never filtered",
      FIELD (ENUM, planes, GstNdPlanesKind, planes_enum, GST_ND_PLANES_ALL),
      ND_PLAYING },
  /* Since: 0.9 */
  { "tensor-index", "Tensor index",
      "The tensor to filter of an other/tensors stream of several, counted "
      "from 0; the others are dropped. -1: the stream must have exactly one",
      FIELD (INT, tensor_index, -1, 15, -1), ND_READY },
  /* Since: 0.1 */
  { "axes", "Axes",
      "The three axes to filter along; sizes and sigmas of filters are given "
      "for these, in this order",
      FIELD (ENUM, axes, GstNdAxesKind, axes_enum, GST_ND_AXES_AUTO),
      ND_PLAYING },
};

/* Not every filter has `axes`, the last row. */
void
gst_nd_conv_settings_install (GstNdTemporalClass *klass)
{
  const GstNdTemporalPart parts[] = {
    { nd_filter_device_settings, nd_n_filter_device_settings,
        G_STRUCT_OFFSET (GstNdConvSettings, base.device) },
    { nd_filter_settings, nd_n_filter_settings,
        G_STRUCT_OFFSET (GstNdConvSettings, conv) },
    { rows, G_N_ELEMENTS (rows), 0 },
  };

  gst_nd_temporal_class_install (klass, parts, G_N_ELEMENTS (parts), 1,
      sizeof (GstNdConvSettings), G_STRUCT_OFFSET (GstNdConvSettings, bank),
      "The plan: backend, method, reason, and kernels with their files "
      "(strings); seconds-estimate, the time per volume that the cost model "
      "expects (double); samples-saturated, samples of integer outputs "
      "that do not fit in their type (uint64; only the CPU counts "
      "them); " GST_ND_TEMPORAL_STATS);
}

void
gst_nd_conv_settings_install_axes (GstNdTemporalClass *klass)
{
  gst_nd_temporal_class_install_property (klass, klass->n_rows);
}

NdSampleType
gst_nd_conv_settings_type (const GstNdConvSettings *settings, NdSampleType in)
{
  if (settings->conv.response == ND_RESPONSE_TENSOR
      && settings->conv.output_type == ND_SAMPLE_SAME)
    return nd_sample_computed (ND_FLOAT64, settings->base.device.precision);
  return settings->conv.output_type != ND_SAMPLE_SAME
      ? settings->conv.output_type
      : in;
}
