/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvsettings.h"

static GType
axes_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_AXES_AUTO,
        "xyt for frames (video/x-raw, and other/tensors with Z = 1), xyz for "
        "volumes",
        "auto" },
    { GST_ND_AXES_XYZ, "x, y and z of each volume", "xyz" },
    { GST_ND_AXES_XYT, "x and y of each frame or slice, and time", "xyt" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdAxes", values);
}

static GType
planes_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_PLANES_ALL, "All planes; chroma is filtered around its zero",
        "all" },
    { GST_ND_PLANES_LUMA, "Luma only; chroma is copied", "luma" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdPlanes", values);
}

static GType
method_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_METHOD_AUTO,
        "The fastest method, estimated or measured; stats says which and why",
        "auto" },
    { ND_METHOD_DIRECT, "Sum over all taps: any filter, best for small ones",
        "direct" },
    { ND_METHOD_SEPARABLE,
        "One pass per axis; an error if a filter is not separable",
        "separable" },
    { ND_METHOD_FFT,
        "Fourier transforms, with a ring of spectra over time: any filter, "
        "best for large ones; relative L2 error below 1e-6",
        "fft" },
    { ND_METHOD_TENSOR,
        "Sum over all taps of uint8 samples by the tensor cores of a GPU of "
        "compute capability 8.0 or later, for filters of up to 17 samples in x "
        "and y and 30000 coefficients",
        "tensor" },
    { ND_METHOD_REFERENCE,
        "Plain loops in double precision, to check the other methods; very "
        "slow",
        "reference" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdMethod", values);
}

static GType
accuracy_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_ACCURACY_SINGLE, "Relative L2 error of at most 2e-6", "single" },
    { ND_ACCURACY_FAST, "The same as single", "fast" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdAccuracy", values);
}

static GType
precision_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_PRECISION_SINGLE, "Samples, coefficients and sums in float32",
        "single" },
    { ND_PRECISION_DOUBLE,
        "Samples, coefficients and sums in float64, by every method but "
        "tensor; relative L2 error of at most 1e-14, of method=fft 1e-13",
        "double" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdPrecision", values);
}

static GType
response_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_RESPONSE_ALL, "All responses; a complex one as two components",
        "all" },
    { ND_RESPONSE_MAGNITUDE, "Magnitude of each response", "magnitude" },
    { ND_RESPONSE_PHASE,
        "Phase of each response, -pi to pi; use output-type=float32 or a gain",
        "phase" },
    { ND_RESPONSE_REAL, "Real part of each response", "real" },
    { ND_RESPONSE_IMAGINARY, "Imaginary part of each response", "imaginary" },
    { ND_RESPONSE_ENERGY, "Squared magnitude of each response", "energy" },
    { ND_RESPONSE_MAX, "The largest magnitude of all responses", "max" },
    { ND_RESPONSE_ARGMAX,
        "The index, from 0, of the response with the largest magnitude",
        "argmax" },
    { ND_RESPONSE_SUM, "The sum of the magnitudes of all responses", "sum" },
    { ND_RESPONSE_TENSOR,
        "The orientation tensor of monomial-bank or quadrature-bank: float32 "
        "components xx xy xz xt yy yz yt zz zt tt of the filtered axes",
        "tensor" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdResponse", values);
}

#define FIELD(KIND, ...) GST_ND_##KIND (GstNdConvSettings, __VA_ARGS__)

static const GstNdProperty rows[] = {
  GST_ND_TEMPORAL_ROWS (GstNdConvSettings),
  /* Since: 0.1 */
  { "filter", "Filter",
      "The filter, or a bank of filters separated by ';'. A filter is a design "
      "and its parameters, for example \"gaussian,sigma=1.5\", "
      "\"box,size=3:3:5\", \"laplace\", \"sobel,direction=x\", "
      "\"quadrature-bank,size=9,center-frequency=1.05,bandwidth=2.0\", "
      "\"coefficients,size=3:1,values=<-1.0,0.0,1.0>\", "
      "\"file,location=k.npy\" (.npy, .nii, raw float32 with size=); "
      "docs/filters.md lists all designs. Sizes and sigmas are in samples, in "
      "the order x:y:z:t. The filter is flipped (true convolution). Required",
      FIELD (STRING, filter, NULL), GST_ND_PLAYING },
  { "border", "Border", "Samples beyond the edges in x, y and z",
      FIELD (ENUM, border, NdBorder, gst_nd_border_get_type, ND_BORDER_NEAREST),
      GST_ND_PLAYING },
  { "border-value", "Border value",
      "Sample value beyond the edges for border=constant, and before the first "
      "and after the last volume for time-border=constant",
      FIELD (DOUBLE, border_value, -G_MAXFLOAT, G_MAXFLOAT, 0),
      GST_ND_PLAYING },
  { "time-border", "Time border",
      "Volumes before the first and after the last volume of a stretch, which "
      "is a run of volumes without a break in time; wrap would need the whole "
      "stream and is refused",
      FIELD (ENUM, time_border, NdBorder, gst_nd_border_get_type,
          ND_BORDER_NEAREST),
      GST_ND_PLAYING },
  { "origin", "Origin",
      "Shift of each filter in samples per axis, x:y:z:t, each from -(size/2) "
      "to (size-1)/2, like SciPy's origin",
      FIELD (STRING, origin, "0:0:0:0"), GST_ND_PLAYING },
  { "causal", "Causal",
      "Shift the origin in time so that the filter reads no volume after the "
      "anchor of an output. Outputs then do not wait for later volumes, unless "
      "time-border is reflect or mirror: these take later volumes in place of "
      "those before the first one. A filter that is symmetric in time and "
      "spans T volumes shows the state of (T-1)/2 volumes ago: stats has this "
      "lag. One-sided designs and the parameter lag of all designs make it "
      "smaller",
      FIELD (BOOLEAN, causal, FALSE), GST_ND_PLAYING },
  { "output-type", "Output type",
      "Sample type of the output. An output that video cannot hold leaves as "
      "other/tensors",
      FIELD (ENUM, output_type, GstNdSampleType, gst_nd_output_type_get_type,
          GST_ND_SAMPLE_SAME),
      GST_ND_PLAYING },
  { "gain", "Gain",
      "out = gain * response + offset; integers are rounded half to even and "
      "saturated",
      FIELD (DOUBLE, gain, -G_MAXDOUBLE, G_MAXDOUBLE, 1),
      GST_ND_PLAYING | GST_PARAM_CONTROLLABLE, TRUE },
  { "offset", "Offset",
      "Sample value added to gain * response; not added to chroma, whose zero "
      "is 128",
      FIELD (DOUBLE, offset, -G_MAXDOUBLE, G_MAXDOUBLE, 0),
      GST_ND_PLAYING | GST_PARAM_CONTROLLABLE, TRUE },
  { "normalize", "Normalize",
      "Scale the coefficients to sum 1; a filter of sum zero is an error",
      FIELD (BOOLEAN, normalize, FALSE), GST_ND_PLAYING },
  { "planes", "Planes",
      "Planes of YUV video to filter; alpha is never filtered",
      FIELD (ENUM, planes, GstNdPlanesKind, planes_type, GST_ND_PLANES_ALL),
      GST_ND_PLAYING },
  /* Since: 0.9 */
  { "tensor-index", "Tensor index",
      "The tensor to filter of an other/tensors stream of several, counted "
      "from 0; the others are dropped. -1: the stream must have exactly one",
      FIELD (INT, tensor_index, -1, 15, -1), GST_ND_READY },
  /* Since: 0.1 */
  { "method", "Method", "Method to compute the responses",
      FIELD (ENUM, method, NdMethod, method_type, ND_METHOD_AUTO),
      GST_ND_PLAYING },
  { "accuracy", "Accuracy", "No effect; kept for programs of earlier versions",
      FIELD (ENUM, accuracy, NdAccuracy, accuracy_type, ND_ACCURACY_SINGLE),
      GST_ND_PLAYING },
  /* Since: 0.9 */
  { "precision", "Precision",
      "Precision of samples, coefficients and sums. With single, samples of "
      "float64 are rounded to float32. Input of int32 and uint32 is always "
      "computed with double",
      FIELD (ENUM, base.precision, NdPrecision, precision_type,
          ND_PRECISION_SINGLE),
      GST_ND_READY },
  /* Since: 0.1 */
  { "response", "Response",
      "Output computed from the responses of a complex filter or of a bank, "
      "before gain and offset",
      FIELD (ENUM, response, NdResponse, response_type, ND_RESPONSE_ALL),
      GST_ND_PLAYING },
  /* Since: 0.9 */
  { "memory-limit", "Memory limit",
      "Bytes of device memory that the filter may use; 0: no limit. Volumes "
      "that need more go through the device in slabs along z, or along y if "
      "they have one slice; stats has their number in reason",
      FIELD (INT64, memory_limit, 0, G_MAXINT64, 0), GST_ND_PLAYING },
  { "devices", "Devices",
      "GPUs that share the work, counted from 0: numbers separated by commas, "
      "as in \"0,1\"; all; auto, as many as make the stream faster; empty: the "
      "one of device-id. Volumes go round the GPUs, or each GPU computes a "
      "part of every volume; reason in stats says which and why. device-id, if "
      "it is set, must be one of them; it holds outputs that stay on the GPU. "
      "No effect on the CPU",
      FIELD (STRING, base.devices, ""), GST_ND_READY },
  { "threshold", "Threshold",
      "For response=argmax: samples whose largest magnitude is below it belong "
      "to no response and become 255 (uint8, uint16) or -1 (int16, float32), "
      "whatever gain and offset are. 0: each sample gets a number",
      FIELD (DOUBLE, threshold, 0, G_MAXDOUBLE, 0), GST_ND_PLAYING },
  /* Since: 0.1 */
  { "axes", "Axes",
      "The three axes to filter along; sizes and sigmas of filters are given "
      "for these, in this order",
      FIELD (ENUM, axes, GstNdAxesKind, axes_type, GST_ND_AXES_AUTO),
      GST_ND_PLAYING },
};

#define N_ROWS G_N_ELEMENTS (rows)

/* Not every filter has `axes`, so it is the last row. */
#define ID_AXES N_ROWS

void
gst_nd_conv_settings_install (GstNdTemporalClass *klass)
{
  gst_nd_temporal_class_install (klass, rows, N_ROWS, N_ROWS - 1,
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
  gst_nd_temporal_class_install_property (klass, ID_AXES);
}

NdSampleType
gst_nd_conv_settings_type (const GstNdConvSettings *settings, NdSampleType in)
{
  if (settings->response == ND_RESPONSE_TENSOR
      && settings->output_type == GST_ND_SAMPLE_SAME)
    return nd_sample_computed (ND_FLOAT64, settings->base.precision);
  return gst_nd_sample_type (settings->output_type, in);
}
