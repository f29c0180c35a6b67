/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalchange.h"
#include "gst/temporal/gstndtemporalprivate.h"

#include "gst/base/gstndcaps.h"
#include "gst/temporal/gstndtemporalbuilder.h"
#include "gst/temporal/gstndtemporalpending.h"
#include "gst/temporal/gstndtemporalstream.h"

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* Milliseconds to wait for new settings before the stream continues with the
 * old ones. The environment variable NDCONV_SETTINGS_WAIT overrides it. */
#define SETTINGS_WAIT 20
#define SETTINGS_WAIT_LIVE 10

static gint64
settings_wait (GstNdTemporal *self)
{
  const gchar *text = g_getenv ("NDCONV_SETTINGS_WAIT");
  const gint64 wait = self->priv->live ? SETTINGS_WAIT_LIVE : SETTINGS_WAIT;

  return (text ? g_ascii_strtoll (text, NULL, 10) : wait)
      * G_TIME_SPAN_MILLISECOND;
}

/* The processor of @build, which has one. */
static GstNdProcessor *
steal_processor (GstNdTemporal *self, GstNdTemporalBuild *build)
{
  gst_nd_processor_set_reverse (build->processor, self->priv->reverse);
  return g_steal_pointer (&build->processor);
}

/* Uses @next from now on. Takes @next. Keeps the volumes in the window if they
 * are enough for it, and otherwise drains. */
static GstFlowReturn
change_processor (GstNdTemporal *self, GstNdProcessor *next)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdProcessor *old = priv->processor;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  if (!next->klass->proceed || !next->klass->proceed (next, old)) {
    ret = gst_nd_temporal_drain (self,
        "the new settings need volumes that the window does not hold");
    gst_nd_temporal_use (self, next);
    return ret;
  }
  GST_INFO_OBJECT (self, "new settings: the window keeps its volumes");
  priv->processor = NULL;
  gst_nd_temporal_use (self, next);
  while (!gst_nd_flow_is_final (ret) && next->klass->replay (next, old, &error))
    ret = gst_nd_flow_join (ret, gst_nd_temporal_push_ready (self));
  /* Enqueued work may still read volumes of the old processor. */
  gst_nd_processor_synchronize (next, error ? NULL : &error);
  gst_nd_temporal_builder_dispose (self, old);
  if (error)
    ret = gst_nd_temporal_fail (self, error);
  if (gst_nd_flow_is_final (ret))
    gst_nd_temporal_reset (self, ret);
  return ret;
}

/* Drains, because the new settings change the caps of the output. The base
 * class negotiates before the next volume, and set_caps() then takes the
 * processor. */
static GstFlowReturn
change_caps (GstNdTemporal *self, GstNdTemporalBuild *next)
{
  GstFlowReturn ret =
      gst_nd_temporal_drain (self, "the new settings change the output caps");

  gst_nd_temporal_dispose_processor (self);
  self->priv->next = next;
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  return ret;
}

void
gst_nd_temporal_get_settings (GstNdTemporal *self, GstNdTemporalSettings *to)
{
  GstNdTemporalPrivate *priv = self->priv;

  if (!priv->started) {
    gst_nd_temporal_settings_copy (to, priv->settings);
    return;
  }
  if (to != priv->active)
    gst_nd_temporal_settings_copy (to, priv->active);
  gst_nd_temporal_settings_copy_of_play (to, priv->settings);
}

GstNdTemporalSettings *
gst_nd_temporal_copy_active (GstNdTemporal *self)
{
  GstNdTemporalSettings *settings;

  GST_OBJECT_LOCK (self);
  settings = gst_nd_temporal_settings_dup (self->priv->active);
  GST_OBJECT_UNLOCK (self);
  return settings;
}

static gboolean
keeps_caps (GstNdTemporal *self, const GstNdTemporalSettings *settings)
{
  return !settings->klass->keeps_caps
      || settings->klass->keeps_caps (settings, &self->priv->in,
          &self->priv->out);
}

static gboolean
downstream_accepts (GstNdTemporal *self, const GstNdTemporalSettings *settings,
    GError **error)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (trans->srcpad);
  g_autoptr (GstCaps) possible = NULL;

  if (keeps_caps (self, settings))
    return TRUE;
  possible = settings->klass->transform_caps (self, settings, GST_PAD_SINK, in,
      gst_nd_temporal_may_use_device (self, settings), template);
  return gst_nd_downstream_accepts (trans, possible, error);
}

/* Makes the checks that take no time, so that nothing is designed in vain. */
static gboolean
check (GstNdTemporal *self, GstNdTemporalSettings *settings, GError **error)
{
  const GstNdFormat *in = &self->priv->in;

  return settings->klass->derive (self, settings, in, error)
      && settings->klass->check_input (self, settings, in, error)
      && downstream_accepts (self, settings, error);
}

gboolean
gst_nd_temporal_check_input (GstNdTemporal *self, const GstNdFormat *in,
    GError **error)
{
  GstNdTemporalSettings *active = self->priv->active;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = active->klass->derive (self, active, in, error);
  GST_OBJECT_UNLOCK (self);
  return ok && active->klass->check_input (self, active, in, error);
}

gboolean
gst_nd_temporal_may_use_device (GstNdTemporal *self,
    const GstNdTemporalSettings *settings)
{
  return settings->device.backend != ND_BACKEND_CPU
      && (!settings->klass->may_use_device
          || settings->klass->may_use_device (settings))
      && gst_nd_device_is_possible (&self->priv->device);
}

void
gst_nd_temporal_refuse_settings (GstNdTemporal *self, const GError *error)
{
  GstNdTemporalPrivate *priv = self->priv;
  const GstNdTemporalClass *klass = priv->settings->klass;

  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
      ("The old settings stay in use"));
  gst_nd_temporal_builder_cancel (self);
  g_object_freeze_notify (G_OBJECT (self));
  GST_OBJECT_LOCK (self);
  if (!priv->settings_changed)
    gst_nd_properties_revert (klass->rows, klass->n_rows, G_OBJECT (self),
        priv->settings, priv->active);
  GST_OBJECT_UNLOCK (self);
  g_object_thaw_notify (G_OBJECT (self));
  gst_nd_format_set_strides (&priv->in, priv->active->strides, NULL);
}

gboolean
gst_nd_temporal_fall_back (GstNdTemporal *self, const GstNdFormat *in)
{
  GstNdTemporalPrivate *priv = self->priv;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = priv->proven
      && !gst_nd_temporal_settings_have_same_processor (priv->proven,
          priv->active);
  if (changed) {
    /* Settings of the stream have worked since. */
    gst_nd_temporal_settings_copy_of_stream (priv->proven, priv->active);
    gst_nd_temporal_settings_copy (priv->active, priv->proven);
  }
  GST_OBJECT_UNLOCK (self);
  return changed && gst_nd_temporal_check_input (self, in, NULL);
}

/* A processor for the active settings, or NULL if the wait is interrupted. */
static GstNdTemporalBuild *
wait_for_build (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  const GstNdTemporalSettings *settings = priv->active;
  GstNdTemporalBuild *build = g_steal_pointer (&priv->next);
  const GstNdTemporalBuild *wanted;

  if (build && gst_nd_temporal_build_fits (self, build, settings))
    return build;
  g_clear_pointer (&build, gst_nd_temporal_build_free);
  wanted = gst_nd_temporal_builder_peek (self);
  if (!wanted || !gst_nd_temporal_build_fits (self, wanted, settings))
    gst_nd_temporal_builder_request (self,
        gst_nd_temporal_build_new (self, settings));
  return gst_nd_temporal_builder_take (self, -1);
}

/* The file of a filter may have changed since the caps were chosen. */
static gboolean
check_output (GstNdTemporal *self, const GstNdTemporalBuild *build,
    GError **error)
{
  if (keeps_caps (self, build->settings))
    return TRUE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_FORMAT,
      "The filter does not suit the output caps, because its file has changed "
      "since they were chosen: set the pipeline to READY and start it again");
  return FALSE;
}

GstFlowReturn
gst_nd_temporal_make_processor (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GstNdTemporalBuild) build = NULL;
  g_autoptr (GError) error = NULL;

  if (gst_nd_was_posted (&priv->failed))
    return GST_FLOW_ERROR;
  build = wait_for_build (self);
  if (build && !build->processor
      && gst_nd_temporal_fall_back (self, &priv->in)) {
    gst_nd_temporal_refuse_settings (self, build->error);
    if (!keeps_caps (self, priv->active)) {
      /* The caps suit the refused settings. The base class negotiates again
       * before the next volume. */
      gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
      priv->interrupted = FALSE;
      return GST_FLOW_OK;
    }
    gst_nd_temporal_build_free (build);
    build = wait_for_build (self);
  }
  priv->interrupted = build == NULL;
  if (!build)
    return GST_FLOW_FLUSHING;
  if (!build->processor)
    return gst_nd_temporal_fail (self, build->error);
  if (!check_output (self, build, &error))
    return gst_nd_temporal_fail (self, error);
  gst_nd_temporal_use (self, steal_processor (self, build));
  return GST_FLOW_OK;
}

/* Takes the settings of the stream from @settings at once; no processor depends
 * on them. A thread may read those of @wanted, which follow in use_build().
 * Call with the object lock held. */
static void
apply_stream_settings (GstNdTemporal *self, GstNdTemporalBuild *wanted,
    const GstNdTemporalSettings *settings)
{
  gst_nd_temporal_settings_copy_of_stream (self->priv->active, settings);
  if (!wanted)
    return;
  g_clear_pointer (&wanted->later, gst_nd_temporal_settings_free);
  wanted->later = gst_nd_temporal_settings_dup (settings);
}

/* The settings that were set since the last call, or NULL. */
static GstNdTemporalSettings *
take_changes (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdTemporalSettings *settings = NULL;

  GST_OBJECT_LOCK (self);
  if (priv->settings_changed && priv->settings_held == 0) {
    priv->settings_changed = FALSE;
    settings = gst_nd_temporal_settings_new (priv->settings->klass);
    gst_nd_temporal_get_settings (self, settings);
  }
  GST_OBJECT_UNLOCK (self);
  return settings;
}

static gboolean
have_same_latency (const GstNdTemporalSettings *a,
    const GstNdTemporalSettings *b)
{
  return a->compute_latency == b->compute_latency
      && a->max_latency == b->max_latency && a->stamp == b->stamp;
}

/* Requests a processor for the settings that were set since the last call. TRUE
 * if there is a new request. */
static gboolean
request_changes (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdTemporalBuild *wanted = gst_nd_temporal_builder_peek (self);
  g_autoptr (GstNdTemporalSettings) settings = take_changes (self);
  g_autoptr (GError) error = NULL;
  gboolean same_as_active, same_as_wanted, same_latency;

  if (!settings)
    return FALSE;
  if (!gst_nd_format_set_strides (&priv->in, settings->strides, &error)) {
    gst_nd_temporal_refuse_settings (self, error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  same_as_active =
      gst_nd_temporal_settings_have_same_processor (settings, priv->active);
  same_as_wanted = wanted
      && gst_nd_temporal_settings_have_same_processor (settings,
          wanted->settings);
  same_latency = have_same_latency (settings, priv->active);
  if (same_as_active || same_as_wanted)
    apply_stream_settings (self, wanted, settings);
  GST_OBJECT_UNLOCK (self);

  if (wanted && same_as_active)
    gst_nd_temporal_builder_cancel (self);
  if (same_as_active || same_as_wanted) {
    GST_DEBUG_OBJECT (self, "new settings: no other processor is needed");
    gst_nd_temporal_use_settings (self);
    if (!same_latency)
      gst_nd_temporal_set_latency (self);
    return FALSE;
  }
  if (!check (self, settings, &error)) {
    gst_nd_temporal_refuse_settings (self, error);
    return FALSE;
  }
  gst_nd_temporal_builder_request (self,
      gst_nd_temporal_build_new (self, settings));
  return TRUE;
}

/* Frees the processor before that for @settings is built, because there is no
 * memory for both. */
static GstFlowReturn
replace_processor (GstNdTemporal *self, const GstNdTemporalSettings *settings)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstFlowReturn ret = gst_nd_temporal_drain (self,
      "no memory for the old and the new settings at the same time");

  gst_nd_temporal_dispose_processor (self);
  GST_OBJECT_LOCK (self);
  gst_nd_temporal_settings_copy (priv->active, settings);
  GST_OBJECT_UNLOCK (self);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  if (gst_nd_flow_is_final (ret) || !keeps_caps (self, settings))
    return ret;
  return gst_nd_flow_join (ret, gst_nd_temporal_make_processor (self));
}

/* Changes to the settings and the processor of @build. Takes @build. */
static GstFlowReturn
use_build (GstNdTemporal *self, GstNdTemporalBuild *build)
{
  g_autoptr (GstNdTemporalBuild) owned = build;
  g_autoptr (GError) error = g_steal_pointer (&build->error);

  if (build->later)
    gst_nd_temporal_settings_copy_of_stream (build->settings, build->later);
  if (build->beside && g_error_matches (error, ND_ERROR, ND_ERROR_MEMORY)
      && downstream_accepts (self, build->settings, NULL))
    return replace_processor (self, build->settings);
  if (build->processor)
    downstream_accepts (self, build->settings, &error);
  if (error) {
    gst_nd_temporal_refuse_settings (self, error);
    return GST_FLOW_OK;
  }
  GST_OBJECT_LOCK (self);
  gst_nd_temporal_settings_copy (self->priv->active, build->settings);
  GST_OBJECT_UNLOCK (self);
  if (keeps_caps (self, build->settings))
    return change_processor (self, steal_processor (self, build));
  return change_caps (self, g_steal_pointer (&owned));
}

GstFlowReturn
gst_nd_temporal_apply_settings (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdTemporalBuild *build;
  gboolean requested;

  if (priv->interrupted) {
    GstFlowReturn ret = gst_nd_temporal_make_processor (self);

    if (ret != GST_FLOW_OK)
      return ret;
    /* For the pool, which depends on the back end. */
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  }
  if (!priv->processor)
    return GST_FLOW_OK;
  requested = request_changes (self);
  build =
      gst_nd_temporal_builder_take (self, requested ? settings_wait (self) : 0);
  return build ? gst_nd_downstream_result (GST_BASE_TRANSFORM (self),
                     use_build (self, build))
               : GST_FLOW_OK;
}
