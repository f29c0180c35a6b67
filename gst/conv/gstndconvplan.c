/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvplan.h"

#include "filters/characteristics.h"
#include "filters/text.h"
#include "gst/conv/gstndconvbuild.h"
#include "gst/conv/gstndconvbuilder.h"
#include "gst/conv/gstndconvlatency.h"

#include <math.h>

#define GST_CAT_DEFAULT gst_nd_conv_debug

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

static void
set_plan_stats (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  const NdPlan *plan = nd_convolver_plan (priv->convolver, 0);
  GstStructure *s;

  priv->lag = find_lag (plan->bank);
  s = gst_structure_new ("ndconv-stats", "backend", G_TYPE_STRING,
      plan->backend->name, "method", G_TYPE_STRING,
      nd_method_name (plan->method), "reason", G_TYPE_STRING, plan->reason,
      "seconds-estimate", G_TYPE_DOUBLE, plan->estimate, "bytes", G_TYPE_UINT64,
      (guint64) nd_convolver_bytes (priv->convolver), "lag", G_TYPE_DOUBLE,
      priv->lag, NULL);

  GST_INFO_OBJECT (self, "plan: %s on %s, about %.3f ms per volume: %s",
      nd_method_name (plan->method), plan->backend->name, plan->estimate * 1e3,
      plan->reason);
  GST_OBJECT_LOCK (self);
  priv->counts_saturation = !nd_sample_is_float (plan->job.out_type)
      && plan->backend->flags & ND_BACKEND_COUNTS_SATURATION;
  priv->spans_time = nd_window_size (nd_convolver_window (priv->convolver)) > 1;
  if (priv->plan_stats)
    gst_structure_free (priv->plan_stats);
  priv->plan_stats = s;
  GST_OBJECT_UNLOCK (self);
}

/* Chroma is filtered around its zero, so that a filter of sum zero gives gray
 * rather than green. */
void
gst_nd_conv_set_scales (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  const NdBank *bank = nd_convolver_plan (priv->convolver, 0)->bank;

  for (guint p = 0; p < priv->in.n_planes; p++) {
    gdouble zero = gst_nd_format_zero (&priv->in, p);

    if (!gst_nd_conv_is_filtered (&priv->active, &priv->in, p)) {
      priv->scale[p] = (NdScale){ 1, 0, NULL };
      continue;
    }
    priv->scale[p].saturated = &priv->saturated;
    priv->scale[p].gain = priv->active.gain;
    priv->scale[p].offset = zero == 0
        ? priv->active.offset
        : zero - priv->active.gain * zero * nd_filter_sum (bank->filters[0]);
  }
}

gboolean
gst_nd_conv_may_use_device (GstNdConv *self, const GstNdConvSettings *settings)
{
  return settings->backend != GST_ND_BACKEND_CPU
      && settings->method != ND_METHOD_REFERENCE
      && gst_nd_device_is_possible (&self->priv->device);
}

const NdBackend *
gst_nd_conv_device_in_use (GstNdConv *self)
{
  NdConvolver *convolver = self->priv->convolver;
  const NdBackend *backend;

  if (!convolver)
    return NULL;
  backend = nd_convolver_plan (convolver, 0)->backend;
  return backend->memory ? backend : NULL;
}

void
gst_nd_conv_get_settings (GstNdConv *self, GstNdConvSettings *settings)
{
  GstNdConvPrivate *priv = self->priv;

  gst_nd_conv_settings_copy (settings, &priv->settings);
  if (!priv->started)
    return;
  settings->backend = priv->active.backend;
  settings->device_id = priv->active.device_id;
  g_free (settings->devices);
  settings->devices = g_strdup (priv->active.devices);
  settings->precision = priv->active.precision;
}

void
gst_nd_conv_activate (GstNdConv *self, const GstNdConvSettings *settings)
{
  GstNdConvPrivate *priv = self->priv;
  NdAxes axes;

  gst_nd_conv_settings_copy (&priv->active, settings);
  axes = gst_nd_conv_axes (self, settings);
  if (!nd_bank_info_from_text (settings->filter, &axes, &priv->bank, NULL))
    priv->bank = (NdBankInfo){ 1, FALSE };
}

void
gst_nd_conv_dispose_convolver (GstNdConv *self)
{
  NdConvolver *convolver = g_steal_pointer (&self->priv->convolver);

  if (convolver)
    gst_nd_conv_builder_dispose (self, convolver);
}

void
gst_nd_conv_use (GstNdConv *self, NdConvolver *convolver)
{
  GstNdConvPrivate *priv = self->priv;

  gst_nd_conv_dispose_convolver (self);
  priv->convolver = convolver;
  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&priv->proven, &priv->active);
  priv->has_proven = TRUE;
  GST_OBJECT_UNLOCK (self);
  gst_nd_conv_set_scales (self);
  set_plan_stats (self);
  gst_nd_conv_set_latency (self);
}
