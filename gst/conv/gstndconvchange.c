/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvchange.h"

#include "filters/text.h"
#include "gst/base/gstnddownstream.h"
#include "gst/conv/gstndconvbuilder.h"
#include "gst/conv/gstndconvcaps.h"
#include "gst/conv/gstndconvoutput.h"
#include "gst/conv/gstndconvpending.h"
#include "gst/conv/gstndconvplan.h"
#include "gst/conv/gstndconvstream.h"

#define GST_CAT_DEFAULT gst_nd_conv_debug

/* Milliseconds to wait for new settings before the stream continues with the
 * old ones. The environment variable NDCONV_SETTINGS_WAIT overrides it. */
#define SETTINGS_WAIT 20
#define SETTINGS_WAIT_LIVE 10

static gint64
settings_wait (GstNdConv *self)
{
  const gchar *text = g_getenv ("NDCONV_SETTINGS_WAIT");
  const gint64 wait = self->priv->live ? SETTINGS_WAIT_LIVE : SETTINGS_WAIT;

  return (text ? g_ascii_strtoll (text, NULL, 10) : wait)
      * G_TIME_SPAN_MILLISECOND;
}

/* The convolver of @build, which has one. */
static NdConvolver *
steal_convolver (GstNdConv *self, GstNdConvBuild *build)
{
  nd_convolver_set_reverse (build->convolver, self->priv->reverse);
  return g_steal_pointer (&build->convolver);
}

/* Uses @next from now on. Takes @next. Keeps the volumes in the window if they
 * are enough for it, and otherwise drains. */
static GstFlowReturn
change_convolver (GstNdConv *self, NdConvolver *next)
{
  GstNdConvPrivate *priv = self->priv;
  NdConvolver *old = priv->convolver;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  if (!nd_convolver_continue (next, old)) {
    ret = gst_nd_conv_drain (self,
        "the new settings need volumes that the window does not hold");
    gst_nd_conv_use (self, next);
    return ret;
  }
  GST_INFO_OBJECT (self, "new settings: the window keeps its volumes");
  priv->convolver = NULL;
  gst_nd_conv_use (self, next);
  while (!gst_nd_flow_is_final (ret) && nd_convolver_replay (next, old, &error))
    ret = gst_nd_flow_join (ret, gst_nd_conv_push_ready (self));
  /* Enqueued work may still read volumes of the old convolver. */
  nd_convolver_synchronize (next, error ? NULL : &error);
  gst_nd_conv_builder_dispose (self, old);
  if (error)
    ret = gst_nd_conv_fail (self, error);
  if (gst_nd_flow_is_final (ret))
    gst_nd_conv_reset (self, ret);
  return ret;
}

/* Drains, because the new settings change the caps of the output. The base
 * class negotiates before the next volume, and set_caps() then takes the
 * convolver. */
static GstFlowReturn
change_caps (GstNdConv *self, GstNdConvBuild *next)
{
  GstFlowReturn ret =
      gst_nd_conv_drain (self, "the new settings change the output caps");

  gst_nd_conv_dispose_convolver (self);
  self->priv->next = next;
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  return ret;
}

/* Whether the outputs of @bank have the format of the current ones. */
static gboolean
keeps_caps (GstNdConv *self, const GstNdConvSettings *settings,
    const NdBankInfo *bank)
{
  const GstNdFormat *in = &self->priv->in, *out = &self->priv->out;

  return gst_nd_conv_settings_type (settings, in->type) == out->type
      && nd_response_count (settings->response, bank->n_responses)
      == out->responses
      && nd_output_components (settings->response, bank->is_complex,
             bank->tensor_axes, in->planes[0].components)
      == out->planes[0].components;
}

static gboolean
downstream_accepts (GstNdConv *self, const GstNdConvSettings *settings,
    const NdBankInfo *bank, GError **error)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (trans->srcpad);
  g_autoptr (GstCaps) possible = NULL;

  if (keeps_caps (self, settings, bank))
    return TRUE;
  possible = gst_nd_conv_transform_caps (GST_PAD_SINK, in, settings, bank,
      gst_nd_conv_may_use_device (self, settings), template);
  return gst_nd_downstream_accepts (trans, possible, error);
}

/* Makes the checks that take no time, so that nothing is designed in vain. */
static gboolean
check (GstNdConv *self, const GstNdConvSettings *settings, GError **error)
{
  GstNdConvPrivate *priv = self->priv;
  const NdAxes axes = gst_nd_conv_axes (self, settings);
  NdBankInfo bank;

  if (!nd_bank_info_from_text (settings->filter, &axes, &bank, error)) {
    g_prefix_error (error, "Property filter: ");
    return FALSE;
  }
  return nd_convolver_check_time_border (settings->time_border, error)
      && gst_nd_conv_check_input (settings, &bank, &priv->in, error)
      && downstream_accepts (self, settings, &bank, error);
}

void
gst_nd_conv_refuse_settings (GstNdConv *self, const GError *error)
{
  GstNdConvPrivate *priv = self->priv;

  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
      ("The old settings stay in use"));
  gst_nd_conv_builder_cancel (self);
  GST_OBJECT_LOCK (self);
  if (!priv->settings_changed) {
    const GstNdBackendKind backend = priv->settings.backend;
    const gint device_id = priv->settings.device_id;
    gchar *devices = g_steal_pointer (&priv->settings.devices);
    const NdPrecision precision = priv->settings.precision;

    gst_nd_conv_settings_copy (&priv->settings, &priv->active);
    priv->settings.backend = backend;
    priv->settings.device_id = device_id;
    g_free (priv->settings.devices);
    priv->settings.devices = devices;
    priv->settings.precision = precision;
  }
  GST_OBJECT_UNLOCK (self);
}

gboolean
gst_nd_conv_fall_back (GstNdConv *self, const GstNdFormat *in)
{
  GstNdConvPrivate *priv = self->priv;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = priv->has_proven
      && !gst_nd_conv_settings_have_same_convolver (&priv->proven,
          &priv->active);
  if (changed)
    gst_nd_conv_activate (self, &priv->proven);
  GST_OBJECT_UNLOCK (self);
  return changed
      && gst_nd_conv_check_input (&priv->active, &priv->bank, in, NULL);
}

/* A convolver for the active settings, or NULL if the wait is interrupted. */
static GstNdConvBuild *
wait_for_build (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  const GstNdConvSettings *settings = &priv->active;
  const NdSampleType type = priv->out.type;
  GstNdConvBuild *build = g_steal_pointer (&priv->next);
  const GstNdConvBuild *wanted;

  if (build && gst_nd_conv_build_fits (self, build, settings, type))
    return build;
  g_clear_pointer (&build, gst_nd_conv_build_free);
  wanted = gst_nd_conv_builder_peek (self);
  if (!wanted || !gst_nd_conv_build_fits (self, wanted, settings, type))
    gst_nd_conv_builder_request (self,
        gst_nd_conv_build_new (self, settings, type));
  return gst_nd_conv_builder_take (self, -1);
}

/* The file of a filter may have changed since the caps were chosen. */
static gboolean
check_output (GstNdConv *self, const GstNdConvBuild *build, GError **error)
{
  const NdBank *made = nd_convolver_plan (build->convolver, 0)->bank;
  const NdBankInfo bank = gst_nd_conv_bank_info (&build->settings, made);

  if (keeps_caps (self, &build->settings, &bank))
    return TRUE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_FORMAT,
      "The filter does not suit the output caps, because its file has changed "
      "since they were chosen: set the pipeline to READY and start it again");
  return FALSE;
}

GstFlowReturn
gst_nd_conv_make_convolver (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  g_autoptr (GstNdConvBuild) build = NULL;
  g_autoptr (GError) error = NULL;

  if (gst_nd_was_posted (&priv->failed))
    return GST_FLOW_ERROR;
  build = wait_for_build (self);
  if (build && !build->convolver && gst_nd_conv_fall_back (self, &priv->in)) {
    gst_nd_conv_refuse_settings (self, build->error);
    if (!keeps_caps (self, &priv->active, &priv->bank)) {
      /* The caps suit the refused settings. The base class negotiates again
       * before the next volume. */
      gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
      priv->interrupted = FALSE;
      return GST_FLOW_OK;
    }
    gst_nd_conv_build_free (build);
    build = wait_for_build (self);
  }
  priv->interrupted = build == NULL;
  if (!build)
    return GST_FLOW_FLUSHING;
  if (!build->convolver)
    return gst_nd_conv_fail (self, build->error);
  if (!check_output (self, build, &error))
    return gst_nd_conv_fail (self, error);
  gst_nd_conv_use (self, steal_convolver (self, build));
  return GST_FLOW_OK;
}

/* Takes the settings of the stream from @settings at once; no convolver depends
 * on them. Call with the object lock held. */
static void
apply_stream_settings (GstNdConv *self, GstNdConvBuild *wanted,
    const GstNdConvSettings *settings)
{
  gst_nd_conv_settings_copy_of_stream (&self->priv->active, settings);
  if (wanted)
    gst_nd_conv_settings_copy_of_stream (&wanted->settings, settings);
}

/* Requests a convolver for the settings that were set since the last call. TRUE
 * if there is a new request. */
static gboolean
request_changes (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  GstNdConvBuild *wanted = gst_nd_conv_builder_peek (self);
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean same_as_active, same_as_wanted;

  GST_OBJECT_LOCK (self);
  if (!priv->settings_changed || priv->settings_held > 0) {
    GST_OBJECT_UNLOCK (self);
    return FALSE;
  }
  priv->settings_changed = FALSE;
  gst_nd_conv_get_settings (self, &settings);
  GST_OBJECT_UNLOCK (self);
  if (!gst_nd_format_set_strides (&priv->in, settings.strides, &error)) {
    gst_nd_conv_refuse_settings (self, error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  same_as_active =
      gst_nd_conv_settings_have_same_convolver (&settings, &priv->active);
  same_as_wanted = wanted
      && gst_nd_conv_settings_have_same_convolver (&settings,
          &wanted->settings);
  if (wanted ? same_as_wanted : same_as_active)
    apply_stream_settings (self, wanted, &settings);
  else if (same_as_active)
    gst_nd_conv_activate (self, &settings);
  GST_OBJECT_UNLOCK (self);

  if (wanted && same_as_active)
    gst_nd_conv_builder_cancel (self);
  if (same_as_active || same_as_wanted) {
    gst_nd_conv_set_scales (self);
    return FALSE;
  }
  if (!check (self, &settings, &error)) {
    gst_nd_conv_refuse_settings (self, error);
    return FALSE;
  }
  gst_nd_conv_builder_request (self,
      gst_nd_conv_build_new (self, &settings,
          gst_nd_conv_settings_type (&settings, priv->in.type)));
  return TRUE;
}

/* Changes to the settings and the convolver of @build. Takes @build. */
static GstFlowReturn
use_build (GstNdConv *self, GstNdConvBuild *build)
{
  g_autoptr (GstNdConvBuild) owned = build;
  g_autoptr (GError) error = g_steal_pointer (&build->error);
  NdBankInfo bank;

  if (build->convolver) {
    bank = gst_nd_conv_bank_info (&build->settings,
        nd_convolver_plan (build->convolver, 0)->bank);
    downstream_accepts (self, &build->settings, &bank, &error);
  }
  if (error) {
    gst_nd_conv_refuse_settings (self, error);
    return GST_FLOW_OK;
  }
  GST_OBJECT_LOCK (self);
  gst_nd_conv_activate (self, &build->settings);
  GST_OBJECT_UNLOCK (self);
  if (keeps_caps (self, &build->settings, &bank))
    return change_convolver (self, steal_convolver (self, build));
  return change_caps (self, g_steal_pointer (&owned));
}

GstFlowReturn
gst_nd_conv_apply_settings (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  GstNdConvBuild *build;
  gboolean requested;

  if (priv->interrupted) {
    GstFlowReturn ret = gst_nd_conv_make_convolver (self);

    if (ret != GST_FLOW_OK)
      return ret;
    /* For the pool, which depends on the back end. */
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  }
  if (!priv->convolver)
    return GST_FLOW_OK;
  requested = request_changes (self);
  build = gst_nd_conv_builder_take (self, requested ? settings_wait (self) : 0);
  return build ? gst_nd_downstream_result (GST_BASE_TRANSFORM (self),
                     use_build (self, build))
               : GST_FLOW_OK;
}
