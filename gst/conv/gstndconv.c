/* The base class of the filters: caps, bank and device checks, counts.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconv.h"

#include "engine/convolver.h"
#include "engine/devices.h"
#include "filters/text.h"
#include "gst/base/gstndcuda.h"
#include "gst/conv/gstndconvbuild.h"
#include "gst/temporal/gstndtemporalchange.h"
#include <string.h>

G_DEFINE_ABSTRACT_TYPE (GstNdConv, gst_nd_conv, GST_TYPE_ND_TEMPORAL);

/* Caps */

/* The responses of a bank design depend on the axes that have more than one
 * sample, and so on the caps. */
static void
find_bank_of_caps (GstNdConv *self, const GstNdConvSettings *settings,
    const GstCaps *caps, NdBankInfo *bank)
{
  NdBankInfo info;
  NdShape shape;
  guint i = 0;

  if (!settings->filter || !strstr (settings->filter, "-bank"))
    return;
  while (i < gst_caps_get_size (caps)
      && !gst_nd_conv_get_shape (gst_caps_get_structure (caps, i), &shape))
    i++;
  if (i < gst_caps_get_size (caps)) {
    const NdAxes axes = gst_nd_conv_axes_of_shape (self, settings, &shape);

    if (nd_bank_info_from_text (settings->filter, &axes, &info, NULL))
      *bank = info;
  }
}

static GstCaps *
gst_nd_conv_transform (GstNdTemporal *self, const GstNdTemporalSettings *base,
    GstPadDirection direction, const GstCaps *caps, gboolean device,
    const GstCaps *template)
{
  GstNdConv *conv = GST_ND_CONV (self);
  const GstNdConvSettings *settings = gst_nd_conv_settings (base);
  g_autoptr (GstCaps) from = direction == GST_PAD_SINK
      ? gst_nd_tensors_select (&conv->tensors, GST_ELEMENT (self), caps)
      : gst_caps_copy (caps);
  NdBankInfo bank = settings->bank;
  GstCaps *other;

  find_bank_of_caps (conv, settings, from, &bank);
  other = gst_nd_conv_transform_caps (direction, from, settings, &bank, device,
      template);
  return direction == GST_PAD_SRC ? gst_nd_tensors_extend (other) : other;
}

static gboolean
gst_nd_conv_keeps_caps (const GstNdTemporalSettings *base,
    const GstNdFormat *in, const GstNdFormat *out)
{
  const GstNdConvSettings *settings = gst_nd_conv_settings (base);
  const NdBankInfo *bank = &settings->bank;

  return gst_nd_conv_settings_type (settings, in->type) == out->type
      && nd_response_count (settings->conv.response, bank->n_responses)
      == out->responses
      && nd_output_components (settings->conv.response, bank->is_complex,
             bank->tensor_axes, in->planes[0].components)
      == out->planes[0].components;
}

/* Settings */

static gboolean
gst_nd_conv_derive (GstNdTemporal *self, GstNdTemporalSettings *base,
    const GstNdFormat *in, GError **error)
{
  static const GstNdFormat unknown = { 0 };
  GstNdConvSettings *settings = (GstNdConvSettings *) base;
  const NdAxes axes = gst_nd_conv_axes_of_format (GST_ND_CONV (self), settings,
      in ? in : &unknown);

  if (nd_bank_info_from_text (settings->filter, &axes, &settings->bank, error))
    return nd_convolver_check_time_border (settings->conv.time_border, error);
  settings->bank = (NdBankInfo){ 1, FALSE };
  g_prefix_error (error, "Property filter: ");
  return FALSE;
}

static NdPrecision
gst_nd_conv_find_precision (const GstNdTemporalSettings *settings,
    NdSampleType type)
{
  return nd_sample_precision (type, settings->device.precision);
}

static gboolean
gst_nd_conv_may_use_device (const GstNdTemporalSettings *settings)
{
  return gst_nd_conv_settings (settings)->conv.method != ND_METHOD_REFERENCE;
}

/* Whether the first structure of the upstream caps is video. */
static gboolean
expects_video (GstNdTemporal *self)
{
  g_autoptr (GstCaps) caps =
      gst_pad_peer_query_caps (GST_BASE_TRANSFORM_SINK_PAD (self), NULL);

  return caps && !gst_caps_is_any (caps) && !gst_caps_is_empty (caps)
      && gst_structure_has_name (gst_caps_get_structure (caps, 0),
          "video/x-raw");
}

static gboolean
check_devices (const GstNdConvSettings *settings, GError **error)
{
  const NdBackend *backend;
  NdDevices devices;

  if (!nd_devices_check (settings->base.device.devices, error))
    return FALSE;
  if (!settings->base.device.devices || *settings->base.device.devices == '\0'
      || settings->base.device.backend == ND_BACKEND_CPU)
    return TRUE;
  backend = nd_backend_find (nd_backend_kind_name (ND_BACKEND_GPU), -1, NULL);
  return !backend
      || nd_devices_find (settings->base.device.devices,
          settings->base.device.device_id, backend, &devices, error);
}

/* Makes the checks that take no time and need no caps. */
static gboolean
gst_nd_conv_check_start (GstNdTemporal *self, const GstNdTemporalSettings *base,
    GError **error)
{
  const GstNdConvSettings *settings = gst_nd_conv_settings (base);
  gboolean expected = expects_video (self);

  /* Frames and volumes have different axes, and the filter must fit one of
   * them. If it fits neither, the error is about the expected one, which comes
   * last. */
  for (guint i = 0; i < 2; i++) {
    NdAxes axes = GST_ND_CONV_GET_CLASS (self)->axes (settings,
        i == 0 ? !expected : expected);
    NdBankInfo info;

    g_clear_error (error);
    if (nd_bank_info_from_text (settings->filter, &axes, &info, error))
      return nd_convolver_check_time_border (settings->conv.time_border, error)
          && check_devices (settings, error);
  }
  g_prefix_error (error, "Property filter: ");
  return FALSE;
}

/* accuracy=fast of programs of earlier versions. */
static void
gst_nd_conv_warn_without_effect (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, const gchar *property)
{
  if ((!property || strcmp (property, "accuracy") == 0)
      && gst_nd_conv_settings (settings)->conv.accuracy != ND_ACCURACY_SINGLE)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Property accuracy has no effect: all methods compute with "
         "accuracy=single"),
        (NULL));
}

/* Counts */

/* The share of saturated samples above which a warning is posted. */
#define SATURATED_TO_WARN 0.001

/* Samples of one output. */
static guint64
count_samples (const GstNdFormat *format)
{
  guint64 samples = 0;

  for (guint p = 0; p < format->n_planes; p++) {
    const NdShape *shape = &format->planes[p];

    samples += (guint64) shape->components * shape->size[0] * shape->size[1]
        * shape->size[2] * format->responses;
  }
  return samples;
}

/* Warns once if many samples do not fit in their integer type: a derivative,
 * for example, loses its negative values, which is hard to see in a picture. */
static void
gst_nd_conv_warn (GstNdTemporal *temporal, const GstNdFormat *out)
{
  GstNdConv *self = GST_ND_CONV (temporal);
  const gdouble saturated =
      __atomic_load_n (&self->saturated, __ATOMIC_RELAXED);
  gdouble share;
  gboolean warn;

  GST_OBJECT_LOCK (self);
  share =
      self->counts_saturation && self->samples ? saturated / self->samples : 0;
  warn = share > SATURATED_TO_WARN && !self->warned_saturation;
  self->warned_saturation |= warn;
  GST_OBJECT_UNLOCK (self);
  if (warn)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%.2g %% of the output samples so far do not fit in %s and are "
         "saturated: set output-type=float32 or int16, or gain and offset",
            100 * share, nd_sample_name (out->type)),
        (NULL));
}

static void
gst_nd_conv_count_output (GstNdTemporal *self, const GstNdFormat *out)
{
  GST_ND_CONV (self)->samples += count_samples (out);
}

static void
gst_nd_conv_clear_stats (GstNdTemporal *temporal)
{
  GstNdConv *self = GST_ND_CONV (temporal);

  self->saturated = 0;
  self->samples = 0;
  self->warned_saturation = FALSE;
  g_atomic_int_set (&self->warned_spacing, FALSE);
}

static void
gst_nd_conv_add_stats (GstNdTemporal *temporal,
    const GstNdTemporalSettings *active, GstStructure *stats)
{
  GstNdConv *self = GST_ND_CONV (temporal);

  if (self->counts_saturation)
    gst_structure_set (stats, "samples-saturated", G_TYPE_UINT64,
        (guint64) __atomic_load_n (&self->saturated, __ATOMIC_RELAXED), NULL);
}

static gint
get_tensor_index (GstElement *element)
{
  /* A value that is set while playing takes effect at the next start. */
  g_autoptr (GstNdTemporalSettings) active =
      gst_nd_temporal_copy_active (GST_ND_TEMPORAL (element));

  return gst_nd_conv_settings (active)->tensor_index;
}

static void
fail_with_tensor (GstElement *element, const GError *error)
{
  gst_nd_temporal_fail (GST_ND_TEMPORAL (element), error);
}

static void
gst_nd_conv_finalize (GObject *object)
{
  gst_nd_tensors_clear (&GST_ND_CONV (object)->tensors);
  G_OBJECT_CLASS (gst_nd_conv_parent_class)->finalize (object);
}

static void
gst_nd_conv_init (GstNdConv *self)
{
  self->tensors.get_index = get_tensor_index;
  self->tensors.fail = fail_with_tensor;
  g_queue_init (&self->tensors.held);
  gst_nd_tensors_install (&self->tensors, GST_BASE_TRANSFORM_SINK_PAD (self));
}

static void
gst_nd_conv_class_init (GstNdConvClass *klass)
{
  GstNdTemporalClass *temporal_class = GST_ND_TEMPORAL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_nd_conv_finalize;
  temporal_class->check_start = gst_nd_conv_check_start;
  temporal_class->warn_without_effect = gst_nd_conv_warn_without_effect;
  temporal_class->derive = gst_nd_conv_derive;
  temporal_class->check_input = gst_nd_conv_check_input;
  temporal_class->transform_caps = gst_nd_conv_transform;
  temporal_class->keeps_caps = gst_nd_conv_keeps_caps;
  temporal_class->may_use_device = gst_nd_conv_may_use_device;
  temporal_class->find_precision = gst_nd_conv_find_precision;
  temporal_class->same_units = gst_nd_conv_same_units;
  temporal_class->build = gst_nd_conv_build;
  temporal_class->use = gst_nd_conv_use;
  temporal_class->count_output = gst_nd_conv_count_output;
  temporal_class->warn = gst_nd_conv_warn;
  temporal_class->describe = gst_nd_conv_describe;
  temporal_class->add_stats = gst_nd_conv_add_stats;
  temporal_class->clear_stats = gst_nd_conv_clear_stats;
  gst_nd_conv_settings_install (temporal_class);
  gst_type_mark_as_plugin_api (GST_TYPE_ND_CONV, 0);
}

void
gst_nd_conv_class_set_caps (GstNdConvClass *klass, gboolean video)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (video ? GST_ND_TENSORS_CAPS
          "; " GST_ND_VIDEO_CAPS "; " GST_ND_TENSORS_CUDA_DOUBLE_CAPS
          "; " GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_ND_FEATURE_CUDA,
              GST_ND_CUDA_VIDEO_FORMATS)
                                                         : GST_ND_TENSORS_CAPS
          "; " GST_ND_TENSORS_CUDA_DOUBLE_CAPS);
  g_autoptr (GstCaps) inputs = gst_caps_copy (caps);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_caps_append (inputs, gst_caps_from_string (GST_ND_SEVERAL_TENSORS_CAPS));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, inputs));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
}
