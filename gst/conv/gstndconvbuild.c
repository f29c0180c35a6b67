/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvbuild.h"

#include "filters/parameters.h"
#include "filters/tensor.h"
#include "filters/text.h"
#include "gst/base/gstndcuda.h"
#include "gst/conv/gstndunits.h"

#define GST_CAT_DEFAULT gst_nd_conv_debug

NdAxes
gst_nd_conv_axes_of_shape (GstNdConv *self, const GstNdConvSettings *settings,
    const NdShape *shape)
{
  NdAxes axes =
      GST_ND_CONV_GET_CLASS (self)->axes (settings, shape->size[2] == 1);

  for (guint a = 0; a < ND_AXIS_T; a++)
    axes.single[a] = shape->size[a] == 1;
  return axes;
}

NdAxes
gst_nd_conv_axes_of_format (GstNdConv *self, const GstNdConvSettings *settings,
    const GstNdFormat *format)
{
  NdShape shape = format->planes[0];
  NdAxes axes;

  if (gst_nd_format_has_fields (format))
    shape.size[2] = 1;
  axes = gst_nd_conv_axes_of_shape (self, settings, &shape);

  gst_nd_units_set_steps (&axes, format);
  return axes;
}

NdAxes
gst_nd_conv_axes (GstNdConv *self, const GstNdConvSettings *settings)
{
  return gst_nd_conv_axes_of_format (self, settings, &self->priv->in);
}

/* The volumes of the stream that upstream expects; 0 if it does not know. */
static guint64
count_volumes (GstNdConv *self)
{
  gint64 volumes;

  return gst_pad_peer_query_duration (GST_BASE_TRANSFORM_SINK_PAD (self),
             GST_FORMAT_DEFAULT, &volumes)
          && volumes > 0
      ? volumes
      : 0;
}

GstNdConvBuild *
gst_nd_conv_build_new (GstNdConv *self, const GstNdConvSettings *settings,
    NdSampleType out_type)
{
  GstNdConvPrivate *priv = self->priv;
  GstNdConvBuild *build = g_new0 (GstNdConvBuild, 1);

  gst_nd_conv_settings_copy (&build->settings, settings);
  build->axes = gst_nd_conv_axes (self, settings);
  build->in = priv->in;
  build->out_type = out_type;
  build->volumes = count_volumes (self);
  build->live = priv->live;
  build->context = gst_nd_context_get (&priv->device.context);
  return build;
}

void
gst_nd_conv_build_free (GstNdConvBuild *build)
{
  gst_nd_conv_settings_clear (&build->settings);
  g_clear_pointer (&build->convolver, nd_convolver_free);
  g_clear_error (&build->error);
  gst_clear_object (&build->context);
  g_free (build);
}

gboolean
gst_nd_conv_build_fits (GstNdConv *self, const GstNdConvBuild *build,
    const GstNdConvSettings *settings, NdSampleType out_type)
{
  return gst_nd_conv_settings_have_same_convolver (&build->settings, settings)
      && build->out_type == out_type
      && gst_nd_format_is_equal (&build->in, &self->priv->in)
      && gst_nd_units_same_filter (settings->filter, &build->in,
          &self->priv->in);
}

gboolean
gst_nd_conv_is_filtered (const GstNdConvSettings *settings,
    const GstNdFormat *format, guint plane)
{
  if (gst_nd_format_is_alpha (format, plane))
    return FALSE;
  return settings->planes == GST_ND_PLANES_ALL || plane == 0
      || !GST_VIDEO_INFO_IS_YUV (&format->video);
}

/* A filter that copies the anchor and reaches as far in time as @bank, so that
 * unfiltered planes leave together with the filtered ones. */
static NdBank *
make_identity (const NdBank *bank)
{
  gsize size[ND_AXES] = { 1, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  gint low[ND_AXES], high[ND_AXES];
  NdFilter *filter;

  nd_bank_reach (bank, low, high);
  size[ND_AXIS_T] = high[ND_AXIS_T] - low[ND_AXIS_T] + 1;
  filter = nd_filter_new ("identity", size);
  filter->origin[ND_AXIS_T] = high[ND_AXIS_T] - (gint) (size[ND_AXIS_T] / 2);
  filter->coefficients[high[ND_AXIS_T]] = 1;
  g_ptr_array_add (filters, filter);
  return nd_bank_new (filters);
}

/* Whether the output has the planes of @format. */
static gboolean
keeps_planes (const GstNdConvSettings *settings, const NdBankInfo *bank,
    const GstNdFormat *format)
{
  guint filtered = 0;

  for (guint p = 0; p < format->n_planes; p++)
    filtered += gst_nd_conv_is_filtered (settings, format, p);
  if (nd_response_count (settings->response, bank->n_responses) > 1)
    return FALSE;
  if (gst_nd_conv_settings_type (settings, format->type) != format->type)
    return FALSE;
  if (settings->response == ND_RESPONSE_ALL)
    return !bank->is_complex;
  return filtered == 1;
}

static void
set_planes_error (const GstNdFormat *format, GError **error)
{
  const gchar *name = GST_VIDEO_INFO_NAME (&format->video);

  if (gst_nd_format_has_fields (format))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The video is interlaced, and fields can only become fields: put "
        "'deinterlace' before a bank, a complex filter or another "
        "output-type");
  else if (GST_VIDEO_INFO_HAS_ALPHA (&format->video)
      && GST_VIDEO_INFO_IS_RGB (&format->video))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "%s video has alpha, which is not filtered, so the output must be one "
        "real response of the type of the input: convert it to GRAY8 or RGB "
        "before a bank, a complex filter or another output-type",
        name);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "%s video has several planes, so the output must be one real response "
        "of the type of the input: convert it to GRAY8 or RGB before a bank, a "
        "complex filter or another output-type (with planes=luma, a response "
        "that combines filters works too)",
        name);
}

NdBankInfo
gst_nd_conv_bank_info (const GstNdConvSettings *settings, const NdBank *bank)
{
  NdBankInfo info = { nd_bank_responses (bank), bank->is_complex };
  NdTensorRecipe recipe;

  if (settings->response == ND_RESPONSE_TENSOR
      && nd_tensor_recipe (bank, &recipe, NULL))
    info.tensor_axes = recipe.axes;
  return info;
}

gboolean
gst_nd_conv_check_input (const GstNdConvSettings *settings,
    const NdBankInfo *bank, const GstNdFormat *format, GError **error)
{
  if (format->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input is the output of a bank, %u responses: filter the input of "
        "that bank, and put all filters in one bank",
        format->responses);
  else if ((format->n_planes > 1 || gst_nd_format_has_fields (format))
      && !keeps_planes (settings, bank, format))
    set_planes_error (format, error);
  else if (settings->response == ND_RESPONSE_TENSOR && format->n_planes > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "response=tensor needs one component; the input has %u planes: convert "
        "it to GRAY8, or to dimensions 1:x:y:z",
        format->n_planes);
  else
    return nd_response_check (settings->response, bank->is_complex,
        bank->tensor_axes, format->planes[0].components,
        gst_nd_conv_settings_type (settings, format->type), settings->threshold,
        error);
  return FALSE;
}

static void
log_axes (GstNdConv *self, const NdAxes *axes)
{
  g_autofree gchar *letters = nd_axes_to_string (axes);
  g_autoptr (GString) single = g_string_new (NULL);

  for (guint i = 0; i < axes->n; i++) {
    if (axes->single[axes->axis[i]])
      g_string_append_printf (single, " %c", nd_axis_letter (axes->axis[i]));
  }
  GST_INFO_OBJECT (self, "filters along %s%s%s%s", letters,
      single->len > 0 ? "; one sample along" : "", single->str,
      single->len > 0 ? ", for which single numbers mean size 1" : "");
}

static NdBank *
design (GstNdConv *self, GstNdConvBuild *build)
{
  const GstNdConvSettings *settings = &build->settings;
  const gint64 begin = g_get_monotonic_time ();
  NdBank *bank = nd_bank_from_text (settings->filter, &build->axes,
      settings->origin, settings->causal, settings->normalize,
      &build->cancelled, &build->error);

  log_axes (self, &build->axes);
  if (bank)
    GST_INFO_OBJECT (self,
        "filter \"%s\" designed in %.3f ms: responses %u, %s, size "
        "%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT,
        settings->filter, (g_get_monotonic_time () - begin) * 1e-3,
        nd_bank_responses (bank), bank->is_complex ? "complex" : "real",
        bank->filters[0]->size[0], bank->filters[0]->size[1],
        bank->filters[0]->size[2], bank->filters[0]->size[3]);
  else
    g_prefix_error (&build->error, "Property filter: ");
  return bank;
}

/* The job of @plane: @bank, or @identity if the plane is not filtered. */
static NdJob
make_job (const GstNdConvBuild *build, guint plane, const NdBank *bank,
    const NdBank *identity)
{
  const GstNdConvSettings *settings = &build->settings;
  const GstNdFormat *in = &build->in;
  const gdouble zero = gst_nd_format_zero (in, plane);
  const gboolean filtered = gst_nd_conv_is_filtered (settings, in, plane);

  return (NdJob){
    .shape = in->planes[plane],
    .in_type = in->computed,
    .out_type = nd_sample_computed (build->out_type, in->precision),
    .border = settings->border,
    .border_value = zero == 0 ? settings->border_value : zero,
    .accuracy = settings->accuracy,
    .precision = in->precision,
    .bank = filtered ? bank : identity,
    .response = filtered ? settings->response : ND_RESPONSE_ALL,
    .threshold = settings->threshold,
    .n_threads = settings->n_threads,
    .volumes = build->volumes,
    .cancelled = &build->cancelled,
  };
}

static void
make_convolver (GstNdConv *self, GstNdConvBuild *build, const NdBank *bank)
{
  const GstNdConvSettings *settings = &build->settings;
  const gint64 begin = g_get_monotonic_time ();
  g_autoptr (NdBank) identity = make_identity (bank);
  NdConvolverSettings wanted = {
    .n_planes = build->in.n_planes,
    .time_border = settings->time_border,
    .ahead = build->live,
    .backend = gst_nd_conv_settings_backend (settings),
    .device_id = settings->device_id,
    .devices = settings->devices,
    .volumes = build->volumes,
    .waits = build->live,
    .method = settings->method,
    .memory_limit = settings->memory_limit,
  };
  const NdWindow *window;

  for (guint p = 0; p < wanted.n_planes; p++)
    wanted.jobs[p] = make_job (build, p, bank, identity);
  gst_nd_cuda_enter (build->context);
  build->convolver = nd_convolver_new (&wanted, &build->error);
  gst_nd_cuda_leave (build->context);
  if (!build->convolver)
    return;
  window = nd_convolver_window (build->convolver);
  GST_INFO_OBJECT (self,
      "convolver built in %.3f ms: window of %u volumes (%u before the "
      "anchor, %u after it), rings of %" G_GSIZE_FORMAT " bytes",
      (g_get_monotonic_time () - begin) * 1e-3, nd_window_size (window),
      window->before, window->after, nd_convolver_bytes (build->convolver));
}

/* Slices that are fields are not neighbours in z. */
static gboolean
check_fields (const GstNdFormat *format, const NdBank *bank, GError **error)
{
  gint low[ND_AXES], high[ND_AXES];

  nd_bank_reach (bank, low, high);
  if (!gst_nd_format_has_fields (format)
      || (low[ND_AXIS_Z] == 0 && high[ND_AXIS_Z] == 0))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The video is interlaced and the filter extends along z: put "
      "'deinterlace' before this element, or use a filter of size 1 in z");
  return FALSE;
}

void
gst_nd_conv_build_run (GstNdConv *self, GstNdConvBuild *build)
{
  g_autoptr (NdBank) bank = design (self, build);
  NdTensorRecipe recipe;
  NdBankInfo info;

  if (!bank)
    return;
  info = gst_nd_conv_bank_info (&build->settings, bank);
  if (build->settings.response == ND_RESPONSE_TENSOR
      && !nd_tensor_recipe (bank, &recipe, &build->error))
    return;
  if (gst_nd_conv_check_input (&build->settings, &info, &build->in,
          &build->error)
      && check_fields (&build->in, bank, &build->error))
    make_convolver (self, build, bank);
}
