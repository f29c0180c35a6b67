/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvbuild.h"

#include "engine/convolver.h"
#include "filters/characteristics.h"
#include "filters/parameters.h"
#include "filters/tensor.h"
#include "filters/text.h"
#include "filters/units.h"
#include "gst/base/gstndcuda.h"
#include "gst/base/gstnderror.h"

#include <math.h>

GST_DEBUG_CATEGORY_EXTERN (gst_nd_temporal_debug);
#define GST_CAT_DEFAULT gst_nd_temporal_debug

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

/* Sets the steps of the axes: 0 along axes without a spacing, and along t if
 * the rate is unknown or variable. */
static void
set_steps (NdAxes *axes, const GstNdFormat *format)
{
  const NdGeometry *geometry = &format->tensors.geometry;

  memset (axes->step, 0, sizeof (axes->step));
  for (guint a = 0; a < ND_AXIS_T; a++) {
    if (!format->is_video && geometry->known)
      axes->step[a] = geometry->spacing[a];
  }
  if (format->rate_n > 0 && !format->is_variable)
    axes->step[ND_AXIS_T] = (gdouble) format->rate_d / format->rate_n;
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

  set_steps (&axes, format);
  return axes;
}

gboolean
gst_nd_conv_same_units (const GstNdTemporalSettings *settings,
    const GstNdFormat *a, const GstNdFormat *b)
{
  NdAxes of_a = { 0 }, of_b = { 0 };

  if (!nd_units_are_in (gst_nd_conv_settings (settings)->filter))
    return TRUE;
  set_steps (&of_a, a);
  set_steps (&of_b, b);
  return memcmp (of_a.step, of_b.step, sizeof (of_a.step)) == 0;
}

/* FALSE if @plane of the video @format passes as it is. */
static gboolean
is_filtered (const GstNdConvSettings *settings, const GstNdFormat *format,
    guint plane)
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
    filtered += is_filtered (settings, format, p);
  if (nd_response_count (settings->conv.response, bank->n_responses) > 1)
    return FALSE;
  if (gst_nd_conv_settings_type (settings, format->type) != format->type)
    return FALSE;
  if (settings->conv.response == ND_RESPONSE_ALL)
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

/* The properties of @bank. */
static NdBankInfo
find_bank_info (const GstNdConvSettings *settings, const NdBank *bank)
{
  NdBankInfo info = { nd_bank_responses (bank), bank->is_complex };
  NdTensorRecipe recipe;

  if (settings->conv.response == ND_RESPONSE_TENSOR
      && nd_tensor_recipe (bank, &recipe, NULL))
    info.tensor_axes = recipe.axes;
  return info;
}

gboolean
gst_nd_conv_check_input (GstNdTemporal *self, const GstNdTemporalSettings *base,
    const GstNdFormat *format, GError **error)
{
  const GstNdConvSettings *settings = gst_nd_conv_settings (base);
  const NdBankInfo *bank = &settings->bank;

  if (format->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input is the output of a bank, %u responses: filter the input of "
        "that bank, and put all filters in one bank",
        format->responses);
  else if ((format->n_planes > 1 || gst_nd_format_has_fields (format))
      && !keeps_planes (settings, bank, format))
    set_planes_error (format, error);
  else if (settings->conv.response == ND_RESPONSE_TENSOR
      && format->n_planes > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "response=tensor needs one component; the input has %u planes: convert "
        "it to GRAY8, or to dimensions 1:x:y:z",
        format->n_planes);
  else
    return nd_response_check (settings->conv.response, bank->is_complex,
        bank->tensor_axes, format->planes[0].components,
        gst_nd_conv_settings_type (settings, format->type),
        settings->conv.threshold, error);
  return FALSE;
}

static void
log_axes (GstNdTemporal *self, const NdAxes *axes)
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

static void
warn_of_spacing (GstNdTemporal *self, const gchar *filter, const NdAxes *axes)
{
  g_autofree gchar *warning = nd_bank_find_warning (filter, axes);

  if (warning
      && g_atomic_int_compare_and_exchange (&GST_ND_CONV (self)->warned_spacing,
          FALSE, TRUE))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Property filter: %s", warning), (NULL));
}

static NdBank *
design (GstNdTemporal *self, GstNdTemporalBuild *build, GError **error)
{
  const GstNdConvSettings *settings = gst_nd_conv_settings (build->settings);
  const NdAxes axes =
      gst_nd_conv_axes_of_format (GST_ND_CONV (self), settings, &build->in);
  const gint64 begin = g_get_monotonic_time ();
  NdBank *bank = nd_bank_from_text (settings->filter, &axes,
      settings->conv.origin, settings->conv.causal, settings->conv.normalize,
      &build->cancelled, error);

  log_axes (self, &axes);
  if (bank)
    warn_of_spacing (self, settings->filter, &axes);
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
    g_prefix_error (error, "Property filter: ");
  return bank;
}

/* The job of @plane: @bank, or @identity if the plane is not filtered. */
static NdJob
make_job (const GstNdTemporalBuild *build, guint plane, const NdBank *bank,
    const NdBank *identity)
{
  const GstNdConvSettings *settings = gst_nd_conv_settings (build->settings);
  const GstNdFormat *in = &build->in;
  const gdouble zero = gst_nd_format_zero (in, plane);
  const gboolean filtered = is_filtered (settings, in, plane);

  return (NdJob){
    .shape = in->planes[plane],
    .in_type = in->computed,
    .out_type =
        nd_sample_computed (gst_nd_conv_settings_type (settings, in->type),
            in->precision),
    .border = settings->conv.border,
    .border_value = zero == 0 ? settings->conv.border_value : zero,
    .precision = in->precision,
    .bank = filtered ? bank : identity,
    .response = filtered ? settings->conv.response : ND_RESPONSE_ALL,
    .threshold = settings->conv.threshold,
    .n_threads = settings->base.device.n_threads,
    .volumes = build->volumes,
    .cancelled = (gint *) &build->cancelled,
  };
}

static NdConvolver *
make_convolver (GstNdTemporalBuild *build, const NdBank *bank, GError **error)
{
  const GstNdConvSettings *settings = gst_nd_conv_settings (build->settings);
  g_autoptr (NdBank) identity = make_identity (bank);
  NdConvolverSettings wanted = {
    .n_planes = build->in.n_planes,
    .time_border = settings->conv.time_border,
    .ahead = build->live,
    .backend = nd_backend_kind_name (build->settings->device.backend),
    .device_id = settings->base.device.device_id,
    .devices = settings->base.device.devices,
    .volumes = build->volumes,
    .waits = build->live,
    .method = settings->conv.method,
    .memory_limit = settings->conv.memory_limit,
  };
  NdConvolver *convolver;

  for (guint p = 0; p < wanted.n_planes; p++)
    wanted.jobs[p] = make_job (build, p, bank, identity);
  gst_nd_cuda_enter (build->context);
  convolver = nd_convolver_new (&wanted, error);
  gst_nd_cuda_leave (build->context);
  return convolver;
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

/* Processor */

typedef struct
{
  GstNdProcessor processor;
  NdConvolver *convolver;
  GstNdFormat in;
  NdScale scale[ND_MAX_PLANES];
} Filter;

static NdConvolver *
convolver (GstNdProcessor *processor)
{
  return ((Filter *) processor)->convolver;
}

static void
filter_free (GstNdProcessor *processor)
{
  nd_convolver_free (convolver (processor));
  g_free (processor);
}

static gboolean
filter_push (GstNdProcessor *processor, const NdSamples *volume, GError **error)
{
  return nd_convolver_push (convolver (processor), volume, error);
}

static gboolean
filter_ready (GstNdProcessor *processor)
{
  return nd_convolver_ready (convolver (processor));
}

static gboolean
filter_respond (GstNdProcessor *processor, const NdSamples *out, GError **error)
{
  Filter *self = (Filter *) processor;

  if (out)
    return nd_convolver_respond (self->convolver, self->scale, out, error);
  nd_convolver_skip (self->convolver);
  return TRUE;
}

static void
filter_end (GstNdProcessor *processor)
{
  nd_convolver_end (convolver (processor));
}

static void
filter_reset (GstNdProcessor *processor)
{
  nd_convolver_reset (convolver (processor));
}

static gsize
filter_bytes (GstNdProcessor *processor)
{
  return nd_convolver_bytes (convolver (processor));
}

static gboolean
filter_repeat (GstNdProcessor *processor, GError **error)
{
  return nd_convolver_can_repeat (convolver (processor))
      && nd_convolver_repeat (convolver (processor), error);
}

static void
filter_set_reverse (GstNdProcessor *processor, gboolean reverse)
{
  const NdWindow *window = nd_convolver_window (convolver (processor));

  nd_convolver_set_reverse (convolver (processor), reverse);
  processor->before = window->before;
  processor->after = window->after;
  processor->back = nd_window_back (window);
  processor->delay = processor->ahead = nd_window_delay (window);
}

static gboolean
filter_wait (GstNdProcessor *processor, NdFence *fence, GError **error)
{
  return nd_convolver_wait (convolver (processor), fence, error);
}

static gboolean
filter_record (GstNdProcessor *processor, NdFence **fence, GError **error)
{
  return nd_convolver_record (convolver (processor), fence, error);
}

static gboolean
filter_synchronize (GstNdProcessor *processor, GError **error)
{
  return nd_convolver_synchronize (convolver (processor), error);
}

static gboolean
filter_begin (GstNdProcessor *processor)
{
  return nd_convolver_begin (convolver (processor));
}

static gboolean
filter_proceed (GstNdProcessor *processor, GstNdProcessor *old)
{
  return nd_convolver_continue (convolver (processor), convolver (old));
}

static gboolean
filter_replay (GstNdProcessor *processor, GstNdProcessor *old, GError **error)
{
  return nd_convolver_replay (convolver (processor), convolver (old), error);
}

static const GstNdProcessorClass filter_class = {
  .free = filter_free,
  .push = filter_push,
  .ready = filter_ready,
  .respond = filter_respond,
  .end = filter_end,
  .reset = filter_reset,
  .bytes = filter_bytes,
  .repeat = filter_repeat,
  .set_reverse = filter_set_reverse,
  .wait = filter_wait,
  .record = filter_record,
  .synchronize = filter_synchronize,
  .begin = filter_begin,
  .proceed = filter_proceed,
  .replay = filter_replay,
};

/* The largest lag of the responses. */
static gdouble
find_lag (const NdBank *bank)
{
  const NdFilter *real, *imaginary;
  gdouble lag = -G_MAXDOUBLE;

  for (guint i = 0; i < nd_bank_responses (bank); i++) {
    nd_bank_get_filter (bank, i, &real, &imaginary);
    lag = MAX (lag, nd_filter_anchor_lag (real, imaginary));
  }
  /* Without the rounding errors of the sums. */
  return round (lag * 1e9) / 1e9 + 0.0;
}

static GstNdProcessor *
make_filter (const GstNdTemporalBuild *build, NdConvolver *made)
{
  const NdPlan *plan = nd_convolver_plan (made, 0);
  Filter *self = g_new0 (Filter, 1);

  self->processor.klass = &filter_class;
  self->processor.backend = plan->backend;
  self->processor.turns = nd_convolver_turns (made);
  self->processor.lag = find_lag (plan->bank);
  self->processor.estimate = plan->estimate;
  self->convolver = made;
  self->in = build->in;
  filter_set_reverse (&self->processor, FALSE);
  return &self->processor;
}

GstNdProcessor *
gst_nd_conv_build (GstNdTemporal *self, GstNdTemporalBuild *build,
    GError **error)
{
  GstNdConvSettings *settings = (GstNdConvSettings *) build->settings;
  g_autoptr (NdBank) bank = design (self, build, error);
  const NdPlan *plan;
  NdConvolver *made;
  NdTensorRecipe recipe;

  if (!bank)
    return NULL;
  settings->bank = find_bank_info (settings, bank);
  if ((settings->conv.response == ND_RESPONSE_TENSOR
          && !nd_tensor_recipe (bank, &recipe, error))
      || !gst_nd_conv_check_input (self, build->settings, &build->in, error)
      || !check_fields (&build->in, bank, error))
    return NULL;
  made = make_convolver (build, bank, error);
  if (!made)
    return NULL;
  plan = nd_convolver_plan (made, 0);
  GST_INFO_OBJECT (self, "plan: %s on %s, about %.3f ms per volume: %s",
      nd_method_name (plan->method), plan->backend->name, plan->estimate * 1e3,
      plan->reason);
  return make_filter (build, made);
}

/* Chroma is filtered around its zero, so that a filter of sum zero gives gray
 * rather than green. */
void
gst_nd_conv_use (GstNdTemporal *self, GstNdProcessor *processor,
    const GstNdTemporalSettings *base)
{
  const GstNdConvSettings *settings = gst_nd_conv_settings (base);
  Filter *filter = (Filter *) processor;
  const NdBank *bank = nd_convolver_plan (filter->convolver, 0)->bank;

  for (guint p = 0; p < filter->in.n_planes; p++) {
    gdouble zero = gst_nd_format_zero (&filter->in, p);

    if (!is_filtered (settings, &filter->in, p)) {
      filter->scale[p] = (NdScale){ 1, 0, NULL };
      continue;
    }
    filter->scale[p].saturated = &GST_ND_CONV (self)->saturated;
    filter->scale[p].gain = settings->conv.gain;
    filter->scale[p].offset = zero == 0
        ? settings->conv.offset
        : zero - settings->conv.gain * zero * nd_filter_sum (bank->filters[0]);
  }
}

void
gst_nd_conv_describe (GstNdTemporal *self, GstNdProcessor *processor,
    GstStructure *stats)
{
  const NdPlan *plan = nd_convolver_plan (convolver (processor), 0);
  g_autofree gchar *kernels = nd_plan_kernels (plan);

  GST_ND_CONV (self)->counts_saturation =
      !nd_sample_is_float (plan->job.out_type)
      && plan->backend->flags & ND_BACKEND_COUNTS_SATURATION;
  gst_structure_set (stats, "method", G_TYPE_STRING,
      nd_method_name (plan->method), "kernels", G_TYPE_STRING, kernels,
      "reason", G_TYPE_STRING, plan->reason, "seconds-estimate", G_TYPE_DOUBLE,
      plan->estimate, NULL);
}
