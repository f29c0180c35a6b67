/* The convolver for the settings and the input in use.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstndconvprivate.h"

#include "gstndcuda.h"
#include "gstnderror.h"
#include "gstndfilterspec.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nd_conv_debug);
#define GST_CAT_DEFAULT gst_nd_conv_debug

void
gst_nd_conv_set_latency (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstClockTime duration = gst_nd_format_duration (&priv->in), latency = 0;
  gboolean changed;

  if (GST_CLOCK_TIME_IS_VALID (duration))
    latency = nd_window_delay (nd_convolver_window (priv->convolver))
        * duration;
  GST_OBJECT_LOCK (self);
  changed = latency != priv->latency;
  priv->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (GST_ELEMENT (self),
        gst_message_new_latency (GST_OBJECT (self)));
}

static void
set_plan_stats (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  const NdPlan *plan = nd_convolver_plan (priv->convolver, 0);
  GstStructure *s = gst_structure_new ("ndconv-stats",
      "backend", G_TYPE_STRING, plan->backend->name,
      "method", G_TYPE_STRING, nd_method_name (plan->method),
      "reason", G_TYPE_STRING, plan->reason,
      "seconds-estimate", G_TYPE_DOUBLE, plan->estimate,
      "bytes", G_TYPE_UINT64, (guint64) nd_convolver_bytes (priv->convolver),
      NULL);

  GST_INFO_OBJECT (self, "planned: %" GST_PTR_FORMAT, s);
  GST_OBJECT_LOCK (self);
  if (priv->plan_stats)
    gst_structure_free (priv->plan_stats);
  priv->plan_stats = s;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
is_filtered (GstNdConv * self, const GstNdConvSettings * settings, guint plane)
{
  return settings->planes == GST_ND_PLANES_ALL || plane == 0
      || !GST_VIDEO_INFO_IS_YUV (&gst_nd_conv_private (self)->in.video);
}

/* A filter that gives its anchor, and reaches as far in time as @bank: planes
 * with it come out together with those filtered by the bank. */
static NdBank *
make_identity (const NdBank * bank)
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

/* Chroma is filtered about its zero: a sum of zero gives gray, not green. */
void
gst_nd_conv_set_scales (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  const NdBank *bank = nd_convolver_plan (priv->convolver, 0)->bank;

  for (guint p = 0; p < priv->in.n_planes; p++) {
    gdouble zero = gst_nd_format_zero (&priv->in, p);

    if (!is_filtered (self, &priv->active, p)) {
      priv->scale[p] = (NdScale) {
      1, 0};
      continue;
    }
    priv->scale[p].gain = priv->active.gain;
    priv->scale[p].offset = zero == 0 ? priv->active.offset
        : zero - priv->active.gain * zero * nd_filter_sum (bank->filters[0]);
  }
}

gboolean
gst_nd_conv_check_input (const GstNdConvSettings * settings,
    const NdResponses * bank, const GstNdFormat * format, GError ** error)
{
  if (format->responses > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "Caps are of a bank of %u "
        "responses: filter the volume that the bank was given, with all "
        "filters in one bank", format->responses);
  else if (format->is_video && format->n_planes > 1
      && (nd_response_count (settings->response, bank->n) > 1
          || (settings->response == ND_RESPONSE_ALL ? bank->is_complex
              : settings->planes == GST_ND_PLANES_ALL)
          || (settings->output_type != GST_ND_OUTPUT_SAME
              && settings->output_type != (gint) format->type)))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "Video in %s has planes of "
        "several sizes, and comes out of one filter as the type it is (with "
        "planes=luma also as one real number made of responses): for a bank, a "
        "complex filter or another output-type convert it before, to GRAY8 or "
        "RGB", GST_VIDEO_INFO_NAME (&format->video));
  else if (bank->is_complex && format->planes[0].components != 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "The filter is complex, and "
        "the input has %" G_GSIZE_FORMAT " components%s: a complex filter or a "
        "bank of them takes real input of one component (GRAY8, or dimensions "
        "1:x:y:z)", format->planes[0].components,
        format->planes[0].components == 2 ? ", real and imaginary part" : "");
  else
    return TRUE;
  return FALSE;
}

NdConvolver *
gst_nd_conv_build (GstNdConv * self, const GstNdConvSettings * settings,
    NdSampleType out_type, GError ** error)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  NdAxes axes = GST_ND_CONV_GET_CLASS (self)->axes (settings,
      priv->in.is_video);
  g_autoptr (NdBank) bank = gst_nd_filter_spec_parse (settings->filter, &axes,
      settings->origin, settings->causal, settings->normalize, error);
  NdConvolverSettings wanted = {.n_planes = priv->in.n_planes,
    .time_border = settings->time_border,.reverse = priv->reverse,
    .backend = gst_nd_conv_settings_backend (settings),
    .device_id = settings->device_id,.method = settings->method
  };
  g_autoptr (NdBank) identity = NULL;
  NdResponses responses;
  NdConvolver *convolver;

  if (!bank)
    return NULL;
  responses = (NdResponses) {
  nd_bank_responses (bank), bank->is_complex};
  if (!gst_nd_conv_check_input (settings, &responses, &priv->in, error))
    return NULL;
  identity = make_identity (bank);
  for (guint p = 0; p < wanted.n_planes; p++) {
    gdouble zero = gst_nd_format_zero (&priv->in, p);

    wanted.jobs[p] = (NdJob) {
    .shape = priv->in.planes[p],.in_type = priv->in.type,.out_type =
          out_type,.border = settings->border,.border_value =
          zero == 0 ? settings->border_value : zero,.accuracy =
          settings->accuracy,.bank = bank,.response = settings->response};
    if (!is_filtered (self, settings, p)) {
      wanted.jobs[p].bank = identity;
      wanted.jobs[p].response = ND_RESPONSE_ALL;
    }
  }
  gst_nd_cuda_enter (priv->context);
  convolver = nd_convolver_new (&wanted, error);
  gst_nd_cuda_leave (priv->context);
  return convolver;
}

const NdBackend *
gst_nd_conv_device_in_use (GstNdConv * self)
{
  NdConvolver *convolver = gst_nd_conv_private (self)->convolver;
  const NdBackend *backend;

  if (!convolver)
    return NULL;
  backend = nd_convolver_plan (convolver, 0)->backend;
  return backend->memory_new ? backend : NULL;
}

void
gst_nd_conv_activate (GstNdConv * self, const GstNdConvSettings * settings)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  NdAxes axes;

  gst_nd_conv_settings_copy (&priv->active, settings);
  axes = GST_ND_CONV_GET_CLASS (self)->axes (settings, priv->in.is_video);
  if (!gst_nd_filter_spec_count (settings->filter, &axes, &priv->bank, NULL))
    priv->bank = (NdResponses) {
    1, FALSE};
}

void
gst_nd_conv_use (GstNdConv * self, NdConvolver * convolver)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  g_clear_pointer (&priv->convolver, nd_convolver_free);
  priv->convolver = convolver;
  gst_nd_conv_set_scales (self);
  set_plan_stats (self);
  gst_nd_conv_set_latency (self);
}
