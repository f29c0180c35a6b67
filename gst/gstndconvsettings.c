/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstndconvsettings.h"

#define DEFAULT_BORDER ND_BORDER_NEAREST
#define DEFAULT_ORIGIN "0:0:0:0"

static GType
enum_type (const gchar * name, const GEnumValue * values)
{
  GType type = g_type_from_name (name);

  return type ? type : g_enum_register_static (name, values);
}

static GType
border_type (void)
{
  static const GEnumValue values[] = {
    {ND_BORDER_CONSTANT, "border-value everywhere: v v | a b c d | v v",
        "constant"},
    {ND_BORDER_NEAREST, "the sample at the edge: a a | a b c d | d d",
        "nearest"},
    {ND_BORDER_REFLECT, "mirrored about the edge: b a | a b c d | d c",
        "reflect"},
    {ND_BORDER_MIRROR, "mirrored about the sample at the edge: c b | a b c d "
          "| c b", "mirror"},
    {ND_BORDER_WRAP, "the other end: c d | a b c d | a b", "wrap"},
    {0, NULL, NULL}
  };

  return enum_type ("GstNdBorder", values);
}

static GType
axes_type (void)
{
  static const GEnumValue values[] = {
    {GST_ND_AXES_AUTO, "xyt for video/x-raw, xyz for other/tensors", "auto"},
    {GST_ND_AXES_XYZ, "x, y and z of every volume", "xyz"},
    {GST_ND_AXES_XYT, "x and y of every frame or slice, and time", "xyt"},
    {0, NULL, NULL}
  };

  return enum_type ("GstNdAxes", values);
}

static GType
planes_type (void)
{
  static const GEnumValue values[] = {
    {GST_ND_PLANES_ALL, "Every plane, chroma about its zero", "all"},
    {GST_ND_PLANES_LUMA, "Luma; chroma comes out as it went in", "luma"},
    {0, NULL, NULL}
  };

  return enum_type ("GstNdPlanes", values);
}

static GType
output_type (void)
{
  static const GEnumValue values[] = {
    {GST_ND_OUTPUT_SAME, "The type of the input", "same"},
    {ND_UINT8, "8 bit, 0 to 255", "uint8"},
    {ND_INT16, "16 bit signed, -32768 to 32767", "int16"},
    {ND_UINT16, "16 bit, 0 to 65535", "uint16"},
    {ND_FLOAT32, "32 bit floating point, not rounded nor saturated",
        "float32"},
    {0, NULL, NULL}
  };

  return enum_type ("GstNdOutputType", values);
}

static GType
backend_type (void)
{
  static const GEnumValue values[] = {
    {GST_ND_BACKEND_AUTO, "An NVIDIA GPU where one can be used, or the "
          "processor", "auto"},
    {GST_ND_BACKEND_CPU, "The processor, all its cores", "cpu"},
    {GST_ND_BACKEND_CUDA, "An NVIDIA GPU; an error where there is none",
        "cuda"},
    {0, NULL, NULL}
  };

  return enum_type ("GstNdBackend", values);
}

static GType
method_type (void)
{
  static const GEnumValue values[] = {
    {ND_METHODS, "The fastest, by estimate or trial; stats says which and why",
        "auto"},
    {ND_METHOD_DIRECT, "Sum over all taps: any filter, best for small ones",
        "direct"},
    {ND_METHOD_SEPARABLE, "One pass per axis; an error where a filter is not "
          "separable", "separable"},
    {ND_METHOD_FFT, "Fourier transforms, a ring of spectra over time: any "
          "filter, best for large ones; relative L2 error below 1e-6", "fft"},
    {ND_METHOD_TENSOR, "Sum over all taps by the matrix units of a GPU of "
          "compute capability 8.0 or later, for filters of up to 17 samples in "
          "x and y and 30000 in all; see accuracy", "tensor"},
    {ND_METHOD_REFERENCE,
        "Plain loops in double precision, to check the "
          "others against: very slow", "reference"},
    {0, NULL, NULL}
  };

  return enum_type ("GstNdMethod", values);
}

static GType
accuracy_type (void)
{
  static const GEnumValue values[] = {
    {ND_ACCURACY_SINGLE, "As of float32: relative L2 error at most 2e-6 of "
          "what the filter could give, sums of 8 and 16 bit integers exact",
        "single"},
    {ND_ACCURACY_FAST, "At most 5e-4, for what is looked at or has 8 bits",
        "fast"},
    {0, NULL, NULL}
  };

  return enum_type ("GstNdAccuracy", values);
}

static GType
response_type (void)
{
  static const GEnumValue values[] = {
    {ND_RESPONSE_ALL, "What every filter gives; complex as two components",
        "all"},
    {ND_RESPONSE_MAGNITUDE, "Magnitude of every response", "magnitude"},
    {ND_RESPONSE_PHASE, "Phase of every response, -pi to pi: output-type "
          "float32, or a gain", "phase"},
    {ND_RESPONSE_REAL, "Real part of every response", "real"},
    {ND_RESPONSE_IMAGINARY, "Imaginary part of every response", "imaginary"},
    {ND_RESPONSE_ENERGY, "Squared magnitude of every response", "energy"},
    {ND_RESPONSE_MAX, "The largest magnitude of all responses", "max"},
    {ND_RESPONSE_ARGMAX, "Which response has the largest magnitude, counted "
          "from 0", "argmax"},
    {ND_RESPONSE_SUM, "The sum of the magnitudes of all responses", "sum"},
    {0, NULL, NULL}
  };

  return enum_type ("GstNdResponse", values);
}

#define PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS \
    | GST_PARAM_MUTABLE_PLAYING)
#define READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS \
    | GST_PARAM_MUTABLE_READY)

void
gst_nd_conv_settings_install (GObjectClass * klass)
{
  g_object_class_install_property (klass, GST_ND_PROP_FILTER,
      g_param_spec_string ("filter", "Filter", "The filter, or a bank of "
          "filters with ';' between: a design and its parameters, such as "
          "\"gaussian,sigma=1.5\", \"box,size=3:3:5\", \"laplace\", "
          "\"sobel,direction=x\", \"quadrature-bank,size=9,center-frequency="
          "1.05,bandwidth=2.0\", \"coefficients,size=3:1,"
          "values=<-1.0,0.0,1.0>\", \"file,location=k.npy\" (.npy, .nii, raw "
          "float32 with size=); docs/filters.md has all of "
          "them. Sizes and sigmas are in samples, in the order "
          "x:y:z:t; the filter is flipped (true convolution). Required",
          NULL, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_BORDER,
      g_param_spec_enum ("border", "Border", "What stands beyond the edges in "
          "x, y and z", border_type (), DEFAULT_BORDER, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_BORDER_VALUE,
      g_param_spec_double ("border-value", "Border value",
          "Sample value beyond "
          "the edge for border=constant, and before the first and after the "
          "last volume for time-border=constant", -G_MAXFLOAT, G_MAXFLOAT, 0,
          PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_TIME_BORDER,
      g_param_spec_enum ("time-border", "Time border",
          "What stands before the "
          "first and after the last volume of the stream; wrap would need the "
          "whole stream and is refused", border_type (), DEFAULT_BORDER,
          PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_ORIGIN,
      g_param_spec_string ("origin", "Origin",
          "Shift of every filter in "
          "samples per axis, x:y:z:t, each from -(size/2) to (size-1)/2, as "
          "SciPy's origin", DEFAULT_ORIGIN, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_CAUSAL,
      g_param_spec_boolean ("causal", "Causal",
          "Set the origin in time so that " "no later volume is read: no delay",
          FALSE, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_OUTPUT_TYPE,
      g_param_spec_enum ("output-type", "Output type",
          "Sample type of the "
          "output. What video cannot hold comes out as other/tensors",
          output_type (), GST_ND_OUTPUT_SAME, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_GAIN,
      g_param_spec_double ("gain", "Gain",
          "out = gain * response + offset; "
          "integers are rounded half to even and saturated", -G_MAXDOUBLE,
          G_MAXDOUBLE, 1, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_OFFSET,
      g_param_spec_double ("offset", "Offset",
          "Sample value added to gain * "
          "response; not to chroma, whose zero is 128", -G_MAXDOUBLE,
          G_MAXDOUBLE, 0, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_NORMALIZE,
      g_param_spec_boolean ("normalize", "Normalize",
          "Scale the coefficients "
          "to sum 1; a filter of sum zero is an error", FALSE, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_PLANES,
      g_param_spec_enum ("planes", "Planes", "Which planes of planar YUV video "
          "are filtered; other streams have one", planes_type (),
          GST_ND_PLANES_ALL, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_BACKEND,
      g_param_spec_enum ("backend", "Back end", "Where to compute",
          backend_type (), GST_ND_BACKEND_AUTO, READY));
  g_object_class_install_property (klass, GST_ND_PROP_DEVICE_ID,
      g_param_spec_int ("device-id", "Device ID",
          "GPU to compute on, counted "
          "from 0; -1: that of the neighbours, or the first", -1, G_MAXINT, -1,
          READY));
  g_object_class_install_property (klass, GST_ND_PROP_METHOD,
      g_param_spec_enum ("method", "Method", "How to compute", method_type (),
          ND_METHODS, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_ACCURACY,
      g_param_spec_enum ("accuracy", "Accuracy", "How exact method=tensor "
          "is, which is faster where that is less; other methods are as exact "
          "as single", accuracy_type (), ND_ACCURACY_SINGLE, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_RESPONSE,
      g_param_spec_enum ("response", "Response", "What comes out of the "
          "responses of a complex filter, or of a bank; gain and offset apply "
          "to it", response_type (), ND_RESPONSE_ALL, PLAYING));
  g_object_class_install_property (klass, GST_ND_PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "backend, method, reason "
          "(strings); volumes-in, volumes-out, volumes-late, volumes-clipped "
          "(uint64); seconds-min, seconds-mean, seconds-max of computing per "
          "volume, and of it upload-seconds-, compute-seconds- and "
          "download-seconds-, where there is a device; wait-seconds-, the rest "
          "of the time from a volume's arrival to its output; "
          "seconds-estimate of the cost model (double); bytes that the rings "
          "take (uint64)", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

void
gst_nd_conv_settings_install_axes (GObjectClass * klass)
{
  g_object_class_install_property (klass, GST_ND_PROP_AXES,
      g_param_spec_enum ("axes", "Axes",
          "The three axes to filter along; sizes "
          "and sigmas of filters are for these, in this order", axes_type (),
          GST_ND_AXES_AUTO, PLAYING));
}

void
gst_nd_conv_settings_init (GstNdConvSettings * s)
{
  *s = (GstNdConvSettings) {
  .origin = g_strdup (DEFAULT_ORIGIN),.border = DEFAULT_BORDER,.time_border =
        DEFAULT_BORDER,.output_type = GST_ND_OUTPUT_SAME,.gain =
        1,.device_id = -1,.method = ND_METHODS};
}

void
gst_nd_conv_settings_clear (GstNdConvSettings * s)
{
  g_clear_pointer (&s->filter, g_free);
  g_clear_pointer (&s->origin, g_free);
}

void
gst_nd_conv_settings_copy (GstNdConvSettings * to,
    const GstNdConvSettings * from)
{
  gst_nd_conv_settings_clear (to);
  *to = *from;
  to->filter = g_strdup (from->filter);
  to->origin = g_strdup (from->origin);
}

gboolean
gst_nd_conv_settings_equal_but_scale (const GstNdConvSettings * a,
    const GstNdConvSettings * b)
{
  return g_strcmp0 (a->filter, b->filter) == 0
      && g_strcmp0 (a->origin, b->origin) == 0 && a->border == b->border
      && a->time_border == b->time_border
      && a->border_value == b->border_value && a->causal == b->causal
      && a->axes == b->axes && a->output_type == b->output_type
      && a->normalize == b->normalize && a->planes == b->planes
      && a->backend == b->backend && a->device_id == b->device_id
      && a->method == b->method && a->accuracy == b->accuracy
      && a->response == b->response;
}

gboolean
gst_nd_conv_settings_set (GstNdConvSettings * s, guint id, const GValue * value)
{
  switch (id) {
    case GST_ND_PROP_FILTER:
      g_free (s->filter);
      s->filter = g_value_dup_string (value);
      break;
    case GST_ND_PROP_BORDER:
      s->border = g_value_get_enum (value);
      break;
    case GST_ND_PROP_BORDER_VALUE:
      s->border_value = g_value_get_double (value);
      break;
    case GST_ND_PROP_TIME_BORDER:
      s->time_border = g_value_get_enum (value);
      break;
    case GST_ND_PROP_ORIGIN:
      g_free (s->origin);
      s->origin = g_value_dup_string (value);
      break;
    case GST_ND_PROP_CAUSAL:
      s->causal = g_value_get_boolean (value);
      break;
    case GST_ND_PROP_AXES:
      s->axes = g_value_get_enum (value);
      break;
    case GST_ND_PROP_OUTPUT_TYPE:
      s->output_type = g_value_get_enum (value);
      break;
    case GST_ND_PROP_GAIN:
      s->gain = g_value_get_double (value);
      break;
    case GST_ND_PROP_OFFSET:
      s->offset = g_value_get_double (value);
      break;
    case GST_ND_PROP_NORMALIZE:
      s->normalize = g_value_get_boolean (value);
      break;
    case GST_ND_PROP_PLANES:
      s->planes = g_value_get_enum (value);
      break;
    case GST_ND_PROP_BACKEND:
      s->backend = g_value_get_enum (value);
      break;
    case GST_ND_PROP_DEVICE_ID:
      s->device_id = g_value_get_int (value);
      break;
    case GST_ND_PROP_METHOD:
      s->method = g_value_get_enum (value);
      break;
    case GST_ND_PROP_ACCURACY:
      s->accuracy = g_value_get_enum (value);
      break;
    case GST_ND_PROP_RESPONSE:
      s->response = g_value_get_enum (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_nd_conv_settings_get (const GstNdConvSettings * s, guint id, GValue * value)
{
  switch (id) {
    case GST_ND_PROP_FILTER:
      g_value_set_string (value, s->filter);
      break;
    case GST_ND_PROP_BORDER:
      g_value_set_enum (value, s->border);
      break;
    case GST_ND_PROP_BORDER_VALUE:
      g_value_set_double (value, s->border_value);
      break;
    case GST_ND_PROP_TIME_BORDER:
      g_value_set_enum (value, s->time_border);
      break;
    case GST_ND_PROP_ORIGIN:
      g_value_set_string (value, s->origin);
      break;
    case GST_ND_PROP_CAUSAL:
      g_value_set_boolean (value, s->causal);
      break;
    case GST_ND_PROP_AXES:
      g_value_set_enum (value, s->axes);
      break;
    case GST_ND_PROP_OUTPUT_TYPE:
      g_value_set_enum (value, s->output_type);
      break;
    case GST_ND_PROP_GAIN:
      g_value_set_double (value, s->gain);
      break;
    case GST_ND_PROP_OFFSET:
      g_value_set_double (value, s->offset);
      break;
    case GST_ND_PROP_NORMALIZE:
      g_value_set_boolean (value, s->normalize);
      break;
    case GST_ND_PROP_PLANES:
      g_value_set_enum (value, s->planes);
      break;
    case GST_ND_PROP_BACKEND:
      g_value_set_enum (value, s->backend);
      break;
    case GST_ND_PROP_DEVICE_ID:
      g_value_set_int (value, s->device_id);
      break;
    case GST_ND_PROP_METHOD:
      g_value_set_enum (value, s->method);
      break;
    case GST_ND_PROP_ACCURACY:
      g_value_set_enum (value, s->accuracy);
      break;
    case GST_ND_PROP_RESPONSE:
      g_value_set_enum (value, s->response);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

const gchar *
gst_nd_conv_settings_backend (const GstNdConvSettings * s)
{
  switch (s->backend) {
    case GST_ND_BACKEND_CPU:
      return "cpu";
    case GST_ND_BACKEND_CUDA:
      return "cuda";
    default:
      return NULL;
  }
}
