/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvsettings.h"

#include "core/threads.h"
#include "engine/devices.h"
#include "gst/base/gstndproperties.h"

GType
gst_nd_border_get_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_BORDER_CONSTANT, "border-value everywhere: v v | a b c d | v v",
        "constant" },
    { ND_BORDER_NEAREST, "the sample at the edge: a a | a b c d | d d",
        "nearest" },
    { ND_BORDER_REFLECT, "mirrored about the edge: b a | a b c d | d c",
        "reflect" },
    { ND_BORDER_MIRROR,
        "mirrored about the sample at the edge: c b | a b c d | c b",
        "mirror" },
    { ND_BORDER_WRAP, "the opposite end: c d | a b c d | a b", "wrap" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdBorder", values);
}

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
gap_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_GAP_LEAVE_OUT,
        "Nothing; the window spans the volumes that "
        "arrived",
        "leave-out" },
    { GST_ND_GAP_HOLD, "The volume before it", "hold" },
    { GST_ND_GAP_RESTART, "Nothing; each missing volume ends the stretch",
        "restart" },
    { 0, NULL, NULL }
  };

  return gst_nd_enum_type (&type, "GstNdGap", values);
}

static GType
stamp_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_STAMP_ANCHOR, "The time of the volume that the output belongs to",
        "anchor" },
    { GST_ND_STAMP_CONTENT,
        "The time of the contents, which is earlier by the lag of a causal "
        "filter; the latency grows by the same time",
        "content" },
    { 0, NULL, NULL }
  };

  return gst_nd_enum_type (&type, "GstNdStamp", values);
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

GType
gst_nd_backend_get_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { GST_ND_BACKEND_AUTO, "An NVIDIA GPU if available, otherwise the CPU",
        "auto" },
    { GST_ND_BACKEND_CPU, "The CPU, all cores", "cpu" },
    { GST_ND_BACKEND_CUDA, "An NVIDIA GPU; an error if none is available",
        "cuda" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdBackend", values);
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
        "Sum over all taps by the matrix units of a GPU of compute capability "
        "8.0 or later, for filters of up to 17 samples in x and y and 30000 "
        "coefficients; see accuracy",
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
    { ND_ACCURACY_SINGLE,
        "Relative L2 error of at most 2e-6; sums of 8 and 16 bit integers are "
        "exact",
        "single" },
    { ND_ACCURACY_FAST,
        "Relative L2 error of at most 5e-4, for display and 8 bit data",
        "fast" },
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
      GST_ND_PLAYING | GST_PARAM_CONTROLLABLE },
  { "offset", "Offset",
      "Sample value added to gain * response; not added to chroma, whose zero "
      "is 128",
      FIELD (DOUBLE, offset, -G_MAXDOUBLE, G_MAXDOUBLE, 0),
      GST_ND_PLAYING | GST_PARAM_CONTROLLABLE },
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
  { "backend", "Back end", "Device to compute on",
      FIELD (ENUM, backend, GstNdBackendKind, gst_nd_backend_get_type,
          GST_ND_BACKEND_AUTO),
      GST_ND_READY },
  { "device-id", "Device ID",
      "GPU to compute on, counted from 0; -1: the GPU of the neighbouring "
      "elements, or the first one",
      FIELD (INT, device_id, -1, G_MAXINT, -1), GST_ND_READY },
  { "method", "Method", "Method to compute the responses",
      FIELD (ENUM, method, NdMethod, method_type, ND_METHOD_AUTO),
      GST_ND_PLAYING },
  { "accuracy", "Accuracy",
      "Accuracy of method=tensor: fast computes faster, with a larger error. "
      "All other methods are at least as accurate as single",
      FIELD (ENUM, accuracy, NdAccuracy, accuracy_type, ND_ACCURACY_SINGLE),
      GST_ND_PLAYING },
  /* Since: 0.9 */
  { "precision", "Precision",
      "Precision of samples, coefficients and sums. With single, samples of "
      "float64, int32 and uint32 are rounded to float32",
      FIELD (ENUM, precision, NdPrecision, precision_type, ND_PRECISION_SINGLE),
      GST_ND_READY },
  /* Since: 0.1 */
  { "response", "Response",
      "Output computed from the responses of a complex filter or of a bank, "
      "before gain and offset",
      FIELD (ENUM, response, NdResponse, response_type, ND_RESPONSE_ALL),
      GST_ND_PLAYING },
  /* Since: 0.9 */
  { "gap", "Gap",
      "Replacement of volumes that are missing from a stretch, "
      "which is a run of volumes without a break in time",
      FIELD (ENUM, timing.gap, GstNdGap, gap_type, GST_ND_GAP_LEAVE_OUT),
      GST_ND_PLAYING },
  { "gap-limit", "Gap limit",
      "Longest time between two volumes of a stretch, in measured intervals; "
      "a longer gap ends the stretch and empties the window. 0: no gap ends "
      "a stretch",
      FIELD (DOUBLE, timing.limit, 0, G_MAXDOUBLE, 5), GST_ND_PLAYING },
  { "gap-jitter", "Gap jitter",
      "Measured intervals by which a volume may come late before another "
      "volume counts as missing",
      FIELD (DOUBLE, timing.jitter, 0, G_MAXDOUBLE, 0.5), GST_ND_PLAYING },
  { "gap-discont", "Gap at DISCONT",
      "Whether the flag DISCONT of a buffer begins a new stretch. It does not "
      "if the timestamps show that volumes are missing before the buffer, "
      "which explains the flag",
      FIELD (BOOLEAN, timing.discont, TRUE), GST_ND_PLAYING },
  { "compute-latency", "Compute latency",
      "Whether the answer to LATENCY queries includes the measured computing "
      "time",
      FIELD (ENUM, compute_latency, GstNdComputeLatency,
          gst_nd_compute_latency_get_type, GST_ND_COMPUTE_LATENCY_AUTO),
      GST_ND_PLAYING },
  { "strides", "Strides",
      "Bytes from row to row, and from slice to slice, of input volumes whose "
      "rows or slices are padded: \"row\" or \"row:slice\". Volumes without "
      "padding are accepted too. Frames have a GstVideoMeta instead",
      FIELD (STRING, strides, ""), GST_ND_PLAYING },
  { "n-threads", "Threads",
      "Threads that compute on the CPU; 0: the cores that the process may use, "
      "or the environment variable NDCONV_THREADS",
      FIELD (UINT, n_threads, 0, ND_MAX_THREADS, 0), GST_ND_PLAYING },
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
      FIELD (STRING, devices, ""), GST_ND_READY },
  { "threshold", "Threshold",
      "For response=argmax: samples whose largest magnitude is below it belong "
      "to no response and become 255 (uint8, uint16) or -1 (int16, float32), "
      "whatever gain and offset are. 0: each sample gets a number",
      FIELD (DOUBLE, threshold, 0, G_MAXDOUBLE, 0), GST_ND_PLAYING },
  { "stamp", "Stamp",
      "Timestamp of an output. stats has the lag, in volumes; no output has a "
      "timestamp before the start of the segment",
      FIELD (ENUM, stamp, GstNdStamp, stamp_type, GST_ND_STAMP_ANCHOR),
      GST_ND_PLAYING },
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
#define ID_STATS (N_ROWS + 1)

guint
gst_nd_conv_settings_install (GObjectClass *klass)
{
  gst_nd_properties_install (klass, rows, N_ROWS - 1);
  g_object_class_install_property (klass, ID_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "The plan: backend, method and reason (strings); seconds-estimate, "
          "the time per volume that the cost model expects (double); bytes of "
          "the rings (uint64); lag, the number of volumes by which outputs "
          "show an earlier state than that of their anchors (double). Counts "
          "(uint64): volumes-in; volumes-out; volumes-late, outputs that were "
          "not computed because they would be late; volumes-outside-segment, "
          "outputs that were not pushed because they lie outside the segment "
          "that was asked for (volumes-clipped is its old name); volumes-lost, "
          "volumes whose outputs downstream did not take; volumes-flushed, "
          "volumes that a flush or a state change discarded; "
          "stretches, runs of volumes without a break in time; gaps, places in "
          "stretches at which volumes are missing; volumes-missing, the "
          "volumes that are missing there; volumes-held, positions of missing "
          "volumes that were filled with the volume before them (gap=hold); "
          "samples-saturated, samples of integer outputs that do not fit in "
          "their type (only the CPU counts them). Seconds per volume (double), "
          "each with -min, -mean and -max: seconds of work, and its parts on a "
          "device, upload-seconds, compute-seconds and download-seconds; "
          "wait-seconds, the rest of the time from the arrival of the last "
          "volume that an output needs to the output; ahead-seconds, work on "
          "an output before that volume arrives, which the work above does "
          "not contain (live streams only)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  return ID_STATS;
}

void
gst_nd_conv_settings_install_axes (GObjectClass *klass)
{
  gst_nd_property_install (klass, rows, ID_AXES);
}

void
gst_nd_conv_settings_init (GstNdConvSettings *settings)
{
  gst_nd_properties_init (rows, N_ROWS, settings);
}

void
gst_nd_conv_settings_clear (GstNdConvSettings *settings)
{
  gst_nd_properties_clear (rows, N_ROWS, settings);
}

void
gst_nd_conv_settings_copy (GstNdConvSettings *to, const GstNdConvSettings *from)
{
  gst_nd_properties_copy (rows, N_ROWS, to, from);
}

/* Whether the convolver does not depend on @row. */
static gboolean
is_of_stream (const GstNdProperty *row)
{
  static const gsize offsets[] = {
    G_STRUCT_OFFSET (GstNdConvSettings, gain),
    G_STRUCT_OFFSET (GstNdConvSettings, offset),
    G_STRUCT_OFFSET (GstNdConvSettings, timing.gap),
    G_STRUCT_OFFSET (GstNdConvSettings, timing.limit),
    G_STRUCT_OFFSET (GstNdConvSettings, timing.jitter),
    G_STRUCT_OFFSET (GstNdConvSettings, timing.discont),
    G_STRUCT_OFFSET (GstNdConvSettings, compute_latency),
    G_STRUCT_OFFSET (GstNdConvSettings, strides),
    G_STRUCT_OFFSET (GstNdConvSettings, stamp),
  };

  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++) {
    if (row->field.offset == offsets[i])
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_nd_conv_settings_have_same_convolver (const GstNdConvSettings *a,
    const GstNdConvSettings *b)
{
  for (guint i = 0; i < N_ROWS; i++) {
    if (!is_of_stream (&rows[i]) && !gst_nd_property_is_equal (&rows[i], a, b))
      return FALSE;
  }
  return TRUE;
}

void
gst_nd_conv_settings_copy_of_stream (GstNdConvSettings *to,
    const GstNdConvSettings *from)
{
  for (guint i = 0; i < N_ROWS; i++) {
    if (is_of_stream (&rows[i]))
      gst_nd_properties_copy (&rows[i], 1, to, from);
  }
}

gboolean
gst_nd_conv_settings_set (GstNdConvSettings *settings, guint id,
    const GValue *value)
{
  return gst_nd_properties_set (rows, N_ROWS, settings, id, value);
}

gboolean
gst_nd_conv_settings_get (const GstNdConvSettings *settings, guint id,
    GValue *value)
{
  return gst_nd_properties_get (rows, N_ROWS, settings, id, value);
}

const gchar *
gst_nd_conv_settings_backend (const GstNdConvSettings *settings)
{
  switch (settings->backend) {
    case GST_ND_BACKEND_CPU:
      return "cpu";
    case GST_ND_BACKEND_CUDA:
      return "cuda";
    default:
      return NULL;
  }
}

gint
gst_nd_conv_settings_device (const GstNdConvSettings *settings)
{
  return nd_devices_first (settings->devices, settings->device_id);
}

NdSampleType
gst_nd_conv_settings_type (const GstNdConvSettings *settings, NdSampleType in)
{
  if (settings->response == ND_RESPONSE_TENSOR
      && settings->output_type == GST_ND_SAMPLE_SAME)
    return nd_sample_computed (ND_FLOAT64, settings->precision);
  return gst_nd_sample_type (settings->output_type, in);
}
